//! What honest people do with gates. In each flow a person is asked once, at `trust`, and nothing that was judged is judged
//! again. `cargo xtask attack` prints the flows as a table.

use countersign_testkit::{Project, Ran, Repository, Running, Terminal, honest_row};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fails a bad word, and notes every question in the home of its user.
const JUDGE: &str = r#"import json, os, sys

brief = json.load(sys.stdin)
with open(os.environ["HOME"] + "/asked", "a") as log:
    log.write(brief["assignment"]["rule"] + "\n")
passed = "BAD" not in brief["payload"]
rulings = [{"criterion": c["name"], "passed": passed, "feedback": "there is a BAD word"} for c in brief["assignment"]["criteria"]]
print(json.dumps({"passed": passed, "feedback": "f", "criteria_results": rulings}))
"#;

pub struct Flow {
    pub project: Project,
    repository: Repository,
    path: String,
    program: PathBuf,
}

impl Flow {
    /// A repository with one commit, whose reviewer is this command.
    pub fn new(command: &str) -> Self {
        let flow = Self::uncommitted(command);
        flow.repository.commit("first");
        flow
    }

    fn uncommitted(command: &str) -> Self {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_countersign"));
        let project = Project::new(&program);
        let repository = Repository::at(project.root());
        project.write("a.md", "one\n").write("judge.py", JUDGE).write("countersign.yml", config(command, ""));
        Self { project, repository, path: std::env::var("PATH").unwrap(), program }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let template = self.project.command(args);
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.project.root());
        for (name, value) in template.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("PATH", &self.path);
        command
    }

    /// The one question to the person, answered with yes.
    fn trust(&self) -> &Self {
        self.trust_in(self.project.root())
    }

    fn trust_in(&self, folder: &Path) -> &Self {
        let mut terminal = Terminal::start(self.command(&["trust"]).current_dir(folder), 200, 60);
        terminal.until("[y/N]");
        terminal.send("y\n");
        assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
        self
    }

    /// The agent has its change judged.
    pub fn gate(&self) -> Ran {
        self.gate_in(self.project.root())
    }

    fn gate_in(&self, folder: &Path) -> Ran {
        let mut command = self.command(&["review", "--change", "--gate"]);
        Running::start(command.env("CLAUDECODE", "1").current_dir(folder)).wait()
    }

    /// The agent stops: what the hook says.
    fn hook(&self, folder: &Path) -> Ran {
        let input = json!({
            "session_id": "s-1", "transcript_path": null, "cwd": folder.canonicalize().unwrap(),
            "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "I am done.",
        });
        let mut command = self.command(&["hook", "claude"]);
        Running::fed(command.current_dir(folder), input.to_string().as_bytes()).wait().exits(0)
    }

    pub fn asked(&self) -> usize {
        fs::read_to_string(self.project.home().join("asked")).unwrap_or_default().lines().count()
    }

    pub fn topic(&self) -> &Self {
        self.repository.git(["checkout", "-q", "-b", "topic"]);
        self
    }
}

fn config(command: &str, more: &str) -> String {
    format!(
        "version: 1\nreviewers: [{{name: judge, use: command, command: {command}}}]\n\
         rules:\n  - {{name: r, for: ['*.md'], each: file, criteria: [{{name: Complete, ask: 'Is it?'}}]}}\n{more}"
    )
}

pub const PYTHON: &str = "[python3, judge.py]";

pub fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn link(target: &Path, place: &Path) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let _ = fs::remove_file(place);
    symlink(target, place).unwrap();
}

fn is_held(ran: &Ran) -> bool {
    ran.stdout.contains(r#""decision":"block""#)
}

#[test]
fn honest_17_a_fresh_repository_without_a_commit() {
    let flow = Flow::uncommitted(PYTHON);
    flow.trust();
    flow.project.write("b.md", "BAD\n");
    assert!(is_held(&flow.hook(flow.project.root())));
    flow.project.write("b.md", "fine\n");
    assert!(!is_held(&flow.hook(flow.project.root())), "fine work is let go");
    flow.gate().exits(0);
    let asked = flow.asked();
    flow.gate().exits(0);
    flow.repository.commit("first");
    flow.topic().project.write("c.md", "good\n");
    flow.gate().exits(0);
    // One new file, one new question.
    honest_row("a fresh repository without remote or commit", 1, flow.asked() - asked - 1);
}

#[test]
fn honest_17_the_person_edits_the_configuration_while_an_agent_works() {
    let flow = Flow::new(PYTHON);
    flow.trust().topic();
    flow.project.write("a.md", "better\n");
    flow.gate().exits(0);
    let asked = flow.asked();
    // Another rule, for other files. Until it is trusted nothing of it counts.
    let more = "  - {name: texts, for: ['*.txt'], criteria: [{name: Short, ask: 'Is it short?'}]}\n";
    flow.project.write("countersign.yml", config(PYTHON, more));
    let ran = flow.gate();
    assert!(
        ran.stderr.contains("countersign.yml was changed in the working tree and not yet trusted"),
        "{ran:?}"
    );
    assert_eq!(flow.asked(), asked);
    flow.trust();
    let ran = flow.gate();
    // The person who trusted it has seen it.
    assert_eq!(ran.code, 0, "{ran:?}");
    honest_row("the person edits countersign.yml while an agent works", 1, flow.asked() - asked);
}

/// Layouts of installations below the home of a user: how the reviewer is installed, and installed anew.
#[test]
fn honest_17_programs_as_installers_lay_them_out() {
    type Install = fn(&Path, version: &str) -> Vec<PathBuf>;
    let layouts: [(&str, Install); 5] = [
        ("claude's own installer", |home, version| {
            let file = home.join(".local/share/claude/versions").join(version);
            executable(&file, &program(home, version));
            link(&file, &home.join(".local/bin/judge"));
            vec![home.join(".local/bin")]
        }),
        ("npm", |home, version| {
            let package = home.join(".npm-global/lib/node_modules/@vendor/judge");
            executable(&package.join("cli.py"), &program(home, version));
            link(Path::new("../lib/node_modules/@vendor/judge/cli.py"), &home.join(".npm-global/bin/judge"));
            vec![home.join(".npm-global/bin")]
        }),
        ("nix, a profile of the user", |home, version| {
            // The store itself is trusted; its folder cannot be made here, so one below the home stands for it.
            let file = home.join(".nix/store").join(version).join("bin/judge");
            executable(&file, &program(home, version));
            let profile = home.join(".nix/profile");
            let _ = fs::remove_file(&profile);
            symlink(file.parent().unwrap().parent().unwrap(), profile).unwrap();
            vec![home.join(".nix/profile/bin"), home.join(".nix/store")]
        }),
        ("asdf", |home, version| {
            let real = home.join(".asdf/installs/judge").join(version).join("bin/judge");
            executable(&real, &program(home, version));
            let shim = format!("#!/bin/sh\nexec {} \"$@\"\n", real.display());
            executable(&home.join(".asdf/shims/judge"), &shim);
            vec![home.join(".asdf/shims"), home.join(".asdf/bin")]
        }),
        ("mise", |home, version| {
            let real = home.join(".local/share/mise/installs/judge").join(version).join("bin/judge");
            executable(&real, &program(home, version));
            link(&real, &home.join(".local/share/mise/shims/judge"));
            vec![home.join(".local/share/mise/shims"), home.join(".local/share/mise/installs")]
        }),
    ];
    for (name, install) in layouts {
        let mut flow = Flow::new("[judge]");
        let folders = install(flow.project.home(), "1.0");
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        flow.path = format!("{}:{}", folders.join(":"), flow.path);
        flow.trust().topic();
        flow.project.write("a.md", "better\n");
        let ran = flow.gate();
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        let asked = flow.asked();
        assert_eq!(asked, 1, "{name}");
        install(flow.project.home(), "2.0");
        let ran = flow.gate();
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        assert_eq!(flow.asked(), asked, "{name}: an update asks nothing again");
        flow.project.write("a.md", "BAD\n");
        let ran = flow.gate();
        assert!(ran.code == 1 && ran.stdout.contains("BAD word"), "{name}: {ran:?}");
        honest_row(&format!("a reviewer installed by {name}, and its update (layout imitated)"), 1, 0);
    }
}

/// A reviewer as a program of its own.
fn program(_home: &Path, version: &str) -> String {
    format!("#!/usr/bin/env python3\n# version {version}\n{JUDGE}")
}

#[test]
fn honest_17_ci_with_its_own_path() {
    let mut flow = Flow::new("[judge]");
    let bin = flow.project.home().join("runner/tools");
    executable(&bin.join("judge"), &program(flow.project.home(), "1"));
    flow.path = format!("{}:{}", bin.display(), flow.path);
    let remote = flow.repository.cloned(&["--bare"]);
    flow.repository.git(["remote", "add", "origin", remote.root().to_str().unwrap()]);
    flow.repository.git(["fetch", "-q", "origin"]);
    flow.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    flow.topic();
    flow.project.write("a.md", "BAD\n");
    flow.repository.commit("work");
    let job = |flow: &Flow| {
        let mut command = flow.command(&["review", "--change", "--gate"]);
        Running::start(command.env("CI", "true")).wait()
    };
    job(&flow).exits(1);
    flow.project.write("a.md", "good\n");
    flow.repository.commit("better");
    let ran = job(&flow);
    assert_eq!(ran.code, 0, "{ran:?}");
    honest_row("a job of CI with its own PATH", 0, 0);
}

#[test]
fn honest_17_worktrees_of_one_repository() {
    let flow = Flow::new(PYTHON);
    flow.trust().topic();
    flow.project.write("a.md", "better\n");
    flow.gate().exits(0);
    let asked = flow.asked();
    let other = flow.repository.beside("other");
    flow.repository.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "second", "main"]);
    fs::write(other.join("a.md"), "better\n").unwrap();
    let ran = flow.gate_in(&other);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!is_held(&flow.hook(&other)));
    honest_row("a second worktree with the same work", 0, flow.asked() - asked);
    fs::write(other.join("a.md"), "BAD\n").unwrap();
    flow.gate_in(&other).exits(1);
}

#[test]
fn honest_17_projects_of_a_monorepo() {
    let flow = Flow::new(PYTHON);
    for package in ["packages/a", "packages/b"] {
        flow.project
            .write(&format!("{package}/judge.py"), JUDGE)
            .write(&format!("{package}/countersign.yml"), config(PYTHON, ""))
            .write(&format!("{package}/x.md"), "one\n");
    }
    flow.repository.commit("packages");
    let root = flow.project.root().to_owned();
    flow.trust_in(&root.join("packages/a"));
    flow.topic();
    flow.project.write("packages/a/x.md", "better\n").write("packages/b/x.md", "other\n");
    let ran = flow.gate_in(&root.join("packages/a"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked = flow.asked();
    // The other one is a project of its own, which no person has trusted yet.
    flow.gate_in(&root.join("packages/b")).exits(3);
    flow.trust_in(&root.join("packages/b"));
    let ran = flow.gate_in(&root.join("packages/b"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = flow.gate_in(&root.join("packages/a"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(flow.asked(), asked + 1);
    honest_row("two projects of a monorepo, each", 1, 0);
}

#[test]
fn honest_17_a_submodule_is_a_project_of_its_own() {
    let flow = Flow::new(PYTHON);
    let library = Repository::new();
    library.write("l.md", "one\n").write("judge.py", JUDGE).write("countersign.yml", config(PYTHON, ""));
    library.commit("library");
    flow.repository.git(["submodule", "--quiet", "add", library.root().to_str().unwrap(), "lib"]);
    flow.repository.commit("with a library");
    flow.trust().topic();
    flow.project.write("a.md", "better\n");
    let ran = flow.gate();
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked = flow.asked();
    let lib = flow.project.path("lib");
    flow.trust_in(&lib);
    fs::write(lib.join("l.md"), "BAD\n").unwrap();
    flow.gate_in(&lib).exits(1);
    fs::write(lib.join("l.md"), "good\n").unwrap();
    let ran = flow.gate_in(&lib);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(flow.asked(), asked + 2);
    honest_row("a submodule, as a project of its own", 1, 0);
}

#[test]
fn honest_17_an_upgrade_of_countersign() {
    let mut flow = Flow::new(PYTHON);
    flow.trust().topic();
    flow.project.write("a.md", "better\n");
    flow.gate().exits(0);
    let asked = flow.asked();
    // The same program at another place stands for a newer one.
    let newer = flow.project.home().join("newer/countersign");
    fs::create_dir_all(newer.parent().unwrap()).unwrap();
    fs::copy(&flow.program, &newer).unwrap();
    flow.program = newer;
    let ran = flow.gate();
    assert_eq!(ran.code, 0, "{ran:?}");
    honest_row("an upgrade of countersign (another place of the same program)", 0, flow.asked() - asked);
}

/// Rules that were tried first by a plain `review` are trusted later.
#[test]
fn honest_17_rules_that_were_tried_first() {
    let flow = Flow::new(PYTHON);
    flow.trust().topic();
    flow.project.write("b.txt", "good\n");
    let more = "  - {name: texts, for: ['*.txt'], criteria: [{name: Short, ask: 'Is it short?'}]}\n";
    flow.project.write("countersign.yml", config(PYTHON, more));
    let question = || Running::start(&mut flow.command(&["review"])).wait();
    let ran = question();
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked = flow.asked();
    assert_eq!(asked, 2);
    flow.repository.commit("the rules");
    flow.trust();
    let ran = Running::start(&mut flow.command(&["review", "--gate"])).wait();
    assert_eq!(ran.code, 0, "{ran:?}");
    honest_row("rules that were tried first and then trusted", 1, flow.asked() - asked);
}

#[test]
fn honest_17_a_pull_of_other_work_and_newer_rules() {
    let flow = Flow::new(PYTHON);
    let remote = flow.repository.cloned(&["--bare"]);
    flow.repository.git(["remote", "add", "origin", remote.root().to_str().unwrap()]);
    flow.repository.git(["fetch", "-q", "origin"]);
    flow.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    flow.trust().topic();
    flow.project.write("a.md", "better\n");
    flow.gate().exits(0);
    let asked = flow.asked();
    // A colleague brings other work, and a rule for other files.
    let colleague = remote.cloned(&[]);
    let more = "  - {name: texts, for: ['*.txt'], criteria: [{name: Short, ask: 'Is it short?'}]}\n";
    colleague.write("z.md", "of others\n").write("countersign.yml", config(PYTHON, more));
    colleague.commit("others");
    colleague.git(["push", "-q", "origin", "HEAD:main"]);
    flow.repository.git(["pull", "-q", "--no-rebase", "--autostash", "origin", "main"]);
    let ran = flow.gate();
    assert_eq!(ran.code, 0, "{ran:?}");
    honest_row("a pull of other work and an unrelated rule", 0, flow.asked() - asked);
    flow.project.write("n.txt", "BAD\n");
    let ran = flow.gate();
    assert!(ran.code == 1 && ran.stdout.contains("Short"), "the new rule counts: {ran:?}");
}

/// One command sets up everything, and asks once.
#[test]
fn honest_17_one_command_sets_up() {
    let mut flow = Flow::uncommitted(PYTHON);
    fs::remove_file(flow.project.path("countersign.yml")).unwrap();
    flow.repository.commit("before");
    let bin = flow.project.home().join(".local/bin");
    let claude =
        "#!/bin/sh\n[ \"$1\" = --version ] || echo claude >>\"$HOME/asked\"\necho '2.1.0 (Claude Code)'\n";
    executable(&bin.join("claude"), claude);
    let own = flow.program.parent().unwrap().display().to_string();
    flow.path = format!("{}:{own}:{}", bin.display(), flow.path);
    let args = ["init", "--agent", "claude", "--hook", "--reviewer", "claude"];
    let mut terminal = Terminal::start(&flow.command(&args), 160, 80);
    terminal.until("[y/N]");
    let shown = terminal.written();
    for words in ["wrote", "tested:", "which read its input and answered; no reviewer was asked"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("countersign trust"), "the question itself comes next: {shown}");
    assert_eq!(flow.asked(), 0, "the test of the hook asks no reviewer");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    let after = terminal.written().split("[y/N]").nth(1).unwrap().to_owned();
    for words in ["trusted: gates", "commit:", "git add", "countersign.yml"] {
        assert!(after.contains(words), "{words}: {after}");
    }
    assert_eq!(terminal.written().matches("[y/N]").count(), 1);
    let settings: Value = serde_json::from_str(&flow.project.read(".claude/settings.json")).unwrap();
    assert!(settings["hooks"]["Stop"].is_array(), "{settings}");
    // The work of the set-up itself is not held.
    assert!(!is_held(&flow.hook(flow.project.root())));
    flow.repository.commit("as told");
    assert!(!is_held(&flow.hook(flow.project.root())));
    honest_row("init --agent claude --hook --reviewer claude", 1, 0);
}

/// A program of that name which is no hook is found out, and what differs from the remote is said as `trust` says it.
#[test]
fn init_tests_the_program_that_agents_will_find() {
    let mut flow = Flow::uncommitted(PYTHON);
    flow.repository.commit("before");
    let remote = flow.repository.cloned(&["--bare"]);
    flow.repository.git(["remote", "add", "origin", remote.root().to_str().unwrap()]);
    flow.repository.git(["fetch", "-q", "origin"]);
    flow.repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    let bin = flow.project.home().join("bin");
    executable(&bin.join("countersign"), "#!/bin/sh\nexit 0\n");
    flow.path = format!("{}:{}", bin.display(), flow.path);
    let mut terminal = Terminal::start(&flow.command(&["init", "--agent", "claude", "--hook"]), 160, 80);
    terminal.until("[y/N]");
    let shown = terminal.written();
    assert!(shown.contains("does not work") && shown.contains("does not read its input"), "{shown}");
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    assert!(terminal.written().contains("Commit and push them for others"), "{}", terminal.contents());
}

/// An agent whose sandbox does not write the folder of git, where the ledger is.
#[test]
fn honest_17_an_agent_in_a_sandbox() {
    let flow = Flow::new(PYTHON);
    flow.trust().topic();
    flow.project.write("a.md", "better\n");
    flow.gate().exits(0);
    let root = flow.project.root().canonicalize().unwrap();
    let git = root.join(".git").display().to_string();
    let sandboxed = |args: &[&str]| {
        let inner = flow.command(args);
        // Mounted read-only, as sandboxes do; where that is not allowed, by the permissions of the folders.
        let mount = format!("mount --bind '{git}' '{git}' && mount -o remount,bind,ro '{git}'");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &format!("{mount} && exec \"$0\" \"$@\"")]);
        command.arg(&flow.program).args(args).current_dir(&root);
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Running::start(command.env("CLAUDECODE", "1")).wait()
    };
    let can_mount =
        Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|ran| ran.status.success());
    if !can_mount {
        println!("not allowed to mount here: the flow was not played");
        return;
    }
    let ran = sandboxed(&["review", "--change", "--json"]).exits(0);
    let json = ran.json();
    assert_eq!(json["gates"]["count"], false, "{json}");
    assert!(json["warnings"].to_string().contains("is not recorded"), "{json}");
    flow.project.write("a.md", "BAD\n");
    sandboxed(&["review", "--change"]).exits(1);
    let ran = sandboxed(&["review", "--change", "--gate"]).exits(8);
    assert!(ran.stderr.contains("the MCP tool review_submit"), "{ran:?}");
    let ran = sandboxed(&["doctor"]);
    assert!(ran.stdout.contains("it cannot be written"), "{ran:?}");
    honest_row("an agent in a sandbox that cannot write .git, where the ledger is", 0, 0);
}
