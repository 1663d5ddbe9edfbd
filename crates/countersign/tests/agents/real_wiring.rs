//! What `init --agent` writes is what the real programs read: each lists the server, and starts it where listing
//! does that.

use crate::bench::agents;
use countersign_testkit::{Project, Ran, Running};
use std::os::unix::fs::PermissionsExt;

/// A project whose `countersign` on the PATH only notes how it was started.
struct Wired {
    project: Project,
    agent: &'static str,
}

impl Wired {
    /// A project in which an agent is told of the server, beside what its file holds already.
    fn new(agent: &'static str, file: Option<(&str, &str)>) -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
        let started = project.home().join("started");
        project.write("bin/countersign", format!("#!/bin/sh\necho \"$PWD $*\" >> '{}'\n", started.display()));
        let program = project.path("bin/countersign");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        if let Some((file, content)) = file {
            project.write(file, content);
        }
        project.run(&["init", "--agent", agent, "--external-runner", "claude"]).exits(0);
        Self { project, agent }
    }

    /// What the agent says when it is asked for its servers.
    fn list(&self, more: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = std::process::Command::new(agents().join("bin").join(self.agent));
        let path = format!(
            "{}:{}:/usr/bin:/bin",
            self.project.path("bin").display(),
            agents().join("bin").display()
        );
        command.args(["mcp", "list"]).args(more).current_dir(self.project.root()).env_clear();
        command.env("PATH", path).env("HOME", self.project.home()).env("TMPDIR", self.project.home());
        Running::start(command.envs(variables.iter().copied())).wait()
    }

    /// How the server was started, each time.
    fn started(&self) -> String {
        std::fs::read_to_string(self.project.home().join("started")).unwrap_or_default()
    }

    /// How it should be: in the project, with these arguments.
    fn expected(&self) -> String {
        format!("{} mcp --external-runner claude\n", self.project.root().canonicalize().unwrap().display())
    }

    fn home(&self, file: &str, content: &str) {
        let file = self.project.home().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
}

#[test]
fn claude_lists_the_server_and_starts_it_once_it_is_approved() {
    let wired = Wired::new("claude", Some((".mcp.json", "{\"mcpServers\": {}}")));
    let line = "countersign: countersign mcp --external-runner claude - ";
    let listed = wired.list(&[], &[]).exits(0).stdout;
    assert!(listed.contains(&format!("{line}⏸ Pending approval")), "{listed}");
    assert_eq!(wired.started(), "");
    wired.home(".claude/settings.json", "{\"enabledMcpjsonServers\": [\"countersign\"]}");
    let listed = wired.list(&[], &[]).stdout;
    assert!(listed.contains(line) && !listed.contains("Pending"), "{listed}");
    assert!(wired.started().starts_with(&wired.expected()), "{}", wired.started());
}

#[test]
fn codex_lists_the_server_of_a_trusted_project() {
    let wired =
        Wired::new("codex", Some((".codex/config.toml", "# mine\r\n[mcp_servers.x]\r\ncommand = \"y\"")));
    let home = wired.project.home().join("codex").display().to_string();
    let list = || wired.list(&["--json"], &[("CODEX_HOME", &home)]).exits(0).json();
    wired.home("codex/config.toml", "");
    assert_eq!(list(), serde_json::json!([]), "not before it is trusted");
    let root = wired.project.root().canonicalize().unwrap();
    wired.home("codex/config.toml", &format!("[projects.{root:?}]\ntrust_level = \"trusted\"\n"));
    let listed = list();
    let ours = listed.as_array().unwrap().iter().find(|server| server["name"] == "countersign").unwrap();
    assert_eq!((listed.as_array().unwrap().len(), ours["enabled"].as_bool()), (2, Some(true)), "{listed}");
    assert_eq!(ours["transport"]["command"], "countersign");
    assert_eq!(ours["transport"]["args"], serde_json::json!(["mcp", "--external-runner", "claude"]));
}

#[test]
fn gemini_lists_and_starts_the_server_in_a_trusted_folder() {
    let wired =
        Wired::new("gemini", Some((".gemini/settings.json", "{\n  // mine\n  \"ui\": {} // none\n}")));
    let listed = wired.list(&[], &[("GEMINI_CLI_TRUST_WORKSPACE", "true")]).exits(0);
    let said = listed.stdout + &listed.stderr;
    assert!(said.contains("countersign: countersign mcp --external-runner claude (stdio)"), "{said}");
    assert!(wired.started().starts_with(&wired.expected()), "{}", wired.started());
}

#[test]
fn opencode_lists_and_starts_the_server_and_leaves_our_file_alone() {
    let wired = Wired::new("opencode", None);
    let written = wired.project.read("opencode.json");
    let listed = wired.list(&[], &[]).exits(0);
    let said = listed.stdout + &listed.stderr;
    assert!(said.contains("countersign mcp --external-runner claude"), "{said}");
    assert!(wired.started().starts_with(&wired.expected()), "{}", wired.started());
    assert_eq!(wired.project.read("opencode.json"), written, "it adds its schema where that is missing");
    wired.project.run(&["init", "--agent", "opencode", "--remove"]).exits(0);
    assert!(!wired.project.path("opencode.json").exists());
}
