//! A reviewer that fails every question the same way: after a few it counts as down for this round, and the rest are not asked.

use crate::project;
use countersign_testkit::{Act, Chat, Messages, Project, Ran, Running};

const FILES: usize = 30;
const AT_ONCE: usize = 2;

/// A project with many files, each a question of its own.
fn many(reviewers: &str) -> Project {
    let project = project();
    for n in 0..FILES {
        project.write(&format!("{n:02}.md"), format!("Text {n}.\n"));
    }
    project.write(
        "countersign.yml",
        format!(
            "version: 1\nreviewers:\n{reviewers}rules: [{{name: r, for: ['*.md'], each: file, criteria: [{{name: Complete, \
             ask: 'Is it complete?'}}]}}]\n"
        ),
    );
    project
}

fn reviewer(name: &str, api: &str, url: &str) -> String {
    format!(
        "- {{name: {name}, use: {api}, model: m, base_url: '{url}/v1', key_env: SERVICE_KEY, concurrency: {AT_ONCE}}}\n"
    )
}

fn review(project: &Project, more: &[&str]) -> Ran {
    let args = [&["review", "--subject", "x"], more].concat();
    Running::start(project.command(&args).env("SERVICE_KEY", "plain-words-key")).wait()
}

#[test]
fn issue_23_a_service_that_fails_the_same_way_is_not_asked_the_rest() {
    for (refusal, words) in [
        (Act::error(401, "authentication_error", "invalid x-api-key"), "rejected the key"),
        (Act::error(403, "permission_error", "no access"), "does not allow this to your account"),
        (Act::error(400, "invalid_request_error", "Your credit balance is too low"), "has no credit left"),
    ] {
        let service = Messages::always(refusal);
        let project = many(&reviewer("main", "anthropic", &service.url()));
        let json = review(&project, &["--json"]).exits(4).json();
        assert_eq!(
            (json["outcome"].as_str(), json["reason"].as_str()),
            (Some("no_verdict"), Some("unavailable"))
        );
        let asked = service.asked().len();
        assert!((3..3 + AT_ONCE).contains(&asked), "asked {asked} times");
        let details =
            json["assignments"].as_array().unwrap().iter().map(|one| one["detail"].as_str().unwrap());
        let (not_asked, failed): (Vec<_>, Vec<_>) =
            details.partition(|words| words.starts_with("not asked: "));
        assert_eq!((not_asked.len(), failed.len()), (FILES - asked, asked));
        assert!(failed.iter().all(|detail| detail.contains(words)), "{failed:?}");
        let why = "`main` counts as down for this round, because 3 questions failed the same way: ";
        assert!(
            not_asked.iter().all(|detail| detail.contains(why) && detail.contains(words)),
            "{not_asked:?}"
        );
        assert_eq!(json["review"]["attempts"], 0);
        let text = review(&project, &[]).exits(4).stdout;
        assert!(text.contains("counts as down for this round"), "{text}");
    }
}

#[test]
fn issue_23_the_next_reviewer_is_asked_where_the_first_counts_as_down() {
    let (first, second) = (
        Messages::always(Act::error(401, "authentication_error", "invalid x-api-key")),
        Chat::always(Act::ruling("Complete", true, "fine")),
    );
    let reviewers =
        [reviewer("main", "anthropic", &first.url()), reviewer("other", "openai", &second.url())].concat();
    let project = many(&reviewers);
    let json = review(&project, &["--json"]).exits(0).json();
    assert_eq!(json["outcome"], "passed");
    assert!((3..3 + AT_ONCE).contains(&first.asked().len()), "{}", first.asked().len());
    assert_eq!(second.asked().len(), FILES);
}

/// One that answers in between is not down, however often it fails.
#[test]
fn issue_23_a_service_that_answers_in_between_is_asked_everything() {
    let mut n = 0;
    let service = Messages::minded(move |_| {
        n += 1;
        match n % 3 {
            0 => Act::ruling("Complete", true, "fine"),
            _ => Act::error(400, "invalid_request_error", "Your prompt has a defect"),
        }
    });
    let line = reviewer("main", "anthropic", &service.url()).replace("concurrency: 2", "concurrency: 1");
    let project = many(&line);
    review(&project, &["--json"]).exits(4);
    assert_eq!(service.asked().len(), FILES);
}
