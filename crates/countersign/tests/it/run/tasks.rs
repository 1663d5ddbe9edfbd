//! Tasks from beginning to end: what is committed, recorded and written back.

use super::kit::{Kit, ONE, THREE, attempt};
use serde_json::Value;

/// The list with every task done and its boxes ticked, and no other byte changed.
fn done(tasks: &str) -> String {
    tasks.replace("⬜ TODO", "✅ DONE").replace("P2 | TODO", "P2 | DONE").replace("- [ ]", "- [x]")
}

/// RUN-8.
#[test]
fn run_8_every_task_is_done_tested_judged_and_merged_and_all_of_it_is_recorded() {
    for ending in ["\n", "\r\n"] {
        let tasks = THREE.replace('\n', ending);
        let kit = Kit::new(
            &tasks,
            "commands: {test: 'echo 3 passed; echo t >>$HOME/log', lint: 'echo l >>$HOME/log'}\n",
        );
        let ran = kit.run(&["run", "--all"]).exits(0);
        assert_eq!(
            kit.merges(),
            [
                "Merge TASK-003: Write three",
                "Merge TASK-002: Write two",
                "Merge TASK-001: Write one",
                "first"
            ]
        );
        assert_eq!(kit.log()[..4], ["agent TASK-001", "t", "l", "judge"]);
        assert_eq!(kit.tasks(), done(&tasks), "{ran:?}");
        let (summaries, attempts) = kit.state();
        for (n, task) in ["TASK-003", "TASK-002", "TASK-001"].into_iter().enumerate() {
            assert_eq!(kit.attempts(task), [attempt(true, "", "passed")]);
            assert_eq!(summaries[task].state.word(), "success");
            // The merge names its review, the commit below it is the task and nothing but its work.
            let merge = format!("main{}", "~".repeat(n));
            let review = attempts[task][0].review_id.clone().unwrap();
            let message = kit.git(&format!("log -1 --format=%B {merge}"));
            assert!(message.contains(&format!("\n\nCountersign-Review: {review}")), "{message}");
            assert_eq!(
                kit.git(&format!("log -1 --format=%(trailers:key=Countersign-Review,valueonly) {merge}"))
                    .trim(),
                review
            );
            assert_eq!(kit.git(&format!("diff --name-only {merge}^1 {merge}")), format!("{task}.txt"));
            let subject = kit.git(&format!("log -1 --format=%s {merge}^2"));
            assert!(subject.starts_with(&format!("{task}: Write ")), "{subject}");
            assert!(attempts[task][0].output.as_deref().unwrap().contains("TASK_COMPLETE"));
        }
        assert_eq!(kit.git("branch --format=%(refname:short)"), "main");
        let history = kit.project.read("spec/.task-history.log");
        let changes: Vec<_> = history.lines().map(|line| line.split_once(" | ").unwrap().1).collect();
        for task in ["TASK-001", "TASK-002", "TASK-003"] {
            for status in ["in_progress", "done"] {
                assert!(changes.contains(&format!("{task} | status -> {status}").as_str()), "{history}");
            }
        }
        let status = kit.run(&["status"]).exits(0).stdout;
        let lines = "TASK-001: success (review: passed)\nTASK-002: success (review: passed)\nTASK-003: success (review: passed)\n";
        assert!(status.starts_with(lines), "{status}");
        kit.run(&["log", "--verify"]).exits(0);
        // A second run has nothing to do.
        assert!(kit.run(&["run", "--all"]).exits(0).stdout.contains("nothing to do"));
    }
}

/// RUN-6.
#[test]
fn run_6_status_says_what_became_of_each_task() {
    let kit = Kit::new(THREE, "max_retries: 1\nmax_consecutive_failures: 9\n");
    kit.agent("case $task in TASK-001) echo BAD >a.txt;; *) echo fine >b.txt;; esac; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(1);
    let status = kit.run(&["status"]).exits(0).stdout;
    let lines = "TASK-001: failed  (review: failed, 1 issues)\nTASK-002: pending\nTASK-003: success (review: passed)\n";
    assert!(
        status.starts_with(lines) || status.starts_with(&lines.replace("1 issues", "1 issue")),
        "{status}"
    );
    assert!(kit.tasks().contains("🔴 P0 | ⏸️ BLOCKED   Est: 1d"), "{}", kit.tasks());
}

/// RUN-3.
#[test]
fn run_3_findings_are_recorded_and_the_next_attempt_gets_them() {
    let kit = Kit::new(ONE, "");
    kit.agent("if grep -q 'a BAD word' \"$prompt\"; then echo good >a.txt; else echo BAD >a.txt; fi; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(0);
    let expected = [attempt(false, "REVIEW_FAILED", "failed"), attempt(true, "", "passed")];
    assert_eq!(kit.attempts("TASK-001"), expected);
    let (_, attempts) = kit.state();
    let failed = &attempts["TASK-001"][0];
    assert!(failed.review_findings.as_deref().unwrap().contains("MAJOR: Works: a BAD word"), "{failed:?}");
    assert!(kit.prompt("TASK-001", 2).contains("## Previous Errors\n"));
    assert!(!kit.prompt("TASK-001", 1).contains("Previous Errors"));
    assert_eq!(kit.git("show main:a.txt"), "good");
}

#[test]
fn attempts_are_used_up_and_the_work_stays_on_its_branch() {
    let kit = Kit::new(ONE, "max_retries: 2\n");
    kit.agent("echo \"BAD $n\" >a.txt; echo TASK_COMPLETE");
    let ran = kit.run(&["run", "TASK-001"]).exits(1);
    assert!(ran.stdout.contains("TASK-001  failed   REVIEW_FAILED"), "{}", ran.stdout);
    kit.nothing_merged();
    assert_eq!(kit.attempts("TASK-001").len(), 2);
    assert_eq!(kit.git("show task/task-001-write-one:a.txt"), "BAD 2");
    // What failed for good does not run by itself; `--max-retries` and `retry` give it more.
    kit.run(&["run", "--all"]).exits(1);
    assert_eq!(kit.attempts("TASK-001").len(), 2);
    kit.agent("echo good >a.txt; echo TASK_COMPLETE");
    kit.run(&["retry", "TASK-001"]).exits(0);
    assert_eq!(kit.attempts("TASK-001").len(), 3);
    assert_eq!(kit.git("show main:a.txt"), "good");
}

/// RUN-12: without a review the verdict is skipped.
#[test]
fn switches_of_the_command_line_do_what_they_say() {
    let settings = "commands: {test: 'echo t >>$HOME/log'}\n";
    // No review: merged, and recorded as skipped.
    let kit = Kit::new(THREE, settings);
    kit.run(&["run", "TASK-001", "--no-review"]).exits(0);
    assert_eq!(
        (kit.log(), kit.attempts("TASK-001")),
        (vec!["agent TASK-001".into(), "t".into()], vec![attempt(true, "", "skipped")])
    );
    assert!(kit.git("log -1 --format=%B main").contains("Countersign-Review: none"));
    // No tests; one milestone; the next one.
    kit.run(&["run", "--milestone", "milestone 2", "--no-tests"]).exits(0);
    assert_eq!(kit.log()[2..], ["agent TASK-003", "judge"]);
    kit.run(&["run"]).exits(0);
    assert_eq!(kit.merges()[0], "Merge TASK-002: Write two");

    // Dry run: an order, and nothing else.
    let kit = Kit::new(THREE, settings);
    let ran = kit.run(&["run", "--all", "--dry-run"]).exits(0);
    let ids: Vec<_> = ran.stdout.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(ids, ["TASK-001", "TASK-002", "TASK-003"]);
    let json = kit.run(&["run", "--all", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(json["order"], serde_json::json!(["TASK-001", "TASK-002", "TASK-003"]));
    assert_eq!((kit.log().len(), kit.tasks().as_str()), (0, THREE));

    // No commit: judged and left in the files; no branch: committed to what is checked out.
    kit.run(&["run", "TASK-001", "--no-commit"]).exits(0);
    assert_eq!(
        (kit.merges(), kit.project.read("TASK-001.txt").as_str()),
        (vec!["first".to_owned()], "work of TASK-001\n")
    );
    kit.repository.commit("by hand");
    kit.git("checkout -q -b topic");
    kit.run(&["run", "TASK-002", "--no-branch"]).exits(0);
    assert_eq!(kit.git("log -1 --format=%s topic"), "TASK-002: Write two");
    assert_eq!(kit.git("diff --name-only topic~ topic"), "TASK-002.txt");
    assert!(kit.git("log -1 --format=%B topic").contains("Countersign-Review: rv-"));
}

#[test]
fn results_for_programs_are_one_object() {
    let kit = Kit::new(THREE, "max_retries: 1\nmax_consecutive_failures: 9\n");
    kit.agent("case $task in TASK-001) echo 'TASK_FAILED: no compiler';; *) echo x >x.txt; echo TASK_COMPLETE;; esac");
    let json = kit.run(&["run", "--all", "--json"]).exits(1).json();
    assert_eq!((&json["schema"], &json["command"]), (&"countersign/1".into(), &"run".into()));
    let tasks = json["tasks"].as_array().unwrap();
    assert_eq!(
        (&tasks[0]["state"], &tasks[0]["error_code"], &tasks[0]["error"]),
        (&"failed".into(), &"TASK_FAILED".into(), &"no compiler".into())
    );
    assert_eq!((&tasks[1]["task"], &tasks[1]["review_status"]), (&"TASK-003".into(), &"passed".into()));
    assert_eq!(tasks[1]["commit"].as_str().unwrap(), kit.git("rev-parse main"));
    assert_eq!(json["not_run"][0]["task"], "TASK-002");
    let plain: Value = kit.run(&["run", "--all", "--json-result"]).exits(1).json();
    assert_eq!((&plain["tasks"], &plain["not_run"][0]["task"]), (&serde_json::json!([]), &"TASK-001".into()));
    // A task nobody knows, and a budget nobody can keep.
    assert!(kit.run(&["run", "TASK-9"]).exits(2).stderr.contains("there is no task `TASK-9`"));
    assert!(
        kit.run(&["run", "--all", "--budget-usd", "1"])
            .exits(2)
            .stderr
            .contains("a budget needs an agent that reports its cost")
    );
}

/// A project whose agent has the name of a program that reports its cost.
fn with_claude(settings: &str) -> (Kit, String) {
    let kit = Kit::uncommitted(THREE, settings);
    let home = kit.project.home().display().to_string();
    let settings = kit.project.read("spec-runner.config.yaml").replace("/agent.sh", "/claude");
    kit.project.write("spec-runner.config.yaml", settings);
    kit.repository.commit("first");
    (kit, home)
}

#[test]
fn a_budget_stops_agents_that_say_what_they_cost() {
    let (kit, home) = with_claude("");
    // The program that reports in its own form what the script does: each task costs half a dollar.
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"TASK_COMPLETE","total_cost_usd":0.5,"modelUsage":{"m":{"inputTokens":7,"outputTokens":3}}}"#;
    kit.agent(&format!("echo \"$task\" >\"$task.txt\"\necho '{result}'"));
    std::fs::rename(format!("{home}/agent.sh"), format!("{home}/claude")).unwrap();
    let json = kit.run(&["run", "--all", "--budget-usd", "0.9", "--json"]).exits(5).json();
    assert_eq!(
        (&json["tasks"][2]["error_code"], &json["tasks"][1]["state"]),
        (&"BUDGET_EXCEEDED".into(), &"success".into())
    );
    assert_eq!(kit.merges(), ["Merge TASK-002: Write two", "Merge TASK-001: Write one", "first"]);
    let (_, attempts) = kit.state();
    assert_eq!(attempts["TASK-001"][0].cost_usd, Some(0.5));
    assert_eq!(kit.run(&["status", "--json"]).exits(0).json()["tasks"][1]["cost_usd"], 0.5);
    // The next run has a budget of its own; what was not begun is only tried again by name.
    kit.run(&["retry", "TASK-003", "--budget-usd", "0.9"]).exits(0);
    assert_eq!(kit.merges().len(), 4);
    // All attempts at a task together have one, too.
    let (kit, home) = with_claude("task_budget_usd: 0.9\n");
    kit.agent(&format!("echo BAD $n >a.txt\necho '{result}'"));
    std::fs::rename(format!("{home}/agent.sh"), format!("{home}/claude")).unwrap();
    kit.run(&["run", "TASK-001"]).exits(5);
    let expected = vec![attempt(false, "REVIEW_FAILED", "failed"); 2];
    assert_eq!(kit.attempts("TASK-001")[..2], expected);
    assert_eq!(kit.attempts("TASK-001")[2..], [attempt(false, "BUDGET_EXCEEDED", "")]);
    // One that does not say what it cost is the last.
    let (kit, home) = with_claude("");
    std::fs::write(
        format!("{home}/claude"),
        "#!/bin/sh\ncat >/dev/null; echo agent >>\"$HOME/log\"; kill -9 $$\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(format!("{home}/claude"), mode).unwrap();
    let ran = kit.run(&["run", "--all", "--budget-usd", "99"]).exits(5);
    assert!(ran.stdout.contains("did not report its cost"), "{ran:?}");
    assert_eq!(kit.log(), ["agent"]);
}
