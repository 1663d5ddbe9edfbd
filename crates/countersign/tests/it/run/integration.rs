//! `integration_pr`: a branch for a pull request, and a main branch that is never moved.

use super::kit::{Kit, THREE};

const BRANCH: &str = "countersign/tasks";

fn merges(kit: &Kit, branch: &str) -> Vec<String> {
    kit.git(&format!("log --first-parent --format=%s {branch}")).lines().map(str::to_owned).collect()
}

#[test]
fn issue_19_integration_pr_prepares_a_branch_and_never_touches_main() {
    for more in [&[][..], &["--parallel"]] {
        let kit = Kit::new(THREE, "integration_pr: true\n");
        let main = kit.git("rev-parse main");
        let ran = kit.run(&[&["run", "TASK-001", "TASK-002"], more].concat()).exits(0);
        assert!(ran.stdout.contains(&format!("the work is on the branch {BRANCH}")), "{}", ran.stdout);
        let done = ["Merge TASK-002: Write two", "Merge TASK-001: Write one", "first"];
        assert_eq!(merges(&kit, BRANCH), done);
        assert_eq!(
            (kit.git("rev-parse main"), kit.git("rev-parse --abbrev-ref HEAD")),
            (main, "main".into())
        );
        assert!(kit.tasks().contains("✅ DONE") && !kit.project.path("TASK-001.txt").exists());
        // The next run continues there.
        let json = kit.run(&[&["run", "--all", "--json"], more].concat()).exits(0).json();
        assert_eq!(json["branch"], BRANCH);
        assert_eq!(merges(&kit, BRANCH)[0], "Merge TASK-003: Write three");
        assert_eq!(kit.merges(), ["first"]);
    }
}

#[test]
fn issue_19_a_branch_that_was_merged_is_begun_anew() {
    let kit = Kit::new(THREE, "");
    kit.run(&["run", "TASK-001", "--integration-pr"]).exits(0);
    // A person merges the pull request, and goes on.
    kit.git("merge -q --no-ff --no-edit countersign/tasks");
    kit.project.write("more.txt", "more\n");
    kit.git("add more.txt");
    kit.git("commit -q -m more");
    let main = kit.git("rev-parse main");
    kit.run(&["run", "TASK-002", "--integration-pr"]).exits(0);
    assert_eq!(merges(&kit, BRANCH)[..2], ["Merge TASK-002: Write two", "more"]);
    assert_eq!(kit.git("rev-parse main"), main);
}

#[test]
fn issue_19_what_waits_or_fails_leaves_main_alone_too() {
    let kit = Kit::new(THREE, "integration_pr: true\nmax_retries: 1\n");
    kit.run(&["run", "TASK-001", "--hitl-review"]).exits(3);
    kit.nothing_merged();
    kit.said(&["approve", "TASK-001", "--reason", "seen"]);
    kit.agent("echo BAD >b.txt; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(1);
    assert_eq!((merges(&kit, BRANCH).len(), kit.merges()), (2, vec!["first".to_owned()]));
    // Where tasks have no branches, there is nothing to keep them off the main branch.
    let kit = Kit::new(THREE, "integration_pr: true\n");
    let ran = kit.run(&["run", "--all", "--no-branch"]).exits(2);
    assert!(ran.stderr.contains("with integration_pr every task needs a branch"), "{}", ran.stderr);
    kit.nothing_merged();
}

#[test]
fn issue_19_a_run_that_cannot_begin_leaves_the_main_branch_checked_out() {
    let kit = Kit::uncommitted(THREE, "");
    kit.project.write("spec-runner.config.yaml", "claude_command: /nowhere/agent\nintegration_pr: true\n");
    kit.repository.commit("first");
    kit.run(&["run", "--all"]).exits(4);
    kit.nothing_merged();
}

#[test]
fn issue_19_an_agent_that_commits_to_main_stops_a_run_for_a_pull_request_too() {
    let kit = Kit::new(THREE, "integration_pr: true\n");
    kit.agent(
        "git -c user.name=a -c user.email=a@b commit-tree -p main -m sly main^{tree} >\"$HOME/sly\"\n\
         git update-ref refs/heads/main \"$(cat \"$HOME/sly\")\"; echo x >x.txt; echo TASK_COMPLETE",
    );
    let ran = kit.run(&["run", "--all"]).exits(3);
    assert!(ran.stdout.contains("`main` was moved during the run, and not by this run"), "{ran:?}");
    assert_eq!(kit.log().iter().filter(|line| line.starts_with("agent")).count(), 1);
}
