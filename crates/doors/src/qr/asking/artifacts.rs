//! The files a phase looks at: read, and remembered for the commands after the first.

use super::AskError;
use crate::qr::door::Qr;
use crate::qr::material::Artifact;
use countersign_core::digest::Digest;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::LedgerError;
use countersign_engine::workspace::Root;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How large an artifact may be.
pub const ARTIFACT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// How many artifacts a phase may have.
pub const ARTIFACTS_MAX: usize = 500;
/// Plans that are looked at where nobody names anything, in the state directory.
const PLANS: [&str; 2] = ["plan.json", "plan.md"];
/// The kind of the note that remembers artifacts.
const KIND: &str = "qr_artifacts";

/// What is kept in mind about the artifacts of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Where they are.
    pub paths: Vec<PathBuf>,
    /// What they were when all that blocks was verified last; none where that was never so.
    #[serde(default)]
    pub verified: Option<Digest>,
}

/// Reads artifacts. Everything that is wrong with any of them is said.
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
    // Opening a pipe would wait for somebody to write to it.
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = vec![];
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(ARTIFACT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > ARTIFACT_BYTES_MAX {
        return Err(format!("it has more than {ARTIFACT_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// What an artifact is called: its path in the project, or a name of its own where it is outside.
fn name(root: &Root, from: &Path, known: &[Artifact]) -> String {
    if let Ok(path) = root.relative(root.path(), from) {
        return path;
    }
    let file = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names =
        std::iter::once(format!("outside/{file}")).chain((2..).map(|n| format!("outside/{n}/{file}")));
    let is_free = |name: &String| known.iter().all(|artifact| artifact.path != *name);
    names.into_iter().find(is_free).unwrap_or(file)
}

/// Keeps in mind which files a phase looks at, and what was verified.
pub async fn remember(qr: &Qr, remembered: &Remembered) -> Result<(), LedgerError> {
    let stream = stream(qr);
    let mut transaction = qr.ledger.transaction().await?;
    let known = transaction.notes(&stream).await?.len() as u64;
    let body = serde_json::to_string(remembered).unwrap_or_default();
    transaction.note(&stream, known, &[(KIND, body)], now_ms()).await?;
    transaction.commit().await
}

/// What is kept in mind: the files that were named last, else the plan in the state directory.
pub async fn remembered(qr: &Qr) -> Result<Remembered, LedgerError> {
    let notes = qr.ledger.notes(&stream(qr)).await?;
    let last = notes.last().and_then(|note| serde_json::from_str::<Remembered>(&note.body).ok());
    Ok(last.unwrap_or_else(|| {
        let plans = PLANS.iter().map(|name| qr.dir.path().join(name));
        Remembered { paths: plans.filter(|path| path.is_file()).collect(), verified: None }
    }))
}

fn stream(qr: &Qr) -> String {
    format!("{}/artifacts", qr.stream())
}
