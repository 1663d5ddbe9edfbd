//! Taking up what others put on the main branch meanwhile.

use super::repo::{Place, Repo, RepoError};
use countersign_core::text::visible_line;
use countersign_engine::git::GitError;

/// How many commits of others are named.
const NAMED: usize = 10;

/// A merge that could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The files.
    pub files: Vec<String>,
    /// What git says.
    pub words: String,
}

/// What came of bringing the main branch into a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// The tree of both.
    Tree(String),
    /// Both sides stand in the files.
    Conflict(Conflict),
    /// Git did not begin: everything is as it was.
    Refused(String),
}

impl Repo {
    /// Brings what is on the main branch into the branch of a place.
    pub async fn update(&self, place: &Place, tip: &str) -> Result<Updated, RepoError> {
        let git = self.at(place);
        let message = format!("Merge {} into the task", self.main);
        let merge = ["merge", "-q", "--no-ff", "--no-edit", "--no-gpg-sign", "-m", &message, tip];
        let refused = match git.run(merge).await {
            Ok(_) => return Ok(Updated::Tree(git.text(["rev-parse", "HEAD^{tree}"]).await?)),
            Err(error @ GitError::Failed { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        let files = git.text(["diff", "--name-only", "-z", "--diff-filter=U"]).await?;
        let files: Vec<String> =
            files.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect();
        if files.is_empty() {
            return Ok(Updated::Refused(refused.to_string()));
        }
        let task = git.head().await?.unwrap_or_default();
        let words = self.conflict_words(tip, &task).await?;
        // The files keep both sides; git itself need not remember that it was in the middle of something.
        git.run(["merge", "--quit"]).await?;
        git.run(["reset", "-q"]).await?;
        Ok(Updated::Conflict(Conflict { files, words }))
    }

    async fn conflict_words(&self, one: &str, other: &str) -> Result<String, RepoError> {
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", one, other];
        let (_, said) = self.git.exit_and_text(args).await?;
        Ok(conflict_words(&said))
    }

    /// Commits on the way from one commit of the main branch to another that no review of ours stands behind: a line
    /// each.
    pub async fn unjudged(&self, from: &str, to: &str) -> Result<Vec<String>, RepoError> {
        let format = "--format=%h %s%x00%(trailers:key=Countersign-Review,valueonly,separator=%x20)";
        let range = format!("{from}..{to}");
        let said = self.git.text(["log", "--first-parent", format, "--end-of-options", &range]).await?;
        let unjudged =
            said.lines().filter_map(|line| line.split_once('\0')).filter(|(_, review)| review.is_empty());
        Ok(unjudged.take(NAMED).map(|(line, _)| visible_line(line).into_owned()).collect())
    }
}

/// What `merge-tree` says where it could not merge: the tree, the files, an empty field, then messages.
fn conflict_words(said: &str) -> String {
    let words: Vec<&str> =
        said.split('\0').filter(|field| field.starts_with("CONFLICT (")).map(str::trim).collect();
    let sentences: Vec<&str> = words.into_iter().filter(|words| words.contains("): ")).collect();
    sentences.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_told_in_sentences() {
        let said = "aa\0a.txt\0b c.txt\0\x001\0a.txt\0Auto-merging\0Auto-merging a.txt\n\0\
                    1\0a.txt\0CONFLICT (contents)\0CONFLICT (content): Merge conflict in a.txt\n\0";
        assert_eq!(conflict_words(said), "CONFLICT (content): Merge conflict in a.txt");
    }
}
