//! What runs is what merges: tests that pass by files which are not judged, merges that write what was never judged, and
//! edits of a person at the gate.

use crate::kit::row;
use countersign_testkit::{Project, Ran, Repository, Running, Terminal};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const TASKS: &str = "# Tasks\n\n### TASK-001: Write one\nP0 | TODO\n\n### TASK-002: Write two\nP0 | TODO\n\n**Depends on:** [TASK-001]\n";
const CONFIG: &str = "version: 1\n\
    rules: [{name: all, for: ['**'], criteria: [{name: Merged, check: no_conflict_markers}]}]\n";
/// The tests pass where the helper is good.
const TEST: &str = "[ \"$(cat helper.txt)\" = good ]\n";

struct Work {
    project: Project,
    repository: Repository,
}

impl Work {
    /// A run whose agent does this, with `$task`. `more` is added to `countersign.yml`.
    fn new(agent: &str, test: &str, more: &str) -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_countersign")).trusting();
        let repository = Repository::at(project.root());
        let program = project.home().join("agent.sh");
        let script = format!(
            "#!/bin/sh\ntask=$(sed -n 's/^# \\([A-Z]*-[0-9]*\\):.*/\\1/p')\n{agent}\necho \"work of $task\" >\"$task.txt\"\necho TASK_COMPLETE\n"
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!(
            "claude_command: {}\nretry_delay_seconds: 0\nmax_retries: 1\ncommands: {{test: '{test}'}}\n",
            program.display()
        );
        project
            .write("spec/tasks.md", TASKS)
            .write("spec-runner.config.yaml", settings)
            .write("countersign.yml", format!("{CONFIG}{more}"))
            .write("test.sh", TEST)
            .write("helper.txt", "bad\n")
            .write(".gitignore", "ignored.txt\n/out/\n");
        repository.commit("first");
        Self { project, repository }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.project.run(&[&["run", "TASK-001"], args].concat())
    }

    /// A clean clone of the main branch passes its tests, if anything was merged.
    #[track_caller]
    fn is_whole(&self, test: &str) -> bool {
        let is_merged = self.merged().contains("Merge TASK-001");
        let clone = self.repository.cloned(&["-b", "main"]);
        let tested = Command::new("sh").args(["-c", test]).current_dir(clone.root()).status().unwrap();
        assert!(!is_merged || tested.success(), "a clean clone fails `{test}`");
        is_merged
    }

    fn merged(&self) -> String {
        let plain = ["-c", "core.bare=false", "log", "--first-parent", "--format=%s", "main"];
        self.repository.git(plain)
    }
}

#[test]
fn attack_18_tests_that_pass_by_files_which_are_not_judged() {
    let good = "echo good >helper.txt";
    for (name, agent, test) in [
        ("an ignored helper", "echo good >ignored.txt", "grep good ignored.txt"),
        (
            "an excluded helper",
            "echo good >other.txt; echo other.txt >>.git/info/exclude",
            "grep good other.txt",
        ),
        (
            "an assume-unchanged file",
            "echo good >helper.txt; git update-index --assume-unchanged helper.txt",
            "sh test.sh",
        ),
        (
            "a sparse checkout",
            "git update-index --skip-worktree helper.txt; rm helper.txt",
            "[ ! -e helper.txt ]",
        ),
        (
            "an edit of the index only",
            "echo good >helper.txt; git add helper.txt; echo bad >helper.txt",
            "git show :helper.txt | grep good",
        ),
        ("a folder that git ignores", "mkdir -p out; echo good >out/helper.txt", "grep good out/helper.txt"),
        (
            "a filter that writes other bytes",
            "git config filter.x.smudge 'sed s/bad/good/'; git config filter.x.clean 'sed s/good/bad/'
             echo '*.txt filter=x' >.git/info/attributes; echo good >helper.txt",
            "sh test.sh",
        ),
    ] {
        let work = Work::new(agent, test, "");
        let ran = work.run(&[]);
        let is_merged = work.is_whole(test);
        assert_eq!(is_merged, ran.code == 0, "{name}: {ran:?}");
        let came = if is_merged { "merged with what the tests used" } else { "not merged" };
        row(&format!("tests that pass by {name}"), "run", came, "the tests");
    }
    // The honest way.
    let work = Work::new(good, "sh test.sh", "");
    work.run(&[]).exits(0);
    assert!(work.is_whole("sh test.sh"));
}

#[test]
fn attack_18_tests_that_change_files_change_nothing_that_merges() {
    let test = "[ -e TASK-001.txt ] && echo other >TASK-001.txt && echo more >more.txt && git add -A && \
                git -c user.name=x -c user.email=x@example.invalid commit -qm x";
    let lint = "grep \"work of\" TASK-001.txt && [ ! -e more.txt ]";
    let work = Work::new("", test, "");
    let settings =
        work.project.read("spec-runner.config.yaml").replace("'}", &format!("', lint: '{lint}'}}"));
    work.project.write("spec-runner.config.yaml", settings);
    work.repository.commit("lint");
    work.run(&[]).exits(0);
    assert_eq!(work.repository.git(["show", "main:TASK-001.txt"]), "work of TASK-001");
    assert!(!work.repository.git(["ls-tree", "--name-only", "main"]).contains("more.txt"));
    row("tests that change files", "run", "merged without their changes", "");
}

#[test]
fn attack_18_a_kept_folder_has_no_judged_files() {
    let work = Work::new("mkdir kept; echo work >kept/work.txt", "true", "commands: {keep: [kept]}\n");
    let ran = work.run(&[]).exits(1);
    assert!(ran.stdout.contains("`commands.keep` names `kept`, but `kept/work.txt`"), "{ran:?}");
    assert!(!work.merged().contains("Merge"), "{}", work.merged());
    row("a judged file in a kept folder", "run", "refused", "the message");
}

/// What is kept of one attempt cannot replace what the next one sets up.
#[test]
fn attack_18_what_tests_leave_in_the_checkout_is_removed() {
    let agent = "echo \"$task\" >now.txt";
    let test = "[ -e kept/set-up ] && [ ! -e left.txt ] && [ ! -e vendor/.git ] && touch left.txt && mkdir -p vendor/.git && \
                [ \"$(cat kept/set-up)\" = \"$(cat now.txt)\" ]";
    let more = "commands: {setup: 'mkdir -p kept && cp now.txt kept/set-up && touch gone', keep: [kept]}\n";
    let work = Work::new(agent, test, more);
    work.project.write("vendor/x.txt", "").write(".gitignore", "/kept/\n");
    work.repository.commit("more");
    work.project.run(&["run", "--all"]).exits(0);
    assert_eq!(work.merged().matches("Merge TASK-").count(), 2, "{}", work.merged());
    row("files that earlier tests left", "run", "removed, and set up again", "");
}

#[test]
fn attack_18_a_merge_driver_writes_what_was_never_judged() {
    // The main branch moves while the agent works, and both sides change the file.
    let agent = "[ -e \"$HOME/moved\" ] || {
        touch \"$HOME/moved\"
        git config merge.x.driver 'touch $HOME/driver-ran; echo never judged >%A'
        echo 'lines.txt merge=x' >.git/info/attributes
        sed -i 's/^one$/ONE/' lines.txt
        blob=$(printf 'one\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nNINE\\n' | git hash-object -w --stdin)
        GIT_INDEX_FILE=.git/other git read-tree main
        GIT_INDEX_FILE=.git/other git update-index --cacheinfo 100644,$blob,lines.txt
        tree=$(GIT_INDEX_FILE=.git/other git write-tree)
        git update-ref refs/heads/main $(git commit-tree $tree -p main -m moved)
    }";
    let test = "grep -q . lines.txt && ! grep -q never lines.txt";
    let work = Work::new(agent, test, "");
    work.project.write("lines.txt", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    work.repository.commit("lines");
    work.run(&[]).exits(3);
    let ran = work.run(&[]).exits(0);
    assert!(!work.project.home().join("driver-ran").exists(), "{ran:?}");
    assert_eq!(work.repository.git(["show", "main:lines.txt"]), "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE");
    assert!(work.is_whole(test));
    row("a merge driver in .git/config", "run", "not started", "");
}

/// A reviewer that finds a word only where both sides came together.
#[test]
fn attack_18_what_a_merge_with_the_main_branch_makes_is_judged() {
    let agent = "[ -e \"$HOME/moved\" ] || {
        touch \"$HOME/moved\"
        sed -i 's/^one$/<<<<<<< x/' lines.txt
        blob=$(printf 'one\\n2\\n3\\n4\\n5\\n6\\n=======\\n8\\n>>>>>>> x\\n' | git hash-object -w --stdin)
        GIT_INDEX_FILE=.git/other git read-tree main
        GIT_INDEX_FILE=.git/other git update-index --cacheinfo 100644,$blob,lines.txt
        tree=$(GIT_INDEX_FILE=.git/other git write-tree)
        git update-ref refs/heads/main $(git commit-tree $tree -p main -m moved)
    }";
    let work = Work::new(agent, "true", "");
    let config = "version: 1\nrules: [{name: all, for: ['*.txt'], criteria: [{name: Merged, check: {run: {command: \
                  '! { grep -q \"^<<<<<<<\" lines.txt && grep -q \"^>>>>>>>\" lines.txt; }'}}}]}]\n";
    work.project.write("countersign.yml", config).write("lines.txt", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    work.repository.commit("lines");
    // Alone the work passes.
    work.run(&[]).exits(3);
    let ran = work.run(&[]).exits(1);
    assert!(!work.merged().contains("Merge"), "{ran:?}");
    row("a bad merge with the main branch", "run", "judged again", "the findings");
}

#[test]
fn attack_18_edits_at_the_human_gate_are_no_part_of_the_next_task() {
    let work = Work::new("", "true", "");
    let editor = work.project.home().join("editor.sh");
    fs::write(&editor, "#!/bin/sh\necho by hand >>\"$1\"\n").unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let start = || {
        let mut command = work.project.command(&["run", "--all", "--hitl-review"]);
        command.env("USER", "ann").env("TERM", "xterm").env("NO_COLOR", "1").env("EDITOR", &editor);
        Terminal::start(&command, 150, 60)
    };
    let mut terminal = start();
    terminal.until("[a]pprove");
    terminal.send("e\n");
    terminal.until("Your edits were not judged");
    terminal.send("a\n");
    assert_eq!(terminal.ends(), 1, "{}", terminal.contents());
    let said = terminal.contents();
    assert!(said.contains("the next task would include files"), "{said}");
    assert_eq!(work.merged().matches("Merge TASK-").count(), 1, "{}", work.merged());
    assert_eq!(work.repository.git(["show", "main:TASK-001.txt"]), "work of TASK-001");
    assert_eq!(work.project.read("TASK-001.txt"), "work of TASK-001\nby hand\n", "nothing is lost");
    // The index of the user says that nothing changed.
    work.repository.git(["update-index", "--assume-unchanged", "TASK-001.txt"]);
    let mut command = work.project.command(&["run", "--all"]);
    let ran = Running::start(&mut command).wait().exits(1);
    assert!(!work.merged().contains("Merge TASK-002"), "{ran:?}");
    row("an edit at the human gate", "run", "kept out of the next task", "the message");
}

#[test]
fn attack_18_the_checkout_is_outside_of_the_project() {
    // Tools look for these in the folders above.
    let agent = "mkdir -p node_modules; echo good >node_modules/found";
    let test = "folder=$PWD; while [ \"$folder\" != / ]; do [ ! -e \"$folder/node_modules/found\" ] || exit 1; folder=$(dirname \"$folder\"); done; \
                [ \"$(git rev-parse --show-toplevel)\" = \"$(pwd -P)\" ] && git ls-files --error-unmatch TASK-001.txt";
    let work = Work::new(agent, test, "");
    work.project.write(".gitignore", "node_modules\n");
    work.repository.commit("ignored");
    let ran = work.run(&[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(Path::new(&work.project.home().join(".cache/countersign/checkouts")).is_dir());
    row("files in folders above the checkout", "run", "not found", "");
}
