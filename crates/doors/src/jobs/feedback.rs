//! The texts of the door for agents.

use super::answer::unit;
use super::job::{Step, Workflow};
use super::library::{FOLDERS_VARIABLE, Library, Unreadable};
use countersign_core::ids::Token;
use countersign_core::judge::{Finding, Unanswered};
use countersign_core::outcome::{NoVerdict, Stop};
use countersign_core::plan::Target;
use countersign_core::policy::{MAX_EMPTY_ROUNDS, Overrides};
use countersign_core::review::Review;
use countersign_core::text::visible_line;
use serde_json::json;

pub const IMPORTANT_NOTE: &str = "Do what step_instructions say, write the expected outputs as files inside the project, then call \
     finished_step with their paths. The step is judged by its reviews before the next one begins; what fails comes \
     back as needs_work, with findings to be fixed.";

pub const NOTE_WITHOUT_GATE: &str = "Do what step_instructions say, write the expected outputs as files inside the project, then call \
     finished_step with their paths. This server was started with --no-quality-gate: steps are not judged, and that is \
     recorded for each of them.";

pub const NOT_JUDGED: &str = "Not judged: the server was started with --no-quality-gate. This is recorded.";

pub const RUNNING: &str = "REVIEW RUNNING: change nothing, call again. The reviewers are still at work; call finished_step \
     again with the same arguments to wait for them. No attempt is counted and no reviewer is asked twice.";

pub const OVERRIDDEN: &str = "Passed by quality_review_override_reason: recorded as an override, with its reason, and shown in every \
     report.";

pub const WRONG_TOKEN: &str = "the token does not belong to this self-review: it is in the instructions file that the last answer to \
     finished_step for this step named";

/// A self-review that comes late or twice.
pub const TOKEN_IS_USED: &str = "this token was already used: call finished_step without self_review, and follow the instructions of its \
     answer, which have a new token";

pub fn how_to_invoke(job: &str, workflow: &Workflow) -> String {
    let call = format!("call start_workflow with job_name \"{job}\", workflow_name \"{}\"", workflow.name);
    match &workflow.agent {
        None => format!("{call} and your goal"),
        Some(agent) => format!(
            "start a subagent of the kind \"{agent}\", give it the goal and everything it needs to know, and have it {call}, \
             the goal and an agent_id of its own"
        ),
    }
}

/// What cannot be used of a job, and why.
pub fn unreadable(error: &Unreadable) -> String {
    match error.workflows.as_slice() {
        [] => error.problems.to_string(),
        lost => format!(
            "{}\nworkflows that cannot be started because of this: {}",
            error.problems,
            visible_line(&lost.join(", "))
        ),
    }
}

/// Where jobs were looked for in vain.
pub fn no_jobs(library: &Library) -> String {
    let folders: Vec<_> =
        library.folders().map(|folder| visible_line(&folder.to_string_lossy()).into_owned()).collect();
    format!(
        "there are no jobs in {}. Jobs are looked for in the folder that the server was started for (countersign mcp --path \
         FOLDER), in the folders above it up to the root of the project, and in those of {FOLDERS_VARIABLE}",
        folders.join(", ")
    )
}

pub fn not_applicable(names: &[String]) -> Option<String> {
    (!names.is_empty())
        .then(|| format!("Not checked, because the optional output was not submitted: {}.", names.join(", ")))
}

pub fn passed(review: &Review, names: &[String]) -> Option<String> {
    let waived: Vec<_> = review.waived().iter().map(Finding::words).collect();
    let advice = (!waived.is_empty())
        .then(|| format!("Worth a look, though it does not block: {}", waived.join("; ")));
    let parts: Vec<_> = advice.into_iter().chain(not_applicable(names)).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

pub fn again(step: &str) -> String {
    format!(
        "Step '{step}' already passed with these paths, so you get the same answer again. If you changed the files after that, the changes are not reviewed: while the workflow is running, call go_to_step, then submit them again."
    )
}

pub fn needs_work(review: &Review, step: &Step, not_applicable_names: &[String]) -> String {
    let mut out = findings(review);
    let open = unanswered(review, step);
    if !open.is_empty() {
        let open = open.join("; ");
        out.push_str(&format!("\nNo verdict yet on: {open}. They are asked again with the next call.\n"));
    }
    if let Some(words) = not_applicable(not_applicable_names) {
        out.push_str(&format!("\n{words}\n"));
    }
    let left = review.policy.attempts_left(review.attempts).unwrap_or_default();
    let tries = if left == 1 { "1 try is left".to_owned() } else { format!("{left} tries are left") };
    out.push_str(&format!(
        "\nFix these in the output files, then call finished_step again. Only what changed is judged again; {tries} before the \
         step is blocked. (review {})",
        review.id
    ));
    out
}

fn findings(review: &Review) -> String {
    let mut out = String::from("The review has findings that must be fixed:\n");
    for finding in review.findings() {
        let words = finding.words();
        let place = finding.file.unwrap_or_else(|| match finding.target {
            Target::Output(name) => format!("output '{name}'"),
            _ => "all outputs together".to_owned(),
        });
        // A name with line breaks must not look like another finding.
        let place = visible_line(&place);
        let criterion = finding.criterion.as_deref().unwrap_or("the whole");
        out.push_str(&format!("- {place}: {criterion}: {}\n", words.trim()));
    }
    out
}

fn unanswered(review: &Review, step: &Step) -> Vec<String> {
    let Some(round) = review.round() else { return vec![] };
    let words = |assignment: usize| {
        let assignment = round.assignments.get(assignment)?;
        let reasons: Vec<_> = round
            .failures_of(assignment)
            .map(|(candidate, failure)| format!("{}: {}", candidate.reviewer, failure.detail))
            .collect();
        let unit = unit(review, assignment, step);
        Some(format!("{} ({})", visible_line(&unit), reasons.join(", then ")))
    };
    round.judgement.unanswered.iter().filter_map(|one| words(one.assignment)).collect()
}

pub fn overrides_not_allowed(review: Option<&Review>) -> String {
    let review = review.map_or_else(|| "the review".to_owned(), |review| format!("review {}", review.id));
    format!(
        "only people may override reviews in this project: fix the findings and call finished_step without \
         quality_review_override_reason, or tell your user that {review} waits for a person"
    )
}

/// No verdict on a part, and no failure.
pub fn no_verdict(review: &Review, step: &Step) -> String {
    let open = unanswered(review, step);
    let about =
        if open.is_empty() { "the files changed while they were judged".to_owned() } else { open.join("; ") };
    let unanswered = review.round().map(|round| round.judgement.unanswered.as_slice()).unwrap_or_default();
    let will_not_change = |one: &Unanswered| matches!(one.why, NoVerdict::TooLong | NoVerdict::Refused);
    let next = if review.empty_rounds >= MAX_EMPTY_ROUNDS {
        format!(
            "This was round {} in a row without a verdict, so {IN_VAIN}.{}",
            review.empty_rounds,
            way_out(review)
        )
    } else if !unanswered.is_empty() && unanswered.iter().all(will_not_change) {
        format!("Calling again with the same files cannot help.{}", way_out(review))
    } else {
        "Call finished_step again to ask only for the missing ones.".to_owned()
    };
    format!(
        "NO VERDICT: {about}. The step is unchanged, no attempt is counted, and finished rulings are kept. {next} (review {})",
        review.id
    )
}

const IN_VAIN: &str = "no reviewer is asked for five minutes, and calling again before that cannot help";

/// No reviewer is asked for a while.
pub fn cooling_off(review: &Review, step: &Step) -> String {
    let open = unanswered(review, step);
    let why = if open.is_empty() { String::new() } else { format!(" ({})", open.join("; ")) };
    format!(
        "NO REVIEWER IS ASKED: the last {} rounds ended without a verdict{why}, so {IN_VAIN}. The step is unchanged, and no \
         attempt is counted.{} (review {})",
        review.empty_rounds,
        way_out(review),
        review.id
    )
}

/// What the agent can do without a reviewer.
fn way_out(review: &Review) -> &'static str {
    match review.policy.overrides {
        Overrides::Allow => {
            " If no reviewer can rule on it, quality_review_override_reason lets the step pass; it is recorded as an override."
        }
        Overrides::PeopleOnly | Overrides::Forbid => {
            " Tell your user: a person can unblock the review at once."
        }
    }
}

pub fn budget_reached(review: &Review, step: &Step) -> String {
    format!(
        "BUDGET REACHED: {}. The step is unchanged and finished rulings are kept, but calling again does not help: a person \
         must raise the budget or let this review continue. Review {} waits for a person: tell your user.",
        unanswered(review, step).join("; "),
        review.id
    )
}

pub fn blocked(review: &Review, step: &Step, why: Stop) -> String {
    let findings =
        if review.findings().is_empty() { String::new() } else { format!("\n{}", findings(review)) };
    format!(
        "BLOCKED: step '{}': {}. No reviewer is asked again until a person has decided. Review {} waits for a person: \
         tell your user, and stop working on this step.{findings}",
        step.id,
        why.words(),
        review.id
    )
}

pub fn self_review(file: &str) -> String {
    format!(
        "This step is judged by a review of your own. Start a subagent that did not do the work (or, if you cannot, do it \
         yourself as if another person had done it) and have it:\n\
         1. read {file},\n\
         2. evaluate every criterion in it against the files,\n\
         3. report what fails; you then fix these issues,\n\
         4. repeat until every criterion passes,\n\
         5. then you call finished_step again with the same outputs, with quality_review_override_reason saying how the \
         review went, and with self_review {{token, results}} as the file says: the token is in it, and there is a result \
         for every criterion. A reason without results is recorded as an override."
    )
}

/// The end of the instructions file: how the results are handed in.
pub fn submit(review: &Review, token: &Token) -> String {
    let Some(round) = review.round() else { return String::new() };
    let mut results = vec![];
    for assignment in round.assignments.iter().filter(|assignment| assignment.is_self_review()) {
        let rule = review.rules.get(assignment.rule).map(|rule| rule.name.as_str());
        let file = match &assignment.target {
            Target::File(path) => Some(path.as_str()),
            _ => None,
        };
        for criterion in assignment.asks(&review.rules) {
            let mut result =
                json!({ "rule": rule, "criterion": criterion.name, "passed": false, "feedback": "…" });
            if let Some(file) = file {
                result["file"] = json!(file);
            }
            results.push(format!("    {result}"));
        }
    }
    format!(
        "When the review is done and everything passes, call `finished_step` again with the same outputs, with \
         `quality_review_override_reason`, and with `self_review` like this, one result for every criterion, `passed` as you \
         found it:\n\n```json\n{{\n  \"token\": \"{token}\",\n  \"results\": [\n{}\n  ]\n}}\n```\n\nThe results are taken for \
         the files as they are at that moment.",
        results.join(",\n")
    )
}
