//! The human gate of a run, on a real terminal with a real repository and a scripted agent.

use crate::project;
use countersign_testkit::{Project, Repository, Terminal, eventually};
use std::os::unix::fs::PermissionsExt;

const TASKS: &str = "\
### TASK-001: Write the guide
P0 | TODO

**Checklist:**
- [ ] Write it
";

const CONFIGURATION: &str = "\
version: 1
rules:
  - name: docs
    for: [\"*.md\"]
    criteria:
      - {name: Complete, check: no_placeholders}
";

/// The first try leaves a placeholder; the next ones do not. What the agent was told is kept beside.
const AGENT: &str = "\
#!/bin/sh
cat >>'PROMPTS'
cat guide.md >>'PROMPTS' 2>&1
echo '=== asked' >>'PROMPTS'
case $(grep -c '=== asked' 'PROMPTS') in
    1) echo 'TODO: write' >guide.md;;
    *) echo 'The guide.' >guide.md;;
esac
echo working
echo TASK_COMPLETE
";

struct Tasks {
    project: Project,
    repository: Repository,
}

fn tasks() -> Tasks {
    let project = project();
    let repository = Repository::at(project.root());
    let prompts = project.home().join("prompts");
    project.write("spec/tasks.md", TASKS).write("countersign.yml", CONFIGURATION);
    project.write("spec-runner.config.yaml", "claude_command: ./agent.sh\nretry_delay_seconds: 0\n");
    project.write("agent.sh", AGENT.replace("PROMPTS", prompts.to_str().unwrap()));
    project.write(".gitignore", "spec/.executor-*\nspec/.task-history.log\n");
    std::fs::set_permissions(project.path("agent.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    repository.commit("begin");
    Tasks { project, repository }
}

impl Tasks {
    fn terminal(&self, args: &[&str]) -> Terminal {
        let mut command = self.project.command(args);
        command.env("USER", "ann").env("TERM", "xterm").env("NO_COLOR", "1");
        Terminal::start(&command, 100, 40)
    }

    fn prompts(&self) -> String {
        std::fs::read_to_string(self.project.home().join("prompts")).unwrap()
    }

    fn status(&self) -> String {
        self.project.run(&["status"]).stdout
    }

    fn merged(&self) -> String {
        self.repository.git(["log", "--format=%s", "main"])
    }
}

const CHOICES: &str = "  [a]pprove  [r]eject  [f]ix-and-retry  [s]kip\n  [d]iff  [e]dit  · a reason goes behind a colon, as in r: TEXT\n>";

/// RUN-10.
#[test]
fn run_10_fix_and_retry_runs_the_task_again_with_the_findings() {
    let tasks = tasks();
    let mut terminal = tasks.terminal(&["run", "--all", "--hitl-review"]);
    terminal.until("Verdict: REVIEW_FAILED");
    terminal.until(CHOICES);
    assert!(terminal.contents().contains("📋 Review: TASK-001 — Write the guide"), "{}", terminal.contents());
    assert!(terminal.contents().contains("placeholder text"), "{}", terminal.contents());
    terminal.send("d\n");
    terminal.until("+TODO: write");
    terminal.send("q");
    terminal.until(CHOICES);
    terminal.send("f\n");
    terminal.until("Verdict: REVIEW_PASSED");
    let prompts = tasks.prompts();
    let again = prompts.split("=== asked").nth(1).unwrap();
    assert!(again.contains("## Previous Errors") && again.contains("placeholder text"), "{again}");
    terminal.send("a\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    assert!(tasks.status().contains("TASK-001: success (review: passed)"), "{}", tasks.status());
    assert_eq!(tasks.repository.git(["show", "main:guide.md"]), "The guide.");
}

/// RUN-9.
#[test]
fn run_9_approve_reject_and_skip_do_what_they_say() {
    for (typed, code, status, merged) in [
        ("a\n", 0, "TASK-001: success (review: passed", true),
        ("s\n", 0, "TASK-001: success (review: skipped", true),
        ("r\n", 6, "TASK-001: failed  (review: rejected", false),
    ] {
        let tasks = tasks();
        let mut terminal = tasks.terminal(&["run", "--all", "--hitl-review"]);
        terminal.until(CHOICES);
        terminal.send(typed);
        assert_eq!(terminal.ends(), code, "{typed}: {}", terminal.contents());
        assert!(tasks.status().contains(status), "{typed}: {}", tasks.status());
        assert_eq!(tasks.merged().contains("TASK-001"), merged, "{typed}: {}", tasks.merged());
    }
}

#[test]
fn ctrl_c_at_the_gate_spends_nothing_and_the_task_waits() {
    let tasks = tasks();
    let mut terminal = tasks.terminal(&["run", "--all", "--hitl-review"]);
    terminal.until(CHOICES);
    terminal.send("\u{3}");
    let code = terminal.ends();
    assert!([3, 130].contains(&code), "{code}: {}", terminal.contents());
    assert_eq!(tasks.prompts().matches("=== asked").count(), 1);
    assert!(!tasks.merged().contains("TASK-001"));
    // Later, from where it stopped: nobody works again.
    let mut terminal = tasks.terminal(&["approve", "TASK-001", "--reason", "good enough"]);
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    let mut terminal = tasks.terminal(&["run", "--all", "--hitl-review"]);
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    assert_eq!(tasks.prompts().matches("=== asked").count(), 1);
    assert!(tasks.merged().contains("TASK-001"));
}

#[test]
fn what_somebody_edits_at_the_gate_is_never_merged_unjudged() {
    for typed in ["a\n", "f\n"] {
        let tasks = tasks();
        let mut command = tasks.project.command(&["run", "--all", "--hitl-review"]);
        command.env("USER", "ann").env("TERM", "xterm").env("NO_COLOR", "1");
        command.env("EDITOR", "sh -c 'echo by hand >\"$1\"' sh");
        let mut terminal = Terminal::start(&command, 110, 50);
        terminal.until(CHOICES);
        terminal.send("e\n");
        terminal.until("Your edits were not judged");
        terminal.send(typed);
        if typed == "f\n" {
            terminal.until("Verdict: REVIEW_PASSED");
            assert!(tasks.prompts().contains("by hand"), "the agent goes on from them: {}", tasks.prompts());
            terminal.send("a\n");
        }
        assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
        let merged = tasks.repository.git(["show", "main:guide.md"]);
        assert_eq!(merged, if typed == "f\n" { "The guide." } else { "TODO: write" });
        if typed == "a\n" {
            assert_eq!(tasks.project.read("guide.md"), "by hand\n", "and nothing is lost");
        }
    }
}

/// RUN-11.
#[test]
fn run_11_attack_a_screen_does_not_merge_unseen_what_the_settings_want_a_person_for() {
    let tasks = tasks();
    let settings = tasks.project.read("spec-runner.config.yaml");
    tasks.project.write("spec-runner.config.yaml", format!("{settings}hitl_review: true\n"));
    tasks.repository.commit("a person decides");
    let mut terminal = tasks.terminal(&["run", "--all", "--tui"]);
    assert_eq!(terminal.ends(), 3, "{}", terminal.contents());
    assert!(!tasks.merged().contains("Merge"), "{}", tasks.merged());
    assert!(tasks.status().contains("awaiting a person"), "{}", tasks.status());
}

#[test]
fn a_run_on_a_screen_is_decided_there() {
    let tasks = tasks();
    tasks.project.run(&["run", "--all", "--tui"]).exits(2);
    let mut terminal = tasks.terminal(&["run", "--all", "--tui", "--hitl-queue"]);
    terminal.until("waiting for you (1)");
    terminal.until("a run is under way");
    terminal.until("working");
    terminal.send("f");
    terminal.until("fix TASK-001 (");
    terminal.send("y");
    terminal.until("round 2: passed");
    terminal.send("a");
    terminal.until("approve TASK-001 (");
    terminal.send("y");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    eventually("everything is back", || terminal.is_restored());
    assert!(tasks.status().contains("TASK-001: success (review: passed)"), "{}", tasks.status());
}
