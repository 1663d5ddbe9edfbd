//! What `doctor` says about the hooks and servers in the settings of agent programs.

use crate::project;
use countersign_testkit::{Project, Ran, Repository, Running};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;

fn doctor(project: &Project, path: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = project.command(&["doctor", "--json"]);
    Running::start(command.env("PATH", path).envs(variables.iter().copied())).wait()
}

fn line(ran: &Ran, what: &str) -> Option<(String, String, String)> {
    let json = ran.json();
    let line = json["lines"].as_array().unwrap().iter().find(|line| line["what"] == what)?.clone();
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    Some((text("state"), text("detail"), text("hint")))
}

/// A folder in which `countersign` is a program.
fn folder(target: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(target, folder.path().join("countersign")).unwrap();
    folder
}

#[test]
fn issue_23_installed_entries_are_shown_with_the_program_that_they_call() {
    let project = project();
    Repository::at(project.root());
    project.write("a.md", "x");
    let own = folder(Path::new(env!("CARGO_BIN_EXE_countersign")));
    let path = format!("{}:/usr/bin:/bin", own.path().display());
    assert_eq!(line(&doctor(&project, &path, &[]), "hook claude"), None);
    for name in ["claude", "codex", "gemini", "opencode"] {
        project.run(&["init", "--agent", name]).exits(0);
    }
    for name in ["claude", "codex", "gemini"] {
        project.run(&["init", "--agent", name, "--hook"]).exits(0);
    }
    let ran = doctor(&project, &path, &[]).exits(0);
    for (what, words) in [
        ("hook claude", "`.claude/settings.json` calls `countersign hook claude`: "),
        ("hook codex", "`.codex/hooks.json` calls `countersign hook codex`: "),
        ("hook gemini", "`.gemini/settings.json` calls `countersign hook gemini`: "),
        ("mcp claude", "`.mcp.json` calls `countersign mcp`: "),
        ("mcp codex", "`.codex/config.toml` calls `countersign mcp`: "),
        ("mcp gemini", "`.gemini/settings.json` calls `countersign mcp`: "),
        ("mcp opencode", "`opencode.json` calls `countersign mcp`: "),
    ] {
        let (state, detail, _) = line(&ran, what).unwrap();
        assert_eq!(state, "ok", "{what}: {detail}");
        assert!(detail.starts_with(words) && detail.ends_with(", this program"), "{detail}");
    }
    // Another program of this name, and none.
    let other = folder(Path::new("/bin/true"));
    let ran = doctor(&project, &format!("{}:/usr/bin:/bin", other.path().display()), &[]).exits(0);
    let (state, detail, hint) = line(&ran, "hook claude").unwrap();
    assert!(state == "warn" && detail.contains("which is not this program ("), "{detail}");
    assert!(hint.contains("first on the PATH"), "{hint}");
    let ran = doctor(&project, "/usr/bin:/bin", &[]).exits(0);
    let (state, detail, hint) = line(&ran, "mcp gemini").unwrap();
    assert!(state == "warn" && detail.contains("there is no such program"), "{detail}");
    assert!(hint.contains("on the PATH of the agent program"), "{hint}");
}

#[test]
fn issue_23_a_key_that_does_not_reach_the_server_is_named() {
    let project = project();
    project.write("a.md", "x").write(
        "countersign.yml",
        "version: 1\nreviewers: [{name: main, use: anthropic, model: m, base_url: 'http://127.0.0.1:9/v1', key_env: MY_KEY}]\n\
         rules: [{name: r, for: ['*.md'], criteria: [{name: C, ask: 'c?'}]}]\n",
    );
    let own = folder(Path::new(env!("CARGO_BIN_EXE_countersign")));
    let path = format!("{}:/usr/bin:/bin", own.path().display());
    for name in ["claude", "codex", "gemini"] {
        project.run(&["init", "--agent", name]).exits(0);
    }
    let key = [("MY_KEY", "plain-words-key")];
    let ran = doctor(&project, &path, &key);
    assert_eq!(line(&ran, "mcp claude").unwrap().0, "ok");
    for (what, add) in
        [("mcp codex", "`env_vars = [\"MY_KEY\"]`"), ("mcp gemini", "`\"env\": {\"MY_KEY\": \"$MY_KEY\"}`")]
    {
        let (state, detail, hint) = line(&ran, what).unwrap();
        assert!(state == "warn" && detail.ends_with("`MY_KEY` does not reach it"), "{detail}");
        assert!(hint.contains("clears the environment") && hint.contains(add), "{hint}");
    }
    // As the hints say.
    let toml = project.read(".codex/config.toml");
    project.write(".codex/config.toml", format!("{toml}env_vars = [\"MY_KEY\"]\n"));
    let mut json: Value = serde_json::from_str(&project.read(".gemini/settings.json")).unwrap();
    json["mcpServers"]["countersign"]["env"] = serde_json::json!({ "MY_KEY": "$MY_KEY" });
    project.write(".gemini/settings.json", json.to_string());
    let ran = doctor(&project, &path, &key);
    assert_eq!(
        (line(&ran, "mcp codex").unwrap().0, line(&ran, "mcp gemini").unwrap().0),
        ("ok".into(), "ok".into())
    );
    // Without the key in this environment there is nothing to pass.
    project.write(".codex/config.toml", toml);
    assert_eq!(line(&doctor(&project, &path, &[]), "mcp codex").unwrap().0, "ok");
}

#[test]
fn issue_23_settings_that_cannot_be_read_are_named() {
    let project = project();
    project.write("a.md", "x").write(".mcp.json", "{\"mcpServers\": {");
    let (state, detail, hint) =
        line(&doctor(&project, "/usr/bin:/bin", &[]).exits(0), "settings claude").unwrap();
    assert!(state == "warn" && detail.contains(".mcp.json") && !hint.is_empty(), "{detail}");
}
