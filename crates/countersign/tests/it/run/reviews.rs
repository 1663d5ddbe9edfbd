//! Reviewers that answer in free text.

use super::kit::{Kit, ONE, attempt};
use std::os::unix::fs::PermissionsExt;

/// A project whose reviewer is a script that reads a prompt: `$word` is what its marker has to carry.
fn with_reviewer(settings: &str, body: &str) -> Kit {
    let kit = Kit::uncommitted(ONE, &format!("max_retries: 1\n{settings}"));
    let home = kit.project.home().display().to_string();
    let yml = kit.project.read("countersign.yml");
    let rules = yml.lines().filter(|line| !line.starts_with("reviewers:")).collect::<Vec<_>>().join("\n");
    kit.project.write("countersign.yml", format!("{rules}\n"));
    reviewer(&kit, body);
    let settings = kit.project.read("spec-runner.config.yaml").replace("@HOME@", &home);
    kit.project.write("spec-runner.config.yaml", settings);
    kit.repository.commit("first");
    kit
}

fn reviewer(kit: &Kit, body: &str) {
    let path = kit.project.home().join("review.sh");
    let text = format!(
        "#!/bin/sh\ncat >\"$HOME/asked\"\nword=$(sed -n 's/^REVIEW_PASSED //p' \"$HOME/asked\" | tail -n 1)\n\
         pwd >>\"$HOME/log\"\n{body}\n"
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const COMMAND: &str = "review_command: @HOME@/review.sh --strict\n";

/// RUN-5.
#[test]
fn run_5_a_free_text_passes_by_its_last_line_and_the_word_of_its_question() {
    let kit = with_reviewer(
        COMMAND,
        "echo \"All good, see REVIEW_FAILED: above\"; echo \"**REVIEW_PASSED $word**\"",
    );
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.attempts("TASK-001"), [attempt(true, "", "passed")]);
    // It works in the project, and gets question, change and how to end.
    assert_eq!(kit.log()[1], kit.repository.root().display().to_string());
    let asked = kit.home("asked");
    for part in [
        "- **Works**: Does it work?\n",
        "## Task Checklist\n- [ ] Write it\n",
        "+work of TASK-001",
        "\nREVIEW_FAILED ca-",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!asked.contains("JSON"), "{asked}");
}

#[test]
fn run_defect_no_free_text_but_a_pass_with_its_word_merges() {
    for (body, exit, code, status) in [
        (
            "echo 'MAJOR: No error handling (a.txt:1)'; echo 'NIT: a name'; echo \"REVIEW_FAILED $word: not yet\"",
            1,
            "REVIEW_FAILED",
            "failed",
        ),
        ("echo REVIEW_PASSED", 4, "INFRASTRUCTURE", "error"),
        ("echo \"REVIEW_PASSED $word\"; echo and one more line", 4, "INFRASTRUCTURE", "error"),
        ("echo REVIEW_PASSED ca-aaaaaaaaaaaa", 4, "INFRASTRUCTURE", "error"),
        ("", 4, "INFRASTRUCTURE", "error"),
        ("echo \"REVIEW_PASSED $word\"; exit 1", 4, "INFRASTRUCTURE", "error"),
        ("echo \"REVIEW_PASSED $word\"; kill -9 $$", 4, "INFRASTRUCTURE", "error"),
    ] {
        let kit = with_reviewer(COMMAND, body);
        let ran = kit.run(&["run", "--all"]).exits(exit);
        kit.nothing_merged();
        assert_eq!(kit.attempts("TASK-001"), [attempt(false, code, status)], "{body}: {ran:?}");
    }
}

/// RUN-6.
#[test]
fn run_6_the_issues_of_a_free_text_are_counted_and_told() {
    let body =
        "echo 'MAJOR: No error handling (a.txt:1)'; echo 'MINOR: a name'; echo \"REVIEW_FAILED $word\"";
    let kit = with_reviewer(COMMAND, body);
    kit.run(&["run", "--all", "--max-retries", "2"]).exits(1);
    let status = kit.run(&["status"]).exits(0).stdout;
    assert!(status.starts_with("TASK-001: failed  (review: failed, 2 issues)\n"), "{status}");
    let prompt = kit.prompt("TASK-001", 2);
    assert!(prompt.contains("MAJOR: No error handling (a.txt:1)"), "{prompt}");
}

#[test]
fn run_defect_a_free_text_reviewer_that_mends_is_followed_by_tests_and_another_look() {
    let settings = format!("{COMMAND}commands: {{test: 'echo t >>$HOME/log'}}\n");
    let body = "if grep -q better TASK-001.txt; then echo \"REVIEW_PASSED $word\"; else echo better >TASK-001.txt; echo \"REVIEW_FIXED $word\"; fi";
    let kit = with_reviewer(&settings, body);
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.attempts("TASK-001"), [attempt(true, "", "fixed")]);
    let root = kit.repository.root().display().to_string();
    assert_eq!(kit.log(), ["agent TASK-001", "t", root.as_str(), "t", root.as_str()]);
    assert_eq!(kit.git("show main:TASK-001.txt"), "better");
}

#[test]
fn free_text_is_for_where_nobody_else_is_named() {
    let body = "echo \"REVIEW_PASSED $word\"";
    // A reviewer of the command line wins, and one in free text can be named there.
    let kit = with_reviewer(COMMAND, body);
    let home = kit.project.home().display().to_string();
    kit.judge("fails no").run(&["run", "--all", "--reviewer", &format!("command:{home}/judge.sh")]).exits(1);
    assert!(!kit.at_home("asked"));
    kit.run(&["retry", "TASK-001", "--reviewer", &format!("text:{home}/review.sh --more")]).exits(0);
    assert!(kit.at_home("asked"));
    // A configured one, too.
    let kit = Kit::new(ONE, "review_command: /nowhere/reviewer\n");
    kit.run(&["run", "--all"]).exits(0);
    // A prompt by file, and a program that is not there.
    let template =
        "review_command: @HOME@/review.sh\nreview_command_template: '{cmd} --file {prompt_file}'\n";
    let kit =
        with_reviewer(template, "word=$(sed -n 's/^REVIEW_PASSED //p' \"$2\"); echo \"REVIEW_PASSED $word\"");
    kit.run(&["run", "--all"]).exits(0);
    let kit = with_reviewer("review_command: /nowhere/reviewer\n", "");
    let ran = kit.run(&["run", "--all"]).exits(4);
    assert!(ran.stderr.contains("/nowhere/reviewer"), "{}", ran.stderr);
    kit.nothing_merged();
}
