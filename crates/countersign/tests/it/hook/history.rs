//! What the work is compared with: agents that commit, branches, history written anew, no history at all.

use super::{Bench, goes, held};
use countersign_testkit::Judge;

/// The issue of agents that commit by themselves where everybody else begins: there is no branch to compare with.
#[test]
fn work_committed_on_the_default_branch_is_seen_once_the_hook_was_called() {
    let bench = Bench::new("");
    goes(&bench.stops(false));
    bench.project.write("a.md", "BAD\n");
    bench.repository.commit("by the agent");
    held(&bench.stops(false));
    bench.project.write("a.md", "good\n");
    bench.repository.commit("mended");
    goes(&bench.stops(true));
    assert_eq!(bench.judge.asked().len(), 2);
    // What passed and is rewritten afterwards is looked at again.
    bench.project.write("a.md", "BAD in the amendment\n");
    bench.repository.git(["commit", "-q", "-a", "--amend", "-m", "other words"]);
    held(&bench.stops(false));
}

#[test]
fn a_branch_is_compared_with_where_it_left_the_default_branch() {
    let bench = Bench::new("");
    goes(&bench.stops(false));
    bench.repository.git(["checkout", "-q", "-b", "a"]);
    bench.project.write("a.md", "BAD\n");
    bench.repository.commit("by the agent");
    held(&bench.stops(false));
    // A branch below the name of one that is gone has an anchor of its own.
    bench.repository.git(["checkout", "-q", "-b", "b"]);
    bench.repository.git(["branch", "-q", "-D", "a"]);
    bench.repository.git(["checkout", "-q", "-b", "a/c"]);
    held(&bench.stops(false));
    bench.repository.git(["checkout", "-q", "main"]);
    goes(&bench.stops(false));
}

#[test]
fn before_the_first_commit_everything_is_looked_at() {
    let bench = Bench::new("policy: {gate_files: tell}\n");
    bench.repository.git(["update-ref", "-d", "HEAD"]);
    bench.project.write("a.md", "BAD\n");
    held(&bench.stops(false));
    bench.repository.commit("the first, by the agent");
    let asked = bench.judge.asked().len();
    // The same work, committed: it does not pass by that.
    let said = bench.stops(true).json();
    assert!(said["systemMessage"].as_str().unwrap().contains("not converging"), "{said}");
    assert_eq!(bench.judge.asked().len(), asked);
    bench.project.write("a.md", "good\n");
    // A person has seen the files of the gate.
    goes(&bench.stops(false));
    goes(&bench.stops(false));
}

#[test]
fn a_linked_worktree_and_a_detached_head_are_places_of_their_own() {
    let bench = Bench::new("");
    goes(&bench.stops(false));
    let linked = bench.repository.beside("linked");
    bench.repository.git(["worktree", "add", "-q", "-b", "topic", linked.to_str().unwrap()]);
    std::fs::write(linked.join("a.md"), "BAD\n").unwrap();
    held(&bench.stops_in(&linked, false));
    goes(&bench.stops(false));
    std::fs::write(linked.join("a.md"), "good\n").unwrap();
    goes(&bench.stops_in(&linked, true));
    assert_eq!(bench.judge.asked().len(), 2);
    bench.repository.git(["checkout", "-q", "--detach"]);
    bench.project.write("a.md", "BAD\n");
    bench.repository.commit("by the agent");
    held(&bench.stops(false));
}

/// Nothing of the user's is touched: no branch, no index, no file.
#[test]
fn nothing_of_the_repository_changes_but_our_own_ref() {
    let bench = Bench::new("");
    bench.project.write("a.md", "good\n").write("b.md", "new\n");
    bench.repository.git(["add", "a.md"]);
    let state = || {
        let of = |args: &[&str]| bench.repository.git(args);
        [
            of(&["status", "--porcelain"]),
            of(&["for-each-ref", "refs/heads"]),
            of(&["stash", "list"]),
            of(&["log", "--oneline"]),
        ]
    };
    let before = state();
    goes(&bench.stops(false));
    assert_eq!(state(), before);
    let refs = bench.repository.git(["for-each-ref", "--format=%(refname) %(subject)"]);
    assert!(
        refs.contains("refs/countersign/passed/") && refs.contains("countersign: passed in rv-"),
        "{refs}"
    );
}

/// A change does not choose its judge, and what passed is not yet what holds.
#[test]
fn the_configuration_is_that_of_the_base_also_after_it_passed() {
    let bench = Bench::new("policy: {gate_files: tell}\n");
    let loose = Judge::scripted(&bench.project, "loose.sh", "exit 9");
    let edited = super::config("").replace("judge.sh", "loose.sh").replace("'*.md'", "'none'");
    bench.project.write("countersign.yml", edited).write("a.md", "good\n");
    let ran = bench.stops(false);
    assert!(
        ran.stderr.contains("countersign.yml was changed in the working tree and not yet trusted"),
        "{ran:?}"
    );
    assert!(super::told(&ran).contains("how work is judged or run: countersign.yml"), "{ran:?}");
    bench.project.write("a.md", "BAD\n");
    held(&bench.stops(false));
    assert_eq!((bench.judge.asked().len(), loose.asked().len()), (2, 0));
}

/// Who changes what later work is judged by needs a person, and the agent is not held for that.
#[test]
fn a_change_of_the_gate_waits_for_a_person_who_may_let_it_pass() {
    let bench = Bench::new("policy: {overrides: allow}\n");
    bench.project.write(".claude/settings.json", "{}\n").write("a.md", "good\n");
    let words = super::told(&bench.stops(false));
    assert!(words.contains("waits for a person") && words.contains(".claude/settings.json"), "{words}");
    super::told(&bench.stops(true));
    assert_eq!(bench.judge.asked().len(), 1);
    let notified = bench.notifications();
    assert!(notified.len() == 1 && notified[0].0.starts_with("Person Needed: claude in "), "{notified:?}");
    // Findings still go back to the agent.
    bench.project.write("a.md", "BAD\n");
    held(&bench.stops(true));
}
