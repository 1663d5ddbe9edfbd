//! What people decide about waiting tasks, from another terminal, and what follows.

use super::kit::{Kit, ONE, THREE, attempt};
use crate::notify::Hook;
use countersign_testkit::{Act, Loopback, eventually};

fn waiting() -> Kit {
    let kit = Kit::new(THREE, "");
    kit.run(&["run", "TASK-001", "--hitl-review"]).exits(3);
    kit
}

/// RUN-9.
#[test]
fn run_9_approve_and_skip_merge_what_was_judged_and_nobody_is_asked_again() {
    for (verb, status) in [("approve", "passed"), ("skip", "skipped")] {
        let kit = waiting();
        // An agent decides nothing.
        kit.run(&[verb, "TASK-001", "--reason", "me"]).exits(2);
        kit.said(&[verb, "TASK-001", "--reason", "seen"]);
        kit.run(&["run", "TASK-001", "--hitl-review"]).exits(0);
        assert_eq!(kit.attempts("TASK-001"), [attempt(true, "", status)]);
        assert_eq!(kit.merges()[0], "Merge TASK-001: Write one");
        assert_eq!(kit.log(), ["agent TASK-001", "judge"]);
        // A plain run of everything goes on with the rest.
        kit.run(&["run", "--all"]).exits(0);
        assert_eq!(kit.merges().len(), 4);
    }
}

/// RUN-9.
#[test]
fn run_9_what_a_person_decided_counts_for_any_later_run() {
    let kit = waiting();
    kit.said(&["approve", "TASK-001", "--reason", "seen"]);
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.merges().len(), 4);
    assert_eq!(kit.attempts("TASK-001"), [attempt(true, "", "passed")]);
}

/// RUN-10.
#[test]
fn run_10_a_rejection_stands_until_a_person_tries_again() {
    let kit = waiting();
    kit.said(&["reject", "TASK-001", "--reason", "not like this"]);
    kit.run(&["run", "--all"]).exits(6);
    let rejected = attempt(false, "REVIEW_REJECTED", "rejected");
    assert_eq!(kit.attempts("TASK-001"), std::slice::from_ref(&rejected));
    assert!(kit.run(&["status"]).stdout.starts_with("TASK-001: failed  (review: rejected)\n"));
    // Neither by name, nor because somebody edits the list, nor by a retry of an agent.
    kit.run(&["run", "TASK-001"]);
    for status in ["⬜ TODO", "✅ DONE", "⬜ TODO"] {
        let edited = kit.tasks().replace("🔴 P0 | ⏸️ BLOCKED", &format!("🔴 P0 | {status}"));
        let edited = edited.replace("🔴 P0 | ✅ DONE", &format!("🔴 P0 | {status}"));
        kit.project.write("spec/tasks.md", edited.replace("🔴 P0 | ⬜ TODO", &format!("🔴 P0 | {status}")));
        kit.run(&["run", "TASK-001"]);
    }
    for args in [&["run", "--all"][..], &["run", "TASK-001"], &["run"]] {
        let ran = kit.run(args);
        assert_eq!(ran.code, 6, "{args:?} {ran:?}");
    }
    assert!(kit.run(&["retry", "TASK-001"]).exits(2).stderr.contains("only a person"));
    assert_eq!(kit.attempts("TASK-001"), std::slice::from_ref(&rejected));
    assert_eq!(kit.log().iter().filter(|line| *line == "agent TASK-001").count(), 1);
    assert!(kit.merges().iter().all(|merge| !merge.contains("TASK-001")));
    // A person does. The attempt before stays on record.
    let said = kit.said(&["retry", "TASK-001"]);
    assert!(said.contains("done"), "{said}");
    let attempts = kit.attempts("TASK-001");
    assert_eq!((attempts.len(), &attempts[0], &attempts[1]), (2, &rejected, &attempt(true, "", "passed")));
    assert!(kit.prompt("TASK-001", 2).contains("not like this"), "{}", kit.prompt("TASK-001", 2));
}

/// RUN-10.
#[test]
fn run_10_fix_runs_the_task_again_with_what_was_found() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("case $n in 1) echo BAD >a.txt;; *) echo good >a.txt;; esac; echo TASK_COMPLETE");
    kit.run(&["run", "--all", "--hitl-review"]).exits(3);
    kit.said(&["fix", "TASK-001", "--reason", "use another word"]);
    kit.run(&["run", "--all"]).exits(0);
    let prompt = kit.prompt("TASK-001", 2);
    assert!(prompt.contains("use another word") && prompt.contains("a BAD word"), "{prompt}");
    let expected = [attempt(false, "REVIEW_FAILED", "failed"), attempt(true, "", "passed")];
    assert_eq!(kit.attempts("TASK-001"), expected);
    assert_eq!(kit.git("show main:a.txt"), "good");
}

#[test]
fn other_bytes_than_were_shown_are_not_merged() {
    let kit = waiting();
    kit.said(&["approve", "TASK-001", "--reason", "seen"]);
    // Somebody adds to the branch what nobody has seen.
    kit.git("checkout -q task/task-001-write-one");
    kit.project.write("TASK-001.txt", "BAD\n");
    kit.git("commit -q -a -m sneaked");
    kit.git("checkout -q main");
    kit.run(&["run", "TASK-001", "--max-retries", "1"]).exits(1);
    assert_eq!(kit.merges(), ["first"]);
}

#[test]
fn a_change_of_the_gate_itself_waits_for_a_person() {
    for file in [
        "countersign.yml",
        "spec-runner.config.yaml",
        "spec/prompts/review.md",
        ".claude/settings.json",
        "spec/executor.config.yaml",
    ] {
        let kit = Kit::new(ONE, "");
        kit.agent(&format!("mkdir -p spec/prompts .claude; echo '# more' >>{file}; echo TASK_COMPLETE"));
        let ran = kit.run(&["run", "--all"]).exits(3);
        assert!(ran.stderr.contains("a person must check them") && ran.stderr.contains(file), "{ran:?}");
        kit.nothing_merged();
        kit.said(&["approve", "TASK-001", "--reason", "only a remark"]);
        kit.run(&["run", "--all"]).exits(0);
        assert_eq!(kit.merges().len(), 2);
    }
}

#[test]
fn a_change_does_not_choose_its_judge() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("echo BAD >a.txt; printf 'version: 1\\nrules: [{name: r, for: [none], criteria: [{name: A, check: not_empty}]}]\\n' >countersign.yml; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(3);
    assert!(kit.payload(1).contains("+BAD"));
    kit.nothing_merged();
}

/// Whoever is not at the terminal is told, once, while the run goes on; the settings are the user's own.
/// SVC-15.
#[test]
fn svc_15_a_task_that_waits_for_a_person_is_told() {
    let service = Loopback::<Hook>::always(Act::Raw(String::new()));
    let told = |kit: &Kit| {
        let folder = kit.project.home().join(".config/countersign");
        std::fs::create_dir_all(&folder).unwrap();
        let settings =
            format!("notify: {{bell: false, desktop: false, webhook: {{url: '{}/'}}}}\n", service.url());
        std::fs::write(folder.join("config.yml"), settings).unwrap();
    };
    let kit = Kit::new(ONE, "");
    told(&kit);
    kit.run(&["run", "TASK-001", "--hitl-review"]).exits(3);
    let [asked] = &service.asked()[..] else { panic!("told once") };
    assert_eq!(asked.body["about"], "person_needed");
    assert_eq!(asked.body["title"], "Person Needed: TASK-001");
    assert!(asked.body["subject"].as_str().unwrap().starts_with("run/"), "{}", asked.body);
    assert!(asked.body["review"].as_str().unwrap().starts_with("rv-"), "{}", asked.body);

    let kit = Kit::new(ONE, "");
    told(&kit);
    let run = kit.start(&["run", "TASK-001", "--hitl-queue"]);
    eventually("somebody is told", || service.asked().len() == 2);
    kit.said(&["approve", "TASK-001", "--reason", "seen"]);
    run.wait().exits(0);
    assert_eq!(service.asked().len(), 2);
}
