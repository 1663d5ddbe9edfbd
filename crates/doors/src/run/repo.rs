//! The git repository of a run: branches and worktrees of tasks, and their commits. A commit has exactly the judged
//! tree: a file written after the verdict does not get in, and hooks that would change it do not run.

use countersign_engine::git::{Git, GitError};
use countersign_engine::workspace::{self, ChangeError, ChangeWanted, Root};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Programs of a killed run end within this time, and may write to a worktree until then.
const WRITERS_END: Duration = Duration::from_secs(5);
const REMOVE_AGAIN: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct Repo {
    pub(super) git: Git,
    root: PathBuf,
    /// Whether git turned out to be too old to check a branch out in a transaction.
    pub(super) lacks_symref_update: Arc<AtomicBool>,
    /// Held while worktrees are added, listed or removed: git reads an incomplete one as broken.
    worktrees: Arc<Mutex<()>>,
    /// The branch that tasks are merged into.
    pub main: String,
    /// The main branch, where tasks are merged into another one.
    pub(super) trunk: Option<String>,
}

/// Where a task is worked on. A checkpoint is read as the first variant that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WorkLocation {
    /// On its own branch, in its own worktree.
    Worktree {
        branch: String,
        #[serde(rename = "worktree")]
        folder: PathBuf,
    },
    /// On its own branch, in the project's worktree.
    Branch { branch: String },
    /// On whatever is checked out.
    #[serde(deserialize_with = "any")]
    Here,
}

fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    IgnoredAny::deserialize(deserializer).map(drop)
}

#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the branch `{0}` has no commit: make a first one")]
    NoCommit(String),
    #[error("git does not know in whose name it commits: set `user.name` and `user.email` with `git config`")]
    NoIdentity,
    #[error("no main branch was found: set `main_branch`")]
    NoMain,
    #[error("`main_branch` is `{0}`, but this branch does not exist")]
    NotABranch(String),
    #[error("the project cannot be read: {0}")]
    Folder(std::io::Error),
    #[error("{0}")]
    Change(String),
    #[error(
        "`{0}` is checked out, but tasks start from `{1}`: run `git switch {1}` first, or use --no-branch"
    )]
    NotOnMain(String, String),
}

pub(super) struct Tips {
    pub main: String,
    head: Head,
}

struct Head {
    commit: String,
    tree: String,
}

impl Repo {
    pub async fn open(root: &Path, configured: Option<&str>) -> Result<Self, RepoError> {
        let git = Git::at(root);
        let none = || configured.map_or(RepoError::NoMain, |name| RepoError::NotABranch(name.to_owned()));
        let main = git.default_branch(configured).await?.ok_or_else(none)?;
        Ok(Self {
            git,
            root: root.to_owned(),
            lacks_symref_update: Arc::default(),
            worktrees: Arc::default(),
            main: main.name,
            trunk: None,
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn at(&self, place: &WorkLocation) -> Git {
        Git::at(self.folder(place))
    }

    pub(super) fn folder<'a>(&'a self, place: &'a WorkLocation) -> &'a Path {
        match place {
            WorkLocation::Worktree { folder, .. } => folder,
            WorkLocation::Branch { .. } | WorkLocation::Here => &self.root,
        }
    }

    pub(super) fn main_ref(&self) -> String {
        format!("refs/heads/{}", self.main)
    }

    pub(super) async fn main_tip(&self) -> Result<String, RepoError> {
        self.git.commit(&self.main_ref()).await?.ok_or_else(|| RepoError::NoCommit(self.main.clone()))
    }

    pub(super) async fn tips(&self, place: &WorkLocation) -> Result<Tips, RepoError> {
        let main = format!("{}^{{commit}}", self.main_ref());
        let output = match self.at(place).text(["rev-parse", &main, "HEAD", "HEAD^{tree}"]).await {
            Ok(output) => output,
            Err(error) => {
                // Mostly the branch does not exist, and this error says so.
                self.main_tip().await?;
                return Err(error.into());
            }
        };
        match output.split('\n').collect::<Vec<_>>()[..] {
            [main, commit, tree] => Ok(Tips {
                main: main.to_owned(),
                head: Head { commit: commit.to_owned(), tree: tree.to_owned() },
            }),
            _ => Err(GitError::unexpected("rev-parse", output).into()),
        }
    }

    /// What is checked out in the project's worktree: a branch, or a commit.
    pub(super) async fn checked_out(&self) -> Result<String, RepoError> {
        if let Some(branch) = self.branch_by_file() {
            return Ok(branch);
        }
        match self.git.current_branch().await? {
            Some(branch) => Ok(branch),
            None => Ok(self.git.head().await?.unwrap_or_default()),
        }
    }

    /// The branch that is checked out, without a git process; none where the file does not tell.
    fn branch_by_file(&self) -> Option<String> {
        let head = std::fs::read_to_string(self.root.join(".git/HEAD")).ok()?;
        let branch = head.trim_end().strip_prefix("ref: refs/heads/")?;
        // Written by git for other ref storage formats.
        (branch != ".invalid").then(|| branch.to_owned())
    }

    /// The commit a task starts from: the tip of the main branch, or the merge base where its branch exists already.
    pub(super) async fn start(&self, branch: &str) -> Result<String, RepoError> {
        let (main, own) = (self.main_ref(), format!("refs/heads/{branch}"));
        let output =
            self.git.text(["for-each-ref", "--format=%(objectname) %(refname)", &main, &own]).await?;
        let at = |name: &str| output.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' '));
        let tip = at(&main).ok_or_else(|| RepoError::NoCommit(self.main.clone()))?;
        match at(&own) {
            None => Ok(tip.to_owned()),
            Some(own) => Ok(self.git.merge_base(tip, own).await?.unwrap_or_else(|| tip.to_owned())),
        }
    }

    /// Checks out the branch of a task, made at `base` where it does not exist.
    pub(super) async fn begin(&self, place: &WorkLocation, base: &str) -> Result<(), RepoError> {
        match place {
            WorkLocation::Here => Ok(()),
            WorkLocation::Branch { branch } => {
                let head = self.checked_out().await?;
                if head == *branch {
                    return Ok(());
                } else if head != self.main {
                    return Err(RepoError::NotOnMain(head, self.main.clone()));
                }
                // Mostly the branch is new; where it exists, the second command reports any other error.
                if self.git.run(["checkout", "-q", "-b", branch, base, "--"]).await.is_err() {
                    self.git.run(["checkout", "-q", branch, "--"]).await?;
                }
                Ok(())
            }
            WorkLocation::Worktree { branch, folder } => {
                if folder.join(".git").exists() {
                    return Ok(());
                }
                let path = folder.to_string_lossy().into_owned();
                if self.worktree(&["add", "-q", "-b", branch, &path, base]).await.is_err() {
                    self.remove_worktree(folder).await?;
                    self.worktree(&["add", "-q", &path, branch]).await?;
                }
                Ok(())
            }
        }
    }

    /// Commits a tree on the branch of a place, unless its tip has this tree already. `joins` is a commit of the main
    /// branch that is merged in the tree: as a parent, so that a resolved conflict with it does not come back.
    pub(super) async fn commit(
        &self,
        place: &WorkLocation,
        tree: &str,
        joins: Option<&str>,
        message: &str,
    ) -> Result<String, RepoError> {
        let git = self.at(place);
        let joins = match joins {
            Some(joins) if !is_ancestor(&git, joins, "HEAD").await => Some(joins),
            _ => None,
        };
        let commit = commit_object(&git, &head(&git).await?, tree, joins, message).await?;
        match place {
            // Files outside the tree were not judged.
            WorkLocation::Worktree { .. } => drop(git.run(["reset", "-q", "--hard", &commit]).await?),
            WorkLocation::Branch { .. } | WorkLocation::Here => {
                git.run(["reset", "-q", "--soft", &commit]).await?;
                git.run(["reset", "-q"]).await?;
            }
        }
        Ok(commit)
    }

    /// Makes the merge commit of a judged tree and its base, on no branch yet. The messages: of the task, of the merge.
    pub(super) async fn join(
        &self,
        place: &WorkLocation,
        tips: &Tips,
        tree: &str,
        base: &str,
        [message, merge_message]: [&str; 2],
    ) -> Result<String, RepoError> {
        let git = self.at(place);
        let task = commit_object(&git, &tips.head, tree, None, message).await?;
        Ok(git.text(["commit-tree", tree, "-p", base, "-p", &task, "-m", merge_message]).await?)
    }

    /// Commits unmerged work to its branch, and leaves the place: the project's worktree goes back to the main branch, a
    /// worktree of the task is removed. Work without its own branch stays in the files.
    pub(super) async fn shelve(
        &self,
        place: &WorkLocation,
        tree: Option<&str>,
        base: &str,
        message: &str,
    ) -> Result<(), RepoError> {
        if *place == WorkLocation::Here {
            return Ok(());
        }
        if let Some(tree) = tree {
            self.commit(place, tree, Some(base), message).await?;
        }
        match place {
            WorkLocation::Branch { .. } => drop(self.git.run(["checkout", "-q", &self.main, "--"]).await?),
            WorkLocation::Worktree { folder, .. } => self.remove_worktree(folder).await?,
            WorkLocation::Here => {}
        }
        Ok(())
    }

    pub(super) async fn discard(&self, place: &WorkLocation) -> Result<(), RepoError> {
        match place {
            WorkLocation::Branch { branch } => {
                if self.checked_out().await? == *branch {
                    self.git.run(["checkout", "-q", "-f", &self.main, "--"]).await?;
                }
                self.delete_branch(branch).await
            }
            WorkLocation::Worktree { branch, folder } => {
                self.remove_worktree(folder).await?;
                self.delete_branch(branch).await
            }
            WorkLocation::Here => Ok(()),
        }
    }

    pub(super) async fn delete_branch(&self, branch: &str) -> Result<(), RepoError> {
        Ok(self.git.run(["update-ref", "-d", &format!("refs/heads/{branch}")]).await.map(drop)?)
    }

    pub(super) async fn tree(&self, commit: &str) -> Result<String, RepoError> {
        Ok(self.git.text(["rev-parse", &format!("{commit}^{{tree}}")]).await?)
    }

    /// Whether a commit is on the main branch; false where it does not exist.
    pub(super) async fn is_merged(&self, commit: &str) -> bool {
        is_ancestor(&self.git, commit, &self.main_ref()).await
    }

    /// The tree of the files as they are, from which a task without its own branch starts.
    pub(super) async fn snapshot(&self, left_out: &[String]) -> Result<String, RepoError> {
        let root = Root::new(&self.root).map_err(RepoError::Folder)?;
        let head = self.git.head().await?;
        let wanted = ChangeWanted {
            base: head.clone(),
            left_out: left_out.to_vec(),
            keeps_tree: true,
            ..ChangeWanted::default()
        };
        match (workspace::change(&root, &wanted).await, head) {
            (Ok(change), _) => Ok(change.tree.unwrap_or_default()),
            (Err(ChangeError::Empty { .. }), Some(head)) => self.tree(&head).await,
            (Err(ChangeError::Empty { .. }), None) => Ok(self.git.empty_tree().await?),
            (Err(ChangeError::Git(error)), _) => Err(error.into()),
            (Err(error), _) => Err(RepoError::Change(error.to_string())),
        }
    }

    /// Removes a worktree, also one that was never completed, which git keeps locked.
    pub(super) async fn remove_worktree(&self, folder: &Path) -> Result<(), RepoError> {
        let deadline = Instant::now() + WRITERS_END;
        loop {
            match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && Instant::now() < deadline => {
                    tokio::time::sleep(REMOVE_AGAIN).await;
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(RepoError::Folder(error)),
                _ => break,
            }
        }
        let path = folder.to_string_lossy().into_owned();
        // Git may still have an entry for the removed folder.
        match self.worktree(&["remove", "--force", "--force", &path]).await {
            Err(error @ GitError::Failed { .. })
                if self.worktrees_below(folder).await?.iter().any(|path| path == folder) =>
            {
                Err(error.into())
            }
            Err(error) if !matches!(error, GitError::Failed { .. }) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// `git worktree`, one at a time.
    async fn worktree(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let _alone = self.worktrees.lock().await;
        self.git.run([&["worktree"], args].concat()).await
    }

    pub(super) async fn dirty(&self, is_own: impl Fn(&Path) -> bool) -> Result<Vec<String>, RepoError> {
        let entries = self.git.status().await?;
        Ok(entries.into_iter().map(|entry| entry.path).filter(|path| !is_own(Path::new(path))).collect())
    }

    pub(super) async fn worktrees_below(&self, folder: &Path) -> Result<Vec<PathBuf>, RepoError> {
        let _alone = self.worktrees.lock().await;
        let all = self.git.worktrees().await?.into_iter().map(|worktree| worktree.path);
        Ok(all.filter(|path| path.starts_with(folder)).collect())
    }
}

async fn commit_object(
    git: &Git,
    head: &Head,
    tree: &str,
    joins: Option<&str>,
    message: &str,
) -> Result<String, RepoError> {
    if head.tree == tree && joins.is_none() {
        return Ok(head.commit.clone());
    }
    let mut args = vec!["commit-tree", tree, "-p", &head.commit];
    args.extend(joins.into_iter().flat_map(|joins| ["-p", joins]));
    args.extend(["-m", message]);
    Ok(git.text(args).await?)
}

async fn head(git: &Git) -> Result<Head, RepoError> {
    let output = git.text(["rev-parse", "HEAD", "HEAD^{tree}"]).await?;
    let (commit, tree) = output.split_once('\n').unwrap_or((&output, ""));
    Ok(Head { commit: commit.to_owned(), tree: tree.to_owned() })
}

pub(super) async fn is_ancestor(git: &Git, one: &str, other: &str) -> bool {
    git.run(["merge-base", "--is-ancestor", one, other]).await.is_ok()
}
