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

/// What has to be fixed must not be dropped by the line below it, however it is written.
#[test]
fn attack_a_pass_with_a_finding_merges_nothing() {
    for finding in [
        "echo 'MAJOR: this is broken'",
        "echo 'minor: a name (a.txt:1)'",
        "echo '1. **BLOCKER** - it loses data'; echo; echo 'All else is good.'",
        "echo '### Critical issues:'; echo; echo '- it loses data'",
        "echo 'a.txt:1: MAJOR: this is broken'",
        "echo '| MAJOR | this is broken |'",
        "echo 'REVIEW_FAILED: this is broken'",
        "echo \"REVIEW_FAILED $word\"",
        "echo '```'",
        "printf 'all good \\377\\n'",
        "head -c 9000000 /dev/zero | tr '\\0' x; echo",
    ] {
        let kit = with_reviewer(COMMAND, &format!("{finding}; echo \"REVIEW_PASSED $word\""));
        let ran = kit.run(&["run", "--all"]).exits(4);
        kit.nothing_merged();
        assert_eq!(
            kit.attempts("TASK-001"),
            [attempt(false, "INFRASTRUCTURE", "error")],
            "{finding}: {ran:?}"
        );
    }
    // The reviewer is told what is wrong with its answer, and may give a better one.
    let body = "if grep -q 'could not be used' \"$HOME/asked\"; then echo \"REVIEW_PASSED $word\"; else \
                echo 'MAJOR: no error handling'; echo \"REVIEW_PASSED $word\"; fi";
    let kit = with_reviewer(COMMAND, body);
    kit.run(&["run", "--all"]).exits(0);
    assert!(kit.home("asked").contains("says what has to be fixed: MAJOR: no error handling"));
    // Advice is no objection.
    let kit = with_reviewer(COMMAND, "echo 'NIT: a name'; echo 'MAJOR: none'; echo \"REVIEW_PASSED $word\"");
    kit.run(&["run", "--all"]).exits(0);
}

#[test]
fn attack_a_fix_without_a_changed_file_merges_nothing() {
    let kit = with_reviewer(COMMAND, "echo 'MAJOR: this is broken'; echo \"REVIEW_FIXED $word\"");
    let ran = kit.run(&["run", "--all"]).exits(4);
    assert!(ran.stderr.contains("says REVIEW_FIXED, and no file was changed"), "{}", ran.stderr);
    kit.nothing_merged();
    assert_eq!(kit.attempts("TASK-001"), [attempt(false, "INFRASTRUCTURE", "error")]);
}

/// A reviewer that fixed one state of the files has not passed it: if the files go back to that state, it is judged.
#[test]
fn attack_what_a_reviewer_fixed_does_not_pass_unfixed() {
    for marker in ["REVIEW_FIXED", "REVIEW_PASSED"] {
        // Each look changes the file; the fix of lint puts it back to what the agent had made.
        let settings = format!(
            "{COMMAND}commands: {{lint: 'grep \"work of\" TASK-001.txt', lint_fix: 'echo \"work of TASK-001\" >TASK-001.txt'}}\n"
        );
        let body = format!("echo better >TASK-001.txt; echo \"{marker} $word\"");
        let kit = with_reviewer(&settings, &body);
        kit.run(&["run", "--all"]).exits(4);
        kit.nothing_merged();
    }
}

/// RUN-9, document 003's example: what a reviewer fixed itself is told wherever people look.
#[test]
fn run_9_the_issues_of_a_fix_are_kept_and_shown() {
    let body = "if grep -q better TASK-001.txt; then echo \"REVIEW_PASSED $word\"; else echo better >TASK-001.txt; \
                echo 'MAJOR: No error handling in API call (api.py:45)'; echo 'MINOR: Unused import (utils.py:1)'; \
                echo \"REVIEW_FIXED $word\"; fi";
    let kit = with_reviewer(COMMAND, body);
    let ran = kit.run(&["run", "--all"]).exits(0);
    let lines = "TASK-001: REVIEW_FIXED, 2 issues\n  MAJOR: No error handling in API call (api.py:45)\n  \
                 MINOR: Unused import (utils.py:1)\n";
    assert!(ran.stderr.contains(lines), "{}", ran.stderr);
    let status = kit.run(&["status"]).exits(0).stdout;
    assert!(status.starts_with("TASK-001: success (review: fixed, 2 issues)\n"), "{status}");
    let (_, attempts) = kit.state();
    let findings = attempts["TASK-001"][0].review_findings.clone().unwrap();
    assert_eq!(
        findings,
        "MAJOR: No error handling in API call (api.py:45)\nMINOR: Unused import (utils.py:1)"
    );
    let shown = kit.run(&["show", "TASK-001"]).exits(0).stdout;
    assert!(
        shown.contains("In round 1 the reviewer changed files itself") && shown.contains("Unused import"),
        "{shown}"
    );
    let json = kit.run(&["show", "TASK-001", "--json"]).exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["fixed"][0]["round"], json["fixed"].as_array().unwrap().len()), (&1.into(), 1));
    let log = kit.run(&["output", "TASK-001"]).exits(0).stdout;
    assert!(log.contains("the reviewer changed files itself and reported:\nMAJOR: No error"), "{log}");
}

/// A free text that passes the work is worth reading, too.
#[test]
fn issue_19_the_text_of_a_pass_is_in_output_and_show() {
    let kit = with_reviewer(
        COMMAND,
        "echo 'I checked the edge cases, all of them hold.'; echo \"REVIEW_PASSED $word\"",
    );
    kit.run(&["run", "--all"]).exits(0);
    let text = "I checked the edge cases, all of them hold.";
    let log = kit.run(&["output", "TASK-001"]).exits(0).stdout;
    assert!(log.contains(&format!("review_command wrote:\n{text}")), "{log}");
    let shown = kit.run(&["show", "TASK-001"]).exits(0).stdout;
    assert!(shown.contains("review_command wrote:") && shown.contains(text), "{shown}");
    let json = kit.run(&["show", "TASK-001", "--json"]).exits(0).json();
    assert_eq!(json["assignments"][0]["feedback"], text);
}

/// RUN-6, RUN-9: what a reviewer fixed itself is counted at the gate and in the state.
#[test]
fn issue_19_a_fix_keeps_what_was_found_at_the_gate() {
    let body = "if grep -q better TASK-001.txt; then echo \"REVIEW_PASSED $word\"; else echo better >TASK-001.txt; \
                echo 'MAJOR: No error handling (api.py:45)'; echo 'MINOR: Unused import (utils.py:1)'; \
                echo \"REVIEW_FIXED $word\"; fi";
    let kit = with_reviewer(COMMAND, body);
    let mut run = kit.typed(&["run", "--all", "--hitl-review"]);
    let asked = run.exp_string("[s]kip").unwrap();
    let lines = "2 issues found:\r\n  MAJOR: No error handling (api.py:45)\r\n  MINOR: Unused import (utils.py:1)\r\n\r\n\
                 Verdict: REVIEW_FIXED (auto-fixed 2 issues)\r\n";
    assert!(asked.contains(lines), "{asked}");
    // Approved, the review counts as passed, with what was found.
    run.send_line("a: seen").unwrap();
    run.exp_eof().unwrap();
    assert_eq!(kit.attempts("TASK-001"), [attempt(true, "", "passed")]);
    let status = kit.run(&["status"]).exits(0).stdout;
    assert!(status.starts_with("TASK-001: success (review: passed, 2 issues)\n"), "{status}");
    assert!(kit.run(&["show", "TASK-001"]).exits(0).stdout.contains("seen"));
}

#[test]
fn issue_19_a_failure_on_one_line_has_its_first_finding() {
    let body = "echo '1 issue found:'; echo '  MAJOR: no tests'; echo \"REVIEW_FAILED $word\"";
    let kit = with_reviewer(COMMAND, body);
    let ran = kit.run(&["run", "--all", "--max-retries", "2"]).exits(1);
    let line = "TASK-001: the review found: 1 issue found: MAJOR: no tests; next attempt\n";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}

#[test]
fn free_text_is_for_where_nobody_else_is_named() {
    let body = "echo \"REVIEW_PASSED $word\"";
    // A reviewer of the command line wins, and one in free text can be named there.
    let kit = with_reviewer(COMMAND, body);
    let home = kit.project.home().display().to_string();
    kit.judge("fails no").run(&["run", "--all", "--reviewer", &format!("command:{home}/judge.sh")]).exits(1);
    assert!(!kit.at_home("asked"));
    // Work that failed stays failed for another reviewer too.
    kit.run(&["retry", "TASK-001", "--reviewer", &format!("text:{home}/review.sh --more")]).exits(1);
    assert!(!kit.at_home("asked"));
    let kit = with_reviewer(COMMAND, body);
    let home = kit.project.home().display().to_string();
    kit.run(&["run", "--all", "--reviewer", &format!("text:{home}/review.sh --more")]).exits(0);
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
