//! What a person has trusted, as notes in the ledger: one stream for each project of the repository. The newest note of a
//! kind counts.

use super::programs::Steered;
use super::site::Site;
use crate::Failure;
use countersign_core::review::Actor;
use countersign_engine::fresh::now_ms;
use countersign_engine::git::PinnedRemote;
use countersign_engine::ledger::{Ledger, Note};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The beginning of the names of the streams; the path of the project in the worktree follows.
const STREAM: &str = "trust:";
const STREAMS_MAX: u32 = 10_000;

/// What a person has seen and said yes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    pub by: Actor,
    /// The branch of the remote whose files count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<TrustedRemote>,
    /// Whether the files of this folder counted over those of the remote.
    #[serde(default)]
    pub vouched: bool,
    /// The scripts of the project that judge, by their paths in the worktree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
    /// The files of the folder as they were, as a commit; none outside of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The configuration file itself, where there is no git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The user's own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The review command of the user that the configuration names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_command: Option<OwnCommand>,
    /// Folders of programs, beside those of the system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// The variables that steer programs, and those that the person named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Steered>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// The `PATH` of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A review command in the home of the user, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCommand {
    pub name: String,
    pub text: String,
}

/// The remote as it was when a person saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedRemote {
    #[serde(flatten)]
    pub pinned: PinnedRemote,
    pub commit: String,
    /// What was fetched of it.
    pub fetched: String,
}

/// A later state of the remote's branch, as the remote itself said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Confirmed {
    pub(super) commit: String,
    pub(super) fetched: String,
}

#[derive(Serialize)]
struct Revoked<'a> {
    by: &'a Actor,
}

/// What stands in the stream of a project now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) trusted: Option<Trusted>,
    pub(super) confirmed: Option<Confirmed>,
}

const TRUSTED: &str = "trusted";
const CONFIRMED: &str = "confirmed";
const REVOKED: &str = "revoked";

/// The paths of all projects of the repository that a person has trusted.
pub(super) async fn paths(ledger: &Ledger) -> Result<Vec<String>, Failure> {
    let streams = ledger.streams(STREAM, STREAMS_MAX).await?;
    let mut paths = vec![];
    for stream in streams {
        if let Some(path) = stream.strip_prefix(STREAM)
            && read(ledger, path).await?.trusted.is_some()
        {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

pub(super) async fn read(ledger: &Ledger, path: &str) -> Result<Record, Failure> {
    fold(&ledger.notes(&format!("{STREAM}{path}")).await?)
}

fn fold(notes: &[Note]) -> Result<Record, Failure> {
    let mut record = Record::default();
    for note in notes {
        let wrong = |error: serde_json::Error| {
            Failure::internal(format!("the record of what is trusted cannot be read: {error}"))
                .hint("a newer version of countersign may have written it")
        };
        match note.kind.as_str() {
            TRUSTED => {
                let trusted = serde_json::from_str(&note.body).map_err(wrong)?;
                record = Record { trusted: Some(trusted), confirmed: None };
            }
            CONFIRMED => record.confirmed = Some(serde_json::from_str(&note.body).map_err(wrong)?),
            REVOKED => record = Record::default(),
            // A note of a newer version changes nothing that this one knows.
            _ => {}
        }
    }
    Ok(record)
}

pub(super) async fn trust(ledger: &Ledger, site: &Site, trusted: &Trusted) -> Result<(), Failure> {
    write(ledger, &site.path, TRUSTED, trusted).await
}

pub(super) async fn confirm(ledger: &Ledger, path: &str, confirmed: &Confirmed) -> Result<(), Failure> {
    write(ledger, path, CONFIRMED, confirmed).await
}

pub(super) async fn revoke(ledger: &Ledger, site: &Site, by: &Actor) -> Result<(), Failure> {
    write(ledger, &site.path, REVOKED, &Revoked { by }).await
}

async fn write(ledger: &Ledger, path: &str, kind: &str, body: &impl Serialize) -> Result<(), Failure> {
    let stream = format!("{STREAM}{path}");
    let body = serde_json::to_string(body).map_err(|error| Failure::internal(error.to_string()))?;
    let mut transaction = ledger.transaction().await?;
    let seen = transaction.last_note(&stream).await?.map_or(0, |note| note.n);
    transaction.note(&stream, seen, &[(kind, body)], now_ms()).await?;
    Ok(transaction.commit().await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(n: u64, kind: &str, body: &str) -> Note {
        Note { n, at_ms: 0, kind: kind.to_owned(), body: body.to_owned() }
    }

    #[test]
    fn the_newest_word_of_a_person_counts() {
        let by = r#""by":{"name":"ann","person":true,"channel":"terminal"}"#;
        let trusted = |snapshot: &str| format!(r#"{{{by},"snapshot":"{snapshot}"}}"#);
        let confirmed = r#"{"commit":"c","fetched":"f"}"#;
        let snapshot = |notes: &[Note]| {
            let record = fold(notes).unwrap();
            (record.trusted.and_then(|trusted| trusted.snapshot), record.confirmed.is_some())
        };
        let one = note(1, TRUSTED, &trusted("a"));
        let two = note(2, CONFIRMED, confirmed);
        let three = note(3, TRUSTED, &trusted("b"));
        let four = note(4, REVOKED, "{}");
        let other = note(5, "something_new", "{}");
        assert_eq!(snapshot(&[]), (None, false));
        assert_eq!(snapshot(&[one.clone(), two.clone()]), (Some("a".into()), true));
        assert_eq!(snapshot(&[one.clone(), two.clone(), three.clone()]), (Some("b".into()), false));
        assert_eq!(snapshot(&[one.clone(), four]), (None, false));
        assert_eq!(snapshot(&[one, other]), (Some("a".into()), false));
        assert!(fold(&[note(1, TRUSTED, "{")]).is_err());
    }
}
