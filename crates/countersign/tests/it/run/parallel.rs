//! Several tasks at once, each in a worktree of its own: conflicts, other people's commits, kill -9, decisions from
//! elsewhere.

use crate::project;
use countersign_testkit::{Judge, Project, Repository, eventually};
use rexpect::session::spawn_command;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is on the main branch is whole: a line in `shared.txt` for every file in `files`, and no conflict.
const TEST: &str = "#!/bin/sh
if grep -q '^[<=>]\\{7\\}' shared.txt; then echo conflict markers; exit 1; fi
for file in files/*; do grep -qx \"${file#files/}\" shared.txt || { echo \"$file is not listed\"; exit 1; }; done
while read -r name; do [ -e \"files/$name\" ] || { echo \"$name is not there\"; exit 1; }; done <shared.txt
if [ -e strict ]; then grep -q strict files/TASK-* || { echo not strict; exit 1; }; fi
";

/// Adds its file and its line; where there is a conflict, keeps both sides.
const WORK: &str = "mkdir -p files
if grep -q '^[<=>]\\{7\\}' shared.txt; then sed -i '/^[<=>]\\{7\\}/d' shared.txt; else echo \"$id\" >>shared.txt; fi
echo \"$id\" >\"files/$id\"";

struct At {
    project: Project,
    repository: Repository,
    judge: Judge,
}

/// A project with tasks, `(id, what it depends on)`, and an agent that runs a script with the task in `$id`, how often
/// it was called for it in `$n`, and the prompt in `$prompt`.
fn with_tasks(tasks: &[(&str, &str)], work: &str) -> At {
    let project = project();
    let repository = Repository::at(project.root());
    let mut list = "# Tasks\n".to_owned();
    for (id, needs) in tasks {
        let needs = if needs.is_empty() { "—" } else { needs };
        let _ = write!(
            list,
            "\n### {id}: Write {id}\n🔴 P0 | ⬜ TODO\n\n**Checklist:**\n- [ ] it\n\n**Depends on:** {needs}\n"
        );
    }
    let agent = format!(
        "#!/bin/sh\nprompt=$(cat)\nid=$(printf '%s\\n' \"$prompt\" | sed -n '1s/^# \\([A-Z0-9-]*\\):.*/\\1/p')\n\
         mkdir -p \"$HOME/seen\"\nn=$(ls \"$HOME/seen\" | grep -c \"^$id-\")\nn=$((n + 1))\n\
         printf '%s\\n' \"$prompt\" >\"$HOME/seen/.new-$id\"\n[ -e shared.txt ] && cp shared.txt \"$HOME/seen/.shared-$id-$n\"\n\
         mv \"$HOME/seen/.new-$id\" \"$HOME/seen/$id-$n\"\n{work}\necho TASK_COMPLETE\n"
    );
    project
        .write("spec/tasks.md", list)
        .write(
            "spec-runner.config.yaml",
            "claude_command: ./agent.sh\nretry_delay_seconds: 0\ncommands: {test: sh test.sh}\n",
        )
        .write(
            "countersign.yml",
            "version: 1\nrules: [{name: all, for: ['**'], criteria: [{name: Complete, ask: Is it complete?}]}]\n",
        )
        .write("test.sh", TEST)
        .write("shared.txt", "start\n")
        .write("files/start", "")
        .write("own.txt", "as it was\n")
        .write(".gitignore", ".asked*\n")
        .write("agent.sh", agent);
    let judge = Judge::by_word(&project, "Complete");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(project.path("agent.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    repository.commit("begin");
    At { project, repository, judge }
}

impl At {
    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        ["run", "--all", "--parallel", "--reviewer", self.judge.name()]
            .into_iter()
            .chain(more.iter().copied())
            .collect()
    }

    /// What the agent was told in its n-th call for a task.
    fn prompt(&self, call: &str) -> Option<String> {
        std::fs::read_to_string(self.project.home().join("seen").join(call)).ok()
    }

    fn calls(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.project.home().join("seen"));
        let names =
            entries.into_iter().flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    /// Subjects of the commits on the main branch, newest first.
    fn merges(&self) -> Vec<String> {
        let said = self.repository.git(["log", "--first-parent", "--format=%s", "main"]);
        said.lines().map(str::to_owned).collect()
    }

    /// The main branch passes its tests at every commit, everything is there once, and nothing is left over.
    fn is_whole(&self, tasks: &[&str]) {
        let merges = self.merges();
        for id in tasks {
            let wanted = format!("Merge {id}: Write {id}");
            assert_eq!(merges.iter().filter(|merge| **merge == wanted).count(), 1, "{id} in {merges:?}");
        }
        let commits = self.repository.git(["rev-list", "--first-parent", "main"]);
        let folder = self.repository.beside("looked-at");
        let path = folder.to_str().unwrap();
        self.repository.git(["worktree", "add", "-q", "--detach", path, "main"]);
        for commit in commits.lines() {
            self.repository.git(["-C", path, "checkout", "-q", "--detach", commit]);
            let test = std::process::Command::new("sh").arg("test.sh").current_dir(&folder).output().unwrap();
            assert!(test.status.success(), "{commit}: {}", String::from_utf8_lossy(&test.stdout));
        }
        self.repository.git(["worktree", "remove", "--force", path]);
        self.nothing_is_left();
    }

    fn nothing_is_left(&self) {
        let branches = self.repository.git(["for-each-ref", "--format=%(refname)", "refs/heads"]);
        assert_eq!(branches, "refs/heads/main");
        let worktrees = self.repository.git(["worktree", "list", "--porcelain"]);
        assert_eq!(worktrees.matches("worktree ").count(), 1, "{worktrees}");
        let folder = self.project.path(".countersign/worktrees/tasks");
        assert_eq!(std::fs::read_dir(folder).map_or(0, Iterator::count), 0);
    }

    /// Runs a command as a person does.
    fn typed(&self, args: &[&str]) -> String {
        let mut command = self.project.command(args);
        command.env("USER", "ann").env("NO_COLOR", "1");
        spawn_command(command, Some(60_000)).unwrap().exp_eof().unwrap()
    }

    fn states(&self) -> BTreeMap<String, String> {
        let json = self.project.run(&["status", "--json"]).exits(0).json();
        let text = |task: &serde_json::Value, key: &str| task[key].as_str().unwrap_or("-").to_owned();
        let tasks = json["tasks"].as_array().unwrap().iter();
        tasks
            .map(|task| {
                (text(task, "id"), format!("{} {}", text(task, "state"), text(task, "review_status")))
            })
            .collect()
    }
}

/// Lets an agent wait for the first of the others, so that they really start from the same commit.
fn together(count: usize) -> String {
    format!(
        "touch \"$HOME/at-work-$id\"\nwhile [ \"$(ls $HOME | grep -c at-work)\" -lt {count} ]; do sleep 0.02; done\n{WORK}"
    )
}

#[test]
fn eight_tasks_on_the_same_line_are_all_merged_once_and_main_is_whole_at_every_commit() {
    let ids: Vec<String> = (1..=8).map(|n| format!("TASK-00{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let tasks: Vec<(&str, &str)> = ids.iter().map(|id| (*id, "")).collect();
    let at = with_tasks(&tasks, &together(4));
    at.project.write("own.txt", "mine, not committed\n").write("untracked.txt", "mine too\n");
    let ran = at.project.run(&at.args(&["--max-concurrent", "4"])).exits(0);
    at.is_whole(&ids);
    let shared = at.project.read("shared.txt");
    let mut lines: Vec<_> = shared.lines().collect();
    lines.sort_unstable();
    let mut expected = ids.clone();
    expected.push("start");
    assert_eq!(lines, expected, "{ran:?}");
    assert!(at.states().values().all(|state| state == "success passed"), "{:?}", at.states());
    let list = at.project.read("spec/tasks.md");
    assert_eq!((list.matches("✅ DONE").count(), list.matches("- [x] it").count()), (8, 8), "{list}");
    // What is a person's own, is.
    assert_eq!(at.project.read("own.txt"), "mine, not committed\n");
    assert_eq!(at.project.read("untracked.txt"), "mine too\n");
    // The first four started from the same commit: three of them met a conflict.
    let again: Vec<_> = at.calls().into_iter().filter(|call| !call.ends_with("-1")).collect();
    assert!(again.len() >= 3, "{again:?}");
    for call in again {
        let prompt = at.prompt(&call).unwrap();
        assert!(prompt.contains("the work conflicts with `main` in: shared.txt"), "{prompt}");
        assert!(prompt.contains("CONFLICT (content): Merge conflict in shared.txt"), "{prompt}");
        let shared = at.prompt(&format!(".shared-{call}")).unwrap();
        let (id, _) = call.rsplit_once('-').unwrap();
        assert!(shared.contains("<<<<<<<") && shared.contains(&format!("\n{id}\n")), "{shared}");
        assert!(ids.iter().filter(|id| shared.contains(**id)).count() >= 2, "{shared}");
    }
}

#[test]
fn what_a_task_depends_on_is_there_when_it_begins() {
    let needed = "case $id in
TASK-002 | TASK-003) [ -e files/TASK-001 ] || { echo 'TASK_BLOCKED: no 1'; exit; } ;;
TASK-004) [ -e files/TASK-002 ] && [ -e files/TASK-003 ] || { echo 'TASK_BLOCKED: no 2 or 3'; exit; } ;;
esac";
    let tasks = [
        ("TASK-004", "[TASK-002], [TASK-003]"),
        ("TASK-002", "[TASK-001]"),
        ("TASK-003", "[TASK-001]"),
        ("TASK-001", ""),
    ];
    let at = with_tasks(&tasks, &format!("{needed}\n{WORK}"));
    at.project.run(&at.args(&["--max-concurrent", "4"])).exits(0);
    at.is_whole(&["TASK-001", "TASK-002", "TASK-003", "TASK-004"]);
    let merges = at.merges();
    assert!(merges[0].contains("TASK-004") && merges[3].contains("TASK-001"), "{merges:?}");
}

/// An agent that waits until it may go on.
fn waiting(then: &str) -> String {
    format!("touch \"$HOME/at-work-$id\"\nwhile [ ! -e \"$HOME/go\" ]; do sleep 0.02; done\n{then}")
}

#[test]
fn a_commit_that_somebody_made_meanwhile_is_tested_together_with_the_task() {
    let then = "case $prompt in *'not strict'*) echo strict >\"files/$id\"; exec echo TASK_COMPLETE ;; esac";
    let at = with_tasks(&[("TASK-001", "")], &waiting(&format!("{then}\n{WORK}")));
    let running = at.project.start(&at.args(&[]));
    eventually("the agent works", || at.project.home().join("at-work-TASK-001").exists());
    at.repository.write("strict", "").git(["add", "strict"]);
    at.repository.git(["commit", "-q", "-m", "a person's"]);
    let theirs = at.repository.git(["rev-parse", "main"]);
    std::fs::write(at.project.home().join("go"), "").unwrap();
    // The run cannot know whose commit it is. The next one begins with it.
    let ran = running.wait().exits(3);
    assert!(
        ran.stderr.contains("`main` was moved during the run") && ran.stderr.contains("a person's"),
        "{ran:?}"
    );
    assert_eq!(at.merges(), ["a person's", "begin"]);
    at.project.run(&at.args(&[])).exits(0);
    assert_eq!(at.merges(), ["Merge TASK-001: Write TASK-001", "a person's", "begin"]);
    assert_eq!(at.repository.git(["rev-parse", "main^1"]), theirs);
    // What passed alone did not pass together, and the agent was told.
    let prompt = at.prompt("TASK-001-2").unwrap();
    assert!(prompt.contains("after the merge with `main`, `sh test.sh`"), "{prompt}");
    assert_eq!(at.project.read("files/TASK-001"), "strict\n");
    assert!(at.project.path("strict").exists());
    at.nothing_is_left();
}

#[test]
fn a_conflict_that_was_settled_does_not_come_back_with_the_next_commit() {
    let at = with_tasks(
        &[("TASK-001", "")],
        &format!("rm -f \"$HOME/go\"\ntouch \"$HOME/ready-$n\"\n{}", waiting(WORK)),
    );
    for n in 1..=2 {
        let running = at.project.start(&at.args(&["--max-retries", "1"]));
        eventually("the agent works", || at.project.home().join(format!("ready-{n}")).exists());
        let shared = at.project.read("shared.txt");
        at.project
            .write(&format!("files/person-{n}"), "")
            .write("shared.txt", format!("{shared}person-{n}\n"));
        at.repository.git(["add", "shared.txt", "files"]);
        at.repository.git(["commit", "-q", "-m", "a person's"]);
        std::fs::write(at.project.home().join("go"), "").unwrap();
        running.wait().exits(3);
    }
    // A conflict is no attempt: one was allowed.
    let ran = at.project.run(&at.args(&["--max-retries", "1"])).exits(0);
    assert!(ran.stderr.contains("`main` has commits without a review"), "{}", ran.stderr);
    assert!(ran.stderr.contains("a person's"), "{}", ran.stderr);
    at.is_whole(&["TASK-001"]);
    assert_eq!(at.project.read("shared.txt"), "start\nTASK-001\nperson-1\nperson-2\n");
    assert_eq!(at.calls(), ["TASK-001-1", "TASK-001-2"]);
}

#[test]
fn what_is_in_the_way_of_a_merge_stays_and_the_work_waits_for_it() {
    let at = with_tasks(
        &[("TASK-001", ""), ("TASK-002", "")],
        &format!("[ $id = TASK-002 ] && {{ echo 2 >two; exec echo TASK_COMPLETE; }}\n{WORK}"),
    );
    at.project.write("shared.txt", "start\nhalf a thou");
    let ran = at.project.run(&at.args(&[])).exits(1);
    assert!(ran.stdout.contains("MERGE_REFUSED") && ran.stdout.contains("shared.txt"), "{ran:?}");
    assert_eq!(at.project.read("shared.txt"), "start\nhalf a thou");
    assert_eq!(at.states()["TASK-001"], "failed passed");
    // Others are merged.
    assert_eq!(at.merges(), ["Merge TASK-002: Write TASK-002", "begin"]);
    at.project.write("shared.txt", "start\n");
    let judge = at.judge.asked().len();
    at.project.run(&at.args(&[])).exits(0);
    // Nobody had to work or to judge again.
    assert_eq!((at.calls().len(), at.judge.asked().len()), (2, judge));
    at.is_whole(&["TASK-001", "TASK-002"]);
}

#[test]
fn after_kill_9_everything_is_done_once_and_no_worktree_is_left() {
    let ids = ["TASK-001", "TASK-002", "TASK-003", "TASK-004", "TASK-005"];
    let at = with_tasks(&ids.map(|id| (id, "")), &waiting(WORK));
    let mut running = at.project.start(&at.args(&["--max-concurrent", "4"]));
    eventually("four agents work", || at.calls().len() == 4);
    running.kill();
    running.wait();
    // A worktree that git had not completed when it was killed is locked.
    let half = at.project.path(".countersign/worktrees/tasks/task-005");
    at.repository.git([
        "worktree",
        "add",
        "-q",
        "--lock",
        "-b",
        "task/task-005-write-task-005",
        half.to_str().unwrap(),
    ]);
    std::fs::remove_file(half.join(".git")).unwrap();
    std::fs::write(at.project.home().join("go"), "").unwrap();
    at.project.run(&at.args(&["--max-concurrent", "4"])).exits(0);
    at.is_whole(&ids);
}

#[test]
fn slow_killed_again_and_again_a_run_comes_to_its_end() {
    let ids = ["TASK-001", "TASK-002", "TASK-003", "TASK-004", "TASK-005", "TASK-006"];
    let at = with_tasks(&ids.map(|id| (id, "")), WORK);
    let lines = || {
        std::fs::read_to_string(at.project.path("spec/.executor-progress.txt"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    for round in 1..=60 {
        let before = lines();
        let mut running = at.project.start(&at.args(&["--max-concurrent", "3"]));
        eventually("it goes on or ends", || lines() >= before + 2 + round % 9 || !is_alive(running.id()));
        if is_alive(running.id()) {
            running.kill();
            running.wait();
        } else {
            running.wait().exits(0);
            break;
        }
    }
    at.project.run(&at.args(&[])).exits(0);
    at.is_whole(&ids);
    assert!(at.states().values().all(|state| state == "success passed"), "{:?}", at.states());
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// RUN-9.
#[test]
fn run_9_people_decide_from_elsewhere_while_others_go_on() {
    let ids = ["TASK-001", "TASK-002", "TASK-003", "TASK-004", "TASK-005"];
    let at = with_tasks(&ids.map(|id| (id, "")), "echo \"$n\" >\"$id.txt\"");
    let running = at.project.start(&at.args(&["--hitl-queue", "--max-concurrent", "4"]));
    let waits = |id: &str, times: usize| {
        let text =
            std::fs::read_to_string(at.project.path("spec/.executor-progress.txt")).unwrap_or_default();
        text.matches(&format!("{id}: waits for a person")).count() >= times
    };
    let decide = |verb: &str, id: &str| at.typed(&[verb, id, "--reason", "I looked at it"]);
    eventually("four wait", || ids[..4].iter().all(|id| waits(id, 1)));
    assert!(decide("fix", "TASK-003").contains(&crate::people::at_terminal()));
    eventually("it was done again, while the others wait", || waits("TASK-003", 2));
    assert!(at.prompt("TASK-003-2").unwrap().contains("a person sent it back: I looked at it"));
    assert!(decide("reject", "TASK-002").contains(&crate::people::at_terminal()));
    eventually("the fifth has its place", || waits("TASK-005", 1));
    for (verb, id) in
        [("approve", "TASK-001"), ("approve", "TASK-003"), ("skip", "TASK-004"), ("approve", "TASK-005")]
    {
        assert!(decide(verb, id).contains(&crate::people::at_terminal()));
    }
    let ran = running.wait().exits(6);
    let expected =
        ["success passed", "failed rejected", "success passed", "success skipped", "success passed"];
    assert_eq!(at.states().into_values().collect::<Vec<_>>(), expected, "{ran:?}");
    assert_eq!(at.merges().len(), 5);
    assert!(!at.project.path("TASK-002.txt").exists() && at.project.read("TASK-003.txt") == "2\n");
    // A plain run leaves alone what was rejected.
    let ran = at.project.run(&at.args(&[])).exits(6);
    assert!(ran.stdout.contains("TASK-002") && ran.stdout.contains("not run"), "{ran:?}");
    assert_eq!(at.merges().len(), 5);
}

/// RUN-11.
#[test]
fn run_11_parallel_ignores_the_gate_at_the_terminal_with_a_warning() {
    let at = with_tasks(&[("TASK-001", "")], WORK);
    let ran = at.project.run(&at.args(&["--hitl-review"])).exits(0);
    let warning = "--hitl-review is ignored with --parallel or --tui";
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{ran:?}");
    at.is_whole(&["TASK-001"]);
}

/// RUN-11: the flag is ignored there; what the settings want for every task is not.
#[test]
fn run_11_attack_parallel_does_not_merge_unseen_what_the_settings_want_a_person_for() {
    let shapes: [fn(&Project); 3] = [
        |project| {
            let settings = project.read("spec-runner.config.yaml");
            project.write("spec-runner.config.yaml", format!("{settings}hitl_review: true\n"));
        },
        |project| {
            let settings = project.read("spec-runner.config.yaml").replace('\n', "\n  ");
            std::fs::remove_file(project.path("spec-runner.config.yaml")).unwrap();
            let settings = format!("executor:\n  {settings}hitl_review: true\n");
            project.write("spec/executor.config.yaml", settings);
        },
        |project| {
            let configuration = project.read("countersign.yml");
            project.write("countersign.yml", format!("{configuration}run: {{hitl_review: true}}\n"));
        },
    ];
    for (set, more) in shapes.into_iter().zip([&[][..], &["--hitl-review"], &[]]) {
        let at = with_tasks(&[("TASK-001", ""), ("TASK-002", "")], WORK);
        set(&at.project);
        at.repository.commit("a person decides");
        let before = at.merges().len();
        let ran = at.project.run(&at.args(more)).exits(3);
        assert_eq!(ran.stderr.matches("`hitl_review: true` is in the settings").count(), 1, "{ran:?}");
        assert_eq!(at.merges().len(), before, "{ran:?}");
        assert!(ran.stdout.contains("TASK-002") && ran.stdout.contains("waits"), "{ran:?}");
        // What a person approved is merged by the next run, and the other one still waits.
        assert!(
            at.typed(&["approve", "TASK-001", "--reason", "I looked at it"])
                .contains(&crate::people::at_terminal())
        );
        at.project.run(&at.args(&[])).exits(3);
        assert_eq!(at.merges().len(), before + 1);
        assert!(at.project.path("files/TASK-001").exists() && !at.project.path("files/TASK-002").exists());
    }
}

#[test]
fn several_at_once_need_a_branch_each() {
    let at = with_tasks(&[("TASK-001", "")], WORK);
    for option in ["--no-branch", "--no-commit"] {
        let ran = at.project.run(&at.args(&[option])).exits(2);
        assert!(ran.stderr.contains("every task needs a branch and a commit"), "{ran:?}");
    }
    assert!(at.calls().is_empty());
}

#[test]
fn a_branch_of_the_same_name_keeps_its_own_beginning() {
    let at = with_tasks(&[("TASK-001", "")], WORK);
    // Begun by another tool, long ago; the main branch went on.
    at.repository.git(["branch", "task/task-001-write-task-001"]);
    at.repository.write("newer.txt", "x").git(["add", "newer.txt"]);
    at.repository.git(["commit", "-q", "-m", "newer"]);
    at.project.run(&at.args(&[])).exits(0);
    assert!(at.repository.git(["ls-tree", "--name-only", "main"]).contains("newer.txt"));
    at.is_whole(&["TASK-001"]);
}
