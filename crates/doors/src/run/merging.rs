//! The merge of a task into the main branch: the judged tree on the current tip, one task at a time.

use super::advance_main::Advanced;
use super::attempt::{Failure, Halt, Ready, Retry};
use super::believed;
use super::checkpoint::Merging;
use super::judging;
use super::merge_main::Merged;
use super::record::Entry;
use super::repo::WorkLocation;
use super::run::RunError;
use super::state::ErrorCode;
use super::task::TaskRun;
use countersign_core::ids::ReviewId;
use countersign_core::progress::{ProgressEvent, Stage};

const MOVES_MAX: u32 = 20;
/// How many conflicts with the main branch cost a task no attempt.
const CONFLICTS_MAX: u32 = 20;

impl TaskRun<'_> {
    pub(super) async fn merge(&mut self, ready: &mut Ready) -> Result<Option<String>, Halt> {
        if !self.settings.config.auto_commit {
            return Ok(None);
        }
        self.stage(Stage::Merge);
        let message = format!("{}: {}", self.task.id, self.task.name);
        if self.checkpoint.place == WorkLocation::Here {
            let message = format!("{message}\n\n{}", trailer(ready.review.id.as_ref()));
            let commit = self.repo.commit(&self.checkpoint.place, &ready.tree, None, &message).await?;
            return Ok(Some(commit));
        }
        let merge_message = format!("Merge {message}\n\n{}", trailer(ready.review.id.as_ref()));
        // Two merges at once would merge into a tree that was not judged.
        let run = self.run;
        let _alone = run.merging.lock().await;
        for _ in 0..MOVES_MAX {
            let mut tips = self.repo.tips(&self.checkpoint.place).await?;
            if let Some(words) = self.main_trouble(&tips.main).await? {
                return Err(believed::moved(words).into());
            }
            if tips.main != self.checkpoint.base {
                let tip = tips.main;
                self.warn_unjudged(&self.checkpoint.base, &tip).await?;
                let (place, base) = (&self.checkpoint.place, Some(self.checkpoint.base.as_str()));
                self.repo.commit(place, &ready.tree, base, &message).await?;
                let merged = match self.repo.merge_main(place, &tip).await? {
                    Merged::Tree(tree) => tree,
                    Merged::Conflict { files, words } => {
                        self.checkpoint.base = tip;
                        self.checkpoint.forgive_conflict(CONFLICTS_MAX);
                        return Err(conflicting(&self.repo.main, &files, &words).into());
                    }
                    Merged::Refused(words) => return Err(in_the_way(&self.repo.main, &words).into()),
                };
                self.checkpoint.base = tip;
                self.judge_again(ready, merged).await?;
                tips = self.repo.tips(&self.checkpoint.place).await?;
            }
            let messages = [message.as_str(), merge_message.as_str()];
            let commit = self
                .repo
                .join(&self.checkpoint.place, &tips, &ready.tree, &self.checkpoint.base, messages)
                .await?;
            self.checkpoint.merging = Some(Merging { commit: commit.clone(), review: ready.review.clone() });
            self.save().await?;
            self.record_merge(&commit, ready).await?;
            match self.repo.advance(&self.checkpoint.place, &commit, &self.checkpoint.base).await? {
                Advanced::Yes => {
                    self.main_is(&commit).await;
                    return Ok(Some(commit));
                }
                Advanced::Moved => {}
                Advanced::Refused(words) => return Err(in_the_way(&self.repo.main, &words).into()),
            }
        }
        let words = format!("another process kept moving `{}` during the merge", self.repo.main);
        Err(Failure::of_work(ErrorCode::Unknown, words).into())
    }

    /// The main branch moved, and `merged` is what the merge with it made: it is tested and judged like any work. What a person
    /// decided holds as long as the change that they saw is the same.
    async fn judge_again(&mut self, ready: &mut Ready, merged: String) -> Result<(), Halt> {
        self.checkpoint.stage = Stage::Tests;
        self.save().await?;
        let Some(change) = self.change(&self.checkpoint).await? else {
            // The main branch has all of the work already.
            ready.tree = merged;
            return Ok(());
        };
        if change.tree.as_ref() == Some(&ready.tree) {
            return Ok(());
        }
        self.checks(Some(self.run.repo.main.as_str())).await?;
        self.checkpoint.stage = Stage::Review;
        self.save().await?;
        let tested = if ready.is_decided { self.tested_change().await? } else { None };
        match tested.filter(|change| judging::difference(change) == ready.difference) {
            Some(change) => ready.tree = change.tree.unwrap_or_default(),
            None => *ready = self.review().await?,
        }
        self.stage(Stage::Merge);
        Ok(())
    }

    async fn record_merge(&self, commit: &str, ready: &Ready) -> Result<(), RunError> {
        let review = ready.review.id.as_ref().map(ToString::to_string);
        let task = self.task.id.clone();
        self.run.record(Entry::RunMerging { task, commit: commit.to_owned(), review }).await
    }

    /// Warns of commits on the main branch without a review: the agent may have made them.
    async fn warn_unjudged(&self, from: &str, to: &str) -> Result<(), RunError> {
        let commits = self.unjudged(from, to).await?;
        if !commits.is_empty() {
            let words = format!("`{}` has commits without a review: {}", self.repo.main, commits.join("; "));
            self.say(ProgressEvent::Warning(words));
        }
        Ok(())
    }
}

fn trailer(review: Option<&ReviewId>) -> String {
    match review {
        Some(review) => format!("Countersign-Review: {review}"),
        None => "Countersign-Review: none".to_owned(),
    }
}

pub(super) fn refused() -> ErrorCode {
    ErrorCode::Other("MERGE_REFUSED".to_owned())
}

fn in_the_way(main: &str, words: &str) -> Failure {
    let words =
        format!("the review passed, but the merge into `{main}` would overwrite uncommitted files: {words}");
    Failure { retry: Retry::No, ..Failure::of_work(refused(), words) }
}

fn conflicting(main: &str, files: &[String], words: &str) -> Failure {
    let files = files.join(", ");
    let words = format!(
        "the work conflicts with `{main}` in: {files}\nThese files have both sides between conflict markers: \
         keep the intent of both sides, and remove the markers.\n{words}"
    );
    Failure::of_work(ErrorCode::Other("MERGE_CONFLICT".to_owned()), words)
}
