//! How each program is set up to work without a person.

use crate::bench::{self, Driven};
use crate::{real_codex, real_gemini, real_opencode};
use countersign_testkit::Project;
use serde_json::{Value, json};
use std::process::Command;

/// A program that works.
pub struct Agent {
    /// The program.
    pub driven: Driven,
    /// What our tools are called there, in our order.
    pub tools: [&'static str; 5],
    /// The tool by which its model gets at tools of which it first sees only the names.
    pub search: Option<&'static str>,
    /// What its user has settled, beside what `init` writes: the service at this address, and what may be done
    /// unasked.
    pub settings: fn(&Project, &str),
    /// How it is asked to do something.
    pub call: fn(&mut Command, &str),
}

pub const CLAUDE: Agent = Agent {
    driven: bench::CLAUDE,
    tools: [
        "mcp__countersign__get_workflows",
        "mcp__countersign__start_workflow",
        "mcp__countersign__finished_step",
        "mcp__countersign__abort_workflow",
        "mcp__countersign__go_to_step",
    ],
    search: Some("ToolSearch"),
    settings: |_, _| {},
    call: |command, prompt| {
        command.args(["-p", prompt, "--allowedTools", "mcp__countersign"]);
    },
};

pub const CODEX: Agent = Agent {
    driven: real_codex::CODEX,
    // In a namespace, which is `mcp__countersign`.
    tools: ["get_workflows", "start_workflow", "finished_step", "abort_workflow", "go_to_step"],
    search: None,
    settings: |project, url| {
        let root = project.root().canonicalize().unwrap();
        let settings =
            real_codex::settings_for(url) + &format!("[projects.{root:?}]\ntrust_level = 'trusted'\n");
        home(project, ".codex/config.toml", &settings);
    },
    call: |command, prompt| {
        command.args(["exec", "--skip-git-repo-check"]);
        command.args(["-c", "mcp_servers.countersign.default_tools_approval_mode='approve'"]);
        command.args(["-c", "mcp_servers.countersign.required=true", prompt]);
    },
};

pub const GEMINI: Agent = Agent {
    driven: real_gemini::GEMINI,
    tools: [
        "mcp_countersign_get_workflows",
        "mcp_countersign_start_workflow",
        "mcp_countersign_finished_step",
        "mcp_countersign_abort_workflow",
        "mcp_countersign_go_to_step",
    ],
    search: None,
    settings: |project, _| {
        let mut wired: Value = serde_json::from_str(&project.read(".gemini/settings.json")).unwrap();
        wired["mcpServers"]["countersign"]["trust"] = json!(true);
        project.write(".gemini/settings.json", wired.to_string());
        let sign_in = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
        home(project, ".gemini/settings.json", &sign_in.to_string());
    },
    call: |command, prompt| {
        command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").args(["-m", "gemini-test", "-p", prompt]);
    },
};

pub const OPENCODE: Agent = Agent {
    driven: real_opencode::OPENCODE,
    tools: [
        "countersign_get_workflows",
        "countersign_start_workflow",
        "countersign_finished_step",
        "countersign_abort_workflow",
        "countersign_go_to_step",
    ],
    search: None,
    settings: |project, url| {
        let options = json!({ "baseURL": format!("{url}/v1"), "apiKey": "{env:CHAT_KEY}" });
        let models = json!({ "gpt-test": {} });
        let provider = json!({ "npm": "@ai-sdk/openai-compatible", "options": options, "models": models });
        let settings = json!({ "provider": { "loopback": provider }, "autoupdate": false, "lsp": false });
        home(project, ".config/opencode/opencode.json", &settings.to_string());
    },
    call: |command, prompt| {
        command.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
        command.args(["run", "-m", "loopback/gpt-test", prompt]);
    },
};

/// A file in the home of the user.
fn home(project: &Project, file: &str, content: &str) {
    let file = project.home().join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}
