//! Where the work of an agent begins: what passed last on its branch. The ledger says which commit that is. The ref below
//! `refs/countersign/passed` only keeps the commit, since everybody can write a ref.

use super::look::no_repository;
use crate::Failure;
use crate::ledger_place;
use countersign_engine::fresh::now_ms;
use countersign_engine::git::{Anchor, Checkout, Git};
use countersign_engine::ledger::Ledger;
use serde::{Deserialize, Serialize};
use std::path::Path;

const STREAM: &str = "anchor:";
const PASSED: &str = "passed";
/// How many branches are looked at for the nearest anchor.
const STREAMS_MAX: u32 = 1000;

#[derive(Serialize, Deserialize)]
struct Kept {
    commit: String,
}

/// The anchors of a repository.
pub(super) struct Anchors<'g> {
    git: &'g Git,
    ledger: Option<Ledger>,
}

impl<'g> Anchors<'g> {
    pub(super) async fn of(git: &'g Git, root: &Path) -> Result<Self, Failure> {
        Ok(Self { git, ledger: ledger_place::existing(root).await? })
    }

    /// What passed last where the worktree stands.
    pub(super) async fn at(&self, at: &Checkout) -> Result<Option<Anchor>, Failure> {
        match self.recorded(&stream(at)).await? {
            Some(commit) => self.git.anchor(&commit).await.map_err(no_repository),
            None => Ok(None),
        }
    }

    /// What passed last anywhere in the history of what is checked out, the nearest of them: a new branch, another name or a
    /// detached HEAD leaves no commit out.
    pub(super) async fn nearest(&self, at: &Checkout) -> Result<Option<Anchor>, Failure> {
        let (Some(ledger), Some(head)) = (&self.ledger, &at.head) else { return Ok(None) };
        let mut nearest: Option<(u64, Anchor)> = None;
        for stream in ledger.streams(STREAM, STREAMS_MAX).await? {
            let Some(commit) = self.recorded(&stream).await? else { continue };
            let Some(anchor) = self.git.anchor(&commit).await.map_err(no_repository)? else { continue };
            let Some(parent) = &anchor.parent else { continue };
            let Some(distance) = self.git.distance(parent, head).await.map_err(no_repository)? else {
                continue;
            };
            if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                nearest = Some((distance, anchor));
            }
        }
        Ok(nearest.map(|(_, anchor)| anchor))
    }

    async fn recorded(&self, stream: &str) -> Result<Option<String>, Failure> {
        let Some(ledger) = &self.ledger else { return Ok(None) };
        let note = ledger.last_note(stream).await?;
        Ok(note.and_then(|note| serde_json::from_str::<Kept>(&note.body).ok()).map(|kept| kept.commit))
    }

    pub(super) fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    pub(super) async fn close(self) {
        if let Some(ledger) = self.ledger {
            ledger.close().await;
        }
    }
}

fn stream(at: &Checkout) -> String {
    format!("{STREAM}{}", at.anchor_name())
}

/// Records an anchor that git keeps already.
pub(super) async fn record(root: &Path, at: &Checkout, anchor: &Anchor) -> Result<(), Failure> {
    let ledger = ledger_place::open(root).await?;
    let body = serde_json::to_string(&Kept { commit: anchor.commit.clone() });
    let body = body.map_err(|error| Failure::internal(error.to_string()))?;
    let stream = stream(at);
    let mut transaction = ledger.transaction().await?;
    let last = transaction.last_note(&stream).await?;
    if last.as_ref().is_none_or(|last| last.body != body) {
        let seen = last.map_or(0, |note| note.n);
        transaction.note(&stream, seen, &[(PASSED, body)], now_ms()).await?;
        transaction.commit().await?;
    }
    ledger.close().await;
    Ok(())
}
