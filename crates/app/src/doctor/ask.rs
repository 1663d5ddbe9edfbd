//! `doctor --ask`: one small question, as a review asks it, about a file and in a ledger of its own.

use super::Asking;
use crate::Failure;
use crate::answer::v1::Check;
use crate::doors::CLI;
use countersign_core::cost::Budget;
use countersign_core::criterion::Criterion;
use countersign_core::ids::Subject;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::policy::{Attempts, Policy};
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_core::text::visible_line;
use countersign_engine::engine::{Engine, Judge, Panel, Panelist, Planner, Request, Surroundings};
use countersign_engine::ledger::{Ledger, Stored};
use countersign_engine::private;
use countersign_engine::scratch::Scratch;
use countersign_engine::workspace::Root;
use std::path::Path;
use std::time::{Duration, Instant};

const FILE: &str = "question.txt";
const TEXT: &str = "An apple fell from the tree.\nNobody was there to see it.\n";
const CRITERION: &str = "Answers";
const QUESTION: &str = "Does the text contain the word apple?";
/// For reviewers without a timeout of their own.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn ask(asking: &Asking<'_>, panelist: Panelist) -> Result<Check, Failure> {
    let what = format!("answers {}", panelist.name);
    let folder = Scratch::new("doctor");
    let folder = folder
        .map_err(|error| Failure::internal(format!("a temporary folder cannot be created: {error}")))?;
    let panelist = moved(panelist, asking.project.root.path());
    let seconds = panelist.timeout.unwrap_or(TIMEOUT).as_secs();
    (asking.note)(&format!("asking {}, for at most {seconds} s", visible_line(&panelist.name)));
    let started = Instant::now();
    let is_users = matches!(panelist.judge, Judge::Command(_));
    let stored = answered(asking, panelist, folder.path()).await?;
    Ok(line(what, &stored, is_users).took(started.elapsed()))
}

async fn answered(asking: &Asking<'_>, panelist: Panelist, folder: &Path) -> Result<Stored, Failure> {
    let broken = |error: std::io::Error| Failure::internal(format!("`{}`: {error}", folder.display()));
    let root = Root::new(folder).map_err(broken)?;
    private::write(&root.join(FILE), TEXT).map_err(broken)?;
    let planner = Planner {
        panel: Panel::new(vec![panelist], root.path(), 1, &Surroundings::default()),
        root,
        bounds: asking.project.bounds(),
        redaction: asking.project.redaction()?,
        day_budget: Budget::default(),
        keep_contents_days: 0,
        rules_from: None,
        baseline: std::sync::Arc::default(),
    };
    let ledger = Ledger::open(&folder.join(".countersign")).await?;
    let engine = Engine::new(planner, ledger, asking.guard.clone())?;
    let prepared = engine.planner().prepare(request()).await?;
    let ticket = engine.submit(prepared).await?;
    let stored = engine.wait(&ticket, asking.cancel).await;
    engine.ledger().clone().close().await;
    Ok(stored?)
}

/// The same reviewer for another root: the files its command names stay those of the project.
fn moved(panelist: Panelist, root: &Path) -> Panelist {
    let timeout = Some(panelist.timeout.unwrap_or(TIMEOUT));
    let judge = match panelist.judge {
        Judge::Command(command) => Judge::Command(command.from_anywhere(root)),
        other => other,
    };
    Panelist { timeout, judge, ..panelist }
}

fn request() -> Request {
    let criteria = vec![Criterion::must(CRITERION, QUESTION)];
    let rule = Rule::new("doctor", Scope::Whole, criteria);
    Request {
        subject: Subject::new(CLI, ["doctor"]),
        rules: vec![rule],
        policy: Policy { attempts: Attempts::Once, ..Policy::default() },
        outputs: vec![Output { name: "files".to_owned(), kind: OutputKind::Files }],
        files: vec![(FILE.to_owned(), 0)],
        guidance_files: vec![],
        change: None,
        notes: None,
        fresh: true,
    }
}

fn line(what: String, stored: &Stored, is_users: bool) -> Check {
    let review = &stored.review;
    let round = review.round();
    let feedback = round.and_then(|round| round.answers.values().next()).map(|given| &given.answer.feedback);
    let said = feedback.filter(|words| !words.trim().is_empty()).map(|words| format!(": {words}"));
    let said = said.unwrap_or_default();
    match review.standing() {
        Some(Outcome::Passed) => Check::ok(what, format!("it answered yes, which is right{said}")),
        Some(Outcome::NeedsWork | Outcome::Stopped(_)) => {
            let line = TEXT.lines().next().unwrap_or_default();
            Check::warn(what, format!("it answered no; the right answer is yes{said}"))
                .hint(format!("it was asked about the line `{line}`: {QUESTION}"))
        }
        standing => {
            let outcome = standing.unwrap_or(Outcome::NoVerdict(NoVerdict::Unavailable));
            let failure = round.and_then(|round| {
                round.assignments.iter().find_map(|assignment| round.failure_of(assignment))
            });
            let detail = failure.map_or_else(|| outcome.to_string(), |failure| failure.detail.clone());
            let check = Check::fail(what, outcome, detail);
            // Where the service did not take the question, that is all there is to say.
            if !is_users && outcome != Outcome::NoVerdict(NoVerdict::Garbled) {
                return check;
            }
            check.hint(format!(
                "the test used the criterion '{CRITERION}': {QUESTION} If your program supports only its own criteria, it cannot answer this, and you can ignore this result"
            ))
        }
    }
}
