//! The door: every change of a phase's state, in the file under its lock and then in the ledger.
//!
//! The file owns items, statuses and the round; the ledger owns who ruled, what was accepted, and what a scope
//! looked like when it passed. A file that others changed is taken as it is, and that is recorded.

use super::file::{FileError, Loaded, Locked, StateDir};
use super::item::{Item, Status};
use super::note::{Note, passed_digests};
use super::on_record::OnRecord;
use super::phase::Phase;
use super::scope_digest;
use super::state::State;
use super::transition::{self, Fixed, Refused, Ruling, Touched};
use countersign_core::digest::Digest;
use countersign_core::ids::Subject;
use countersign_core::policy::GatePolicy;
use countersign_core::review::Actor;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::{Ledger, LedgerError};
use std::collections::HashMap;
use std::path::PathBuf;
use thiserror::Error;

/// Why something was not done. The file is as it was, except after an error of the ledger.
#[derive(Debug, Error)]
pub enum QrError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The rules of transitions.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The ledger; what it should have recorded is in the file already.
    #[error("the state file is written, and the ledger does not know of it: {0}")]
    Ledger(#[from] LedgerError),
    /// The ledger, before anything was written.
    #[error("nothing was changed: {0}")]
    Unread(LedgerError),
    /// The phase has its items.
    #[error("the phase has been broken into {0} items already")]
    Decomposed(usize),
    /// It is for a person.
    #[error("{0}")]
    PeopleOnly(&'static str),
}

/// One phase in one state directory.
pub struct Qr {
    /// Where the state files are.
    pub dir: StateDir,
    /// The phase.
    pub phase: Phase,
    /// What blocks when, and where the loop ends.
    pub policy: GatePolicy,
    /// The project's root, which scopes and files are relative to.
    pub root: PathBuf,
    /// Where it is recorded who did what.
    pub ledger: Ledger,
}

impl Qr {
    /// The stream of this phase in the ledger.
    pub fn stream(&self) -> String {
        let dir = self.dir.path().canonicalize().unwrap_or_else(|_| self.dir.path().to_owned());
        Subject::new(super::DOOR, [&*dir.to_string_lossy(), self.phase.name()]).as_str().to_owned()
    }

    /// Takes items. Once a phase, unless somebody asks for it again: then the round stays what it is. After a failure
    /// that is for people: other items in the place of those that failed would be a way past the gate.
    pub async fn decompose(
        &self,
        items: Vec<Item>,
        again: Option<&Actor>,
        by: &Actor,
    ) -> Result<State, QrError> {
        let locked = self.dir.lock(self.phase)?;
        let before = locked.read()?;
        let state = match &before {
            Some(known) if again.is_none() && !known.state.items.is_empty() => {
                return Err(QrError::Decomposed(known.state.items.len()));
            }
            Some(known) => {
                self.may_begin_again(&known.state, again)?;
                let mut state = known.state.clone();
                transition::again(&mut state, items);
                state
            }
            None => State::new(self.phase, items),
        };
        let note = Note::Decomposed { items: state.items.len(), round: state.iteration, by: by.clone() };
        self.write(&locked, before.as_ref(), &state, vec![note]).await?;
        Ok(state)
    }

    /// Whether somebody may put other items in the place of those there are.
    pub fn may_begin_again(&self, known: &State, asks: Option<&Actor>) -> Result<(), QrError> {
        match asks.is_some_and(Actor::may_decide) || is_untouched(known) {
            true => Ok(()),
            false => Err(QrError::PeopleOnly(
                "something has failed in this phase: putting other items in its place is for people",
            )),
        }
    }

    /// Records a ruling: of a review, or somebody's word. `digest` is what the item's scope named when it was
    /// looked at.
    pub async fn record(
        &self,
        id: &str,
        ruling: &Ruling,
        digest: Option<Digest>,
        (review, by): (bool, &Actor),
    ) -> Result<State, QrError> {
        let locked = self.dir.lock(self.phase)?;
        let before = locked.require()?;
        let mut state = before.state.clone();
        transition::record(&mut state, id, ruling)?;
        let status = ruling.status();
        let note = Note::Recorded {
            item: id.to_owned(),
            status: status.name().to_owned(),
            round: state.iteration,
            scope_digest: digest.filter(|_| status == Status::Pass),
            review,
            by: by.clone(),
        };
        self.write(&locked, Some(&before), &state, vec![note]).await?;
        Ok(state)
    }

    /// Takes a fix that touched these files, given relative to the root.
    pub async fn fixed(&self, files: &[String], by: &Actor) -> Result<(State, Fixed), QrError> {
        let locked = self.dir.lock(self.phase)?;
        let before = locked.require()?;
        let passed = passed_digests(&self.ledger.notes(&self.stream()).await.map_err(QrError::Unread)?);
        let mut state = before.state.clone();
        let fixed = transition::fixed(&mut state, &self.policy, !files.is_empty(), |item| {
            self.touched(item, files, &passed)
        })?;
        if fixed == Fixed::default() {
            return Ok((state, fixed));
        }
        let note = Note::Fixed {
            round: state.iteration,
            reopened: fixed.reopened.clone(),
            files: files.to_vec(),
            by: by.clone(),
        };
        self.write(&locked, Some(&before), &state, vec![note]).await?;
        Ok((state, fixed))
    }

    /// Whether a fix changed what an item is about. Only a file that has the digest it passed with is known to
    /// be as it was.
    fn touched(&self, item: &Item, files: &[String], passed: &HashMap<String, Digest>) -> Touched {
        if scope_digest::names_one_of(&self.root, &item.scope, files) {
            return Touched::Yes;
        }
        match (passed.get(&item.id), scope_digest::now(&self.root, &item.scope)) {
            (Some(then), Some(now)) if *then == now => Touched::No,
            (Some(_), Some(_)) => Touched::Yes,
            _ => Touched::Unknown,
        }
    }

    /// The files that are not what they were when an item about them passed or was accepted.
    pub async fn changed(&self) -> Result<Vec<String>, QrError> {
        let state = self.dir.require(self.phase)?.state;
        let notes = self.ledger.notes(&self.stream()).await.map_err(QrError::Unread)?;
        Ok(self.changed_in(&state, &notes))
    }

    fn changed_in(&self, state: &State, notes: &[countersign_engine::ledger::Note]) -> Vec<String> {
        let passed = passed_digests(notes);
        // Many items may be about one file, which is read once.
        let mut now: HashMap<&str, Option<Digest>> = HashMap::new();
        let mut changed = vec![];
        for item in state.items.iter().filter(|item| item.status == Status::Pass || item.accepted) {
            let (Some(then), Some(file)) = (passed.get(&item.id), item.scope.file()) else { continue };
            let now = now.entry(file).or_insert_with(|| scope_digest::now(&self.root, &item.scope));
            if now.as_ref() != Some(then) && changed.iter().all(|known| known != file) {
                changed.push(file.to_owned());
            }
        }
        changed
    }

    /// What is on record about a state, and what somebody should know who relies on it. Where the two do not agree
    /// they are looked at again under the lock: somebody may have written one of them just then.
    pub async fn on_record(&self, loaded: &Loaded) -> Result<(OnRecord, Vec<String>), QrError> {
        let (on, doubts) = self.held_against(loaded).await?;
        if doubts.is_empty() || !self.dir.has_lock(self.phase) {
            return Ok((on, doubts));
        }
        // Looking needs no lock; where there is none to be had, the doubts stay.
        let Ok(locked) = self.dir.lock(self.phase) else { return Ok((on, doubts)) };
        match locked.read() {
            Ok(Some(now)) => self.held_against(&now).await,
            _ => Ok((on, doubts)),
        }
    }

    async fn held_against(&self, loaded: &Loaded) -> Result<(OnRecord, Vec<String>), QrError> {
        let notes = self.ledger.notes(&self.stream()).await.map_err(QrError::Unread)?;
        let on = OnRecord::of(&notes);
        let changed = self.changed_in(&loaded.state, &notes);
        let doubts = on.doubts(&loaded.state, &loaded.digest, &changed);
        Ok((on, doubts))
    }

    /// Takes an item as it is, by a person's word.
    pub async fn accept(&self, id: &str, reason: &str, by: &Actor) -> Result<State, QrError> {
        if !by.may_decide() {
            return Err(QrError::PeopleOnly("accepting an item is for people"));
        }
        let locked = self.dir.lock(self.phase)?;
        let before = locked.require()?;
        let mut state = before.state.clone();
        transition::accept(&mut state, id, reason)?;
        let scope_digest = state.item(id).and_then(|item| scope_digest::now(&self.root, &item.scope));
        let note = Note::Accepted {
            item: id.to_owned(),
            reason: reason.trim().to_owned(),
            round: state.iteration,
            scope_digest,
            by: by.clone(),
        };
        self.write(&locked, Some(&before), &state, vec![note]).await?;
        Ok(state)
    }

    /// Begins the phase again. After a failure that is for people: a loop that gives itself new rounds has no
    /// end. Says whether there was anything to remove.
    pub async fn reset(&self, by: &Actor) -> Result<bool, QrError> {
        let locked = self.dir.lock(self.phase)?;
        let untouched = match locked.read() {
            Ok(None) => return Ok(false),
            Ok(Some(known)) => is_untouched(&known.state),
            Err(FileError::Bad(_)) => false,
            Err(error) => return Err(error.into()),
        };
        if !untouched && !by.may_decide() {
            return Err(QrError::PeopleOnly(
                "something has failed in this phase, or its file cannot be read: beginning again is for people",
            ));
        }
        locked.remove()?;
        self.note(None, None, vec![Note::Reset { by: by.clone() }]).await?;
        Ok(true)
    }

    /// Writes the file, then the ledger; the lock is held until both are done, so that the ledger has the order
    /// of the file.
    async fn write(
        &self,
        locked: &Locked,
        before: Option<&Loaded>,
        state: &State,
        notes: Vec<Note>,
    ) -> Result<(), QrError> {
        let found = before.map(|before| &before.digest);
        let after = match before {
            // Said twice: the file stays as it is, and the ledger learns of it again.
            Some(before) if before.state == *state => before.digest.clone(),
            _ => locked.write(state)?,
        };
        self.note(found, Some(&after), notes).await
    }

    async fn note(
        &self,
        found: Option<&Digest>,
        after: Option<&Digest>,
        mut notes: Vec<Note>,
    ) -> Result<(), QrError> {
        let stream = self.stream();
        let mut transaction = self.ledger.transaction().await?;
        let last = transaction.last_note(&stream).await?;
        let known = last.as_ref().map_or(0, |note| note.n);
        let left = last.as_ref().and_then(Note::file_after);
        // Beginning again leaves no file, and whoever does it says so.
        let is_reset = matches!(notes.as_slice(), [Note::Reset { .. }]);
        if found != left.as_ref() && !is_reset {
            notes.insert(0, Note::ChangedElsewhere { found: found.cloned() });
        }
        let rows: Vec<(&str, String)> = notes.iter().map(|note| (note.kind(), note.body(after))).collect();
        transaction.note(&stream, known, &rows, now_ms()).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Whether nothing has failed or been accepted yet.
fn is_untouched(state: &State) -> bool {
    state.iteration == 1 && state.items.iter().all(|item| item.fail_count == 0 && !item.accepted)
}
