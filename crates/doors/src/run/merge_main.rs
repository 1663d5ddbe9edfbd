//! Merging the main branch into the branch of a task.

use super::repo::{Repo, RepoError, WorkLocation};
use countersign_core::text::visible_line;
use countersign_engine::git::GitError;

pub(super) enum Merged {
    Tree(String),
    /// Both sides stand in these files; with the messages of git.
    Conflict {
        files: Vec<String>,
        words: String,
    },
    /// Git refused to begin: nothing changed.
    Refused(String),
}

impl Repo {
    pub(super) async fn merge_main(&self, place: &WorkLocation, tip: &str) -> Result<Merged, RepoError> {
        let git = self.at(place);
        let message = format!("Merge {} into the task", self.main);
        let merge = ["merge", "-q", "--no-ff", "--no-edit", "--no-gpg-sign", "-m", &message, tip];
        let refused = match git.run(merge).await {
            Ok(_) => return Ok(Merged::Tree(git.text(["rev-parse", "HEAD^{tree}"]).await?)),
            Err(error @ GitError::Failed { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        let files = git.text(["diff", "--name-only", "-z", "--diff-filter=U"]).await?;
        let files: Vec<String> =
            files.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect();
        if files.is_empty() {
            return Ok(Merged::Refused(refused.to_string()));
        }
        let task = git.head().await?.unwrap_or_default();
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", tip, &task];
        let (_, messages) = self.git.exit_and_text(args).await?;
        // The files keep both sides; git forgets that a merge was under way.
        git.run(["merge", "--quit"]).await?;
        git.run(["reset", "-q"]).await?;
        Ok(Merged::Conflict { files, words: conflict_words(&messages) })
    }

    /// The commits of the main branch in a range, newest first: the id, and a line about it.
    pub(super) async fn first_parents(
        &self,
        from: &str,
        to: &str,
    ) -> Result<Vec<(String, String)>, RepoError> {
        let range = format!("{from}..{to}");
        let output = self
            .git
            .text(["log", "--first-parent", "--format=%H%x00%h %s", "--end-of-options", &range])
            .await?;
        let commits = output.lines().filter_map(|line| line.split_once('\0'));
        Ok(commits.map(|(id, line)| (id.to_owned(), visible_line(line).into_owned())).collect())
    }
}

/// The sentences about conflicts in the output of `merge-tree`: the tree, the files, an empty field, then messages.
fn conflict_words(output: &str) -> String {
    let is_sentence = |field: &&str| field.starts_with("CONFLICT (") && field.contains("): ");
    output.split('\0').filter(is_sentence).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_told_in_sentences() {
        let output = "aa\0a.txt\0b c.txt\0\x001\0a.txt\0Auto-merging\0Auto-merging a.txt\n\0\
                    1\0a.txt\0CONFLICT (contents)\0CONFLICT (content): Merge conflict in a.txt\n\0";
        assert_eq!(conflict_words(output), "CONFLICT (content): Merge conflict in a.txt");
    }
}
