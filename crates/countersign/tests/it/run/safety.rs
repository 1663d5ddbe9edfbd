//! Nothing of the user's is lost, whatever a repository is like and however a run ends.

use super::kit::{Kit, ONE, THREE, WORKS, attempt};
use countersign_testkit::{Repository, Running, eventually};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const WAITS: &str = "touch \"$HOME/at-$step\"; while [ ! -e \"$HOME/go\" ]; do sleep 0.02; done";

fn signal(name: &str, pid: u32) {
    let sent = std::process::Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A project in which one step waits until the file `go` is there, and says so.
fn waiting_at(step: &str) -> Kit {
    let wait = |at: &str| {
        if at == step { format!("step={at}; echo $$ >\"$HOME/pid\"; {WAITS}\n") } else { String::new() }
    };
    let kit = Kit::uncommitted(ONE, "commands: {test: 'sh $HOME/test.sh'}\n");
    std::fs::write(kit.project.home().join("test.sh"), format!("echo t >>\"$HOME/log\"\n{}", wait("tests")))
        .unwrap();
    kit.agent(&format!("{}{WORKS}", wait("agent"))).judge(&format!("{}passes", wait("review")));
    kit.repository.commit("first");
    kit
}

fn go(kit: &Kit) {
    std::fs::write(kit.project.home().join("go"), "").unwrap();
}

/// The task is merged, exactly once, and recorded so.
#[track_caller]
fn done_once(kit: &Kit) {
    assert_eq!(kit.merges(), ["Merge TASK-001: Write one", "first"]);
    let attempts = kit.attempts("TASK-001");
    assert_eq!(attempts.iter().filter(|one| one.0).count(), 1, "{attempts:?}");
    assert!(kit.tasks().contains("✅ DONE"), "{}", kit.tasks());
    assert_eq!(kit.git("branch --format=%(refname:short)"), "main");
    assert_eq!(kit.git("status --porcelain -- . :!spec :!.countersign"), "");
    kit.run(&["log", "--verify"]).exits(0);
    assert!(kit.run(&["run", "--all"]).exits(0).stdout.contains("nothing to do"));
}

#[track_caller]
fn gone(kit: &Kit) {
    let pid = kit.home("pid");
    let path = Path::new("/proc").join(pid.trim());
    eventually("the program is gone", || !path.exists());
}

#[test]
fn uncommitted_work_is_refused_and_stays_as_it_is() {
    for (file, staged) in [("README.md", false), ("README.md", true), ("new/notes.txt", false)] {
        let kit = Kit::new(ONE, "");
        kit.project.write(file, "mine\n");
        if staged {
            kit.git("add README.md");
        }
        let before = kit.git("status --porcelain -uall");
        let ran = kit.run(&["run", "--all"]).exits(2);
        assert!(
            ran.stderr.contains("uncommitted changes") && ran.stderr.contains("git stash"),
            "{}",
            ran.stderr
        );
        assert_eq!((kit.project.read(file).as_str(), kit.log().len()), ("mine\n", 0));
        let after = kit.git("status --porcelain -uall");
        let after: Vec<_> =
            after.lines().filter(|line| !line.contains("spec/.") && !line.contains(".countersign")).collect();
        assert_eq!(after.join("\n"), before);
        assert_eq!(kit.tasks(), ONE);
    }
}

#[test]
fn one_signal_stops_after_the_step_and_the_next_run_goes_on() {
    for (step, name) in [("agent", "-INT"), ("tests", "-TERM"), ("review", "-INT")] {
        let kit = waiting_at(step);
        let run = kit.start(&["run", "--all"]);
        eventually("it waits", || kit.at_home(&format!("at-{step}")));
        signal(name, run.id());
        go(&kit);
        let ran = run.wait().exits(130);
        assert!(kit.merges().len() <= 2, "{ran:?}");
        let asked = kit.log();
        kit.run(&["run", "--all"]).exits(0);
        // What was done is not done again.
        assert_eq!(kit.log()[..asked.len()], asked);
        assert_eq!(kit.log().iter().filter(|line| line.starts_with("agent")).count(), 1, "{step}");
        done_once(&kit);
    }
}

#[test]
fn two_signals_stop_at_once_and_leave_no_process() {
    for step in ["agent", "tests", "review"] {
        let kit = waiting_at(step);
        let run = kit.start(&["run", "--all"]);
        eventually("it waits", || kit.at_home(&format!("at-{step}")));
        signal("-INT", run.id());
        signal("-TERM", run.id());
        run.wait().exits(130);
        gone(&kit);
        assert_eq!(kit.merges(), ["first"]);
        go(&kit);
        kit.run(&["run", "--all"]).exits(0);
        done_once(&kit);
    }
}

#[test]
fn killed_at_any_stage_a_run_goes_on_and_leaves_no_process() {
    for step in ["agent", "tests", "review"] {
        let kit = waiting_at(step);
        let mut run = kit.start(&["run", "--all"]);
        eventually("it waits", || kit.at_home(&format!("at-{step}")));
        run.kill();
        run.wait();
        gone(&kit);
        go(&kit);
        kit.run(&["run", "--all"]).exits(0);
        let agents = kit.log().iter().filter(|line| line.starts_with("agent")).count();
        assert_eq!(agents, if step == "agent" { 2 } else { 1 }, "{step}");
        done_once(&kit);
    }
}

#[test]
fn slow_killed_at_any_write_nothing_is_lost_or_merged_twice() {
    let mut deaths = 0;
    'writes: for write in 1.. {
        for moment in [format!("{write}"), format!("{write}!")] {
            let kit = Kit::new(ONE, "");
            let mut command = kit.project.command(&["run", "--all"]);
            let ran = Running::start(command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", &moment)).wait();
            if ran.code != -1 {
                ran.exits(0);
                break 'writes;
            }
            deaths += 1;
            let again = kit.run(&["run", "--all"]);
            assert_eq!(again.code, 0, "{moment}: {again:?}");
            done_once(&kit);
        }
    }
    assert!(deaths > 10, "{deaths}");
}

/// Commands of git that move a branch or what is checked out: the run is killed before or after the n-th of them.
const DEADLY_GIT: &str = r#"#!/bin/sh
own=$(dirname "$0"); PATH=${PATH#"$own":}
case " $* " in
*' commit-tree '*|*' update-ref '*|*' symbolic-ref HEAD '*|*' reset '*|*' checkout '*|*' merge '*)
    n=$(($(cat "$HOME/moves" 2>/dev/null || echo 0) + 1)); echo $n >"$HOME/moves"
    [ "$DIE" = $n ] && { kill -9 "$(cat "$HOME/run")"; exit 1; }
    [ "$DIE" = "$n!" ] && { git "$@"; kill -9 "$(cat "$HOME/run")"; exit 1; } ;;
esac
exec git "$@"
"#;

/// A run that finds this `git` first.
fn run_with_git(kit: &Kit, git: &str) -> std::process::Command {
    let bin = kit.project.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), git).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let line = format!("echo $$ >\"$HOME/run\"; exec {} run --all", env!("CARGO_BIN_EXE_countersign"));
    let mut command = std::process::Command::new("sh");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    kit.project.trust_anew();
    command.args(["-c", &line]).current_dir(kit.project.root());
    command.env("HOME", kit.project.home()).env("PATH", path).env("COUNTERSIGN_TEST_GIT", bin.join("git"));
    command.env_remove("CI").env("COUNTERSIGN_TEST_PROCESS", std::process::id().to_string());
    command
}

/// Several orders in one process of git: only those that `sed` prints are carried out before the run is killed.
const HALF_A_GIT: &str = r#"#!/bin/sh
own=$(dirname "$0"); PATH=${PATH#"$own":}
case " $* " in
*' update-ref --no-deref --stdin '*)
    sed -n "$ORDERS" | git "$@"; kill -9 "$(cat "$HOME/run")"; exit 1 ;;
esac
exec git "$@"
"#;

#[test]
fn killed_between_two_moves_of_one_git_the_merge_is_made_once() {
    // Nothing; the main branch; what is checked out as well; the branch of the task as well.
    for orders in ["", "1,2p;4p", "1,4p", "1,7p"] {
        let kit = Kit::new(ONE, "");
        let ran = Running::start(run_with_git(&kit, HALF_A_GIT).env("ORDERS", orders)).wait();
        assert_eq!(ran.code, -1, "{orders}: {ran:?}");
        let again = kit.run(&["run", "--all"]);
        assert_eq!(again.code, 0, "{orders}: {again:?}");
        assert_eq!(kit.git("show main:TASK-001.txt"), "work of TASK-001", "{orders}");
        assert_eq!(kit.git("symbolic-ref HEAD"), "refs/heads/main", "{orders}");
        done_once(&kit);
    }
}

/// A git from before branches could be checked out in a transaction. It is asked for that once.
const OLD_GIT: &str = r#"#!/bin/sh
own=$(dirname "$0"); PATH=${PATH#"$own":}
case " $* " in
*' update-ref --no-deref --stdin '*)
    echo asked >>"$HOME/asked"; echo 'fatal: unknown command: symref-update HEAD refs/heads/main' >&2; exit 128 ;;
esac
exec git "$@"
"#;

#[test]
fn an_older_git_merges_too() {
    let kit = Kit::new(THREE, "");
    Running::start(&mut run_with_git(&kit, OLD_GIT)).wait().exits(0);
    assert_eq!(kit.merges().len(), 4);
    assert_eq!(kit.git("branch --format=%(refname)"), "refs/heads/main");
    assert_eq!(kit.git("status --porcelain -uno -- TASK-001.txt TASK-003.txt"), "");
    assert_eq!(std::fs::read_to_string(kit.project.home().join("asked")).unwrap(), "asked\n");
}

#[test]
fn slow_killed_around_any_step_of_a_merge_it_is_made_once() {
    let mut deaths = 0;
    'moves: for n in 1.. {
        for moment in [format!("{n}"), format!("{n}!")] {
            let kit = Kit::new(ONE, "");
            let ran = Running::start(run_with_git(&kit, DEADLY_GIT).env("DIE", &moment)).wait();
            if ran.code != -1 {
                ran.exits(0);
                break 'moves;
            }
            deaths += 1;
            // A lock that git itself left would be for a person to take away.
            let again = kit.run(&["run", "--all"]);
            assert_eq!(again.code, 0, "{moment}: {again:?}");
            assert_eq!(kit.git("show main:TASK-001.txt"), "work of TASK-001", "{moment}");
            done_once(&kit);
        }
    }
    assert!(deaths >= 10, "{deaths}");
}

#[test]
fn whatever_becomes_of_a_task_no_temporary_folder_is_left() {
    let temporary = tempfile::tempdir().unwrap();
    for (agent, code) in [(WORKS, 0), ("exit 3", 1)] {
        let kit = Kit::new(ONE, "max_retries: 1\n");
        kit.agent(agent);
        let mut command = kit.project.command(&["run", "--all"]);
        let ran = Running::start(command.env("TMPDIR", temporary.path())).wait();
        assert_eq!(ran.code != 0, code != 0, "{ran:?}");
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{ran:?}");
    }
}

#[test]
fn a_run_that_is_asked_to_stop_finishes_its_task() {
    let kit = Kit::new(THREE, "");
    kit.agent(&format!("step=agent; {WAITS}\n{WORKS}"));
    let run = kit.start(&["run", "--all"]);
    eventually("it waits", || kit.at_home("at-agent"));
    assert!(kit.run(&["stop"]).exits(0).stdout.contains(&run.id().to_string()));
    go(&kit);
    let ran = run.wait();
    assert!(ran.code != 0 && ran.stdout.contains("countersign stop"), "{ran:?}");
    assert_eq!(kit.merges(), ["Merge TASK-001: Write one", "first"]);
    // The wish was for that run alone.
    kit.run(&["run", "--all"]).exits(0);
    assert!(kit.run(&["stop"]).exits(0).stdout.contains("no run is under way"));
}

#[test]
fn the_main_branch_may_have_any_name() {
    for (branch, settings) in
        [("trunk", "main_branch: trunk\n"), ("master", ""), ("odd/name", "main_branch: odd/name\n")]
    {
        let kit = Kit::uncommitted(ONE, settings);
        kit.git(&format!("checkout -q -b {branch}"));
        kit.repository.commit("first");
        kit.run(&["run", "--all"]).exits(0);
        assert_eq!(kit.git(&format!("log -1 --format=%s {branch}")), "Merge TASK-001: Write one");
        assert_eq!(kit.git("rev-parse --abbrev-ref HEAD"), branch);
    }
}

#[test]
fn a_repository_that_cannot_be_used_is_said_and_left_alone() {
    let refused = |kit: &Kit, words: &str| {
        let ran = kit.run(&["run", "--all"]).exits(2);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!((kit.log().len(), kit.tasks().as_str()), (0, ONE), "{words}");
    };
    refused(&Kit::uncommitted(ONE, ""), "commit");
    let kit = Kit::new(ONE, "");
    kit.git("checkout -q --detach");
    refused(&kit, "git switch main");
    let kit = Kit::new(ONE, "");
    kit.git("checkout -q -b topic");
    refused(&kit, "git switch main");
    let kit = Kit::new(ONE, "main_branch: gone\n");
    refused(&kit, "gone");
    // A project below the root of its repository.
    let outer = Repository::new();
    outer.write("app/spec/tasks.md", ONE).write("app/spec-runner.config.yaml", "claude_command: none\n");
    outer.write(
        "app/countersign.yml",
        "version: 1\nrules: [{name: r, for: ['**'], criteria: [{name: A, check: not_empty}]}]\n",
    );
    outer.commit("first");
    let project = crate::project();
    let mut command = project.trust_in(&outer.path("app")).command(&["run", "--all"]);
    let ran = Running::start(command.current_dir(outer.path("app"))).wait().exits(2);
    assert!(ran.stderr.contains("not the root of a git repository"), "{}", ran.stderr);
}

#[test]
fn a_changed_submodule_is_uncommitted_work() {
    let inner = Repository::new();
    inner.write("a.txt", "a\n").commit("inner");
    let kit = Kit::new(ONE, "");
    let url = format!("file://{}", inner.root().display());
    kit.repository.git(["submodule", "add", "-q", &url, "inner"]);
    kit.repository.commit("with it");
    kit.project.write("inner/a.txt", "changed\n");
    let ran = kit.run(&["run", "--all"]).exits(2);
    assert!(ran.stderr.contains("inner"), "{}", ran.stderr);
    kit.project.write("inner/a.txt", "a\n");
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.git("diff --name-only main~ main"), "TASK-001.txt");
}

#[test]
fn hooks_of_the_repository_neither_run_nor_fail_a_merge() {
    let kit = Kit::new(ONE, "");
    for hook in [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-checkout",
        "pre-merge-commit",
        "reference-transaction",
    ] {
        let path = kit.project.path(&format!(".git/hooks/{hook}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\necho ran >>\"$HOME/hooks\"\nexit 1\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let _ = std::fs::remove_file(kit.project.home().join("hooks"));
    kit.run(&["run", "--all"]).exits(0);
    assert!(!kit.at_home("hooks"));
    assert_eq!(kit.attempts("TASK-001"), [attempt(true, "", "passed")]);
}

#[test]
fn the_list_is_not_the_agents() {
    let kit = Kit::new(THREE, "");
    kit.agent(&format!("sed -i 's/TODO/DONE/' spec/tasks.md\n{WORKS}"));
    let ran = kit.run(&["run", "TASK-001"]).exits(0);
    assert!(ran.stderr.contains("restored it"), "{}", ran.stderr);
    let expected = THREE.replacen("⬜ TODO", "✅ DONE", 1).replace("- [ ]", "- [x]");
    assert_eq!(kit.tasks(), expected);
}

#[test]
fn what_nobody_is_shown_is_not_merged() {
    let kit = Kit::new(ONE, "");
    kit.agent(
        "mkdir -p .countersign spec/.executor-logs; echo x >.countersign/sly; echo x >spec/.executor-logs/sly\n\
         sed -i s/one/two/ spec/tasks.md; echo work >a.txt; git add -f -A\n\
         git -c user.name=a -c user.email=a@b commit -q -m sly; echo TASK_COMPLETE",
    );
    kit.run(&["run", "--all"]).exits(0);
    assert_eq!(kit.git("diff --name-only main~ main"), "a.txt");
    assert!(kit.tasks().contains("### TASK-001: Write one"));
    // The same where nothing else was done, and the task fails.
    let kit = Kit::new(ONE, "");
    kit.agent("echo '#' >>spec/tasks.md; git -c user.name=a -c user.email=a@b commit -q -a -m sly; echo TASK_COMPLETE");
    kit.run(&["run", "--all", "--max-retries", "1"]).exits(1);
    assert_eq!(kit.attempts("TASK-001"), [attempt(false, "TASK_FAILED", "")]);
    kit.nothing_merged();
}

#[test]
fn an_interrupted_task_does_not_choose_how_it_goes_on() {
    let kit = waiting_at("tests");
    kit.agent(&format!("echo 'run_review: false' >>spec-runner.config.yaml\n{WORKS}"));
    let run = kit.start(&["run", "--all"]);
    eventually("it waits", || kit.at_home("at-tests"));
    signal("-INT", run.id());
    // Not before it ended: a test that ends first takes the task a step further.
    run.wait().exits(130);
    go(&kit);
    let stderr = kit.run(&["run", "--all"]).exits(2).stderr;
    assert!(
        stderr.contains("spec-runner.config.yaml") && stderr.contains("Run the command again"),
        "{stderr}"
    );
    kit.nothing_merged();
    // By the settings of the main branch it is judged, and waits for a person.
    kit.run(&["run", "--all"]).exits(3);
    assert_eq!(kit.log().iter().filter(|line| *line == "judge").count(), 1);
    kit.nothing_merged();
}

#[test]
fn work_without_a_branch_that_fails_stays_in_the_files_uncommitted() {
    for flag in ["--no-branch", "--no-commit"] {
        let kit = Kit::new(ONE, "max_retries: 1\n");
        kit.agent("echo BAD >a.txt; echo TASK_COMPLETE");
        kit.run(&["run", "--all", flag]).exits(1);
        assert_eq!(
            (kit.merges(), kit.project.read("a.txt").as_str()),
            (vec!["first".to_owned()], "BAD\n"),
            "{flag}"
        );
    }
}

#[test]
fn work_that_is_committed_by_the_agent_is_judged_all_the_same() {
    let kit = Kit::new(ONE, "");
    kit.agent("echo BAD >a.txt; git add a.txt; git -c user.name=a -c user.email=a@b commit -q -m sly; echo TASK_COMPLETE");
    kit.run(&["run", "--all", "--max-retries", "1"]).exits(1);
    assert!(kit.payload(1).contains("+BAD"));
    assert_eq!(kit.merges(), ["first"]);
    // On the main branch itself, too: what is there without a review is said.
    let kit = Kit::new(ONE, "");
    kit.agent("git checkout -q main; echo BAD >a.txt; git add a.txt; git -c user.name=a -c user.email=a@b commit -q -m sly; echo TASK_COMPLETE");
    let ran = kit.run(&["run", "--all", "--max-retries", "1"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}

/// An agent that hands in the same bytes again is not judged until it passes: what went wrong before is no other question.
#[test]
fn reroll_the_same_work_in_the_next_attempt_asks_nobody_and_merges_nothing() {
    let kit = Kit::new(ONE, "max_retries: 3\n");
    kit.agent("echo work >a.txt; echo TASK_COMPLETE");
    kit.judge("if [ $n -gt 1 ]; then passes; else fails 'it is broken'; fi");
    kit.run(&["run", "--all"]).exits(1);
    kit.nothing_merged();
    let log = kit.log();
    let count = |wanted: &str| log.iter().filter(|line| line.starts_with(wanted)).count();
    assert_eq!((count("agent"), count("judge")), (3, 1), "{log:?}");
}
