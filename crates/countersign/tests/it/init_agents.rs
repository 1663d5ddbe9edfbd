//! Agents are told of the server in their own files, and nothing else in those files changes.

use crate::project;
use countersign_testkit::{Project, Ran, Running};
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Each agent, the file it reads, and what a new one holds.
const FILES: [(&str, &str, &str); 4] = [
    ("claude", ".mcp.json", CLAUDE),
    (
        "codex",
        ".codex/config.toml",
        "[mcp_servers.countersign]\ncommand = \"countersign\"\nargs = [\"mcp\"]\n",
    ),
    ("gemini", ".gemini/settings.json", CLAUDE),
    ("opencode", "opencode.json", OPENCODE),
];

const CLAUDE: &str = r#"{
  "mcpServers": {
    "countersign": {
      "command": "countersign",
      "args": ["mcp"]
    }
  }
}
"#;

const OPENCODE: &str = r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "countersign": {
      "type": "local",
      "command": ["countersign", "mcp"],
      "enabled": true
    }
  }
}
"#;

const EVERY: [&str; 8] =
    ["--agent", "claude", "--agent", "codex", "--agent", "gemini", "--agent", "opencode"];

fn init(project: &Project, args: &[&str]) -> Ran {
    project.run(&[&["init"], args].concat())
}

/// The states of an answer, in its order.
fn states(answer: &Value) -> Vec<&str> {
    answer["entries"].as_array().unwrap().iter().map(|entry| entry["state"].as_str().unwrap()).collect()
}

/// Every file of a project with its bytes.
fn files(project: &Project) -> Vec<(String, Vec<u8>)> {
    fn collect(folder: &Path, out: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() && !path.is_symlink() {
                true => {
                    out.push((path.display().to_string(), vec![]));
                    collect(&path, out);
                }
                false => out.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    let mut out = vec![];
    collect(project.root(), &mut out);
    out.sort();
    out
}

#[test]
fn every_agent_gets_its_file_once_and_loses_it_again() {
    let project = project();
    project.write("a.md", "A\n");
    let before = files(&project);

    let dry = init(&project, &[&EVERY[..], &["--dry-run", "--json"]].concat()).exits(0).json();
    assert_eq!(states(&dry), ["would_write"; 4]);
    assert_eq!(files(&project), before, "nothing is written");

    let json = init(&project, &[&EVERY[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(states(&json), ["written"; 4]);
    for (i, (agent, file, content)) in FILES.into_iter().enumerate() {
        assert_eq!(project.read(file), content, "{agent}");
        let entry = &json["entries"][i];
        assert_eq!((entry["agent"].as_str(), entry["entry"].as_str()), (Some(agent), Some("mcp")));
        assert_eq!(entry["file"], project.path(file).canonicalize().unwrap().display().to_string());
        assert_eq!(entry["diff"], dry["entries"][i]["diff"], "what was shown is what was done");
        assert!(entry["diff"].as_str().unwrap().starts_with(&format!("--- /dev/null\n+++ b/{file}\n")));
    }
    assert!(!project.path("countersign.yml").exists(), "workflows need none");
    let mode = std::fs::metadata(project.path(".mcp.json")).unwrap().permissions().mode();
    let usual = std::fs::metadata(project.path("a.md")).unwrap().permissions().mode();
    assert_eq!(mode, usual, "a new file is as readable as any other");

    let written = files(&project);
    let said = init(&project, &EVERY).exits(0).stdout;
    assert_eq!(said.matches("already there: ").count(), 4, "{said}");
    assert!(said.contains("next: start `claude` here once and approve the server\n"), "{said}");
    assert_eq!(files(&project), written, "twice is once");

    let dry = init(&project, &[&EVERY[..], &["--remove", "--dry-run", "--json"]].concat()).exits(0).json();
    assert_eq!((states(&dry), files(&project)), (vec!["would_remove"; 4], written));
    let json = init(&project, &["--agent", "all", "--remove", "--json"]).exits(0).json();
    assert_eq!(states(&json), ["removed"; 4]);
    assert_eq!(files(&project), before, "files and folders that were made for it are gone");
    let json = init(&project, &["--agent", "all", "--remove", "--json"]).exits(0).json();
    assert_eq!(states(&json), ["not_there"; 4]);
}

#[test]
fn the_page_shows_what_is_written() {
    let page = include_str!("../../../../docs/agents.md");
    for (agent, file, content) in FILES {
        assert!(page.contains(&format!("\n{content}```\n")) && page.contains(file), "{agent}");
    }
}

#[test]
fn what_was_in_a_file_stays_byte_for_byte() {
    let project = project();
    project.write(
        ".mcp.json",
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"x\":{ \"command\" : \"y\"}\r\n\t},\r\n\t\"z\":1}",
    );
    project.write(".codex/config.toml", "# mine\nmodel   = 'm'\n\n[mcp_servers.x]\ncommand = \"y\" # z");
    project.write(".gemini/settings.json", "{\"mcpServers\": {}} // none yet\n");
    project
        .write("opencode.json", "{}")
        .write("opencode.jsonc", "{\n    // mine\n    \"model\": \"m\", // this one\n}\n");
    let file = project.path(".mcp.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = files(&project);

    init(&project, &EVERY).exits(0);
    let ours = "\r\n\t\t\"countersign\": {\r\n\t\t\t\"command\": \"countersign\",\r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t}";
    let claude = project.read(".mcp.json");
    assert!(
        claude.starts_with('\u{feff}') && claude.contains(&format!("\"y\"}},{ours}\r\n\t}},")),
        "{claude}"
    );
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(
        project
            .read(".codex/config.toml")
            .ends_with("# z\n\n[mcp_servers.countersign]\ncommand = \"countersign\"\nargs = [\"mcp\"]")
    );
    assert!(
        project
            .read("opencode.jsonc")
            .contains("\"m\", // this one\n    \"mcp\": {\n        \"countersign\": {\n")
    );
    assert_eq!(project.read("opencode.json"), "{}", "the file that counts more is the one");

    init(&project, &[&EVERY[..], &["--remove"]].concat()).exits(0);
    assert_eq!(files(&project), before);
}

#[test]
fn a_preview_is_a_diff_that_cannot_act_on_a_terminal() {
    let project = project();
    project.write(".mcp.json", CLAUDE).write(".gemini/settings.json", "{\n  // \u{1b}[31m\n  \"a\": 1\n}\n");
    let args = ["--agent", "claude", "--agent", "gemini", "--dry-run"];
    let already =
        format!("claude   already there: {}\n", project.path(".mcp.json").canonicalize().unwrap().display());
    let diff = r#"--- a/.gemini/settings.json
+++ b/.gemini/settings.json
@@ -1,4 +1,10 @@
 {
   // \u{1b}[31m
-  "a": 1
+  "a": 1,
+  "mcpServers": {
+    "countersign": {
+      "command": "countersign",
+      "args": ["mcp"]
+    }
+  }
 }
"#;
    assert_eq!(init(&project, &args).exits(0).stdout, already + diff);
    let json = init(&project, &[&args[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(json["entries"][1]["diff"], diff.replace("\\u{1b}", "\u{1b}"), "programs get the bytes");
}

#[test]
fn what_is_not_as_expected_is_named_and_nothing_changes() {
    let entry = |entry: &str| format!("{{\n  \"mcpServers\": {{\n    \"countersign\": {entry}\n  }}\n}}\n");
    let table = [
        ("claude", ".mcp.json", "{\n  \"a\": 1,\n}\n".to_owned(), 3, "correct the file"),
        // An empty file has no line.
        ("claude", ".mcp.json", String::new(), 0, "correct the file"),
        ("claude", ".mcp.json", "{\n  \"mcpServers\": []\n}\n".to_owned(), 2, "countersign help agents"),
        ("claude", ".mcp.json", "{} // x\n".to_owned(), 1, "correct the file"),
        ("gemini", ".gemini/settings.json", entry("{\"command\": \"other\"}"), 3, "rename it"),
        ("gemini", ".gemini/settings.json", entry("{\"httpUrl\": \"http://x\"}"), 3, "rename it"),
        (
            "gemini",
            ".gemini/settings.json",
            entry("{\"command\": \"countersign\", \"args\": [\"mcp\", \"--x\"]}"),
            3,
            "--force",
        ),
        ("codex", ".codex/config.toml", "a = 1\n[mcp_servers\n".to_owned(), 2, "correct the file"),
        ("codex", ".codex/config.toml", "\nmcp_servers = 1\n".to_owned(), 2, "countersign help agents"),
        (
            "opencode",
            "opencode.json",
            "{\n\"mcp\": {\"countersign\": {\"enabled\": true}}}".to_owned(),
            2,
            "rename it",
        ),
    ];
    for (agent, file, content, line, hint) in table {
        let project = project();
        project.write(file, &content);
        let before = files(&project);
        let json = init(&project, &[&EVERY[..], &["--json"]].concat()).exits(2).json();
        let error = &json["error"];
        let path = project.path(file).canonicalize().unwrap().display().to_string();
        assert_eq!(
            (error["file"].as_str(), error["line"].as_u64()),
            (Some(path.as_str()), (line > 0).then_some(line)),
            "{agent} {error}"
        );
        assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
        assert_eq!(files(&project), before, "not in the files of other agents either");
        let said = init(&project, &["--agent", agent]).exits(2).stderr;
        let place = if line > 0 { format!("{file}:{line}:") } else { format!("{file}: ") };
        assert!(said.contains(&place) && said.contains(hint), "{said}");
    }
}

#[test]
fn somebody_elses_entry_is_not_removed_either() {
    let project = project();
    let theirs =
        "{\"mcpServers\": {\"countersign\": {\"command\": \"/opt/countersign\", \"args\": [\"mcp\"]}}}";
    project.write(".mcp.json", theirs);
    for args in [&["--remove"][..], &["--force"], &[]] {
        init(&project, &[&["--agent", "claude"], args].concat()).exits(2);
        assert_eq!(project.read(".mcp.json"), theirs);
    }
}

#[test]
fn other_arguments_are_replaced_only_when_asked_for() {
    let project = project();
    // What people set beside the command is theirs.
    let theirs = FILES.map(|(_, file, content)| match file {
        ".codex/config.toml" => (file, format!("{content}startup_timeout_sec = 20\n")),
        _ => (file, content.replace("true", "false").replace("[\"mcp\"]", "[\"mcp\"],\n      \"env\": {}")),
    });
    theirs.iter().for_each(|(file, content)| {
        project.write(file, content);
    });
    let before = files(&project);
    let runner = [&EVERY[..], &["--external-runner", "claude"]].concat();
    init(&project, &EVERY).exits(0);
    init(&project, &runner).exits(2);
    assert_eq!(files(&project), before);
    let json = init(&project, &[&runner[..], &["--force", "--json"]].concat()).exits(0).json();
    assert_eq!(states(&json), ["written"; 4]);
    for (file, content) in theirs {
        let expected = content.replace("\"mcp\"]", "\"mcp\", \"--external-runner\", \"claude\"]");
        assert_eq!(project.read(file), expected);
    }
    init(&project, &runner).exits(0);
    init(&project, &[&EVERY[..], &["--remove"]].concat()).exits(0);
    assert!(!project.path(".codex").exists() && !project.path("opencode.json").exists());
}

#[test]
fn links_are_followed_inside_the_project_only() {
    let project = project();
    project.write("shared/servers.json", "{ }\n");
    symlink("shared/servers.json", project.path(".mcp.json")).unwrap();
    init(&project, &["--agent", "claude"]).exits(0);
    assert!(project.path(".mcp.json").is_symlink());
    assert!(project.read("shared/servers.json").contains("\"countersign\""));
    init(&project, &["--agent", "claude", "--remove"]).exits(0);
    assert_eq!(project.read("shared/servers.json"), "{ }\n");
    project.write("shared/servers.json", CLAUDE);
    init(&project, &["--agent", "claude", "--remove"]).exits(0);
    assert_eq!(project.read("shared/servers.json"), "{}\n", "a link is not left without its file");

    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), project.path(".gemini")).unwrap();
    symlink(outside.path().join("new.json"), project.path("opencode.json")).unwrap();
    std::fs::create_dir_all(project.path(".codex/config.toml")).unwrap();
    for (agent, words) in
        [("gemini", "outside the project"), ("opencode", "opencode.json"), ("codex", "not a file")]
    {
        let said = init(&project, &["--agent", agent]).exits(2).stderr;
        assert!(said.contains(words), "{agent}: {said}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    std::fs::remove_dir_all(project.path(".codex")).unwrap();
    project.write(".codex", "a file");
    assert!(init(&project, &["--agent", "codex"]).exits(2).stderr.contains("make it a readable file"));
}

#[test]
fn all_are_those_that_are_installed() {
    let project = project();
    for name in ["codex", "opencode", "countersign"] {
        project.write(&format!("bin/{name}"), "#!/bin/sh\nexit 9\n");
        let program = project.path(&format!("bin/{name}"));
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let all = |path: &str| {
        let args = ["init", "--agent", "all", "--agent", "codex", "--json"];
        Running::start(project.command(&args).env("PATH", project.path(path))).wait()
    };
    let json = all("bin").exits(0).json();
    assert_eq!(states(&json), ["written"; 2], "each once");
    assert_eq!(json["warnings"], serde_json::json!([]));
    assert!(!project.path(".mcp.json").exists() && project.path("opencode.json").exists());
    let json = all("nowhere").exits(0).json();
    assert!(json["warnings"][0].as_str().unwrap().contains("not on the PATH"), "{json}");
    let none = Running::start(project.command(&["init", "--agent", "all"]).env("PATH", "")).wait().exits(2);
    assert!(none.stderr.contains("--agent claude"), "{none:?}");
}

#[test]
fn the_root_is_where_it_is_written_and_slips_are_told() {
    let project = project();
    project.write("src/a.rs", "").write("countersign.yml", "not: valid\n");
    Running::start(project.command(&["init", "--agent", "claude"]).current_dir(project.path("src")))
        .wait()
        .exits(0);
    assert_eq!(project.read(".mcp.json"), CLAUDE);
    assert_eq!(project.read("countersign.yml"), "not: valid\n");
    for args in [
        &["--agent", "cursor"][..],
        &["--remove"],
        &["--force"],
        &["--external-runner", "claude"],
        &["--agent", "claude", "--reviewer", "self"],
        &["--agent", "claude", "--remove", "--force"],
        &["--agent", "claude", "--external-runner=-x"],
        &["--agent", "claude", "--config", "x.yml"],
    ] {
        init(&project, args).exits(2);
    }
}
