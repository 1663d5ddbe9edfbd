//! Which files a gate judges by now: those of the remote's branch, those that a person vouched for, or the built-in rules.

use super::files::Judging;
use super::not_trusted;
use super::record::{self, Confirmed, Record, Trusted, TrustedRemote};
use super::site::Site;
use crate::author;
use crate::ledger_place;
use crate::project::environment;
use crate::{Code, Failure};
use countersign_core::outcome::Outcome;
use countersign_doors::run::layout::SETTINGS;
use countersign_engine::config::{FILE_NAME, FileBytes, user_file};
use countersign_engine::git::{Git, GitError, RemoteTip};
use countersign_engine::yaml::read_bounded;
use std::fmt;

const SHORT: usize = 12;

/// Where the configuration of a gate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The branch of a remote, at a commit that it confirmed.
    Committed { branch: String, commit: String },
    /// A person has seen the files.
    Vouched { commit: Option<String> },
    /// No configuration is known: the rules that Countersign has itself.
    BuiltIn,
}

impl Source {
    /// The commit whose files count.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Committed { commit, .. } => Some(commit),
            Self::Vouched { commit } => commit.as_deref(),
            Self::BuiltIn => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Committed { branch, commit } => write!(f, "the version of {branch} ({})", short(commit)),
            Self::Vouched { commit: Some(commit) } => {
                write!(f, "the version that a person trusted ({})", short(commit))
            }
            Self::Vouched { commit: None } => f.write_str("the version that a person trusted"),
            Self::BuiltIn => f.write_str("the built-in rules"),
        }
    }
}

pub(super) fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// The trusted files.
pub(super) struct Files {
    pub(super) source: Source,
    pub(super) commit: Option<String>,
    /// The branch of the remote, as the remote confirmed it.
    pub(super) tip: Option<String>,
    pub(super) configuration: Option<FileBytes>,
    pub(super) user: Option<FileBytes>,
    pub(super) trusted: Option<Trusted>,
    /// Whether the environment of the caller is trusted: that of a job of a CI service, for example.
    pub(super) is_job: bool,
    pub(super) notices: Vec<String>,
}

/// The trusted files of a project, or of the trusted project around it where a file in between is not trusted.
pub(super) async fn find(site: Site) -> Result<(Site, Files), Failure> {
    let path = site.trusted_path().map(str::to_owned);
    if let (Some(ledger), Some(path)) = (&site.ledger, path)
        && let Record { trusted: Some(trusted), confirmed } = record::read(ledger, &path).await?
    {
        return by_record(site, &path, trusted, confirmed).await;
    }
    let found = if is_ci() { by_job(&site).await } else { without_record(&site).await };
    Ok((site, found?))
}

async fn by_record(
    mut site: Site,
    path: &str,
    trusted: Trusted,
    confirmed: Option<Confirmed>,
) -> Result<(Site, Files), Failure> {
    let mut notices = vec![];
    let now = match (site.git(), &trusted.remote) {
        (Some(git), Some(remote)) => Some(tip(&git, &site, path, remote, confirmed, &mut notices).await?),
        _ => None,
    };
    if path != site.path {
        // A person has seen the remote and the programs, not the files of this project.
        let committed = match (site.git(), &now) {
            (Some(git), Some(now)) => git.id_at(now, FILE_NAME).await.map_err(internal)?.is_some(),
            _ => false,
        };
        if !committed {
            notices.push(format!("{}/{FILE_NAME} is not trusted and was not used", site.path));
            site = site.around(path);
        }
    }
    let tip = now.clone();
    let source = source(&site, path, &trusted, now).await?;
    let commit = source.commit().map(str::to_owned);
    let file = |bytes: Vec<u8>| FileBytes { path: site.root.join(FILE_NAME), bytes };
    let configuration = match (&commit, site.git()) {
        (Some(commit), Some(git)) => at(&git, commit, FILE_NAME).await?.map(file),
        _ => trusted.configuration.clone().map(|text| file(text.into_bytes())),
    };
    let user = trusted.user.clone().map(|text| FileBytes {
        path: user_file(&environment()).unwrap_or_else(|| "config.yml".into()),
        bytes: text.into_bytes(),
    });
    if user_text().as_deref() != trusted.user.as_deref() {
        notices.push(
            "your own configuration file was changed and not yet trusted: this gate uses the version that a person trusted"
                .to_owned(),
        );
    }
    Ok((
        site,
        Files { source, commit, tip, configuration, user, trusted: Some(trusted), is_job: false, notices },
    ))
}

/// What counts by the record at `path`: the files of the person until the remote has newer ones.
async fn source(site: &Site, path: &str, trusted: &Trusted, now: Option<String>) -> Result<Source, Failure> {
    let vouched = Source::Vouched { commit: trusted.snapshot.clone() };
    let (Some(top), Some(remote), Some(now)) = (&site.worktree, &trusted.remote, now) else {
        return Ok(vouched);
    };
    let is_vouched = trusted.vouched && trusted.snapshot.is_some() && path == site.path;
    let judging = Judging::recorded(site, &trusted.scripts);
    if is_vouched && !judging.differ(&Git::at(top), &remote.commit, &now).await? {
        return Ok(vouched);
    }
    let branch = format!("{}/{}", remote.pinned.name, remote.pinned.branch);
    Ok(Source::Committed { branch, commit: now })
}

/// The commit of the remote's branch that counts now. The remote is asked only where something was fetched since.
async fn tip(
    git: &Git,
    site: &Site,
    path: &str,
    remote: &TrustedRemote,
    confirmed: Option<Confirmed>,
    notices: &mut Vec<String>,
) -> Result<String, Failure> {
    let known = confirmed
        .unwrap_or_else(|| Confirmed { commit: remote.commit.clone(), fetched: remote.fetched.clone() });
    // A branch that is not fetched any more may be gone, so the remote is asked then too.
    let fetched = git.fetched(&remote.pinned).await.map_err(internal)?.unwrap_or_default();
    if fetched == known.fetched {
        return Ok(known.commit);
    }
    let (name, short) = (&remote.pinned.name, short(&known.commit).to_owned());
    let stays = format!("the configuration of {short} still counts");
    match git.remote_tip(&remote.pinned).await {
        RemoteTip::Here(commit) => {
            let now = Confirmed { commit, fetched };
            // A ledger that cannot be written asks the remote again next time.
            if let Some(ledger) = &site.ledger {
                let _ = record::confirm(ledger, path, &now).await;
            }
            return Ok(now.commit);
        }
        RemoteTip::NotFetched => {
            notices.push(format!("{name} has newer commits than were fetched, so {stays}: run git fetch"));
        }
        RemoteTip::Gone => {
            notices.push(format!(
                "{name} has no branch {} any more, so {stays}: a person has to say which branch counts now",
                remote.pinned.branch
            ));
        }
        RemoteTip::Unknown(why) => {
            notices.push(format!("{name} could not be asked ({why}), so {stays}"));
        }
    }
    Ok(known.commit)
}

/// In CI the job's own environment counts, and the default branch of the remote.
async fn by_job(site: &Site) -> Result<Files, Failure> {
    let Some(git) = site.git() else { return without_record(site).await };
    let mut pinned = git.remote_to_pin().await.map_err(internal)?;
    // Another branch may be called `main`: the event knows which one is the default.
    if let Some(branch) = crate::ci::default_branch() {
        pinned = git.remote_with(&branch).await.map_err(internal)?;
    }
    let commit = match &pinned {
        Some(pinned) => git.fetched(pinned).await.map_err(internal)?,
        None => None,
    };
    let Some((pinned, commit)) = pinned.zip(commit) else {
        let has_remote = !git.run(["remote"]).await.map_err(internal)?.is_empty();
        let found = without_record(site).await;
        return found
            .map_err(|failure| if failure.code == Code::NotTrusted { lacks(has_remote) } else { failure });
    };
    let bytes = at(&git, &commit, FILE_NAME).await?;
    let configuration = bytes.map(|bytes| FileBytes { path: site.root.join(FILE_NAME), bytes });
    let branch = format!("{}/{}", pinned.name, pinned.branch);
    let source = Source::Committed { branch, commit: commit.clone() };
    let user = own_user_file();
    Ok(Files {
        source,
        tip: Some(commit.clone()),
        commit: Some(commit),
        configuration,
        user,
        trusted: None,
        is_job: true,
        notices: vec![],
    })
}

/// What a job of CI lacks, where nothing says how work is judged.
fn lacks(has_remote: bool) -> Failure {
    let (what, hint) = match has_remote {
        true => (
            "this job has not fetched the default branch of its remote, which says how work is judged in CI",
            "fetch it before: git fetch origin && git remote set-head origin --auto (with actions/checkout: fetch-depth: 0)",
        ),
        false => (
            "this job has no git remote, whose default branch says how work is judged in CI",
            "add the remote and fetch its default branch before: git remote add origin URL && git fetch origin",
        ),
    };
    Failure::new(Outcome::AwaitingPerson, Code::NotTrusted, what).hint(hint)
}

/// Without a person's word only the built-in rules count, and only where no configuration is anywhere.
async fn without_record(site: &Site) -> Result<Files, Failure> {
    let Some(found) = configured(site).await? else {
        if ledger_place::was_of_another(site.worktree.as_deref().unwrap_or(&site.root)) {
            return Err(not_trusted(
                "another repository with a ledger was here before, and no person has said yet how work is judged in this one",
            ));
        }
        return Ok(Files {
            source: Source::BuiltIn,
            commit: None,
            tip: None,
            configuration: None,
            user: None,
            trusted: None,
            // Nobody has recorded an environment, so that of a caller without an agent's mark counts, as its flags do.
            is_job: !author::is_agent(),
            notices: vec![],
        });
    };
    Err(not_trusted(&format!(
        "no person has trusted how work is judged here yet: {found} is not used before"
    )))
}

/// A file that says how work is judged here, wherever it is.
async fn configured(site: &Site) -> Result<Option<String>, Failure> {
    let files = [FILE_NAME].into_iter().chain(SETTINGS);
    if let Some(file) = files.clone().find(|file| site.root.join(file).symlink_metadata().is_ok()) {
        return Ok(Some(file.to_owned()));
    }
    if let Some(git) = site.git() {
        let pinned = git.remote_to_pin().await.map_err(internal)?;
        let remote = match &pinned {
            Some(pinned) => git.fetched(pinned).await.map_err(internal)?,
            None => None,
        };
        let local = git.default_branch(None).await.map_err(internal)?.map(|branch| branch.reference);
        let head = git.head().await.map_err(internal)?;
        for commit in [head, remote, local].into_iter().flatten() {
            for file in files.clone() {
                if git.commit(&commit).await.map_err(internal)?.is_some()
                    && git.id_at(&commit, file).await.map_err(internal)?.is_some()
                {
                    return Ok(Some(format!("{file} of {}", short(&commit))));
                }
            }
        }
    }
    Ok(own_user_file().map(|file| file.path.display().to_string()))
}

fn own_user_file() -> Option<FileBytes> {
    let path = user_file(&environment())?;
    let bytes = read_bounded(&path).ok()?;
    Some(FileBytes { path, bytes })
}

/// The user's own file as it is now.
pub(super) fn user_text() -> Option<String> {
    own_user_file().map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
}

/// Whether this is a job of a CI service, and no agent started it.
pub(crate) fn is_ci() -> bool {
    let set = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    set && !author::is_agent()
}

pub(super) async fn at(git: &Git, commit: &str, path: &str) -> Result<Option<Vec<u8>>, Failure> {
    git.file_at(commit, path).await.map_err(|error| Failure::usage(error.to_string()))
}

pub(super) fn internal(error: GitError) -> Failure {
    Failure::internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_named_in_words() {
        let commit = "0123456789abcdef".to_owned();
        for (source, words) in [
            (
                Source::Committed { branch: "origin/main".to_owned(), commit: commit.clone() },
                "the version of origin/main (0123456789ab)",
            ),
            (Source::Vouched { commit: Some(commit) }, "the version that a person trusted (0123456789ab)"),
            (Source::Vouched { commit: None }, "the version that a person trusted"),
            (Source::BuiltIn, "the built-in rules"),
        ] {
            assert_eq!(source.to_string(), words);
        }
    }
}
