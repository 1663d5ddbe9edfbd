//! The merge of two commits as git makes it with no setting, attribute or merge driver of anybody.

use super::room::Room;
use super::{Git, GitError, Result};
use crate::scratch::Scratch;

/// What a merge makes of two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    Tree(String),
    Conflict {
        /// A tree in which the files have both sides between conflict markers.
        tree: String,
        files: Vec<String>,
        /// The sentences of git about the conflicts.
        words: String,
    },
}

impl Git {
    /// Merges two commits of this repository. The tree is written into it; nothing else is.
    pub async fn merge_trees(&self, ours: &str, theirs: &str) -> Result<Merged> {
        let failed = |error: std::io::Error| GitError::unexpected("merge-tree", error.to_string());
        let scratch = Scratch::shielded("merge").map_err(failed)?;
        let objects = self.places().await?.objects.canonicalize().map_err(failed)?;
        let room = Room::make(scratch.path(), Some(&objects), ours.len()).map_err(failed)?;
        let files = scratch.path().join("none");
        crate::private::make_folders(&files).map_err(failed)?;
        let git = room.git(&files);
        let empty = git.empty_tree().await?;
        let git = git.with("GIT_ATTR_SOURCE", empty).with("GIT_OBJECT_DIRECTORY", &objects);
        // A shallow repository says there where its history ends.
        let shallow = objects.with_file_name("shallow");
        let git = if shallow.is_file() { git.with("GIT_SHALLOW_FILE", shallow) } else { git };
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs];
        let (code, said) = git.exit_and_text(args).await?;
        room.require_untouched()?;
        let tree = said.split('\0').next().unwrap_or_default().to_owned();
        self.verify_trees(&tree).await?;
        if code == 0 {
            return Ok(Merged::Tree(tree));
        }
        let files = said.split('\0').skip(1).take_while(|field| !field.is_empty());
        Ok(Merged::Conflict { tree, files: files.map(str::to_owned).collect(), words: conflict_words(&said) })
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
    use countersign_testkit::Repository;

    #[test]
    fn a_conflict_is_told_in_sentences() {
        let output = "aa\0a.txt\0b c.txt\0\x001\0a.txt\0Auto-merging\0Auto-merging a.txt\n\0\
                    1\0a.txt\0CONFLICT (contents)\0CONFLICT (content): Merge conflict in a.txt\n\0";
        assert_eq!(conflict_words(output), "CONFLICT (content): Merge conflict in a.txt");
    }

    #[tokio::test]
    async fn attack_18_a_merge_driver_writes_nothing() {
        let repository = Repository::new();
        repository.write("a.txt", "one\n").write(".gitattributes", "a.txt merge=bad\n").commit("base");
        repository.git(["config", "merge.bad.driver", "echo never judged >%A"]);
        repository.git(["checkout", "-q", "-b", "other"]);
        let theirs = repository.write("a.txt", "two\n").commit("two");
        repository.git(["checkout", "-q", "-"]);
        let ours = repository.write("a.txt", "three\n").commit("three");
        let git = Git::at(repository.root());
        let Merged::Conflict { tree, files, words } = git.merge_trees(&ours, &theirs).await.unwrap() else {
            panic!("both sides changed the line");
        };
        assert_eq!(files, ["a.txt"]);
        assert!(words.contains("Merge conflict in a.txt"), "{words}");
        let text = repository.git(["show", &format!("{tree}:a.txt")]);
        assert!(text.contains("<<<<<<<") && text.contains("two") && text.contains("three"), "{text}");
    }
}
