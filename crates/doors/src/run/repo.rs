//! The repository of a run: a branch for each task, exactly the judged tree committed, merges one at a time.
//!
//! What was judged is a tree, and that tree is what is committed: nothing that is written to a file after the
//! verdict gets in. Hooks that would change it do not run.

use countersign_engine::git::{Git, GitError};
use std::path::{Path, PathBuf};

/// The main branch of a project.
#[derive(Clone, Debug)]
pub struct Repo {
    /// Git in the project's own worktree.
    git: Git,
    root: PathBuf,
    /// The branch that work is merged into.
    pub main: String,
}

/// Where a task is worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On a branch of its own, in the project's own worktree.
    Branch {
        /// The branch.
        branch: String,
    },
    /// On a branch of its own, in a worktree of its own.
    Worktree {
        /// The branch.
        branch: String,
        /// The folder.
        folder: PathBuf,
    },
    /// On whatever is checked out.
    Here,
}

/// What goes wrong with a repository, in words for people.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// Git says so.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is nothing to start from.
    #[error("the branch `{0}` has no commit: make a first one")]
    NoCommit(String),
    /// No branch can be found to merge into.
    #[error("there is no branch to merge into: name it as `main_branch`")]
    NoMain,
    /// Something else is checked out.
    #[error(
        "`{found}` is checked out, and tasks start from `{main}`: `git switch {main}` first, or use --no-branch"
    )]
    NotOnMain {
        /// What is.
        found: String,
        /// What should be.
        main: String,
    },
    /// The main branch moved while somebody else merged.
    #[error("`{0}` was moved by somebody else just now")]
    Moved(String),
}

/// A merge that could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The files.
    pub files: Vec<String>,
    /// What git says.
    pub words: String,
}

/// A commit that joins a task and the main branch, not yet on any branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The commit.
    pub commit: String,
    /// The commit of the task, its second parent.
    pub task: String,
    /// Where the main branch was.
    pub main_was: String,
    /// Whether the main branch had moved, so that this is a tree nobody tested.
    pub is_new_tree: bool,
}

impl Repo {
    /// The repository around a project.
    pub async fn open(root: &Path, configured: Option<&str>) -> Result<Self, RepoError> {
        let git = Git::at(root);
        let main = git.default_branch(configured).await?.ok_or(RepoError::NoMain)?;
        Ok(Self { git, root: root.to_owned(), main: main.name })
    }

    /// The project's own worktree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Git where a task is worked on.
    pub fn at(&self, place: &Place) -> Git {
        Git::at(self.folder(place))
    }

    /// The folder a task is worked on in.
    pub fn folder<'a>(&'a self, place: &'a Place) -> &'a Path {
        match place {
            Place::Worktree { folder, .. } => folder,
            Place::Branch { .. } | Place::Here => &self.root,
        }
    }

    fn main_ref(&self) -> String {
        format!("refs/heads/{}", self.main)
    }

    /// Where the main branch is now.
    pub async fn main_tip(&self) -> Result<String, RepoError> {
        self.git.commit(&self.main_ref()).await?.ok_or_else(|| RepoError::NoCommit(self.main.clone()))
    }

    /// What is checked out in the project's own worktree: a branch, or a commit.
    pub async fn checked_out(&self) -> Result<String, RepoError> {
        match self.git.current_branch().await? {
            Some(branch) => Ok(branch),
            None => Ok(self.git.head().await?.unwrap_or_default()),
        }
    }

    /// Begins a task at `base`, or goes on with what is there of it.
    pub async fn begin(&self, place: &Place, base: &str) -> Result<(), RepoError> {
        match place {
            Place::Here => Ok(()),
            Place::Branch { branch } => {
                let found = self.checked_out().await?;
                if found == *branch {
                    return Ok(());
                }
                if found != self.main {
                    return Err(RepoError::NotOnMain { found, main: self.main.clone() });
                }
                match self.git.commit(&format!("refs/heads/{branch}")).await? {
                    Some(_) => self.git.run(["checkout", "-q", branch, "--"]).await?,
                    None => self.git.run(["checkout", "-q", "-b", branch, base, "--"]).await?,
                };
                Ok(())
            }
            Place::Worktree { branch, folder } => {
                if folder.join(".git").exists() {
                    return Ok(());
                }
                let path = folder.to_string_lossy().into_owned();
                self.git.run(["worktree", "prune"]).await?;
                match self.git.commit(&format!("refs/heads/{branch}")).await? {
                    Some(_) => self.git.run(["worktree", "add", "-q", &path, branch]).await?,
                    None => self.git.run(["worktree", "add", "-q", "-b", branch, &path, base]).await?,
                };
                Ok(())
            }
        }
    }

    /// Commits a tree on top of what is checked out at a place, unless that is this tree already. Nothing is moved
    /// but the branch of the place.
    pub async fn commit(&self, place: &Place, tree: &str, message: &str) -> Result<String, RepoError> {
        let git = self.at(place);
        let commit = self.commit_object(&git, tree, message).await?;
        git.run(["reset", "-q", "--soft", &commit]).await?;
        git.run(["reset", "-q"]).await?;
        Ok(commit)
    }

    /// The commit of a tree on top of what is checked out, on no branch yet.
    async fn commit_object(&self, git: &Git, tree: &str, message: &str) -> Result<String, RepoError> {
        let said = git.text(["rev-parse", "HEAD", "HEAD^{tree}"]).await?;
        let (head, known) = said.split_once('\n').unwrap_or((&said, ""));
        if known == tree {
            return Ok(head.to_owned());
        }
        Ok(git.text(["commit-tree", tree, "-p", head, "-m", message]).await?)
    }

    /// Joins a judged tree with the main branch as it is now; on no branch yet. `base` is what it was judged
    /// against.
    pub async fn join(
        &self,
        place: &Place,
        tree: &str,
        base: &str,
        message: &str,
        merge_message: &str,
    ) -> Result<Result<Joined, Conflict>, RepoError> {
        let git = self.at(place);
        let main_was = self.main_tip().await?;
        let task = self.commit_object(&git, tree, message).await?;
        let is_new_tree = main_was != base;
        let merged = match is_new_tree {
            false => tree.to_owned(),
            true => match self.merged_tree(&main_was, &task).await? {
                Ok(tree) => tree,
                Err(conflict) => return Ok(Err(conflict)),
            },
        };
        let commit =
            git.text(["commit-tree", &merged, "-p", &main_was, "-p", &task, "-m", merge_message]).await?;
        Ok(Ok(Joined { commit, task, main_was, is_new_tree }))
    }

    async fn merged_tree(&self, one: &str, other: &str) -> Result<Result<String, Conflict>, RepoError> {
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", one, other];
        match self.git.exit_and_text(args).await? {
            (0, said) => Ok(Ok(said.split('\0').next().unwrap_or_default().trim().to_owned())),
            (_, said) => Ok(Err(conflict(&said))),
        }
    }

    /// Makes the main branch what was joined, and leaves the place. In the project's own worktree the files are
    /// what was judged already, so none is touched but those that others changed meanwhile.
    pub async fn advance(&self, place: &Place, joined: &Joined) -> Result<(), RepoError> {
        let Joined { commit, main_was, task, .. } = joined;
        let main = self.main_ref();
        match place {
            Place::Branch { branch } => {
                self.git.run(["symbolic-ref", "HEAD", &main]).await?;
                let moved = self.git.run(["update-ref", &main, commit, main_was]).await;
                moved.map_err(|_| RepoError::Moved(self.main.clone()))?;
                self.git.run(["read-tree", "-m", task]).await?;
                self.git.run(["read-tree", "-m", "-u", task, commit]).await?;
                self.git.run(["update-ref", "-d", &format!("refs/heads/{branch}")]).await?;
            }
            Place::Worktree { .. } => {
                match self.git.current_branch().await?.as_deref() == Some(&self.main) {
                    true => self.git.run(["merge", "-q", "--ff-only", commit]).await?,
                    false => self.git.run(["update-ref", &main, commit, main_was]).await?,
                };
                self.leave(place).await?;
            }
            Place::Here => {}
        }
        Ok(())
    }

    /// Takes a worktree and its branch away; what was merged is on the main branch.
    async fn leave(&self, place: &Place) -> Result<(), RepoError> {
        if let Place::Worktree { branch, folder } = place {
            let path = folder.to_string_lossy().into_owned();
            self.git.run(["worktree", "remove", "--force", &path]).await?;
            self.git.run(["update-ref", "-d", &format!("refs/heads/{branch}")]).await?;
        }
        Ok(())
    }
}

/// What `merge-tree` says where it could not merge: the tree, the files, an empty field, then messages.
fn conflict(said: &str) -> Conflict {
    let mut fields = said.split('\0').skip(1);
    let files: Vec<String> =
        fields.by_ref().take_while(|field| !field.is_empty()).map(str::to_owned).collect();
    let words: Vec<&str> = fields.filter(|field| field.contains("CONFLICT")).map(str::trim).collect();
    Conflict { files, words: words.join("\n") }
}

/// The branch of a task: `task/<id>-<slug>`.
pub fn branch_name(id: &str, name: &str) -> String {
    const SLUG_CHARS: usize = 40;
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= SLUG_CHARS {
            break;
        }
    }
    format!("task/{}-{}", id.to_lowercase(), slug.trim_matches('-')).trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_after_its_task() {
        for (id, name, branch) in [
            ("TASK-001", "Add API endpoints", "task/task-001-add-api-endpoints"),
            ("BUG-7", "  Größe & Maß!! ", "task/bug-7-gr-e-ma"),
            ("T-1", "日本語", "task/t-1"),
            ("T-1", "..lock ~^: @{", "task/t-1-lock"),
        ] {
            assert_eq!(branch_name(id, name), branch);
        }
        assert!(branch_name("T-1", &"x".repeat(200)).len() < 60);
    }

    #[test]
    fn a_conflict_names_its_files() {
        let said = "aa\0a.txt\0b c.txt\0\0001\0a.txt\0Auto-merging\0Auto-merging a.txt\n\0\
                    1\0a.txt\0CONFLICT (contents)\0CONFLICT (content): Merge conflict in a.txt\n\0";
        let conflict = conflict(said);
        assert_eq!(conflict.files, ["a.txt", "b c.txt"]);
        assert!(conflict.words.ends_with("Merge conflict in a.txt"));
    }
}
