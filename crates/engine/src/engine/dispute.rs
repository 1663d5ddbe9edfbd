//! Disputes: finding the disputed finding in the ledger, handing it in to be judged again, recording the result.

use super::{Engine, EngineError, Prepared, Request, Result, SubmittedChange};
use crate::ledger::{Filter, Ledger, Stored};
use countersign_core::digest::Key;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::judge::{Finding, finding_id};
use countersign_core::plan::{Assignment, PlanError, ReviewerKind};
use countersign_core::policy::{Attempts, GateFiles, Policy};
pub use countersign_core::review::DISPUTES;
use countersign_core::review::{By, Dispute, Event, Input, Review, Round, dispute_notes, dispute_rule};
use countersign_core::rule::{Each, Scope};
use countersign_core::submission::{ChangeOf, Material, Output, OutputKind};

/// How many reviews are searched for a finding, the newest first.
const REVIEWS_MAX: u32 = 1000;
const PAGE: u32 = 50;
const OUTPUT: &str = "files";

#[derive(Clone, Debug)]
pub struct DisputedFinding {
    pub stored: Stored,
    pub finding: Finding,
    pub key: Key,
    pub assignment: Assignment,
}

/// The findings whose id begins like this, in the latest rounds of the newest reviews; of equal ones the newest counts.
pub async fn findings_named(ledger: &Ledger, typed: &str) -> Result<Vec<DisputedFinding>> {
    let mut all: Vec<DisputedFinding> = vec![];
    let (mut before, mut looked_at) = (None, 0);
    while looked_at < REVIEWS_MAX && !all.iter().any(|found| found.finding.id == typed) {
        let rows = ledger.list(Filter { open_only: false, before, limit: PAGE }).await?;
        let Some(last) = rows.last() else { break };
        before = Some(last.opened_seq);
        looked_at += PAGE;
        for row in rows.iter().filter(|row| row.subject.door() != DISPUTES && row.pruned.is_none()) {
            let Some(stored) = ledger.review(&row.id).await? else { continue };
            for found in found_in(&stored, typed) {
                if !all.iter().any(|known| known.finding.id == found.finding.id) {
                    all.push(found);
                }
            }
        }
    }
    Ok(all)
}

fn found_in(stored: &Stored, typed: &str) -> Vec<DisputedFinding> {
    let review = &stored.review;
    let Some(round) = review.round() else { return vec![] };
    let named = |finding: &Finding| finding.id.starts_with(typed);
    let listed = review.findings().into_iter().chain(review.waived()).filter(named);
    let place = |finding: Finding| {
        let (assignment, key) = round.assignments.iter().find_map(|assignment| {
            let (key, _) = round.answer_to(assignment)?;
            let id = finding_id(key, finding.criterion.as_deref().unwrap_or_default());
            (id == finding.id).then(|| (assignment.clone(), key.clone()))
        })?;
        Some(DisputedFinding { stored: stored.clone(), finding, key, assignment })
    };
    listed.filter_map(place).collect()
}

impl DisputedFinding {
    /// Why this cannot be judged again, if so.
    pub fn undisputable(&self) -> Option<&'static str> {
        let kind = self.assignment.candidate(&self.key).map(|candidate| candidate.kind);
        match kind {
            _ if self.finding.criterion.is_none() => Some("it names no criterion"),
            Some(ReviewerKind::Asked) => None,
            Some(ReviewerKind::SelfReview) => Some("it was found by a self-review"),
            Some(ReviewerKind::Checks) | None => {
                Some("a check found it, and a check always gives the same result")
            }
        }
    }

    /// What the review is a change against, where it is one.
    pub fn change(&self) -> Option<&ChangeOf> {
        self.stored.review.round().and_then(|round| round.submission.change.as_ref())
    }

    /// The request that has the finding judged again, once: its criterion alone, on its files, with the evidence.
    pub fn request(
        &self,
        evidence: &str,
        policy: Policy,
        change: Option<SubmittedChange>,
    ) -> Option<Request> {
        let review = &self.stored.review;
        let wanted = self.finding.criterion.as_deref()?;
        let criterion = self.assignment.asks(&review.rules).find(|criterion| criterion.name == wanted)?;
        let guidance = review.rules.get(self.assignment.rule).and_then(|rule| rule.guidance.as_deref());
        let about: Vec<&Material> = self.materials(review).collect();
        let scope = match (&change, about.as_slice()) {
            (Some(_), [only]) if self.finding.file.is_some() => {
                Scope::Files { patterns: vec![globset::escape(&only.path)], each: Each::File }
            }
            _ => Scope::Whole,
        };
        let files = match &change {
            Some(_) => vec![],
            None => about.iter().map(|file| (file.path.clone(), 0)).collect(),
        };
        let named =
            review.round().map(|round| round.submission.guidance_files.as_slice()).unwrap_or_default();
        let named = named.iter().filter(|named| named.rule == self.assignment.rule);
        Some(Request {
            subject: Subject::new(DISPUTES, [self.finding.id.as_str()]),
            rules: vec![dispute_rule(&self.finding, criterion, guidance, scope)],
            // A dispute decides about a finding, and lets nothing pass.
            policy: Policy { attempts: Attempts::AtMost(1), gate_files: GateFiles::Tell, ..policy },
            outputs: vec![Output { name: OUTPUT.to_owned(), kind: OutputKind::Files }],
            files,
            guidance_files: named.map(|named| (0, named.file.path.clone())).collect(),
            change,
            notes: Some(dispute_notes(&self.finding, evidence)),
            fresh: false,
        })
    }

    /// Whether what would be judged is what the finding is about, byte for byte.
    pub fn is_about(&self, prepared: &Prepared) -> bool {
        let same = |file: &Material| {
            let is = |other: &Material| {
                (&other.path, &other.digest, other.form) == (&file.path, &file.digest, file.form)
            };
            prepared.submission.files.iter().any(is)
        };
        let mut about = self.materials(&self.stored.review).peekable();
        about.peek().is_some() && about.all(same)
    }

    fn materials<'a>(&'a self, review: &'a Review) -> impl Iterator<Item = &'a Material> {
        let files = review.round().map(|round| round.submission.files.as_slice()).unwrap_or_default();
        self.assignment.files.iter().filter_map(|index| files.get(*index))
    }
}

impl Engine {
    /// The reviewers that could have been asked when the finding was made: those whose ruling would stand under a key the
    /// question had then. A reviewer that was added since may have been added for this dispute.
    pub async fn could_answer(&self, found: &DisputedFinding) -> Result<Vec<String>> {
        let review = &found.stored.review;
        let Some(round) = review.round() else { return Ok(vec![]) };
        // A failure that stands from another question is for those who could have answered that one.
        if let Some(By::Reused { review, n, .. }) = round.answers.get(&found.key).map(|given| &given.by) {
            return self.could_answer_first(review, *n).await;
        }
        self.could_answer_in(review, round, &found.assignment).await
    }

    async fn could_answer_first(&self, review: &ReviewId, n: u64) -> Result<Vec<String>> {
        let stored = self.get(review).await?;
        let events = self.0.ledger.events(review, n.saturating_sub(1), 1).await?;
        let Some(Event::Answered { round, key, .. }) = events.first().map(|entry| &entry.event) else {
            return Ok(vec![]);
        };
        let Some(round) = stored.review.rounds.iter().find(|known| known.n == *round) else {
            return Ok(vec![]);
        };
        let Some((_, assignment)) = round.asking(key).next() else { return Ok(vec![]) };
        self.could_answer_in(&stored.review, round, assignment).await
    }

    async fn could_answer_in(
        &self,
        review: &Review,
        round: &Round,
        assignment: &Assignment,
    ) -> Result<Vec<String>> {
        let again = match self.prepare_again(review, round).await {
            Err(EngineError::Plan(PlanError::NoReviewer { .. } | PlanError::UnknownReviewer { .. })) => {
                return Ok(vec![]);
            }
            again => again?,
        };
        let candidates = again.plan.assignments.iter().flat_map(|assignment| &assignment.candidates);
        let known = candidates.filter(|candidate| assignment.candidate(&candidate.key).is_some());
        Ok(known.map(|candidate| candidate.reviewer.clone()).collect())
    }

    pub async fn disputed(&self, review: &ReviewId, mut dispute: Dispute) -> Result<Stored> {
        dispute.feedback = self.hide(&dispute.feedback);
        self.record_one(review, None, Input::Disputed(Box::new(dispute))).await
    }
}
