//! A review as it is now: the answer of `review`, `show`, `rule` and the decisions; and the answer of `dispute`.

use super::baseline::{Accepted, BaselineFinding};
use super::review::{Assignment, Cost, Finding, LeftOut, PassedAfterNotes, Review};
use crate::spent::Spent;
use countersign_core::ids::ReviewId;
use countersign_core::judge::{self, RoundEnd};
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::{self, ReviewerKind};
use countersign_core::review::{self, Round};
use countersign_core::rule::Rule;
use countersign_engine::ledger::Stored;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A review as it is now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// The review.
    pub review: Review,
    /// Failures that block.
    pub findings: Vec<Finding>,
    /// Failures that do not block in this attempt.
    pub waived: Vec<Finding>,
    /// What is wrong and does not block: it was there before the change, or the baseline or an exception accepts it.
    pub accepted: Vec<Accepted>,
    /// What the baseline has and is not found any more.
    pub baseline_fixed: Vec<BaselineFinding>,
    /// Earlier findings that this submission left out: it does not pass for that. They are also in `findings`.
    pub left_out: Vec<LeftOut>,
    /// Criteria that failed on the same files and passed only after new notes. This costs an attempt.
    pub passed_after_notes: Vec<PassedAfterNotes>,
    /// Findings of a reviewer in free text that changed the files itself. The files were judged again afterwards.
    pub fixed: Vec<Fixed>,
    /// What the round looked at; null before the first one.
    pub coverage: Option<Coverage>,
    /// Every question of the round and its answer.
    pub assignments: Vec<Assignment>,
    /// Whether gates count this, by what is trusted now. Unknown where it was not looked up.
    pub gates: Option<Gates>,
    /// How many secrets were replaced, counted for every question and its answer.
    pub redacted: usize,
    /// What the round cost.
    pub cost: Cost,
    /// What to do next, in words.
    pub next: Vec<String>,
    #[serde(skip)]
    pub shown: VerdictNotes,
    /// The path of the project in its repository; empty for the repository itself.
    #[serde(skip)]
    pub folder: String,
}

/// Findings of a reviewer that changed the files itself. The files were judged again afterwards.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fixed {
    /// The round.
    pub round: u32,
    /// What it found, in its own words.
    pub found: String,
}

/// What a round looked at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Coverage {
    /// The commit that a change is against; null where it is no change, or where there was no commit yet.
    pub base: Option<String>,
    /// Where the rules came from, at a gate; else null.
    pub rules_from: Option<String>,
    /// How many files were handed in.
    pub files: usize,
    /// How many of them a reviewer, a check or the author looks at.
    pub judged: usize,
    /// Files that no rule is about.
    pub not_covered: Vec<String>,
    /// Files that the rules would be about, but for their `exclude`.
    pub excluded: Vec<String>,
    /// Files that a rule is about and no reviewer can see.
    pub not_seen: Vec<NotSeen>,
    /// Files that guidance names, shown to reviewers for context. They are not judged.
    pub context: Vec<String>,
    /// Those of them that were too long to be shown.
    pub context_not_shown: Vec<String>,
    /// Whether a reviewer could read more of the project than it was given.
    pub sees_project: bool,
    /// All of it in one line.
    pub words: String,
}

/// A file that no reviewer can see.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NotSeen {
    /// The file.
    pub path: String,
    /// Why it cannot be seen.
    pub why: String,
    /// Whether the rules let it pass unseen. If not, there is no verdict.
    pub allowed: bool,
}

impl Coverage {
    fn of(round: &Round) -> Self {
        let coverage = review::Coverage::of(round);
        let words = coverage.words();
        let review::Coverage { base, files, judged, not_covered, excluded, not_seen, .. } = coverage;
        let review::Coverage { context, context_not_shown, sees_project, .. } = coverage;
        let not_seen =
            not_seen.into_iter().map(|review::NotSeen { path, why, allowed }| NotSeen { path, why, allowed });
        let rules_from = round.submission.rules_from.clone();
        let not_seen = not_seen.collect();
        Self {
            base,
            rules_from,
            files,
            judged,
            not_covered,
            excluded,
            not_seen,
            context,
            context_not_shown,
            sees_project,
            words,
        }
    }
}

/// Whether gates count what was ruled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gates {
    /// Whether a gate takes all of it, and asks nothing more about the same work.
    pub count: bool,
    /// Why not, in words.
    pub why: Vec<String>,
}

/// What only the text of a verdict says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictNotes {
    pub over: bool,
    pub end: Option<RoundEnd>,
    /// Whether anything was for a reviewer who may cost something.
    pub paid: bool,
}

impl Verdict {
    pub fn of(stored: &Stored, spent: Spent, next: Vec<String>) -> Self {
        let review = &stored.review;
        let round = review.round();
        let (questions_asked, rulings_reused) = round.map_or((0, 0), Round::asked_and_reused);
        let assignments = round.into_iter().flat_map(|round| {
            let unanswered = &round.judgement.unanswered;
            let why: HashMap<usize, NoVerdict> =
                unanswered.iter().map(|one| (one.assignment, one.why)).collect();
            let all = round.assignments.iter().enumerate();
            all.map(move |(n, assignment)| {
                Assignment::of(&review.rules, round, assignment, why.get(&n).copied())
            })
        });
        let fixed = review.fixes().map(|(round, found)| Fixed { round: round.n, found: found.to_owned() });
        let finding = |finding: judge::Finding| {
            let finding = Finding::from(finding);
            let question = question(&review.rules, &finding.rule, finding.criterion.as_deref());
            Finding { question, ..finding }
        };
        let paid = |assignment: &plan::Assignment| {
            assignment.candidates.iter().any(|candidate| candidate.kind == ReviewerKind::Asked)
        };
        Self {
            review: stored.into(),
            findings: review.findings().into_iter().map(finding).collect(),
            waived: review.waived().into_iter().map(finding).collect(),
            accepted: review.accepted().into_iter().map(Accepted::from).collect(),
            baseline_fixed: review.fixed_debts().into_iter().map(BaselineFinding::from).collect(),
            left_out: round.into_iter().flat_map(|round| &round.left_out).map(LeftOut::from).collect(),
            passed_after_notes: review.passed_after_notes().map(PassedAfterNotes::from).collect(),
            fixed: fixed.collect(),
            coverage: round.map(Coverage::of),
            assignments: assignments.collect(),
            gates: None,
            redacted: round.map_or(0, Round::redacted),
            cost: Cost { questions_asked, rulings_reused, spent },
            next,
            shown: VerdictNotes {
                over: matches!(review.state, review::State::Settled(_)),
                end: round.and_then(|round| round.end),
                paid: round.is_some_and(|round| round.assignments.iter().any(paid)),
            },
            folder: String::new(),
        }
    }
}

/// What a criterion of a rule asks.
fn question(rules: &[Rule], rule: &str, criterion: Option<&str>) -> Option<String> {
    let rule = rules.iter().find(|known| known.name == rule)?;
    let asked = rule.criteria.iter().find(|known| Some(known.name.as_str()) == criterion)?;
    Some(asked.question.clone())
}

/// Whether a review runs, has ended, or was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    /// It runs.
    Running,
    /// It has ended.
    Done,
    /// The process that performed it ended: submit the same work again.
    Interrupted,
}

/// A review as it is now, and whether a process performs it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Stated {
    /// Whether it runs, has ended, or was interrupted.
    pub state: State,
    /// The review.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What a decision answers with `--out`: nothing is decided yet.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Statement {
    /// What is to be signed: exactly this decision about the review as it is now.
    pub statement: String,
    /// The file that has it.
    pub file: String,
    /// What to do next, in words.
    pub next: Vec<String>,
}

/// What `dispute` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Disputed {
    /// The finding that was disputed, as the ledger keeps it.
    #[schemars(with = "Map<String, Value>")]
    pub finding: judge::Finding,
    /// The review it is in.
    pub review: ReviewId,
    /// Whether the finding stands; null without a verdict.
    pub upheld: Option<bool>,
    /// How it was judged again.
    pub dispute: JudgedAgain,
    /// What to do next, in words.
    pub next: Vec<String>,
    #[serde(skip)]
    pub place: String,
    #[serde(skip)]
    pub words: String,
}

/// How a finding was judged again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JudgedAgain {
    /// The review of the dispute.
    pub review: ReviewId,
    /// The reviewer.
    pub reviewer: String,
    /// The feedback.
    pub feedback: String,
}
