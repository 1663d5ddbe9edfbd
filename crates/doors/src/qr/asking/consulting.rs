//! The consultations that give items, and fixes of failed items.

use super::{AskError, Asking};
use crate::qr::item::Item;
use crate::qr::material::Shows;
use crate::qr::prompts::shown;
use crate::qr::state::State;
use crate::qr::texts::blocking_failures;
use crate::qr::{items_input, prompts, replies};
use countersign_engine::engine::Consultation;
use std::collections::{BTreeMap, HashMap};
use tokio_util::sync::CancellationToken;

impl Asking<'_> {
    pub fn decomposition(&self) -> Result<Consultation, AskError> {
        let phase = self.qr.phase;
        let artifacts = &self.materials.artifacts;
        if artifacts.is_empty() {
            return Err(AskError::material("there is no artifact: name one with --artifact FILE"));
        }
        Ok(Consultation {
            name: format!("decompose:{phase}"),
            about: self.qr.stream(),
            system_prompt: prompts::decompose(phase, &self.used(), &self.materials.plan),
            files: artifacts.iter().map(|artifact| shown(&artifact.path, &artifact.text)).collect(),
            shape: prompts::ITEMS,
        })
    }

    /// Items from a reviewer, and the reviewer. They are checked like those of callers, and each scope must show something.
    pub async fn decompose(&self, cancel: &CancellationToken) -> Result<(Vec<Item>, String), AskError> {
        let accept = |value: &serde_json::Value| {
            let only = serde_json::json!({ "items": value["items"] });
            let items = items_input::items(&only, self.qr.phase)?;
            let all: Vec<&Item> = items.iter().collect();
            let nowhere = self.materials.nowhere(&all, &|path| self.exists(path)).into_iter().next();
            nowhere.map_or(Ok(items), Err)
        };
        let consulted = self.engine.consult(&self.decomposition()?, accept, cancel).await?;
        let items = consulted.result.map_err(AskError::NoAnswer)?;
        Ok((items, consulted.reviewer.unwrap_or_default()))
    }

    pub fn fixing(&self, state: &State) -> Consultation {
        let failed = blocking_failures(state, &self.qr.policy);
        let mut files = vec![prompts::failed_items(&failed)];
        files.extend(self.shown_of(&failed).iter().map(|(name, text)| shown(name, text)));
        Consultation {
            name: format!("fix:{}", self.qr.phase),
            about: self.qr.stream(),
            system_prompt: prompts::fix(self.qr.phase),
            files,
            shape: prompts::FIXES,
        }
    }

    /// The material of failed items, as far as it exists: a finding can be fixed without.
    fn shown_of(&self, items: &[&Item]) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for item in items {
            match self.materials.shows(&item.scope, &|path| self.exists(path)) {
                Ok(Shows::Everything) => {
                    let all = self.materials.artifacts.iter();
                    texts.extend(all.map(|artifact| (artifact.path.clone(), artifact.text.clone())));
                }
                Ok(Shows::Part(part)) => {
                    texts.insert(part.name(), part.text.clone());
                }
                Ok(Shows::File(path)) => {
                    let root = &self.engine.planner().root;
                    let read = super::read(root, &[root.join(path)]).unwrap_or_default();
                    texts.extend(read.into_iter().map(|artifact| (artifact.path, artifact.text)));
                }
                Err(_) => {}
            }
        }
        texts
    }

    pub async fn fixes(
        &self,
        state: &State,
        cancel: &CancellationToken,
    ) -> Result<HashMap<String, String>, AskError> {
        let failed = blocking_failures(state, &self.qr.policy);
        if failed.is_empty() {
            return Ok(HashMap::new());
        }
        let accept = |value: &serde_json::Value| replies::fixes(value, &failed);
        let consulted = self.engine.consult(&self.fixing(state), accept, cancel).await?;
        consulted.result.map_err(AskError::NoAnswer)
    }
}
