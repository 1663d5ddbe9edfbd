//! The list of files that hooks keep between calls, so that a stop without changes reads none of them. Its digest is in the
//! ledger, because the list itself is beside it, where agents can write.

use crate::Failure;
use crate::ledger_place;
use countersign_core::digest::Digest;
use countersign_engine::fresh::now_ms;
use countersign_engine::git::Kept;
use countersign_engine::ledger::Ledger;
use serde::{Deserialize, Serialize};
use std::path::Path;

const STREAM: &str = "room:";
const WRITTEN: &str = "written";

#[derive(Serialize, Deserialize)]
struct Written {
    digest: Digest,
}

/// The list of a folder. None in CI, where every file is read.
pub(super) async fn kept(ledger: Option<&Ledger>, root: &Path) -> Result<Option<Kept>, Failure> {
    let Some(ledger) = ledger.filter(|_| std::env::var_os("CI").is_none()) else { return Ok(None) };
    let name = Kept::name(root);
    let note = ledger.last_note(&format!("{STREAM}{name}")).await?;
    let written = note.and_then(|note| serde_json::from_str::<Written>(&note.body).ok());
    Ok(Some(Kept::new(&ledger_place::ledger_dir(root), &name, written.map(|written| written.digest))))
}

/// Puts a list on record that was written anew. Without it the list does not count.
pub(super) async fn record(root: &Path, kept: &Kept) -> Result<(), Failure> {
    let Some(digest) = kept.renewed() else { return Ok(()) };
    let body = serde_json::to_string(&Written { digest });
    let body = body.map_err(|error| Failure::internal(error.to_string()))?;
    let stream = format!("{STREAM}{}", Kept::name(root));
    let ledger = ledger_place::open(root).await?;
    let mut transaction = ledger.transaction().await?;
    let seen = transaction.last_note(&stream).await?.map_or(0, |note| note.n);
    transaction.note(&stream, seen, &[(WRITTEN, body)], now_ms()).await?;
    transaction.commit().await?;
    ledger.close().await;
    Ok(())
}
