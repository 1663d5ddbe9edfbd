//! Setting a state file right from the ledger: items that are gone or easier, and rulings that nobody gave.

use super::door::{Qr, QrError};
use super::file::StateDir;
use super::on_record::{Note, OnRecord};
use super::phase::Phase;
use super::state::State;
use countersign_core::policy::GatePolicy;
use countersign_core::review::Actor;
use countersign_engine::ledger::{Ledger, LedgerError};
use std::path::{Path, PathBuf};

const STREAMS_MAX: u32 = 1000;
const GONE: &str = "the state file is gone";

impl Qr {
    /// The phases that the ledger has notes of.
    pub async fn all(ledger: &Ledger, policy: &GatePolicy, root: &Path) -> Result<Vec<Self>, LedgerError> {
        let streams = ledger.streams(&format!("{}/", super::DOOR), STREAMS_MAX).await?;
        let phase = |stream: &String| {
            let (dir, phase) = place(stream)?;
            let (dir, policy) = (StateDir::new(dir), policy.clone());
            Some(Self { dir, phase, policy, root: root.to_owned(), ledger: ledger.clone() })
        };
        Ok(streams.iter().filter_map(phase).collect())
    }

    /// What the ledger contradicts in the state file, a line each.
    pub async fn disagreements(&self) -> Result<Vec<String>, QrError> {
        match self.dir.read(self.phase)? {
            Some(found) => {
                let (state, (on, _)) = self.on_record(&found).await?;
                Ok(on.disagreements(&state))
            }
            None => {
                let on = OnRecord::of(&self.notes().await?);
                Ok(on.has_items().then(|| GONE.to_owned()).into_iter().collect())
            }
        }
    }

    /// Sets the state file right.
    pub async fn reconcile(&self, by: &Actor) -> Result<(), QrError> {
        self.dir.create()?;
        let locked = self.dir.lock(self.phase)?;
        let before = locked.read()?;
        let on = OnRecord::of(&self.notes().await?);
        let state = match &before {
            Some(found) => found.state.clone(),
            None => State::new(self.phase, vec![]),
        };
        self.write(&locked, before.as_ref(), &on.restored(&state), Note::Reconciled { by: by.clone() }).await
    }
}

/// The state directory and the phase that a stream is named after.
fn place(stream: &str) -> Option<(PathBuf, Phase)> {
    let mut parts = stream.split('/').skip(1);
    let (dir, phase) = (decoded(parts.next()?)?, parts.next()?);
    parts.next().is_none().then_some(())?;
    let phase = Phase::ALL.into_iter().find(|known| known.name() == phase)?;
    Some((PathBuf::from(dir), phase))
}

fn decoded(part: &str) -> Option<String> {
    let mut bytes = vec![];
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (hex, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::ids::Subject;

    #[test]
    fn a_stream_leads_to_its_file() {
        let stream = Subject::new("qr", ["/tmp/a b/ü%", "plan-code"]);
        assert_eq!(place(stream.as_str()), Some((PathBuf::from("/tmp/a b/ü%"), Phase::PlanCode)));
        for other in
            ["qr", "qr/a", "qr/a/plan-kode", "qr/a/plan-code/x", "qr/%2/plan-code", "qr/%ff/plan-code"]
        {
            assert_eq!(place(other), None, "{other}");
        }
    }
}
