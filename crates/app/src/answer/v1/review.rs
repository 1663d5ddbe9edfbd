//! A review, its findings, its questions and what they cost.

use super::OutcomeName;
use super::envelope::outcome_and_reason;
use super::judged::ShownFlaw;
use crate::spent::Spent;
use crate::time::rfc3339;
use countersign_core::answer::{self, Flaw};
use countersign_core::criterion::Severity;
use countersign_core::digest::{Digest, Key};
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::judge;
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::{self, Target};
use countersign_core::review::{self, Actor, ActorKind, By, Channel, Evidence, LeftOutBy, Round, Verb};
use countersign_core::rule::Rule;
use countersign_core::submission::Material;
use countersign_engine::ledger::Stored;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Review {
    /// Which review.
    pub id: ReviewId,
    /// What it is about.
    pub subject: Subject,
    /// The outcome; null while a round runs.
    pub outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// The number of the current round.
    pub round: Option<u32>,
    /// Failing rounds so far.
    pub attempts: u32,
    /// Failing rounds that are left; null where attempts are not counted.
    pub attempts_left: Option<u32>,
    /// The digest of what was submitted; a decision is about these bytes.
    pub digest: Option<Digest>,
    /// How often the rules changed between rounds.
    pub rule_changes: u32,
    /// Who unblocked it.
    pub lifts: Vec<Lift>,
    /// Disputed findings.
    pub disputes: Vec<Dispute>,
    /// Decisions in place of a verdict.
    pub decisions: Vec<Decision>,
    /// When it was opened.
    pub opened_at: Option<String>,
    /// When its last event was recorded.
    pub changed_at: Option<String>,
}

/// Who acted on a review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Who {
    /// Who acted.
    pub by: String,
    /// Whether that is a person.
    pub person: bool,
    /// What acted.
    pub kind: ActorKind,
    /// By which channel.
    pub channel: Channel,
    /// The terminal at which a command was typed, or the token of a request was made; null if there is none.
    pub terminal: Option<String>,
    /// The public name of the token of a request; null for other channels.
    pub token: Option<String>,
    /// The fingerprint of the key of a signature; null for other channels.
    pub key: Option<String>,
    /// The file of allowed signers that has the key; null for other channels.
    pub signers: Option<String>,
}

impl From<&Actor> for Who {
    fn from(actor: &Actor) -> Self {
        let Actor { name, kind, channel, evidence, .. } = actor.clone();
        let Evidence { terminal, token, signature } = evidence;
        let (key, signers) = signature.map(|signature| (signature.key, signature.signers)).unzip();
        Self { by: name, person: actor.is_person(), kind, channel, terminal, token, key, signers }
    }
}

/// Who unblocked a review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Lift {
    /// Who unblocked it.
    #[serde(flatten)]
    pub who: Who,
    /// Why.
    pub reason: String,
    #[serde(skip)]
    pub words: String,
}

/// A disputed finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Dispute {
    /// The finding.
    pub finding: String,
    /// Its criterion.
    pub criterion: String,
    /// Whether the finding stands.
    pub upheld: bool,
    /// Where it was judged again.
    pub review: ReviewId,
    /// Who judged it again.
    pub reviewer: String,
    /// Who disputed it.
    #[serde(flatten)]
    pub who: Who,
    /// The feedback about it.
    pub feedback: String,
    #[serde(skip)]
    pub words: String,
}

/// Decisions in place of a verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TakenDecision")]
pub struct Decision {
    /// What was decided.
    pub verb: Verb,
    /// Who decided.
    #[serde(flatten)]
    pub who: Who,
    /// Why.
    pub reason: String,
    /// About which work.
    pub digest: Digest,
    /// When.
    pub at: Option<String>,
    #[serde(skip)]
    pub words: String,
}

impl From<&Stored> for Review {
    fn from(stored: &Stored) -> Self {
        let review = &stored.review;
        let (outcome, reason) = outcome_and_reason(review.standing());
        let lift = |(by, reason): &(Actor, String)| Lift {
            who: by.into(),
            reason: reason.clone(),
            words: format!("{}: {reason}", by.words()),
        };
        Self {
            id: review.id.clone(),
            subject: review.subject.clone(),
            outcome,
            reason,
            round: review.round().map(|round| round.n),
            attempts: review.attempts,
            attempts_left: review.policy.attempts_left(review.attempts),
            digest: review.digest().cloned(),
            rule_changes: review.rule_changes,
            lifts: review.lifts.iter().map(lift).collect(),
            disputes: review.disputes.iter().map(Dispute::from).collect(),
            decisions: review.decisions.iter().map(Decision::from).collect(),
            opened_at: rfc3339(stored.opened_ms),
            changed_at: rfc3339(stored.changed_ms),
        }
    }
}

impl From<&review::Dispute> for Dispute {
    fn from(dispute: &review::Dispute) -> Self {
        let (who, words) = (Who::from(&dispute.by), dispute.words());
        let review::Dispute { finding, criterion, upheld, review, reviewer, feedback, .. } = dispute.clone();
        Self { finding, criterion, upheld, review, reviewer, who, feedback, words }
    }
}

impl From<&review::Decision> for Decision {
    fn from(decision: &review::Decision) -> Self {
        let (who, words) = (Who::from(&decision.by), decision.words());
        let review::Decision { verb, reason, digest, at_ms, .. } = decision.clone();
        Self { verb, who, reason, digest, at: rfc3339(at_ms), words }
    }
}

/// A failed ruling.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// `fi-…`, the same for as long as the question is the same.
    pub id: String,
    /// The rule.
    pub rule: String,
    /// The file, if it is about one.
    pub file: Option<String>,
    /// What was judged, in words.
    pub target: String,
    /// The criterion that failed; null if the whole work failed without rulings.
    pub criterion: Option<String>,
    /// Its severity.
    pub severity: Severity,
    /// What the criterion asks; null where the question is not known any more.
    pub question: Option<String>,
    /// What the reviewer says.
    pub feedback: String,
    /// Who ruled.
    pub reviewer: String,
    /// What is wrong, one by one.
    pub findings: Vec<ShownFlaw>,
    #[serde(skip)]
    pub words: String,
}

impl From<judge::Finding> for Finding {
    fn from(finding: judge::Finding) -> Self {
        let words = finding.words();
        let judge::Finding { id, rule, target, file, criterion, severity, feedback, reviewer, flaws } =
            finding;
        let target = match target {
            Target::All => "all files together".to_owned(),
            Target::Matching => "all matching files together".to_owned(),
            Target::Output(name) => format!("output '{name}'"),
            Target::File(path) => path,
        };
        let findings = flaws.into_iter().map(ShownFlaw::from).collect();
        let question = None;
        Self { id, rule, file, target, criterion, severity, question, feedback, reviewer, findings, words }
    }
}

/// An earlier finding that a submission left out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The finding.
    pub finding: String,
    /// What was left out.
    pub by: LeftOutKind,
    /// The files that were left out, if it is about files.
    pub files: Vec<String>,
    /// The same in words.
    pub words: String,
}

/// What was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LeftOutKind {
    /// Files of the finding.
    Files,
    /// Its rule.
    Rule,
    /// Its criterion.
    Criterion,
    /// The severity of its criterion was lowered, so that it does not block.
    Severity,
}

impl From<&review::LeftOut> for LeftOut {
    fn from(left_out: &review::LeftOut) -> Self {
        let (by, files) = match &left_out.why {
            LeftOutBy::Files(files) => (LeftOutKind::Files, files.clone()),
            LeftOutBy::Rule => (LeftOutKind::Rule, vec![]),
            LeftOutBy::Criterion => (LeftOutKind::Criterion, vec![]),
            LeftOutBy::Severity => (LeftOutKind::Severity, vec![]),
        };
        Self { finding: left_out.finding.id.clone(), by, files, words: left_out.words() }
    }
}

/// A criterion that failed on the same files and passed only after new notes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PassedAfterNotes {
    /// The rule.
    pub rule: String,
    /// The criterion.
    pub criterion: String,
    /// What was judged, in words.
    pub target: String,
}

impl From<(&str, &str, &plan::Assignment)> for PassedAfterNotes {
    fn from((rule, criterion, assignment): (&str, &str, &plan::Assignment)) -> Self {
        Self { rule: rule.to_owned(), criterion: criterion.to_owned(), target: assignment.target_words() }
    }
}

/// A planned assignment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Planned {
    /// The rule.
    pub rule: Option<String>,
    /// What is judged, in words.
    pub target: String,
    /// The files.
    pub files: Vec<File>,
    /// The names of the criteria.
    pub criteria: Vec<String>,
    /// The first reviewer to ask.
    pub reviewer: Option<String>,
    /// The key of its ruling.
    pub key: Option<Key>,
}

impl Planned {
    pub fn of(rules: &[Rule], assignment: &plan::Assignment, files: &[Material]) -> Self {
        let first = assignment.candidates.first();
        Self {
            rule: rules.get(assignment.rule).map(|rule| rule.name.clone()),
            target: assignment.target_words(),
            files: assignment.files.iter().filter_map(|index| files.get(*index)).map(File::from).collect(),
            criteria: assignment.asks(rules).map(|criterion| criterion.name.clone()).collect(),
            reviewer: first.map(|candidate| candidate.reviewer.clone()),
            key: first.map(|candidate| candidate.key.clone()),
        }
    }
}

/// A submitted file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct File {
    /// Its path from the project root.
    pub path: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// How large it is.
    pub size_bytes: u64,
}

impl From<&Material> for File {
    fn from(file: &Material) -> Self {
        Self { path: file.path.clone(), digest: file.digest.clone(), size_bytes: file.size_bytes }
    }
}

/// A question of a round and its answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Assignment {
    /// The question and its files.
    #[serde(flatten)]
    pub planned: Planned,
    /// Whether it was answered, and how.
    pub state: AssignmentState,
    /// Who ruled, or null; `self` for the author's own.
    pub ruled_by: Option<String>,
    /// Whether the ruling is cached.
    pub reused: bool,
    /// Why there is no answer: a reason of `no_verdict`, or `budget`; else null.
    pub why: Option<&'static str>,
    /// The same in words.
    pub detail: Option<String>,
    /// Reviewers that did not answer, in order, also if the next one did.
    pub not_answered: Vec<NotAnswered>,
    /// How many secrets were replaced in the question and its answer.
    pub redacted: usize,
    /// The rulings; null without an answer.
    pub rulings: Option<Vec<Ruling>>,
    /// What the reviewer wrote about all of it; null where it wrote nothing.
    pub feedback: Option<String>,
    /// Why the verdict does without an answer to it.
    #[serde(skip)]
    pub unanswered: Option<NoVerdict>,
}

/// Whether an assignment was answered, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AssignmentState {
    /// Every criterion passed.
    Passed,
    /// A criterion failed.
    Failed,
    /// There is no valid answer.
    NoVerdict,
    /// It has not been answered yet.
    Open,
}

/// A reviewer that did not answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NotAnswered {
    /// The reviewer.
    pub reviewer: String,
    /// Why: a reason of `no_verdict`, or `budget`.
    pub why: &'static str,
    /// The same in words.
    pub detail: String,
}

/// One criterion's answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ruling {
    /// The criterion.
    pub criterion: String,
    /// Whether it is met.
    pub passed: bool,
    /// What the reviewer says about it.
    pub feedback: Option<String>,
    /// What is wrong, one by one, also if the reviewer gave only one text; empty if it passed.
    pub findings: Vec<Flaw>,
}

impl Assignment {
    pub fn of(
        rules: &[Rule],
        round: &Round,
        assignment: &plan::Assignment,
        unanswered: Option<NoVerdict>,
    ) -> Self {
        let given = round.answer_to(assignment).map(|(_, given)| given);
        let failure = round.failure_of(assignment).filter(|_| given.is_none());
        let state = match (given, failure) {
            (Some(given), _) if given.answer.fails() => AssignmentState::Failed,
            (Some(_), _) => AssignmentState::Passed,
            (None, Some(_)) => AssignmentState::NoVerdict,
            (None, None) if assignment.not_seen => AssignmentState::NoVerdict,
            (None, None) => AssignmentState::Open,
        };
        let files = assignment.files.iter().filter_map(|file| round.submission.files.get(*file));
        let mut unseen = files.filter(|_| assignment.not_seen).filter_map(|file| file.content.unseen());
        let unseen = unseen.next().map(str::to_owned);
        let not_answered = round.failures_of(assignment).map(|(candidate, failure)| NotAnswered {
            reviewer: candidate.reviewer.clone(),
            why: failure.why.name(),
            detail: failure.detail.clone(),
        });
        let about = assignment.about(&round.submission.files);
        let rulings = |answer: &answer::Answer| {
            let ruling = |ruling: &answer::Ruling| Ruling {
                criterion: ruling.criterion.clone(),
                passed: ruling.passed,
                feedback: ruling.feedback.clone(),
                findings: if ruling.passed { vec![] } else { answer.flaws_on(Some(ruling), about) },
            };
            answer.rulings.iter().map(ruling).collect()
        };
        Self {
            planned: Planned::of(rules, assignment, &round.submission.files),
            state,
            ruled_by: given.map(|given| ruled_by(&given.by).to_owned()),
            reused: given.is_some_and(|given| matches!(given.by, By::Reused { .. })),
            why: failure
                .map(|failure| failure.why.name())
                .or(unseen.as_ref().map(|_| NoVerdict::NotSeen.name())),
            detail: failure.map(|failure| failure.detail.clone()).or(unseen),
            not_answered: not_answered.collect(),
            redacted: given.map_or(0, |given| given.answer.redacted),
            rulings: given.map(|given| rulings(&given.answer)),
            feedback: round.text_on(assignment).map(|(_, text)| text.to_owned()),
            unanswered,
        }
    }
}

fn ruled_by(by: &By) -> &str {
    by.reviewer().unwrap_or("self")
}

/// What a round cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// How many questions were asked.
    pub questions_asked: usize,
    /// How many rulings are cached.
    pub rulings_reused: usize,
    /// Tokens and money.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What `review --dry-run` shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Preview {
    /// Always true.
    pub dry_run: bool,
    /// Every question as it would be asked.
    pub assignments: Vec<Question>,
}

/// A question as it would be asked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "PreviewedQuestion")]
pub struct Question {
    /// The question and its files.
    #[serde(flatten)]
    pub planned: Planned,
    /// How long the reviewer would have.
    pub timeout_seconds: u64,
    /// The system prompt; null for checks.
    pub system_prompt: Option<String>,
    /// The question; null for checks.
    pub payload: Option<String>,
    /// The JSON schema of the reply; null for checks.
    pub schema: Option<Value>,
    /// Whether its ruling is cached.
    pub known: bool,
}
