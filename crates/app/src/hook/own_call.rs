//! Whether this hook runs below a call of Countersign, whose process judges the agent. The variable alone proves nothing:
//! an agent can set it.

use super::Note;
use crate::author::OWN_CALL;
use crate::ledger_place;
use crate::project::gate_environment;
use countersign_core::ids::CallId;
use countersign_engine::config;
use countersign_engine::process::is_below_guard;
use std::ffi::OsStr;
use std::path::Path;

/// Whether the call in the variable runs above this process: its guard is an ancestor, and the ledger has its question
/// as open and performed by a living process.
pub async fn is_real(place: Option<&Path>, note: Note) -> bool {
    let Some(mark) = std::env::var_os(OWN_CALL) else { return false };
    let real = is_below_guard(OWN_CALL, &mark) && is_on_record(&mark, place).await;
    if !real {
        note(&format!("{OWN_CALL} is ignored: this hook was not started by that countersign process"));
    }
    real
}

/// Only questions are in the ledger. Agents of a run, fixers and commands are known by their guard alone, and so is a
/// reviewer outside of a project.
async fn is_on_record(mark: &OsStr, place: Option<&Path>) -> bool {
    let (Some(mark), Some(place)) = (mark.to_str().filter(|mark| mark.starts_with(CallId::PREFIX)), place)
    else {
        return true;
    };
    let Ok(root) = config::find_root(place, &gate_environment()) else { return false };
    match ledger_place::existing(&root).await {
        Ok(Some(ledger)) => {
            let under_way = ledger.is_under_way(&CallId::from_text(mark)).await.unwrap_or(false);
            ledger.close().await;
            under_way
        }
        Ok(None) | Err(_) => false,
    }
}
