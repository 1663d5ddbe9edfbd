//! Failures that stand on their bytes: an index from what a failure stands on (rule, criterion, files) to the event that
//! gave it, or to the event by which a dispute withdrew it.

use super::entry::{Line, load_from};
use super::store::Session;
use super::{LedgerError, Result};
use countersign_core::criterion::fold_name;
use countersign_core::digest::{Digest, Key};
use countersign_core::ids::ReviewId;
use countersign_core::plan::{Assignment, Candidate, Reuse, ReviewerKind};
use countersign_core::review::{Bases, Basis, By, DISPUTES, Event, NewNotes, Review, Round, Standing};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use std::collections::HashMap;

fn failed(basis: &Key) -> String {
    format!("failed/{basis}")
}

/// The index entry of the first answer with other notes.
fn retried(basis: &Key) -> String {
    format!("retried/{basis}")
}

/// An answer of a review, with what it is an answer to.
struct Given<'a> {
    round: &'a Round,
    assignment: &'a Assignment,
    candidate: &'a Candidate,
    event: &'a Event,
}

impl<'a> Given<'a> {
    /// None where it stands for nothing: a check, a self-review, a dispute, or what is asked anew each time.
    fn of(review: &'a Review, event: &'a Event) -> Option<Self> {
        let Event::Answered { round, key, .. } = event else { return None };
        let round = review.rounds.iter().find(|known| known.n == *round)?;
        let (assignment, candidate) =
            round.asking(key).find_map(|(_, assignment)| Some((assignment, assignment.candidate(key)?)))?;
        let stands = candidate.kind == ReviewerKind::Asked && candidate.reuse != Reuse::Never;
        (stands && review.subject.door() != DISPUTES).then_some(Self { round, assignment, candidate, event })
    }

    fn bases(&self) -> Vec<Basis> {
        Bases::of_round(self.round).of(self.assignment)
    }

    /// What its failures stand on.
    fn failures(&self) -> Vec<(Key, Option<usize>)> {
        let Event::Answered { answer, by: By::Call { .. }, .. } = self.event else { return vec![] };
        if !answer.fails() {
            return vec![];
        }
        let key = |basis: &Basis| match self.candidate.reuse {
            Reuse::Anywhere => basis.files.clone(),
            _ => basis.everything.clone(),
        };
        let bases = self.bases().into_iter();
        if answer.bare == Some(false) {
            return bases.map(|basis| (key(&basis), None)).collect();
        }
        let fails = |basis: &Basis| answer.rulings.get(basis.ruling).is_some_and(|ruling| !ruling.passed);
        bases.filter(fails).map(|basis| (key(&basis), Some(basis.ruling))).collect()
    }

    /// Who gave the answer first that a dispute was about.
    fn origin(&self, review: &Review) -> Option<By> {
        let disputed = self.round.answers.get(&self.candidate.key)?;
        match disputed.by.clone() {
            By::Call { reviewer, .. } => {
                Some(By::Reused { review: review.id.clone(), n: disputed.n, reviewer })
            }
            by => Some(by),
        }
    }

    /// What the withdrawn finding stood on.
    fn withdrawn(&self, review: &Review) -> Vec<(Key, Option<usize>)> {
        let Event::Answered { key, by: By::Disputed { review: dispute, .. }, .. } = self.event else {
            return vec![];
        };
        let mut disputes = review.disputes.iter();
        let own = disputes.find(|known| known.review == *dispute && known.key == *key && !known.upheld);
        let Some(own) = own else { return vec![] };
        let name = fold_name(&own.criterion);
        let at = self.assignment.asks(&self.round.rules).position(|asked| fold_name(&asked.name) == name);
        let bases = self.bases().into_iter().filter(|basis| Some(basis.ruling) == at);
        bases.flat_map(|basis| [basis.files, basis.everything].map(|key| (key, at))).collect()
    }
}

/// Points what an answer fails on to its event, and notes the first answer with other notes to each failure. The first
/// failure stays: who adds another one and has that withdrawn has not withdrawn the first.
pub(super) async fn index(session: &mut Session, review: &Review, n: u64, event: &Event) -> Result<()> {
    let Some(given) = Given::of(review, event) else { return Ok(()) };
    let (failures, withdrawn) = (given.failures(), given.withdrawn(review));
    let notes = given.round.submission.notes.as_ref();
    if failures.is_empty() && withdrawn.is_empty() && notes.is_none() {
        return Ok(());
    }
    let stream = review.id.as_str();
    let found = on(session, &given.bases(), Some(review)).await?;
    for standing in found.iter().filter(|standing| standing.fails() && standing.notes.as_ref() != notes) {
        let fails = failures.iter().any(|(basis, _)| *basis == standing.basis);
        let is_retry = match &standing.new_notes {
            NewNotes::Any => notes.is_some(),
            // The worse of two answers with the same notes.
            NewNotes::Only(judged) => fails && Some(judged) == notes,
            NewNotes::Used => false,
        };
        if is_retry {
            session.put_ruling(&retried(&standing.basis), stream, n).await?;
        }
    }
    for (basis, _) in failures {
        if !found.iter().any(|standing| standing.basis == basis && standing.fails()) {
            session.put_ruling(&failed(&basis), stream, n).await?;
        }
    }
    let own = given.origin(review);
    for (basis, _) in withdrawn {
        if found.iter().any(|standing| standing.basis == basis && Some(&standing.by) == own.as_ref()) {
            session.put_ruling(&failed(&basis), stream, n).await?;
        }
    }
    Ok(())
}

/// What stands on these assignments of a submission.
pub(super) async fn look_up(
    session: &mut Session,
    rules: &[Rule],
    submission: &Submission,
    assignments: impl IntoIterator<Item = &Assignment>,
) -> Result<Vec<Standing>> {
    let bases = Bases::new(rules, submission);
    let all: Vec<Basis> = assignments.into_iter().flat_map(|assignment| bases.of(assignment)).collect();
    on(session, &all, None).await
}

/// What stands on these; `own` is a review that is read already.
async fn on(session: &mut Session, bases: &[Basis], own: Option<&Review>) -> Result<Vec<Standing>> {
    let keys = bases.iter().flat_map(|basis| [&basis.files, &basis.everything]);
    let wanted: HashMap<String, &Key> = keys.map(|key| (failed(key), key)).collect();
    let names: Vec<String> = wanted.keys().cloned().collect();
    let mut reviews = Reviews { own, others: HashMap::new() };
    let mut all = vec![];
    for (indexed, line) in session.rulings(&names).await? {
        let Some(basis) = wanted.get(&indexed) else { continue };
        let standing = reviews.standing(session, &line, basis).await?;
        // An index entry that points to another answer was not written by us.
        let mut standing = standing.ok_or(LedgerError::Tampered { seq: line.seq })?;
        if let Some((_, later)) = session.rulings(&[retried(basis)]).await?.pop() {
            let notes = reviews.passed_with(session, &later, basis).await?.filter(|_| later.seq > line.seq);
            standing.new_notes = notes.map_or(NewNotes::Used, NewNotes::Only);
        }
        all.push(standing);
    }
    Ok(all)
}

/// Reviews with the answers that were found, each read once.
struct Reviews<'a> {
    own: Option<&'a Review>,
    others: HashMap<String, Review>,
}

impl Reviews<'_> {
    async fn of(&mut self, session: &mut Session, line: &Line) -> Result<&Review> {
        if let Some(own) = self.own.filter(|own| own.id.as_str() == line.stream) {
            return Ok(own);
        }
        if !self.others.contains_key(&line.stream) {
            let id = ReviewId::from_text(line.stream.as_str());
            let lines = session.stream(&id).await?.lines;
            let fold = load_from(session, id, &lines).await?;
            self.others.insert(line.stream.clone(), fold.into_review());
        }
        self.others.get(&line.stream).ok_or(LedgerError::Tampered { seq: line.seq })
    }

    /// What stands on a basis by the event of a line; none where that event says nothing about it.
    async fn standing(
        &mut self,
        session: &mut Session,
        line: &Line,
        basis: &Key,
    ) -> Result<Option<Standing>> {
        let (event, n) = (line.event()?, line.number()?);
        let review = self.of(session, line).await?;
        let Some(given) = Given::of(review, &event) else { return Ok(None) };
        let mut about = given.failures().into_iter().chain(given.withdrawn(review));
        let Some((basis, ruling)) = about.find(|(key, _)| key == basis) else { return Ok(None) };
        let notes = given.round.submission.notes.clone();
        let Event::Answered { answer, by, .. } = event.clone() else { return Ok(None) };
        let (By::Call { reviewer, .. } | By::Disputed { reviewer, .. }) = by else { return Ok(None) };
        let by = By::Reused { review: review.id.clone(), n, reviewer };
        Ok(Some(Standing { basis, answer, ruling, by, notes, new_notes: NewNotes::Any }))
    }

    /// The notes with which an answer passes what failed on a basis; none where it fails.
    async fn passed_with(
        &mut self,
        session: &mut Session,
        line: &Line,
        basis: &Key,
    ) -> Result<Option<Digest>> {
        let event = line.event()?;
        let review = self.of(session, line).await?;
        let Some(given) = Given::of(review, &event) else { return Ok(None) };
        let about = |known: &Basis| known.files == *basis || known.everything == *basis;
        let ruling = given.bases().into_iter().find(about).map(|known| known.ruling);
        let Event::Answered { answer, .. } = &event else { return Ok(None) };
        let passed = ruling.is_some_and(|ruling| match answer.rulings.get(ruling) {
            Some(ruling) => ruling.passed,
            None => answer.bare == Some(true),
        });
        Ok(given.round.submission.notes.clone().filter(|_| passed))
    }
}
