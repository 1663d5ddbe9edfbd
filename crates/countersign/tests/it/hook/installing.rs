//! `init --agent … --hook`: settings written, shown and taken out, touching nothing else.

use super::{Bench, goes, held};
use countersign_testkit::{Project, Running};
use serde_json::{Value, json};

const FILES: [(&str, &str, &str, u64); 3] = [
    ("claude", ".claude/settings.json", "Stop", 3600),
    ("codex", ".codex/hooks.json", "Stop", 3600),
    ("gemini", ".gemini/settings.json", "AfterAgent", 3_600_000),
];

#[test]
fn a_hook_is_written_once_and_taken_out_again() {
    let bench = Bench::new("");
    let project = &bench.project;
    for (agent, file, event, timeout) in FILES {
        let dry = project.run(&["init", "--agent", agent, "--hook", "--dry-run"]).exits(0);
        assert!(dry.stdout.contains(&format!("countersign hook {agent}")), "{}", dry.stdout);
        assert!(!project.path(file).exists());
        let ran = project.run(&["init", "--agent", agent, "--hook", "--json"]).exits(0).json();
        assert_eq!(ran["entries"][0]["entry"], "hook");
        assert_eq!(ran["entries"][0]["state"], "written");
        let written: Value = serde_json::from_str(&project.read(file)).unwrap();
        let command = format!("countersign hook {agent}");
        let group = json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] });
        assert_eq!(written, json!({ "hooks": { event: [group] } }));
        let again = project.run(&["init", "--agent", agent, "--hook", "--json"]).exits(0).json();
        assert_eq!(again["entries"][0]["state"], "already_there");
        // The server is another entry, which stays.
        project.run(&["init", "--agent", agent]).exits(0);
        project.run(&["init", "--agent", agent, "--hook", "--remove"]).exits(0);
        project.run(&["init", "--agent", agent, "--remove"]).exits(0);
        assert!(!project.path(file).exists(), "{agent}");
    }
    let settings =
        "{\n\t\"permissions\": {\"allow\": []},\r\n\t\"hooks\": {\"Stop\": [\n\t\t{\"hooks\": []}\n\t]}\n}";
    project.write(".claude/settings.json", settings);
    project.run(&["init", "--agent", "claude", "--hook"]).exits(0);
    assert!(project.read(".claude/settings.json").contains("{\"hooks\": []},\n\t\t{\"hooks\": [{"));
    project.run(&["init", "--agent", "claude", "--hook", "--remove"]).exits(0);
    assert_eq!(project.read(".claude/settings.json"), settings);
}

#[test]
fn what_cannot_be_is_said_and_nothing_is_written() {
    let bench = Bench::new("review: {trigger: explicit}\n");
    let project = &bench.project;
    let ran = project.run(&["init", "--agent", "opencode", "--hook"]).exits(2);
    assert!(ran.stderr.contains("opencode has no hook"), "{}", ran.stderr);
    project.write(".claude/settings.json", "{\"hooks\": {\"Stop\": {}}}");
    let ran = project.run(&["init", "--agent", "gemini", "--agent", "claude", "--hook"]).exits(2);
    assert!(ran.stderr.contains("`Stop` is not a list"), "{}", ran.stderr);
    assert!(!project.path(".gemini").exists());
    project.run(&["init", "--hook"]).exits(2);
    // A hook that would review nothing says what to write.
    let ran = project.run(&["init", "--agent", "gemini", "--hook"]).exits(0);
    assert!(ran.stderr.contains("review: {trigger: session_idle}"), "{}", ran.stderr);
    let removed = project.run(&["init", "--agent", "all", "--hook", "--remove"]);
    assert_eq!(removed.code, 2, "claude's file is still wrong: {removed:?}");
}

/// An agent may commit before the hook is called for the first time.
#[test]
fn work_begins_where_the_hook_was_installed() {
    let bench = Bench::new("");
    bench.project.type_in(&["init", "--agent", "claude", "--hook"]);
    bench.project.write("a.md", "BAD\n");
    bench.repository.commit("by the agent, on the default branch");
    held(&bench.stops(false));
    // Installing again does not make it pass.
    bench.project.type_in(&["init", "--agent", "claude", "--hook"]);
    bench.project.write("a.md", "good\n");
    // Who installed it has seen its settings.
    goes(&bench.stops(true));
    goes(&bench.stops(false));
    // An agent that installs it has not, nor a program without a terminal.
    let mut command = bench.project.command(&["init", "--agent", "gemini", "--hook"]);
    Running::start(command.env("CLAUDECODE", "1")).wait().exits(0);
    assert!(super::told(&bench.stops(false)).contains(".gemini/settings.json"));
}

#[test]
fn issue_19_a_folder_without_git_gets_no_hook() {
    let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
    std::fs::remove_dir(project.path(".git")).unwrap();
    for more in [&[][..], &["--reviewer", "claude"], &["--dry-run"]] {
        let ran = project.run(&[&["init", "--agent", "claude", "--hook"], more].concat()).exits(2);
        assert!(ran.stderr.contains("is not in a git repository"), "{}", ran.stderr);
        assert_eq!(std::fs::read_dir(project.root()).unwrap().count(), 0, "nothing is written");
    }
    project.run(&["init", "--agent", "claude", "--hook", "--remove"]).exits(0);
}
