//! A task is done when the ledger has its merge. The list, the state database and the main branch are files that an agent
//! can write.

use super::kit::{Kit, ONE, THREE, WORKS};
use countersign_doors::run::layout::Layout;
use countersign_doors::run::state::State;
use countersign_testkit::hiding::{self, Deed, FORGERIES, WAYS};

const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -q";

/// Three tasks that wait for nothing.
fn free() -> String {
    THREE.replace("**Depends on:** [TASK-001]", "**Depends on:** —")
}

fn all_done(tasks: &str) -> String {
    tasks.replace("⬜ TODO", "✅ DONE").replace("P2 | TODO", "P2 | DONE")
}

#[test]
fn attack_17_tasks_that_an_agent_marks_as_done_are_not_successes() {
    let kit = Kit::new(&free(), "");
    let list = kit.project.path("spec/tasks.md");
    // Each agent works in a worktree, and writes the list of the project.
    kit.agent(&format!("sed -i 's/TODO/DONE/; s/IN_PROGRESS/DONE/' {}\n{WORKS}", list.display()));
    let ran = kit.run(&["run", "--all", "--parallel", "--max-concurrent", "1"]).exits(0);
    // All of them ran, were judged and merged.
    assert_eq!(kit.log().iter().filter(|line| *line == "judge").count(), 3, "{ran:?}");
    assert_eq!(kit.merges().len(), 4);

    let kit = Kit::new(&free(), "");
    kit.agent(&format!(
        "sed -i 's/TODO/DONE/; s/IN_PROGRESS/DONE/' {}; echo TASK_FAILED: no",
        list.display()
    ));
    let list = kit.project.path("spec/tasks.md");
    kit.agent(&format!(
        "sed -i 's/TODO/DONE/; s/IN_PROGRESS/DONE/' {}; echo TASK_FAILED: no",
        list.display()
    ));
    let ran = kit.run(&["run", "--all", "--parallel", "--max-concurrent", "1", "--max-retries", "1"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    kit.nothing_merged();
    countersign_testkit::attack_row(
        "tasks.md marked done by agents under --parallel",
        "run",
        "all judged",
        "log",
    );
}

#[test]
fn attack_17_a_list_that_was_marked_as_done_between_runs_is_named() {
    let kit = Kit::new(&free(), "");
    kit.run(&["run", "TASK-001"]).exits(0);
    kit.project.write("spec/tasks.md", all_done(&kit.tasks()));
    let ran = kit.run(&["run", "--all"]).exits(3);
    assert!(
        ran.stderr.contains("TASK-002 did not run: spec/tasks.md says that it is done"),
        "{}",
        ran.stderr
    );
    assert_eq!(kit.merges().len(), 2);
    // Where the main branch has it, it counts.
    kit.repository.git(["commit", "-q", "-m", "done by hand", "spec/tasks.md"]);
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.merges().len(), 3);
    countersign_testkit::attack_row(
        "tasks.md marked done between runs",
        "run",
        "does not count (exit 3)",
        "a warning",
    );
}

#[test]
fn attack_17_easier_tasks_of_others_do_not_count_in_a_run() {
    let kit = Kit::new(&free(), "");
    let list = kit.project.path("spec/tasks.md");
    kit.agent(&format!("sed -i 's/Write t/Ignore t/' {}\n{WORKS}", list.display()));
    kit.run(&["run", "--all", "--parallel", "--max-concurrent", "1"]).exits(0);
    assert!(kit.prompt("TASK-002", 1).contains("# TASK-002: Write two"), "{}", kit.prompt("TASK-002", 1));
    countersign_testkit::attack_row(
        "the tasks of others made easier",
        "run",
        "the first words count",
        "the prompt",
    );
}

/// Writes a note into the checkpoint of a task, as an agent with the same account can.
fn forge(kit: &Kit, key: &str, value: &serde_json::Value) {
    let layout = Layout::new(kit.project.root(), "").unwrap();
    let meta = "countersign.course.TASK-001";
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let state = State::open(&layout).await.unwrap();
        let text = state.meta(meta).await.unwrap().unwrap();
        let mut checkpoint: serde_json::Value = serde_json::from_str(&text).unwrap();
        checkpoint[key] = value.clone();
        state.set_meta(meta, &checkpoint.to_string()).await.unwrap();
        state.close().await.unwrap();
    });
}

#[test]
fn attack_17_a_forged_base_hides_nothing() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("echo BAD >a.txt; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(1);
    // The work is on its branch; with that as the base, nothing of it would be judged.
    let branch = kit.git("rev-parse task/task-001-write-one");
    forge(&kit, "base", &branch.into());
    kit.agent("echo fine >b.txt; echo TASK_COMPLETE");
    let ran = kit.run(&["retry", "TASK-001"]).exits(1);
    assert!(
        ran.stderr.contains("as the commit that TASK-001 began from, which is not true"),
        "{}",
        ran.stderr
    );
    assert!(kit.payload(2).contains("+BAD"), "{}", kit.payload(2));
    assert_eq!(kit.merges(), ["first"]);
    countersign_testkit::attack_row(
        "a base forged in executor_meta",
        "run",
        "refused, judged from the true one",
        "a warning",
    );
}

#[test]
fn attack_17_a_forged_merge_makes_no_task_done() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("echo BAD >a.txt; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(1);
    let merge = serde_json::json!({ "commit": kit.git("rev-parse main"), "status": "passed", "findings": null, "review": null });
    forge(&kit, "merge", &merge);
    let ran = kit.run(&["run", "--all"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("has a merge of TASK-001 that the ledger does not have"), "{}", ran.stderr);
    assert!(!kit.tasks().contains("DONE"), "{}", kit.tasks());
    kit.nothing_merged();
    countersign_testkit::attack_row(
        "a merge note forged in executor_meta",
        "run",
        "does not count",
        "a warning",
    );
}

#[test]
fn attack_17_a_commit_on_main_with_a_forged_trailer_stops_the_run() {
    let kit = Kit::new(&free(), "");
    let root = kit.project.root().display().to_string();
    // Onto the main branch, beside the task.
    kit.agent(&format!(
        "tree=$(git -C {root} rev-parse main^{{tree}})\n\
         commit=$(git -C {root} -c user.name=a -c user.email=a@b commit-tree $tree -p main -m 'Merge TASK-009: sly' -m 'Countersign-Review: rv-abcdefghjkmn')\n\
         git -C {root} update-ref refs/heads/main $commit\n{WORKS}"
    ));
    for parallel in [&[][..], &["--parallel"]] {
        let ran = kit.run(&[&["run", "--all"], parallel].concat()).exits(3);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("`main` was moved during the run, and not by this run"), "{said}");
        assert!(said.contains("Merge TASK-009: sly"), "{said}");
        assert!(kit.merges().iter().all(|merge| !merge.contains("Write")), "{:?}", kit.merges());
    }
    countersign_testkit::attack_row(
        "a commit on main with a forged trailer",
        "run",
        "the run stops (exit 3)",
        "the message",
    );
}

#[test]
fn attack_17_a_commit_on_main_is_noticed_where_the_task_itself_fails() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent(&format!(
        "git checkout -q main; echo BAD >a.txt; git add a.txt; {COMMIT} -m sly; echo TASK_FAILED: no"
    ));
    let ran = kit.run(&["run", "--all"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("`main` was moved during the run"), "{ran:?}");
    countersign_testkit::attack_row(
        "a commit on main by a task that fails",
        "run",
        "the run stops",
        "the message",
    );
}

#[test]
fn attack_17_status_shows_a_list_that_disagrees_and_reconcile_sets_it_right() {
    let kit = Kit::new(&free(), "");
    kit.run(&["run", "TASK-001"]).exits(0);
    let before = kit.tasks();
    kit.project.write("spec/tasks.md", all_done(&before));
    let layout = Layout::new(kit.project.root(), "").unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let state = State::open(&layout).await.unwrap();
        state
            .set_status("TASK-002", &countersign_doors::run::state::TaskState::Success, "now")
            .await
            .unwrap();
        state.close().await.unwrap();
    });
    let status = kit.run(&["status"]).exits(0).stdout;
    for words in [
        "spec/tasks.md: TASK-002 is DONE, but the ledger says that no merge of it is recorded",
        "spec/tasks.md: TASK-003 is DONE, but the ledger says that no merge of it is recorded",
        "spec/.executor-state.db: TASK-002 is success, but the ledger says that no merge of it is recorded",
        "TASK-003: pending",
    ] {
        assert!(status.contains(words), "{words}: {status}");
    }
    kit.run(&["reconcile", "--dry-run"]).exits(1);
    kit.run(&["reconcile"]).exits(0);
    assert_eq!(kit.tasks(), before);
    let said = kit.run(&["reconcile", "--dry-run"]).exits(0).stdout;
    assert_eq!(said, "the files agree with the ledger\n");
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.merges().len(), 4);
    countersign_testkit::attack_row(
        "tasks.md and the state database that disagree",
        "status, reconcile",
        "shown and set right",
        "status",
    );
}

/// The agent of a run does bad work and hides it: it is judged, and nothing of it is merged.
#[test]
fn attack_18_every_way_to_hide_in_a_run() {
    let kit = || {
        let kit = Kit::uncommitted(ONE, "max_retries: 1\n");
        for (path, text) in hiding::before() {
            kit.project.write(path, text);
        }
        kit.judge("case \"$payload\" in *BAD*) fails 'a BAD word';; *) passes;; esac");
        kit.repository.commit("first");
        kit
    };
    for way in WAYS {
        for deed in Deed::ALL.into_iter().filter(|deed| way.hides(*deed)) {
            let kit = kit();
            kit.agent(&format!("{}{}\necho TASK_COMPLETE", deed.lines(), way.script(deed)));
            let ran = kit.run(&["run", "--all"]);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code != 0 && !said.trim().is_empty(), "{} {deed:?}: {ran:?}", way.name);
            assert_eq!(kit.merged(), "first", "{} {deed:?}: {said}", way.name);
        }
        countersign_testkit::attack_row(
            &format!("hiding by {}", way.name),
            "run",
            "not merged",
            "the findings",
        );
    }
    for way in FORGERIES {
        let kit = kit();
        kit.agent(&format!("{}{}\necho TASK_COMPLETE", Deed::Modified.lines(), way.script(Deed::Modified)));
        let ran = kit.run(&["run", "--all"]);
        assert_ne!(ran.code, 0, "{}: {ran:?}", way.name);
        countersign_testkit::attack_row(&format!("forged: {}", way.name), "run", "not merged", "the message");
    }
}
