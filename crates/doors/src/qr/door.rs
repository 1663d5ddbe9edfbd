//! Every change of a phase's state: in the file under its lock, then in the ledger. The file owns items, statuses and
//! the round; the ledger who ruled, what was accepted, and the content that passed. It also records changes by others.

use super::asking;
use super::file::{FileError, Loaded, Locked, StateDir};
use super::item::{Item, Status};
use super::material::Materials;
use super::on_record::{KnownItem, Note, OnRecord, passed_digests};
use super::phase::Phase;
use super::state::State;
use super::transition::{self, Fixed, Refused, Ruling, Touched};
use countersign_core::digest::Digest;
use countersign_core::ids::Subject;
use countersign_core::policy::GatePolicy;
use countersign_core::review::Actor;
use countersign_core::text::counted;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::{self, Ledger, LedgerError};
use countersign_engine::workspace::Root;
use std::collections::HashMap;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command failed. The file is unchanged, except after [`QrError::Ledger`].
#[derive(Debug, Error)]
pub enum QrError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the state file is written, but the ledger has no record of it: {0}")]
    Ledger(#[from] LedgerError),
    #[error("nothing was changed: {0}")]
    Unread(LedgerError),
    #[error("the phase already has {}", counted(*.0, "item", "items"))]
    Decomposed(usize),
    #[error("{0}")]
    PeopleOnly(&'static str),
}

pub struct Qr {
    pub dir: StateDir,
    pub phase: Phase,
    /// Which severities block in which round, and when the loop ends.
    pub policy: GatePolicy,
    /// The project root: scopes and files are relative to it.
    pub root: PathBuf,
    pub ledger: Ledger,
}

impl Qr {
    pub(super) fn stream(&self) -> String {
        self.subject([]).as_str().to_owned()
    }

    pub(super) fn subject<const N: usize>(&self, parts: [&str; N]) -> Subject {
        let dir = self.dir.path().canonicalize().unwrap_or_else(|_| self.dir.path().to_owned());
        let dir = dir.to_string_lossy();
        Subject::new(super::DOOR, [&*dir, self.phase.name()].into_iter().chain(parts))
    }

    /// Takes items: once a phase, unless `again` names who replaces them. After a failure only people may replace them.
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
                transition::replace_items(&mut state, items);
                state
            }
            None => State::new(self.phase, items),
        };
        let (round, list) = (state.iteration, KnownItem::all(&state.items));
        let note = Note::Decomposed { items: state.items.len(), round, by: by.clone(), list };
        self.write(&locked, before.as_ref(), &state, note).await?;
        Ok(state)
    }

    pub fn may_begin_again(&self, known: &State, asks: Option<&Actor>) -> Result<(), QrError> {
        let may = asks.is_some_and(Actor::may_decide) || is_untouched(known);
        let refused = "an item failed in this phase: only a person may replace the items";
        may.then_some(()).ok_or(QrError::PeopleOnly(refused))
    }

    /// Records the ruling of a review that began in a round; `content` is the digest of what it is about.
    pub async fn record_reviewed(
        &self,
        id: &str,
        ruling: &Ruling,
        (round, content): (u32, Option<Digest>),
        by: &Actor,
    ) -> Result<State, QrError> {
        self.change(|state| recorded(state, id, ruling, (Some(round), content.as_ref()), (true, by))).await
    }

    /// Records the ruling of the caller, about the content that is there now. A ruling of another round than the present
    /// one is refused.
    pub async fn record(
        &self,
        id: &str,
        ruling: &Ruling,
        round: Option<u32>,
        by: &Actor,
    ) -> Result<State, QrError> {
        let shown = self.shown().await;
        self.change(|state| {
            let content = self.content(state.find(id)?, shown.as_ref());
            recorded(state, id, ruling, (round, content.as_ref()), (false, by))
        })
        .await
    }

    async fn change(
        &self,
        transition: impl FnOnce(&mut State) -> Result<Note, Refused>,
    ) -> Result<State, QrError> {
        let locked = self.dir.lock(self.phase)?;
        let before = locked.require()?;
        let mut state = before.state.clone();
        let note = transition(&mut state)?;
        self.write(&locked, Some(&before), &state, note).await?;
        Ok(state)
    }

    /// Takes a fix that changed these files, given relative to the root.
    pub async fn fixed(&self, files: &[String], by: &Actor) -> Result<(State, Fixed), QrError> {
        let locked = self.dir.lock(self.phase)?;
        let before = locked.require()?;
        let known = (passed_digests(&self.notes().await?), self.shown().await);
        let mut state = before.state.clone();
        let fixed = transition::fixed(&mut state, &self.policy, !files.is_empty(), |item| {
            self.touched(item, files, &known)
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
        self.write(&locked, Some(&before), &state, note).await?;
        Ok((state, fixed))
    }

    /// Opens items again whose content changed since they passed, with `unknown` also those whose content then is not
    /// known. It begins no round: only a recorded fix does.
    pub async fn reopen(&self, unknown: bool, by: &Actor) -> Result<Vec<String>, QrError> {
        let locked = self.dir.lock(self.phase)?;
        let before = locked.require()?;
        let known = (passed_digests(&self.notes().await?), self.shown().await);
        let mut state = before.state.clone();
        let reopened = transition::reopen(&mut state, |item| match self.touched(item, &[], &known) {
            Touched::Yes => true,
            Touched::No => false,
            Touched::Unknown => unknown && !item.accepted,
        });
        if !reopened.is_empty() {
            let (round, files, by) = (state.iteration, vec![], by.clone());
            let note = Note::Fixed { round, reopened: reopened.clone(), files, by };
            self.write(&locked, Some(&before), &state, note).await?;
        }
        Ok(reopened)
    }

    /// Whether a fix changed the content of an item. Only one with the digest that passed is known to be unchanged.
    fn touched(
        &self,
        item: &Item,
        files: &[String],
        (passed, shown): &(HashMap<String, Digest>, Option<Materials>),
    ) -> Touched {
        // A reviewer of everything may have looked at any file.
        let is_named = item.scope.names_one_of(&self.root, files);
        if is_named || item.scope.shows_everything() && !files.is_empty() {
            return Touched::Yes;
        }
        let now = self.content(item, shown.as_ref());
        match (passed.get(&item.id), now) {
            (Some(then), Some(now)) if *then == now => Touched::No,
            (Some(_), Some(_)) => Touched::Yes,
            // What it was about is gone.
            (Some(_), None) if item.scope.file().is_some() => Touched::Yes,
            _ => Touched::Unknown,
        }
    }

    /// The digest of what an item is about, as it is now: of its file, or of what its scope shows of the artifacts.
    fn content(&self, item: &Item, shown: Option<&Materials>) -> Option<Digest> {
        match item.scope.file() {
            Some(_) => item.scope.file_digest(&self.root),
            None => shown?.content(&item.scope),
        }
    }

    /// The artifacts as they are now; none where they cannot be read.
    async fn shown(&self) -> Option<Materials> {
        let known = asking::remembered(self).await.ok()?;
        let artifacts = asking::read(&Root::new(&self.root).ok()?, &known.paths).ok()?;
        Materials::new(artifacts).ok()
    }

    pub(super) async fn notes(&self) -> Result<Vec<ledger::Note>, QrError> {
        self.ledger.notes(&self.stream()).await.map_err(QrError::Unread)
    }

    /// The files that changed since an item about them passed or was accepted.
    fn changed_in(&self, state: &State, notes: &[ledger::Note]) -> Vec<String> {
        let passed = passed_digests(notes);
        // Many items may be about one file, which is read once.
        let mut now: HashMap<&str, Option<Digest>> = HashMap::new();
        let mut changed = vec![];
        for item in state.items.iter().filter(|item| item.status == Status::Pass || item.accepted) {
            let (Some(then), Some(file)) = (passed.get(&item.id), item.scope.file()) else { continue };
            let now = now.entry(file).or_insert_with(|| item.scope.file_digest(&self.root));
            if now.as_ref() != Some(then) && changed.iter().all(|known| known != file) {
                changed.push(file.to_owned());
            }
        }
        changed
    }

    /// A state, its record, and reasons to doubt it, checked again under the lock: another process may just write.
    pub async fn on_record(&self, loaded: &Loaded) -> Result<(State, (OnRecord, Vec<String>)), QrError> {
        let (on, doubts) = self.compare(loaded).await?;
        let is_clear = doubts.is_empty() && on.contradictions(&loaded.state).is_empty();
        if is_clear || !self.dir.has_lock(self.phase) {
            return Ok((loaded.state.clone(), (on, doubts)));
        }
        // Reading needs no lock; where the lock fails, the doubts stay.
        let Ok(locked) = self.dir.lock(self.phase) else { return Ok((loaded.state.clone(), (on, doubts))) };
        match locked.read() {
            Ok(Some(now)) => {
                let compared = self.compare(&now).await?;
                Ok((now.state, compared))
            }
            _ => Ok((loaded.state.clone(), (on, doubts))),
        }
    }

    async fn compare(&self, loaded: &Loaded) -> Result<(OnRecord, Vec<String>), QrError> {
        let notes = self.notes().await?;
        let on = OnRecord::of(&notes);
        let changed = self.changed_in(&loaded.state, &notes);
        let doubts = on.doubts(&loaded.state, &loaded.digest, &changed);
        Ok((on, doubts))
    }

    pub async fn accept(&self, id: &str, reason: &str, by: &Actor) -> Result<State, QrError> {
        if !by.may_decide() {
            return Err(QrError::PeopleOnly("only a person may accept an item"));
        }
        let shown = self.shown().await;
        self.change(|state| {
            transition::accept(state, id, reason)?;
            Ok(Note::Accepted {
                item: id.to_owned(),
                reason: reason.trim().to_owned(),
                round: state.iteration,
                scope_digest: self.content(state.find(id)?, shown.as_ref()),
                by: by.clone(),
            })
        })
        .await
    }

    /// Begins the phase again; true if there was a state. After a failure only people may, so that no loop is endless.
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
                "an item failed in this phase, or its file cannot be read: only a person may reset the phase",
            ));
        }
        locked.remove()?;
        self.note(None, None, Note::Reset { by: by.clone() }, vec![]).await?;
        Ok(true)
    }

    /// Writes the file, then the ledger, both under the lock: so the ledger has the order of the file.
    pub(super) async fn write(
        &self,
        locked: &Locked,
        before: Option<&Loaded>,
        state: &State,
        note: Note,
    ) -> Result<(), QrError> {
        let found = before.map(|before| &before.digest);
        let after = match before {
            // The same command twice: the file stays as it is, and the ledger records it again.
            Some(before) if before.state == *state => before.digest.clone(),
            _ => locked.write(state)?,
        };
        let given = before.map(|before| KnownItem::all(&before.state.items)).unwrap_or_default();
        self.note(found, Some(&after), note, given).await
    }

    /// Records a note. `given` are the items that were there before: the first note records them too.
    async fn note(
        &self,
        found: Option<&Digest>,
        after: Option<&Digest>,
        note: Note,
        given: Vec<KnownItem>,
    ) -> Result<(), QrError> {
        let stream = self.stream();
        let mut transaction = self.ledger.transaction().await?;
        let last = transaction.last_note(&stream).await?;
        let known = last.as_ref().map_or(0, |note| note.n);
        let left = last.as_ref().and_then(Note::file_after);
        // A reset removes the file whatever it holds.
        let changed = found != left.as_ref() && !matches!(note, Note::Reset { .. });
        let changed = changed.then(|| Note::ChangedElsewhere { found: found.cloned() });
        let given = (known == 0 && !given.is_empty()).then_some(Note::Given { list: given });
        let rows: Vec<_> =
            changed.iter().chain(given.iter()).chain([&note]).map(|note| note.row(after)).collect();
        let rows: Vec<(&str, String)> =
            rows.iter().map(|(kind, body)| (kind.as_str(), body.clone())).collect();
        transaction.note(&stream, known, &rows, now_ms()).await?;
        transaction.commit().await?;
        Ok(())
    }
}

fn recorded(
    state: &mut State,
    id: &str,
    ruling: &Ruling,
    (round, content): (Option<u32>, Option<&Digest>),
    (review, by): (bool, &Actor),
) -> Result<Note, Refused> {
    transition::record(state, id, ruling, round)?;
    let status = ruling.status();
    Ok(Note::Recorded {
        item: id.to_owned(),
        status: status.name().to_owned(),
        round: state.iteration,
        scope_digest: content.filter(|_| status == Status::Pass).cloned(),
        failed_digest: content.filter(|_| status == Status::Fail).cloned(),
        review,
        by: by.clone(),
    })
}

fn is_untouched(state: &State) -> bool {
    state.iteration == 1 && state.items.iter().all(|item| item.fail_count == 0 && !item.accepted)
}
