//! What this door asks reviewers: to break work into items, to verify them one by one, how failures are mended, and
//! whether what was planned is there.
//!
//! Verifying is a review of its own for each item, through the engine like every review. The rest are
//! consultations: their answers are data, checked here before anything is made of them.

mod artifacts;
mod consulting;
mod reconciling;
mod verifying;

pub use artifacts::{ARTIFACT_BYTES_MAX, ARTIFACTS_MAX, Remembered, read, remember, remembered};
pub use reconciling::Milestone;
pub use verifying::{Unruled, Verified};

use super::door::{Qr, QrError};
use super::material::Materials;
use super::modules::{Module, Modules, When};
use countersign_core::outcome::NoVerdict;
use countersign_core::policy::Policy;
use countersign_engine::engine::{Engine, EngineError};
use countersign_engine::reviewer::Failed;
use thiserror::Error;

/// Why something could not be asked, or what was answered could not be used.
#[derive(Debug, Error)]
pub enum AskError {
    /// What is asked about cannot be looked at; everything that is wrong.
    #[error("{}", .0.join("\n"))]
    Material(Vec<String>),
    /// Nobody gave an answer that could be used.
    #[error("{detail}", detail = .0.detail)]
    NoAnswer(Failed),
    /// The state.
    #[error(transparent)]
    Qr(#[from] QrError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl AskError {
    fn material(words: impl Into<String>) -> Self {
        Self::Material(vec![words.into()])
    }

    /// Why there is no answer, where that is it.
    pub fn no_verdict(&self) -> Option<NoVerdict> {
        match self {
            Self::NoAnswer(failed) => Some(failed.why),
            _ => None,
        }
    }
}

/// Everything it takes to ask about a phase.
pub struct Asking<'a> {
    /// The phase.
    pub qr: &'a Qr,
    /// Who asks.
    pub engine: &'a Engine,
    /// What is looked at.
    pub materials: &'a Materials,
    /// What phases look at.
    pub modules: &'a Modules,
    /// What reviews of this project may cost and how long rulings stand.
    pub policy: &'a Policy,
}

impl Asking<'_> {
    fn used(&self) -> Vec<&Module> {
        self.modules.used(When::Phase(self.qr.phase)).collect()
    }

    /// Whether there is a file of the project at a path.
    fn exists(&self, path: &str) -> bool {
        let root = &self.engine.planner().root;
        root.relative(root.path(), path.as_ref()).is_ok_and(|path| root.join(&path).is_file())
    }
}
