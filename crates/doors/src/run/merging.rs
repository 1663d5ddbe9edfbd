//! Merging what may be merged: exactly the judged tree, on the real tip of the main branch, one at a time.

use super::attempt::{Again, Failure, Halt, Ready, tested};
use super::course::{Course, Merging};
use super::homecoming::Advanced;
use super::log::Log;
use super::repo::Place;
use super::run::{Run, RunError};
use super::state::ErrorCode;
use super::taking_up::{Conflict, Updated};
use super::tasks::Task;
use countersign_core::happening::{Happening, Stage};
use countersign_core::ids::ReviewId;

/// How often the main branch may move under a merge.
const MOVES_MAX: u32 = 20;
/// How many conflicts with what others merged meanwhile cost a task none of its attempts.
const CONFLICTS_MAX: u32 = 20;

impl Run {
    /// Commits and merges a task: the commit, where there is one.
    pub(super) async fn merge(
        &self,
        task: &Task,
        course: &mut Course,
        ready: &Ready,
        log: &Log,
    ) -> Result<Option<String>, Halt> {
        if !self.settings.commit {
            return Ok(None);
        }
        self.stage(task, Stage::Merge);
        let message = format!("{}: {}", task.id, task.name);
        if course.place == Place::Here {
            let message = format!("{message}\n\n{}", trailer(ready.review.id.as_ref()));
            let commit = self.repo.commit(&course.place, &ready.tree, None, &message).await?;
            return Ok(Some(commit));
        }
        let merge_message = format!("Merge {message}\n\n{}", trailer(ready.review.id.as_ref()));
        // Whoever merges at the same time would merge into something else than it tested.
        let _alone = self.merging.lock().await;
        let mut tree = ready.tree.clone();
        for _ in 0..MOVES_MAX {
            let mut tips = self.repo.tips(&course.place).await?;
            if tips.main != course.base {
                let tip = tips.main;
                self.tell_of_others(&course.base, &tip).await?;
                self.repo.commit(&course.place, &tree, Some(&course.base), &message).await?;
                tree = match self.repo.update(&course.place, &tip).await? {
                    Updated::Tree(tree) => tree,
                    Updated::Conflict(conflict) => {
                        course.base = tip;
                        course.forgive_conflict(CONFLICTS_MAX);
                        return Err(conflicting(&self.repo.main, &conflict).into());
                    }
                    Updated::Refused(words) => return Err(in_the_way(&self.repo.main, &words).into()),
                };
                course.base = tip;
                // What nobody has tested yet is tested before it is merged.
                if let Some(test) = &self.settings.commands.test {
                    let came = self.command(course, log, "tests after the main branch moved", test).await?;
                    let what = format!("together with what is on `{}` now, `{test}`", self.repo.main);
                    tested(&came, &what)?;
                }
                tips = self.repo.tips(&course.place).await?;
            }
            let messages = [message.as_str(), merge_message.as_str()];
            let joined = self.repo.join(&course.place, &tips, &tree, &course.base, messages).await?;
            course.merging = Some(Merging::of(&joined.commit, &ready.review));
            self.keep(&task.id, course).await?;
            match self.repo.advance(&course.place, &joined).await? {
                Advanced::Yes => return Ok(Some(joined.commit)),
                Advanced::Moved => {}
                Advanced::Refused(words) => return Err(in_the_way(&self.repo.main, &words).into()),
            }
        }
        let words = format!("`{}` was moved by somebody else again and again", self.repo.main);
        Err(Failure::of_work(ErrorCode::Unknown, words).into())
    }

    /// What others put on the main branch was not judged here, and is not kept quiet: it may have been the agent.
    async fn tell_of_others(&self, from: &str, to: &str) -> Result<(), RunError> {
        let commits = self.repo.unjudged(from, to).await?;
        if !commits.is_empty() {
            let words =
                format!("`{}` has commits that nobody judged here: {}", self.repo.main, commits.join("; "));
            self.say(Happening::Warning(words));
        }
        Ok(())
    }
}

/// How a merge names its review, for whoever reads the history.
pub fn trailer(review: Option<&ReviewId>) -> String {
    match review {
        Some(review) => format!("Countersign-Review: {review}"),
        None => "Countersign-Review: none".to_owned(),
    }
}

/// The word for work that passed and found something in the way.
pub fn refused() -> ErrorCode {
    ErrorCode::Other("MERGE_REFUSED".to_owned())
}

/// The work passed, and somebody has to make room for it first.
fn in_the_way(main: &str, words: &str) -> Failure {
    let words = format!(
        "it passed and is not on `{main}`, because files there are not committed and would be overwritten: {words}"
    );
    Failure { again: Again::No, ..Failure::of_work(refused(), words) }
}

fn conflicting(main: &str, conflict: &Conflict) -> Failure {
    let files = conflict.files.join(", ");
    let words = format!(
        "the work is in conflict with what is on `{main}` now, in: {files}\nBoth sides stand in these files between \
         conflict markers: keep what both want, and remove the markers.\n{}",
        conflict.words
    );
    Failure::of_work(ErrorCode::Other("MERGE_CONFLICT".to_owned()), words)
}
