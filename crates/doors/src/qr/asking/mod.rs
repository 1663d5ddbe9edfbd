//! The questions of this door to reviewers. Verifying an item is a review of its own, through the engine; the rest are
//! consultations, whose replies are checked here before they are used.

mod artifacts;
mod consulting;
mod reconciling;
mod verifying;

pub use artifacts::{Remembered, plans, read, remember, remembered};
pub use reconciling::Milestone;
pub use verifying::{Unruled, Verified};

use super::door::{Qr, QrError};
use super::material::Materials;
use super::modules::{Module, Modules, When};
use countersign_core::policy::Policy;
use countersign_engine::engine::{Engine, EngineError};
use countersign_engine::reviewer::Failed;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum AskError {
    #[error("{}", .0.join("\n"))]
    Material(Vec<String>),
    #[error("{detail}", detail = .0.detail)]
    NoAnswer(Failed),
    #[error(transparent)]
    Qr(#[from] QrError),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl AskError {
    fn material(words: impl Into<String>) -> Self {
        Self::Material(vec![words.into()])
    }
}

pub struct Asking<'a> {
    pub qr: &'a Qr,
    pub engine: &'a Engine,
    pub materials: &'a Materials,
    pub modules: &'a Modules,
    /// The policy of the project: what reviews may cost and how long rulings stand.
    pub policy: &'a Policy,
}

impl Asking<'_> {
    fn used(&self) -> Vec<&Module> {
        self.modules.used(When::Phase(self.qr.phase)).collect()
    }

    fn exists(&self, path: &str) -> bool {
        let root = &self.engine.planner().root;
        root.relative(root.path(), path.as_ref()).is_ok_and(|path| root.join(&path).is_file())
    }
}
