//! Disputes: another reviewer judges a finding again, with evidence against it.

use crate::answer::v1::{Answer, Disputed, JudgedAgain};
use crate::authority::FlagsFrom;
use crate::find::no_ledger;
use crate::project::{Project, current_folder};
use crate::reader::Reader;
use crate::review;
use crate::task::two_call;
use crate::{Code, Failure};
use countersign_core::digest::Digest;
use countersign_core::outcome::{NoVerdict, Outcome, Settlement, Stop};
use countersign_core::prompt::Sections;
use countersign_core::review::{Actor, Dispute, Review, Route, State};
use countersign_core::submission::ChangeOf;
use countersign_doors::service;
use countersign_engine::config::{Flags, Pipeline};
use countersign_engine::engine::{
    DisputedFinding, Engine, Judge, Panelist, SubmittedChange, Ticket, findings_named,
};
use countersign_engine::ledger::{Ledger, Stored};
use countersign_engine::workspace::{self, ChangeWanted};

pub const EVIDENCE_LIMIT_BYTES: u64 = 256 * 1024;

pub struct Disputing {
    pub engine: Engine,
    pub ticket: Ticket,
    found: DisputedFinding,
    by: Actor,
}

/// Hands a finding in to be judged again. `evidence` reads the evidence against it; `by` says who disputes it, from the
/// review, what is done and why, as it would be signed; none where it is to be signed elsewhere.
pub async fn dispute(
    flags: &Flags,
    typed: &str,
    evidence: impl AsyncFnOnce(&Project) -> Result<String, Failure>,
    by: impl AsyncFnOnce(&Project, &Review, &str, &str) -> Result<Option<Actor>, Failure>,
) -> Result<Option<Disputing>, Failure> {
    let project = judging(flags).await?;
    let Some(ledger) = project.existing_ledger().await? else { return Err(no_ledger()) };
    let found = named(&ledger, typed).await?;
    ledger.close().await;
    let evidence = weighed(evidence(&project).await?)?;
    let (action, reason) =
        (format!("dispute {}", found.finding.id), format!("evidence {}", Digest::of(evidence.as_bytes())));
    let Some(by) = by(&project, &found.stored.review, &action, &reason).await? else { return Ok(None) };
    disputable(&found, &by)?;
    let (project, change) = match found.change() {
        None => (project, None),
        Some(of) => as_judged(flags, project, of).await?,
    };
    let request = found.request(&evidence, project.config.policy.clone(), change);
    let request = request.ok_or_else(|| Failure::usage("the criterion of this finding no longer exists"))?;
    let panel = others_first(project.panelists()?, &found.finding.reviewer);
    // Reviewers do not matter here: first the work must be as it was judged.
    let with_any = project.planner_for(panel.clone())?.prepare(request.clone()).await;
    if with_any.is_ok_and(|prepared| !found.is_about(&prepared)) {
        return Err(changed(&found));
    }
    let engine = project.engine(project.planner_for(panel_then(&project, &found).await?)?).await?;
    let panel = match found.stored.review.permits(&by).is_ok() {
        true => panel,
        // An agent's dispute is judged by reviewers of that time. Otherwise the agent could bring its own judge.
        false => {
            let names = engine.could_answer(&found).await?;
            panel.into_iter().filter(|panelist| names.contains(&panelist.name)).collect()
        }
    };
    if panel.is_empty() {
        return Err(Failure::usage("none of the reviewers that were configured when this finding was made is configured now").hint(
            "an agent can use only reviewers that were configured when the finding was made; a person can choose another one: --reviewer claude",
        ));
    }
    let engine = engine.replanned(project.planner_for(panel)?);
    let prepared = engine.planner().prepare(request).await?;
    if !found.is_about(&prepared) {
        return Err(changed(&found));
    }
    let ticket = engine.submit(prepared).await?;
    Ok(Some(Disputing { engine, ticket, found, by }))
}

impl Disputing {
    pub async fn ended(self, stored: &Stored) -> Result<Answer<Disputed>, Failure> {
        let Self { engine, ticket, found, by } = self;
        let end = Ended::of(&ticket, stored);
        if let Some(upheld) = end.upheld {
            engine.disputed(&found.stored.review.id, record(&found, stored, by, upheld)).await?;
        }
        Ok(answer(found, stored, end))
    }
}

async fn named(ledger: &Ledger, typed: &str) -> Result<DisputedFinding, Failure> {
    let typed = typed.trim();
    let whole = if typed.starts_with("fi-") { typed.to_owned() } else { format!("fi-{typed}") };
    if whole.len() < "fi-".len() + 2 {
        return Err(Failure::usage(format!("`{typed}` is too short for a finding")));
    }
    let mut all = findings_named(ledger, &whole).await?;
    match all.len() {
        1 => Ok(all.remove(0)),
        0 => Err(Failure::usage(format!("there is no open finding `{typed}`"))
            .hint("`countersign show` lists the findings of a review with their ids")),
        _ => {
            let ids: Vec<&str> = all.iter().map(|found| found.finding.id.as_str()).collect();
            Err(Failure::usage(format!("`{typed}` is the beginning of several findings"))
                .hint(format!("type more of it: {}", ids.join(", "))))
        }
    }
}

/// Refuses, before a reviewer is asked, a dispute whose end could not be recorded.
fn disputable(found: &DisputedFinding, by: &Actor) -> Result<(), Failure> {
    if let Some(why) = found.undisputable() {
        return Err(Failure::usage(format!("finding {} cannot be disputed: {why}", found.finding.id))
            .hint(format!("review {} waits for a person", found.stored.review.id)));
    }
    let review = &found.stored.review;
    match review.state {
        State::Judging => Err(Failure::usage(format!("{} is being judged now", review.id))
            .hint("wait for its verdict; the finding may not be in it")),
        State::Settled(Settlement::Stopped(why)) if review.permits(by).is_err() => {
            let outcome = Outcome::Stopped(why);
            Err(Failure::new(outcome, Code::Stopped, format!("{} is stopped: {outcome}", review.id))
                .hint("only a person can dispute findings of a stopped review, or unblock it"))
        }
        _ => Ok(()),
    }
}

fn weighed(text: String) -> Result<String, Failure> {
    match text.trim() {
        "" => Err(Failure::usage("a dispute needs evidence").hint("add --evidence TEXT, or --evidence FILE")),
        _ if text.len() as u64 > EVIDENCE_LIMIT_BYTES => {
            Err(Failure::usage(format!("the evidence has more than {EVIDENCE_LIMIT_BYTES} bytes")))
        }
        _ => Ok(text),
    }
}

/// The project that judges a finding again. What is withdrawn counts at gates, so it is judged as at a gate wherever a person
/// has trusted how work is judged.
async fn judging(flags: &Flags) -> Result<Project, Failure> {
    match Project::for_gate(current_folder()?, flags, FlagsFrom::Caller).await {
        Err(failure) if failure.code == Code::NotTrusted => {
            Project::find(flags.config.as_deref(), flags.reviewer.clone())
        }
        project => project,
    }
}

/// The change as it was judged, under the configuration of its base: a change must not choose its judge.
async fn as_judged(
    flags: &Flags,
    project: Project,
    of: &ChangeOf,
) -> Result<(Project, Option<SubmittedChange>), Failure> {
    let project = match project.authority {
        Some(_) => project,
        None => review::base(flags, of.base.as_deref(), false).await?.project,
    };
    let (base, left_out) = (of.base.clone(), of.left_out.clone());
    let wanted = ChangeWanted { base, left_out, ..ChangeWanted::default() };
    let change = workspace::change(&project.root, &wanted).await?;
    Ok((project, Some(SubmittedChange::new(change, wanted.left_out, Sections::bare()))))
}

/// The reviewers of the question that the finding answers.
async fn panel_then(project: &Project, found: &DisputedFinding) -> Result<Vec<Panelist>, Failure> {
    let in_two_calls = found.stored.review.subject.door() == service::DOOR
        && project.config.service.pipeline == Pipeline::TwoCall;
    match in_two_calls {
        true => two_call(project, found.change().and_then(|of| of.base.as_deref())).await,
        false => project.panelists(),
    }
}

/// The reviewer of the finding comes last, and a self-review never: authors must not approve their own work.
fn others_first(panel: Vec<Panelist>, made_by: &str) -> Vec<Panelist> {
    let asked = panel.into_iter().filter(|panelist| !matches!(panelist.judge, Judge::SelfReview));
    let (own, others): (Vec<_>, Vec<_>) = asked.partition(|panelist| panelist.name == made_by);
    others.into_iter().chain(own).collect()
}

fn changed(found: &DisputedFinding) -> Failure {
    let review = &found.stored.review.id;
    let message = format!("the work of finding {} of {review} changed after it was judged", found.finding.id);
    Failure::new(Outcome::NoVerdict(NoVerdict::Stale), Code::Stale, message)
        .hint("submit the work again; the new findings can be disputed")
}

struct Ended {
    /// Whether the finding stands; none where there is no verdict.
    upheld: Option<bool>,
    outcome: Outcome,
    words: String,
}

impl Ended {
    fn of(ticket: &Ticket, stored: &Stored) -> Self {
        let (upheld, outcome, words) = match ticket.outcome(stored) {
            // The last two are a person's decision.
            Outcome::Passed | Outcome::Overridden | Outcome::Skipped => {
                (Some(false), Outcome::Passed, "withdrawn".to_owned())
            }
            Outcome::Stopped(
                Stop::AttemptsUsedUp | Stop::Rejected | Stop::RejectedByReviewer | Stop::NotConverging,
            ) if ticket.route == Route::Recorded => {
                let words = "upheld before; a dispute is judged only once".to_owned();
                (Some(true), Outcome::Stopped(Stop::AttemptsUsedUp), words)
            }
            Outcome::NeedsWork
            | Outcome::Stopped(
                Stop::AttemptsUsedUp | Stop::Rejected | Stop::RejectedByReviewer | Stop::NotConverging,
            ) => (Some(true), Outcome::NeedsWork, "upheld".to_owned()),
            other => (None, other, other.to_string()),
        };
        Self { upheld, outcome, words }
    }
}

fn record(found: &DisputedFinding, stored: &Stored, by: Actor, upheld: bool) -> Dispute {
    let (reviewer, feedback) = said(stored);
    Dispute {
        key: found.key.clone(),
        criterion: found.finding.criterion.clone().unwrap_or_default(),
        finding: found.finding.id.clone(),
        review: stored.review.id.clone(),
        reviewer,
        by,
        upheld,
        feedback,
    }
}

fn said(stored: &Stored) -> (String, String) {
    let review = &stored.review;
    let Some(round) = review.round() else { return Default::default() };
    let answered = round.assignments.iter().filter_map(|assignment| {
        let (key, given) = round.answer_to(assignment)?;
        let failed = given.answer.rulings.iter().find(|ruling| !ruling.passed);
        let ruling = failed.or_else(|| given.answer.rulings.first());
        let feedback =
            ruling.and_then(|ruling| ruling.feedback.clone()).unwrap_or(given.answer.feedback.clone());
        Some((failed.is_some(), assignment.candidate(key)?.reviewer.clone(), feedback))
    });
    // A failure comes first.
    let mut all: Vec<_> = answered.collect();
    all.sort_by_key(|(failed, ..)| !failed);
    let decided = review.decisions.last().map(|decision| (decision.by.name.clone(), decision.reason.clone()));
    decided.or_else(|| all.into_iter().next().map(|(_, who, words)| (who, words))).unwrap_or_default()
}

fn answer(found: DisputedFinding, stored: &Stored, end: Ended) -> Answer<Disputed> {
    let (reviewer, feedback) = said(stored);
    let id = stored.review.id.clone();
    let next = match end.upheld {
        Some(false) => vec!["submit the work again: no reviewer is asked about this finding".to_owned()],
        Some(true) => vec![
            "fix the findings".to_owned(),
            Reader::of_command().person_decides(id.as_str(), || {
                format!("or a person allows one more dispute: countersign unblock {id} --reason TEXT")
            }),
        ],
        None => vec!["run the same command again".to_owned()],
    };
    let disputed = Disputed {
        place: found.finding.file.clone().unwrap_or_else(|| found.assignment.target_words()),
        finding: found.finding,
        review: found.stored.review.id,
        upheld: end.upheld,
        dispute: JudgedAgain { review: id, reviewer, feedback },
        next,
        words: end.words,
    };
    Answer::new(Some(end.outcome), disputed)
}
