//! The repository of a run: a branch for each task, exactly the judged tree committed, merges one at a time.
//!
//! What was judged is a tree, and that tree is what is committed: nothing that is written to a file after the
//! verdict gets in. Hooks that would change it do not run.

use countersign_engine::git::{Git, GitError};
use countersign_engine::workspace::{self, ChangeError, ChangeWanted, Root};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Programs of a run that was killed are ended within this time, and may write to a worktree until then.
const WRITERS_END: Duration = Duration::from_secs(5);
/// How long to wait before such a worktree is taken away again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The main branch of a project.
#[derive(Clone, Debug)]
pub struct Repo {
    /// Git in the project's own worktree.
    pub(super) git: Git,
    root: PathBuf,
    /// Whether git was found to be too old to check a branch out in a transaction.
    pub(super) is_old: Arc<AtomicBool>,
    /// Held while worktrees are made, listed or taken away: git reads one that is half made as a broken one.
    worktrees: Arc<Mutex<()>>,
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
    /// The branch that is named is none.
    #[error("`main_branch` is `{0}`, and there is no such branch")]
    NotABranch(String),
    /// The folder cannot be used.
    #[error("the project cannot be read: {0}")]
    Folder(std::io::Error),
    /// The files cannot be compared.
    #[error("{0}")]
    Change(String),
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
}

/// Where everything is before a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tips {
    /// The main branch.
    pub main: String,
    /// What is checked out where the task is worked on.
    head: Head,
}

/// A commit that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    commit: String,
    tree: String,
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
}

impl Repo {
    /// The repository around a project.
    pub async fn open(root: &Path, configured: Option<&str>) -> Result<Self, RepoError> {
        let git = Git::at(root);
        let none = || configured.map_or(RepoError::NoMain, |name| RepoError::NotABranch(name.to_owned()));
        let main = git.default_branch(configured).await?.ok_or_else(none)?;
        Ok(Self {
            git,
            root: root.to_owned(),
            is_old: Arc::default(),
            worktrees: Arc::default(),
            main: main.name,
        })
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

    pub(super) fn main_ref(&self) -> String {
        format!("refs/heads/{}", self.main)
    }

    /// Where the main branch is now.
    pub async fn main_tip(&self) -> Result<String, RepoError> {
        self.git.commit(&self.main_ref()).await?.ok_or_else(|| RepoError::NoCommit(self.main.clone()))
    }

    /// Where the main branch and a place are now.
    pub async fn tips(&self, place: &Place) -> Result<Tips, RepoError> {
        let main = format!("{}^{{commit}}", self.main_ref());
        let said = match self.at(place).text(["rev-parse", &main, "HEAD", "HEAD^{tree}"]).await {
            Ok(said) => said,
            Err(error) => {
                // Mostly because there is no such branch, which this says better.
                self.main_tip().await?;
                return Err(error.into());
            }
        };
        match said.split('\n').collect::<Vec<_>>()[..] {
            [main, commit, tree] => Ok(Tips {
                main: main.to_owned(),
                head: Head { commit: commit.to_owned(), tree: tree.to_owned() },
            }),
            _ => Err(GitError::unexpected("rev-parse", said).into()),
        }
    }

    /// What is checked out in the project's own worktree: a branch, or a commit.
    pub async fn checked_out(&self) -> Result<String, RepoError> {
        if let Some(branch) = self.branch_by_file() {
            return Ok(branch);
        }
        match self.git.current_branch().await? {
            Some(branch) => Ok(branch),
            None => Ok(self.git.head().await?.unwrap_or_default()),
        }
    }

    /// The branch that is checked out, without asking git; none where that is not plain to see.
    fn branch_by_file(&self) -> Option<String> {
        let head = std::fs::read_to_string(self.root.join(".git/HEAD")).ok()?;
        let branch = head.trim_end().strip_prefix("ref: refs/heads/")?;
        // What git writes there when it keeps branches in another form.
        (branch != ".invalid").then(|| branch.to_owned())
    }

    /// The commit a task of this branch starts from: the tip of the main branch, or what both have in common where the
    /// branch is there already.
    pub async fn start(&self, branch: &str) -> Result<String, RepoError> {
        let (main, own) = (self.main_ref(), format!("refs/heads/{branch}"));
        let said = self.git.text(["for-each-ref", "--format=%(objectname) %(refname)", &main, &own]).await?;
        let at = |name: &str| said.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' '));
        let tip = at(&main).ok_or_else(|| RepoError::NoCommit(self.main.clone()))?;
        match at(&own) {
            None => Ok(tip.to_owned()),
            Some(own) => Ok(self.git.merge_base(tip, own).await?.unwrap_or_else(|| tip.to_owned())),
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
                // Mostly it is new; where it is there, the second says what else may be wrong.
                if self.git.run(["checkout", "-q", "-b", branch, base, "--"]).await.is_err() {
                    self.git.run(["checkout", "-q", branch, "--"]).await?;
                }
                Ok(())
            }
            Place::Worktree { branch, folder } => {
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

    /// Commits a tree on top of what is checked out at a place, unless that is this tree already. Nothing is moved
    /// but the branch of the place. `joins` is a commit of the main branch that the tree has taken up: a conflict with
    /// it that was settled must not come back with the next.
    pub async fn commit(
        &self,
        place: &Place,
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
            // A folder of ours: what is not in the tree was not judged.
            Place::Worktree { .. } => drop(git.run(["reset", "-q", "--hard", &commit]).await?),
            Place::Branch { .. } | Place::Here => {
                git.run(["reset", "-q", "--soft", &commit]).await?;
                git.run(["reset", "-q"]).await?;
            }
        }
        Ok(commit)
    }

    /// Joins a judged tree with the commit of the main branch it is against; on no branch yet. The messages are those of
    /// the task and of the merge.
    pub async fn join(
        &self,
        place: &Place,
        tips: &Tips,
        tree: &str,
        base: &str,
        message: [&str; 2],
    ) -> Result<Joined, RepoError> {
        let git = self.at(place);
        let [message, merge_message] = message;
        let task = commit_object(&git, &tips.head, tree, None, message).await?;
        let commit = git.text(["commit-tree", tree, "-p", base, "-p", &task, "-m", merge_message]).await?;
        Ok(Joined { commit, task, main_was: base.to_owned() })
    }

    /// Keeps work that is not merged on its branch, and leaves the place: the project's own worktree goes back to the
    /// main branch, another one is taken away. Work without a branch of its own stays in the files.
    pub async fn shelve(
        &self,
        place: &Place,
        tree: Option<&str>,
        base: &str,
        message: &str,
    ) -> Result<(), RepoError> {
        if *place == Place::Here {
            return Ok(());
        }
        if let Some(tree) = tree {
            self.commit(place, tree, Some(base), message).await?;
        }
        match place {
            Place::Branch { .. } => drop(self.git.run(["checkout", "-q", &self.main, "--"]).await?),
            Place::Worktree { .. } => self.leave(place, Branch::Stays).await?,
            Place::Here => {}
        }
        Ok(())
    }

    /// Throws away what is there of a task: its worktree and its branch.
    pub async fn discard(&self, place: &Place) -> Result<(), RepoError> {
        match place {
            Place::Branch { branch } => {
                if self.checked_out().await? == *branch {
                    self.git.run(["checkout", "-q", "-f", &self.main, "--"]).await?;
                }
                self.git.run(["update-ref", "-d", &format!("refs/heads/{branch}")]).await?;
            }
            Place::Worktree { .. } => self.leave(place, Branch::Gone).await?,
            Place::Here => {}
        }
        Ok(())
    }

    /// The tree of a commit.
    pub async fn tree(&self, commit: &str) -> Result<String, RepoError> {
        Ok(self.git.text(["rev-parse", &format!("{commit}^{{tree}}")]).await?)
    }

    /// Whether a commit is on the main branch. One that is gone is not there either.
    pub async fn is_merged(&self, commit: &str) -> bool {
        is_ancestor(&self.git, commit, &self.main_ref()).await
    }

    /// What a task that has no branch starts from: the files as they are, as a tree.
    pub async fn here(&self, left_out: &[String]) -> Result<String, RepoError> {
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

    /// Takes a worktree away that nobody needs, also one that was never completed: git keeps such a one locked.
    pub async fn remove_worktree(&self, folder: &Path) -> Result<(), RepoError> {
        let deadline = Instant::now() + WRITERS_END;
        loop {
            match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && Instant::now() < deadline => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(RepoError::Folder(error)),
                _ => break,
            }
        }
        let path = folder.to_string_lossy().into_owned();
        // Without its folder only git's own note of it is left; where there is none either, nothing is to be done.
        match self.worktree(&["remove", "--force", "--force", &path]).await {
            Err(error @ GitError::Failed { .. }) if self.knows_worktree(folder).await? => Err(error.into()),
            Err(error) if !matches!(error, GitError::Failed { .. }) => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn knows_worktree(&self, folder: &Path) -> Result<bool, RepoError> {
        let _alone = self.worktrees.lock().await;
        Ok(self.git.worktrees().await?.iter().any(|worktree| worktree.path == folder))
    }

    /// `git worktree`, one at a time.
    async fn worktree(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let _alone = self.worktrees.lock().await;
        self.git.run([&["worktree"], args].concat()).await
    }

    /// Files that are not as they were committed, but for our own.
    pub async fn dirty(&self, is_own: impl Fn(&Path) -> bool) -> Result<Vec<String>, RepoError> {
        let entries = self.git.status().await?;
        Ok(entries.into_iter().map(|entry| entry.path).filter(|path| !is_own(Path::new(path))).collect())
    }

    /// Worktrees below a folder, with their branches.
    pub async fn worktrees_below(&self, folder: &Path) -> Result<Vec<(PathBuf, Option<String>)>, RepoError> {
        let _alone = self.worktrees.lock().await;
        let all = self.git.worktrees().await?;
        let below = all.into_iter().filter(|worktree| worktree.path.starts_with(folder));
        Ok(below.map(|worktree| (worktree.path, worktree.branch)).collect())
    }

    /// Takes a worktree away, and its branch where that has no more use.
    pub(super) async fn leave(&self, place: &Place, then: Branch) -> Result<(), RepoError> {
        if let Place::Worktree { branch, folder } = place {
            self.remove_worktree(folder).await?;
            if then == Branch::Gone {
                self.git.run(["update-ref", "-d", &format!("refs/heads/{branch}")]).await?;
            }
        }
        Ok(())
    }
}

/// The commit of a tree on top of what is checked out, on no branch yet.
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
    let said = git.text(["rev-parse", "HEAD", "HEAD^{tree}"]).await?;
    let (commit, tree) = said.split_once('\n').unwrap_or((&said, ""));
    Ok(Head { commit: commit.to_owned(), tree: tree.to_owned() })
}

async fn is_ancestor(git: &Git, one: &str, other: &str) -> bool {
    git.run(["merge-base", "--is-ancestor", one, other]).await.is_ok()
}

/// What becomes of a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Branch {
    Stays,
    Gone,
}
