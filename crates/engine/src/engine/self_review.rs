//! The author's own review: instructions are written, the results come in a later call.

use super::planner::materials;
use super::submitted_change::SubmittedChange;
use super::{Engine, EngineError, Prepared, Request, Result, Ticket};
use crate::fresh::random;
use crate::ledger::{Ledger, Stored};
use crate::workspace;
use countersign_core::answer::{Answer, Row, self_rulings};
use countersign_core::criterion::Criterion;
use countersign_core::digest::Key;
use countersign_core::ids::{ReviewId, Token};
use countersign_core::plan::{Assignment, Target};
use countersign_core::prompt::{Body, ReviewSection, SelfReview, ShownFile, self_review_instructions};
use countersign_core::review::{Input, Refused, Review, Round, Route};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the instructions of a review are: beside its ledger.
pub fn self_review_file(ledger: &Ledger, review: &ReviewId) -> Result<PathBuf> {
    let dir = ledger.dir().ok_or_else(|| {
        EngineError::Internal(
            "a ledger in memory has no folder for the instructions of a self-review".to_owned(),
        )
    })?;
    Ok(dir.join(format!("self_review_{review}.md")))
}

/// What `countersign rule` hands in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfReviewResults {
    pub token: Token,
    pub results: Vec<Row>,
}

/// A self-review that is handed in with the work it is about.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub token: Token,
    pub rows: Vec<Row>,
}

impl Engine {
    /// Writes the instructions with a token, or takes the results that came with the work.
    pub(super) async fn ask_self(&self, ticket: &Ticket, stored: Stored) -> Result<()> {
        let Some(Offer { token, rows }) = &ticket.offer else {
            let token = Token::new(random()?);
            self.write_instructions(&stored.review, ticket.prepared.request.notes.clone(), &token)?;
            self.feed(stored, vec![Input::SelfReviewAsked { token }]).await?;
            return Ok(());
        };
        let Some(round) = stored.review.round() else { return Ok(()) };
        let answers = self.own_rulings(rows, round, &stored.review.rules, &ticket.prepared).await?;
        let asked = Input::SelfReviewAsked { token: token.clone() };
        self.feed(stored, vec![asked, Input::SelfReviewed { token: token.clone(), answers }]).await?;
        Ok(())
    }

    /// The rulings of the rows, with their locations checked.
    async fn own_rulings(
        &self,
        rows: &[Row],
        round: &Round,
        rules: &[Rule],
        prepared: &Prepared,
    ) -> Result<Vec<(Key, Answer)>> {
        let answers = self_rulings(rows, &round.assignments, rules);
        let mut answers = answers.map_err(|defect| EngineError::Results(defect.to_string()))?;
        for (key, answer) in &mut answers {
            let Some((_, assignment)) = round.asking(key).next() else { continue };
            let checked = self.check_locations(std::mem::take(answer), assignment, prepared).await;
            *answer = checked.map_err(|failed| EngineError::Internal(failed.detail))?;
        }
        Ok(answers)
    }

    /// Hands in the results of a self-review, for the files of its last round as they are at this moment.
    pub async fn self_reviewed(&self, id: &ReviewId, results: SelfReviewResults) -> Result<Ticket> {
        let stored = self.get(id).await?;
        let Some(round) = stored.review.round() else { return Err(EngineError::NotFound(id.to_string())) };
        let prepared = self.prepare_again(&stored.review, round).await?;
        self.self_reviewed_as(id, prepared, results).await
    }

    /// Hands in the results of a self-review, with the work they are about.
    pub async fn self_reviewed_as(
        &self,
        id: &ReviewId,
        prepared: Prepared,
        mut results: SelfReviewResults,
    ) -> Result<Ticket> {
        self.hide_rows(&mut results.results);
        let stored = self.get(id).await?;
        let Some(round) = stored.review.round() else { return Err(EngineError::NotFound(id.to_string())) };
        let own = round.token.as_ref() == Some(&results.token);
        let same = prepared.submission.digest == round.submission.digest;
        let ticket =
            |route, prepared, offer| Ticket { review: id.clone(), round: round.n, route, prepared, offer };
        if !stored.review.waits_for_self_review() {
            return match stored.review.standing() {
                // The same results once more get the same answer.
                Some(_) if own && same => Ok(ticket(Route::Recorded, Arc::new(prepared), None)),
                Some(outcome) => Err(Refused::Settled(outcome).into()),
                None => Err(Refused::NotNow("no self-review is expected").into()),
            };
        }
        if !own {
            return Err(Refused::WrongToken.into());
        }
        // Checked before anything is written, against the plan the author was shown.
        let answers = self.own_rulings(&results.results, round, &stored.review.rules, &prepared).await?;
        let offer = Offer { token: results.token, rows: results.results };
        if same {
            let input = Input::SelfReviewed { token: offer.token.clone(), answers };
            let ticket = ticket(Route::Attach, Arc::new(prepared), Some(offer));
            self.feed(stored, vec![input]).await?;
            return Ok(ticket);
        }
        let ticket = self.submit(prepared).await?;
        Ok(Ticket { offer: Some(offer), ..ticket })
    }

    /// The work of a round as it is now, for the reviewers that round had and no others.
    pub(super) async fn prepare_again(&self, review: &Review, round: &Round) -> Result<Prepared> {
        let candidates = || round.assignments.iter().flat_map(|assignment| &assignment.candidates);
        let mut reviewers = self.0.planner.reviewers();
        reviewers.retain(|reviewer| candidates().any(|candidate| candidate.reviewer == reviewer.name));
        let mut request = request_of(review, round);
        if let (Some(of), Some(context)) = (&round.submission.change, &round.submission.context) {
            let (root, evidence) = (&self.0.planner.root, round.submission.evidence.clone());
            request.change = Some(SubmittedChange::again(root, of, context.clone(), evidence).await?);
        }
        let again = self.0.planner.prepare_for(request, round.submission.notes.clone(), &reviewers).await?;
        let submission = again.submission.accepting(round.submission.accepting.clone());
        Ok(Prepared { submission, ..again })
    }

    /// The document of a self-review that is waited for, without how to hand it in, and its token.
    pub fn self_review_document(&self, review: &Review, notes: Option<&str>) -> Option<(SelfReview, Token)> {
        let token = review.round()?.token.clone()?;
        let notes = notes.map(|notes| self.hide(notes));
        Some((SelfReview { submit: None, ..document(review, notes, &token) }, token))
    }

    fn write_instructions(&self, review: &Review, notes: Option<String>, token: &Token) -> Result<()> {
        let path = self_review_file(&self.0.ledger, &review.id)?;
        let notes = notes.map(|notes| self.hide(&notes));
        let text = self_review_instructions(&document(review, notes, token));
        workspace::write_atomically(&path, &text)
            .map_err(EngineError::io(format!("could not write {}", path.display())))
    }

    /// Writes the instructions again with a new token, after the same work was handed in without results.
    pub async fn renew_self_review(&self, ticket: &Ticket) -> Result<()> {
        let stored = self.get(&ticket.review).await?;
        let Some(token) = stored.review.round().and_then(|round| round.token.clone()) else { return Ok(()) };
        self.write_instructions(&stored.review, ticket.prepared.request.notes.clone(), &token)
    }
}

/// The request that would hand the same files in again.
fn request_of(review: &Review, round: &Round) -> Request {
    let Submission { outputs, files, guidance_files, .. } = round.submission.clone();
    Request {
        subject: review.subject.clone(),
        rules: round.rules.to_vec(),
        policy: review.policy.clone(),
        outputs,
        files: files.into_iter().map(|file| (file.path, file.output)).collect(),
        guidance_files: guidance_files.into_iter().map(|named| (named.rule, named.file.path)).collect(),
        change: None,
        notes: None,
        fresh: false,
    }
}

/// The document: one section per rule, listing the files of a per-file rule.
fn document(review: &Review, notes: Option<String>, token: &Token) -> SelfReview {
    let Some(round) = review.round() else { return SelfReview::default() };
    let own = |assignment: &&Assignment| assignment.is_self_review();
    let mut by_rule: BTreeMap<usize, Vec<&Assignment>> = BTreeMap::new();
    for assignment in round.assignments.iter().filter(own) {
        by_rule.entry(assignment.rule).or_default().push(assignment);
    }
    let mut files = vec![];
    for material in by_rule.values().flatten().flat_map(|assignment| materials(assignment, &round.submission))
    {
        let output = round.submission.output_name(&material).to_owned();
        let shown = ShownFile { path: material.path, output, body: Body::Listed };
        if !files.contains(&shown) {
            files.push(shown);
        }
    }
    let of_rule = |(rule, assignments): (usize, Vec<&Assignment>)| {
        let rule = review.rules.get(rule)?;
        let asked = assignments.first()?.asks(&review.rules);
        Some(section(rule, asked, assignments.iter().map(|assignment| assignment.target.clone())))
    };
    let reviews = by_rule.into_iter().filter_map(of_rule).collect();
    SelfReview { files, reviews, notes, submit: Some(submit(&review.id, token)) }
}

/// What is asked by a rule, with the files that it looks at one by one.
pub(crate) fn section<'a>(
    rule: &Rule,
    criteria: impl IntoIterator<Item = &'a Criterion>,
    targets: impl IntoIterator<Item = Target>,
) -> ReviewSection {
    let file = |target| match target {
        Target::File(path) => Some(path),
        Target::All | Target::Matching | Target::Output(_) => None,
    };
    ReviewSection {
        scope: rule.scope_words(),
        criteria: criteria.into_iter().map(|c| (c.name.clone(), c.question.clone())).collect(),
        guidance: rule.guidance.clone(),
        each_file: targets.into_iter().filter_map(file).collect(),
    }
}

fn submit(review: &ReviewId, token: &Token) -> String {
    format!(
        "Write the results to a JSON file, one entry for each criterion (and, where files are reviewed one by one, \
         for each file), then run `countersign rule {review} --from FILE`:\n\n```json\n{{\n  \"token\": \
         \"{token}\",\n  \"results\": [\n    {{\"rule\": \"…\", \"file\": \"…\", \"criterion\": \"…\", \"passed\": false, \
         \"feedback\": \"…\"}}\n  ]\n}}\n```\n\n`rule` and `file` may be left out where it is clear without them. Fix what \
         you find before you hand in: the results are taken for the files as they are at that moment."
    )
}
