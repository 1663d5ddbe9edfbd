//! The review of a task's change: the request to the engine, and its findings as text. `attempt` applies the verdict.

use super::checkpoint::{Checkpoint, ReviewRecord};
use super::prompt_files;
use super::repo::RepoError;
use super::run::{Run, RunError};
use super::settings::HumanGate;
use super::state::ReviewStatus;
use super::task::TaskRun;
use super::task_prompt;
use countersign_core::answer::{remarks, severity_word};
use countersign_core::digest::{Digest, Parts};
use countersign_core::ids::ReviewId;
use countersign_core::judge::{Finding, RoundEnd};
use countersign_core::outcome::Outcome;
use countersign_core::policy::{Attempts, COUNTED_BY_DOOR, Policy};
use countersign_core::progress::{Issue, ProgressEvent};
use countersign_core::prompt::{RunContext, Sections};
use countersign_core::review::{Review, Verb};
use countersign_core::rule::Rule;
use countersign_core::text::counted;
use countersign_engine::engine::{Engine, Planner, Request, SubmittedChange, Ticket};
use countersign_engine::ledger::Stored;
use countersign_engine::workspace::{self, Change, ChangeError, ChangeWanted, Root, UNFINISHED};
use std::path::Path;
use std::pin::Pin;

#[derive(Clone)]
pub struct Judging {
    pub rules: Vec<Rule>,
    pub policy: Policy,
    /// The program of the first reviewer, where it is one.
    pub program: Option<String>,
    /// The commit whose files are trusted, prompts among them; none where only the built-in rules are.
    pub trusted: Option<String>,
    /// The planner of a project in the folder of the work.
    pub planner: Planner,
}

/// Why no reviewer can be asked.
#[derive(Debug)]
pub struct NoReviewer {
    pub words: String,
    /// Whether a reviewer is configured, and is not there.
    pub is_configured: bool,
}

/// Finds the configuration as of the base of a change, so that no change chooses its judge.
pub trait ReviewConfigSource: Send + Sync {
    /// Whether the questions can be asked. No reviewer is asked.
    fn ready(&self, folder: &Path) -> Result<(), NoReviewer>;

    fn at<'a>(
        &'a self,
        base: &'a str,
        folder: &'a Path,
    ) -> Pin<Box<dyn Future<Output = Result<Judging, String>> + Send + 'a>>;
}

pub(super) struct Judged {
    pub engine: Engine,
    pub ticket: Ticket,
    pub stored: Stored,
    pub change: Change,
    /// Whether the reviewer changed files itself.
    pub fixed: bool,
}

impl Judged {
    pub fn outcome(&self) -> Outcome {
        self.ticket.outcome(&self.stored)
    }

    pub fn review(&self) -> &ReviewId {
        &self.stored.review.id
    }

    /// Whether a person let exactly this change pass.
    pub fn is_decided(&self) -> bool {
        let review = &self.stored.review;
        review.decisions.last().is_some_and(|last| {
            matches!(last.verb, Verb::Approve | Verb::Skip) && review.digest() == Some(&last.digest)
        })
    }

    pub fn record(&self, status: ReviewStatus) -> ReviewRecord {
        let findings = findings_text(&self.stored.review, self.fixed);
        ReviewRecord { status, findings, id: Some(self.review().clone()) }
    }
}

impl Run {
    /// The change of a task as it is now; none where it is empty.
    pub(super) async fn change(&self, checkpoint: &Checkpoint) -> Result<Option<Change>, RunError> {
        let folder = self.repo.folder(&checkpoint.place);
        let unusable = RunError::io(format!("the folder `{}` cannot be used", folder.display()));
        let root = Root::new(folder).map_err(unusable)?;
        let wanted = ChangeWanted {
            base: Some(checkpoint.base.clone()),
            left_out: self.left_out(),
            keeps_tree: true,
            ..ChangeWanted::default()
        };
        match workspace::change(&root, &wanted).await {
            Ok(change) => Ok(Some(change)),
            Err(ChangeError::Empty { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Our own files, which are no part of the work.
    pub(super) fn left_out(&self) -> Vec<String> {
        vec![
            // Neither shown nor merged, also where it is committed: a task must not change it.
            ".countersign/**".to_owned(),
            "spec/.executor-*".to_owned(),
            "spec/.executor-*/**".to_owned(),
            "spec/.*task-history.log".to_owned(),
            format!("spec/{UNFINISHED}*"),
            self.layout.tasks_name(),
        ]
    }
}

impl TaskRun<'_> {
    pub(super) async fn judge(&self, change: Change) -> Result<Judged, RunError> {
        let folder = self.repo.folder(&self.checkpoint.place);
        let mut judging =
            self.judges.at(&self.checkpoint.base, folder).await.map_err(RunError::Configuration)?;
        if let Some(words) = self.review_prompt(&change, &judging).await? {
            judging.rules.iter_mut().for_each(|rule| add_guidance(rule, &words));
        }
        let engine = self.engine.replanned(judging.planner);
        let checklist = task_prompt::checklist(self.task);
        let sections = Sections::of_run(&RunContext {
            description: &self.task.description,
            checklist: &checklist,
            test_results: self.checkpoint.tests.as_deref(),
            lint_status: self.checkpoint.lint.as_deref(),
            previous_errors: self.checkpoint.previous_error.as_deref(),
        });
        let gate_files = change.gate_files();
        if !gate_files.is_empty() {
            self.say(ProgressEvent::Warning(format!(
                "{} changes files that control reviews or runs; a person must check them: {}",
                self.task.id,
                gate_files.join(", ")
            )));
        }
        let request = Request {
            subject: self.layout.subject(&self.task.id),
            rules: judging.rules,
            policy: counted_by_run(judging.policy),
            outputs: vec![],
            files: vec![],
            guidance_files: vec![],
            change: Some(SubmittedChange::new(change.clone(), self.left_out(), sections)),
            notes: Some(format!("{}: {}", self.task.id, self.task.name)),
            fresh: false,
        };
        let mut prepared = engine.planner().prepare(request).await?;
        // Also where it failed: an advisory review would let it pass.
        prepared.submission.asks_person =
            self.settings.human != HumanGate::Off || prepared.submission.steers_gate;
        let ticket = engine.submit(prepared).await?;
        let stored = engine.wait(&ticket, &self.never).await?;
        Ok(Judged { engine, ticket, stored, change, fixed: self.checkpoint.fixed })
    }

    /// The review prompt of the project, as it is trusted: an agent may have committed another one. The rest follows in sections.
    async fn review_prompt(&self, change: &Change, judging: &Judging) -> Result<Option<String>, RunError> {
        let git = self.repo.at(&self.checkpoint.place);
        let prompts = self.layout.prompts();
        let folder = prompts.strip_prefix(&self.layout.root).unwrap_or(&prompts);
        let candidates = prompt_files::candidates(folder, "review", judging.program.as_deref());
        let names: Vec<&str> = candidates.iter().map(|path| path.to_str().unwrap_or_default()).collect();
        let of_base = git.first_file_at(&self.checkpoint.base, &names).await.map_err(RepoError::from)?;
        let found = match &judging.trusted {
            Some(commit) => git.first_file_at(commit, &names).await.map_err(RepoError::from)?,
            None => None,
        };
        if found != of_base {
            let changed = of_base.as_ref().or(found.as_ref()).and_then(|(at, _)| names.get(*at));
            self.say(ProgressEvent::Warning(format!(
                "{} was changed on the main branch and not yet trusted: the review uses the trusted version",
                changed.unwrap_or(&"the review prompt")
            )));
        }
        let Some((which, bytes)) = found else { return Ok(None) };
        let template = prompt_files::parse(&candidates[which], bytes).map_err(RunError::template)?;
        let checklist = task_prompt::checklist(self.task);
        let files: Vec<&str> = change.files.iter().map(|file| file.path.as_str()).collect();
        let (files, below) = (files.join("\n"), "(in the message)");
        let values = [
            ("TASK_ID", self.task.id.as_str()),
            ("TASK_NAME", self.task.name.as_str()),
            ("DESCRIPTION", self.task.description.as_str()),
            ("CHECKLIST", checklist.as_str()),
            ("CHANGED_FILES", files.as_str()),
            ("GIT_DIFF", below),
            ("TEST_RESULTS", below),
            ("LINT_STATUS", below),
            ("PREVIOUS_ERRORS", below),
        ];
        Ok(Some(prompt_files::render(&template, &values).text))
    }
}

/// In a run only `max_retries` stops a task, and the run counts them.
fn counted_by_run(policy: Policy) -> Policy {
    let attempts = Attempts::AtMost(COUNTED_BY_DOOR);
    Policy { attempts, max_stalled_rounds: u32::MAX, unchanged_stops: false, ..policy }
}

/// Names what a change shows, whatever the other files of its base are.
pub(super) fn difference(change: &Change) -> Digest {
    let mut parts = Parts::new("difference/1");
    parts.count(change.files.len());
    for file in &change.files {
        parts.text(&file.path).text(file.digest.as_str());
    }
    parts.digest()
}

/// The guidance of the rule comes before the prompt of the project.
fn add_guidance(rule: &mut Rule, words: &str) {
    rule.guidance = Some(match rule.guidance.take() {
        Some(own) => format!("{}\n\n{words}", own.trim_end()),
        None => words.to_owned(),
    });
}

/// What reviewers wrote about work that they let pass.
pub(super) fn passing_texts(review: &Review) -> Vec<String> {
    let Some(round) = review.round().filter(|round| round.end == Some(RoundEnd::Pass)) else { return vec![] };
    let mut texts: Vec<String> = vec![];
    for (reviewer, text) in round.assignments.iter().filter_map(|assignment| round.text_on(assignment)) {
        let text = format!("{reviewer} wrote:\n{text}");
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The findings for people, a free text by its lines; with what the reviewer fixed itself to let the review pass.
pub fn issues(review: &Review, fixed: bool) -> Vec<Issue> {
    let found = review.findings().iter().chain(&review.waived()).flat_map(of_finding).collect::<Vec<_>>();
    fixes(review, fixed).iter().flat_map(|words| of_text(words)).chain(found).collect()
}

fn fixes(review: &Review, fixed: bool) -> Vec<&str> {
    let passed = review.round().is_some_and(|round| round.end == Some(RoundEnd::Pass));
    let sent_back = review.rounds.iter().filter(|round| round.end == Some(RoundEnd::NeedsWork));
    let since = sent_back.map(|round| round.n).next_back().unwrap_or(0);
    let fixes = review.fixes().filter(|(round, _)| round.n > since);
    let texts = fixes.map(|(_, text)| text).filter(|text| !text.is_empty());
    if fixed && passed { texts.collect() } else { vec![] }
}

fn of_text(text: &str) -> Vec<Issue> {
    let issue = |remark: countersign_core::answer::Remark| Issue {
        severity: remark.severity,
        text: remark.text,
        place: remark.place,
    };
    remarks(text).into_iter().map(issue).collect()
}

fn of_finding(finding: &Finding) -> Vec<Issue> {
    let issues = of_text(&finding.feedback);
    if finding.criterion.is_none() && !issues.is_empty() {
        return issues;
    }
    let name = finding.criterion.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
    let issue = |(first, place): (&str, Option<String>)| Issue {
        severity: finding.severity,
        text: format!("{name}{first}"),
        place,
    };
    finding.in_brief().map(issue).collect()
}

pub fn verdict_words(review: &Review, fixed: bool) -> String {
    let Some(round) = review.round() else { return "no review".to_owned() };
    match round.end {
        Some(RoundEnd::Pass) if fixed => "REVIEW_FIXED".to_owned(),
        Some(RoundEnd::Pass) => "REVIEW_PASSED".to_owned(),
        Some(RoundEnd::NeedsWork) => "REVIEW_FAILED".to_owned(),
        Some(end) => {
            let detail = round.assignments.iter().find_map(|assignment| round.failure_of(assignment));
            let detail = detail.map(|failure| format!(" ({})", failure.detail)).unwrap_or_default();
            format!("{}{detail}", end.words())
        }
        None => "under way".to_owned(),
    }
}

/// The verdict at the gate, with how much the reviewer fixed itself.
pub(super) fn gate_words(review: &Review, fixed: bool) -> String {
    let words = verdict_words(review, fixed);
    match fixes(review, fixed).iter().map(|text| of_text(text).len()).sum() {
        0_usize => words,
        fixed => format!("{words} (auto-fixed {})", counted(fixed, "issue", "issues")),
    }
}

/// All findings for the record of an attempt and for the agent, worst first, after what the reviewer fixed itself.
pub(super) fn findings_text(review: &Review, fixed: bool) -> Option<String> {
    let fixes = fixes(review, fixed);
    let all: Vec<Finding> = review.findings().into_iter().chain(review.waived()).collect();
    let mut lines: Vec<String> = fixes.iter().map(|words| words.trim().to_owned()).collect();
    for finding in &all {
        let place = finding.file.as_deref().map(|file| format!(" ({file})")).unwrap_or_default();
        let of = |text: &str| match &finding.criterion {
            Some(criterion) => format!("{criterion}: {text}"),
            None => text.to_owned(),
        };
        if finding.criterion.is_none() && !remarks(&finding.feedback).is_empty() {
            lines.push(finding.feedback.trim().to_owned());
        } else {
            let words = finding.words();
            let mut text = words.trim().lines();
            let first = of(text.next().unwrap_or_default());
            lines.push(format!("{}: {first}{place}", severity_word(finding.severity)));
            lines.extend(text.map(|line| format!("  {line}")));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
