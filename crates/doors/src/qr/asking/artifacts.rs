//! The artifacts of a phase: reading them, and remembering them in the ledger for later commands.

use super::AskError;
use crate::qr::door::Qr;
use crate::qr::material::Artifact;
use countersign_core::digest::Digest;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::LedgerError;
use countersign_engine::workspace::Root;
use countersign_engine::yaml::read_at_most;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const ARTIFACT_BYTES_MAX: usize = 8 * 1024 * 1024;
const ARTIFACTS_MAX: usize = 500;
/// The default artifacts, in the state directory.
const PLANS: [&str; 2] = ["plan.json", "plan.md"];
/// The prefix of the names of files outside the project.
pub(super) const OUTSIDE: &str = "outside/";
const KIND: &str = "qr_artifacts";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    pub paths: Vec<PathBuf>,
    /// Their digest when all blocking items were verified last.
    #[serde(default)]
    pub verified: Option<Digest>,
}

pub fn read(root: &Root, paths: &[PathBuf]) -> Result<Vec<Artifact>, AskError> {
    if paths.len() > ARTIFACTS_MAX {
        return Err(AskError::material(format!("there are more than {ARTIFACTS_MAX} artifacts")));
    }
    let mut artifacts: Vec<Artifact> = vec![];
    let mut problems = vec![];
    for from in paths {
        match read_one(from) {
            Ok(text) if artifacts.iter().all(|known| known.from != *from) => {
                let path = name(root, from, &artifacts);
                artifacts.push(Artifact { path, from: from.clone(), text });
            }
            Ok(_) => {}
            Err(words) => problems.push(format!("the artifact `{}` cannot be read: {words}", from.display())),
        }
    }
    if problems.is_empty() { Ok(artifacts) } else { Err(AskError::Material(problems)) }
}

fn read_one(path: &Path) -> Result<String, String> {
    let bytes = read_at_most(path, ARTIFACT_BYTES_MAX).map_err(|error| error.to_string())?;
    if bytes.len() > ARTIFACT_BYTES_MAX {
        return Err(format!("it has more than {ARTIFACT_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// The name of an artifact: its path in the project, or a name of its own for a file outside.
fn name(root: &Root, from: &Path, known: &[Artifact]) -> String {
    if let Ok(path) = root.relative(root.path(), from) {
        return path;
    }
    let file = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names =
        std::iter::once(format!("{OUTSIDE}{file}")).chain((2..).map(|n| format!("{OUTSIDE}{n}/{file}")));
    let is_free = |name: &String| known.iter().all(|artifact| artifact.path != *name);
    names.find(is_free).unwrap_or(file)
}

pub async fn remember(qr: &Qr, remembered: &Remembered) -> Result<(), LedgerError> {
    let stream = stream(qr);
    let mut transaction = qr.ledger.transaction().await?;
    let known = transaction.notes(&stream).await?.len() as u64;
    let body = serde_json::to_string(remembered).unwrap_or_default();
    transaction.note(&stream, known, &[(KIND, body)], now_ms()).await?;
    transaction.commit().await
}

/// The artifacts that were named last, else the plans in the state directory.
pub async fn remembered(qr: &Qr) -> Result<Remembered, LedgerError> {
    let notes = qr.ledger.notes(&stream(qr)).await?;
    let last = notes.last().and_then(|note| serde_json::from_str::<Remembered>(&note.body).ok());
    Ok(last.unwrap_or_else(|| Remembered { paths: plans(qr.dir.path()), verified: None }))
}

/// The plans in a state directory.
pub fn plans(dir: &Path) -> Vec<PathBuf> {
    PLANS.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect()
}

fn stream(qr: &Qr) -> String {
    format!("{}/artifacts", qr.stream())
}
