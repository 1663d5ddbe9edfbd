//! Unchanged work is not judged twice, and a loop cannot roll the dice until it passes.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project};

fn twenty() -> (Project, Judge) {
    let project = project();
    for i in 0..20 {
        project.write(
            &format!("docs/{i:02}.md"),
            if i == 7 { "BAD\n".to_owned() } else { format!("page {i}\n") },
        );
    }
    let judge = Judge::by_word(&project, "Complete");
    (project, judge)
}

fn review<'a>(judge: &'a Judge, more: &[&'a str]) -> Vec<&'a str> {
    let mut args =
        vec!["review", "docs", "--criterion", COMPLETE, "--each-file", "--reviewer", judge.name(), "--json"];
    args.extend(more);
    args
}

#[test]
fn twenty_files_one_fixed_are_twenty_one_questions() {
    for subject in [&["--subject", "docs"][..], &[]] {
        let (project, judge) = twenty();
        let first = project.run(&review(&judge, subject)).exits(1).json();
        assert_eq!(judge.asked().len(), 20);
        assert_eq!(first["findings"].as_array().unwrap().len(), 1);
        assert_eq!(first["findings"][0]["file"], "docs/07.md");
        assert_eq!(first["findings"][0]["feedback"], "there is a BAD word");
        project.write("docs/07.md", "good\n");
        let second = project.run(&review(&judge, subject)).exits(0).json();
        assert_eq!(judge.asked().len(), 21, "{subject:?}");
        assert_eq!(judge.asked()[20], "docs/07.md");
        assert_eq!(second["cost"]["rulings_reused"], 19);
        assert_eq!(second["outcome"], "passed");
    }
}

/// JOBS-7: files that are judged one by one have a time each, and none waits for the sum of them.
#[test]
fn twenty_files_judged_one_by_one_have_the_time_of_one_each() {
    let (project, judge) = twenty();
    let shown = project.run(&review(&judge, &["--dry-run"])).exits(0).json();
    let times: Vec<_> =
        shown["assignments"].as_array().unwrap().iter().map(|a| &a["timeout_seconds"]).collect();
    assert_eq!(times, vec![240; 20]);
}

#[test]
fn one_word_in_a_criterion_guidance_or_notes_asks_again() {
    let project = project();
    project.write("a.md", "fine").write("n1", "one").write("n2", "two");
    let judge = Judge::by_word(&project, "Complete");
    let mut asked = 0;
    let mut asks = |more: &[&str], questions: usize| {
        let mut args = vec!["review", "a.md", "--reviewer", judge.name()];
        args.extend(more);
        project.run(&args).exits(0);
        asked += questions;
        assert_eq!(judge.asked().len(), asked, "{more:?}");
    };
    asks(&["--criterion", COMPLETE], 1);
    asks(&["--criterion", COMPLETE], 0);
    asks(&["--criterion", "Complete=Is it really complete?"], 1);
    asks(&["--criterion", COMPLETE, "--guidance", "Mind the gap."], 1);
    asks(&["--criterion", COMPLETE, "--guidance", "Mind the cap."], 1);
    asks(&["--criterion", COMPLETE, "--guidance", "Mind the gap."], 0);
    asks(&["--criterion", COMPLETE, "--notes", "n1"], 1);
    asks(&["--criterion", COMPLETE, "--notes", "n2"], 1);
    asks(&["--criterion", COMPLETE, "--no-cache"], 1);
    // Another program is another reviewer: its own bytes are part of the question.
    project.write("judge.sh", format!("{}# changed\n", project.read("judge.sh")));
    asks(&["--criterion", COMPLETE], 1);
}

#[test]
fn the_same_failing_bytes_ask_nobody_still_fail_and_count() {
    let (project, judge) = twenty();
    let args = review(&judge, &["--subject", "docs"]);
    let left = |ran: countersign_testkit::Ran| ran.json()["review"]["attempts_left"].as_u64().unwrap();
    assert_eq!(left(project.run(&args).exits(1)), 2);
    assert_eq!(left(project.run(&args).exits(1)), 1);
    let stopped = project.run(&args).exits(6).json();
    assert_eq!(
        (stopped["outcome"].as_str(), stopped["reason"].as_str()),
        (Some("stopped"), Some("attempts_used_up"))
    );
    // Stopped is stopped, also for work that would pass.
    project.write("docs/07.md", "good\n");
    project.run(&args).exits(6);
    assert_eq!(judge.asked().len(), 20, "nobody was asked again");
}

#[test]
fn a_later_edit_of_the_policy_does_not_lengthen_a_loop() {
    let project = project();
    let judge = Judge::by_word(&project, "C");
    let config = |attempts: u32, severity: &str| {
        format!(
            "version: 1\nreviewers: [{{name: j, use: command, command: [./judge.sh]}}]\nrules:\n  - name: r\n    for: ['*.md']\n    criteria: [{{name: C, ask: 'ok?', severity: {severity}}}]\npolicy: {{max_attempts: {attempts}}}\n"
        )
    };
    project.write("countersign.yml", config(2, "must")).write("a.md", "BAD");
    let args = ["review", "--subject", "x", "--json"];
    project.run(&args).exits(1);
    project.write("countersign.yml", config(9, "must"));
    project.run(&args).exits(6);
    // Rules that change between rounds count from the next one on, and are shown. A finding of the same bytes is carried.
    project.write("countersign.yml", config(3, "must"));
    project.run(&["review", "--subject", "y"]).exits(1);
    project.write("countersign.yml", config(3, "may"));
    let relaxed = project.run(&["review", "--subject", "y", "--json"]).exits(1).json();
    assert_eq!(relaxed["review"]["rule_changes"], 1);
    assert_eq!(relaxed["left_out"][0]["by"], "severity");
    assert_eq!(judge.asked().len(), 1, "severity is not part of the question");
    project.write("a.md", "BAD as well");
    let relaxed = project.run(&["review", "--subject", "y", "--json"]).exits(0).json();
    assert_eq!(relaxed["waived"].as_array().unwrap().len(), 1, "what no longer blocks is still shown");
}

#[test]
fn no_cache_asks_again_also_about_what_has_passed() {
    let project = project();
    project.write("a.md", "fine");
    let judge = Judge::by_word(&project, "Complete");
    let args = [
        "review",
        "a.md",
        "--criterion",
        COMPLETE,
        "--reviewer",
        judge.name(),
        "--subject",
        "x",
        "--no-cache",
    ];
    project.run(&args).exits(0);
    project.run(&args).exits(0);
    assert_eq!(judge.asked().len(), 2);
}

#[test]
fn a_pass_of_one_reviewer_is_not_the_pass_of_another() {
    let project = project();
    project.write("a.md", "BAD");
    let strict = Judge::by_word(&project, "Complete");
    let lenient = Judge::scripted(
        &project,
        "lenient.sh",
        r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#,
    );
    let review = |judge: &Judge| {
        let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x"];
        project.run(&args)
    };
    review(&lenient).exits(0);
    review(&lenient).exits(0);
    assert_eq!(lenient.asked().len(), 1, "their own pass stands");
    review(&strict).exits(1);
}
