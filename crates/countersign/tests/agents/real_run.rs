//! Task runs with the real programs: tasks done by `claude` through its tools and judged by it, and a task each done
//! by the others.

use crate::bench::Bench;
use crate::real_codex::{CODEX, settings_for};
use crate::real_gemini::GEMINI;
use crate::real_opencode::OPENCODE;
use countersign_testkit::{
    Act, Asked, Chat, Dialect, Gemini, Judge, Messages, Project, Ran, Repository, Responses, Running,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const TASKS: &str = "\
# Tasks

### TASK-001: Write a page
🔴 P0 | ⬜ TODO

**Checklist:**
- [ ] the page is there

### TASK-002: Mend the page
🟠 P1 | ⬜ TODO
**Depends on:** [TASK-001]

### TASK-003: List the pages
🟡 P2 | ⬜ TODO
**Depends on:** [TASK-002]
";

/// A project with tasks for a program, under git.
fn tasks<D: Dialect>(bench: &Bench<D>, list: &str, command: &str) -> Repository {
    bench
        .project
        .write("spec/tasks.md", list)
        .write(".gitignore", ".tmp\n.asked*\n")
        .write("test.sh", "test -s page.md && ! grep -q wrong page.md\n")
        .write(
            "spec-runner.config.yaml",
            format!("claude_command: {command}\nretry_delay_seconds: 0\ncommands: {{test: sh test.sh}}\n"),
        )
        .write(
            "countersign.yml",
            "version: 1\nrules: [{name: all, for: ['**'], criteria: [{name: Complete, ask: Is it complete?}]}]\n",
        );
    let repository = Repository::at(bench.project.root());
    repository.commit("begin");
    bench.trust();
    repository
}

fn run<D: Dialect>(bench: &Bench<D>, words: &[&str]) -> Ran {
    Running::start(&mut bench.command(words)).wait()
}

/// The real path of a file of the project.
fn at(project: &Project, file: &str) -> String {
    let root: PathBuf = project.root().canonicalize().unwrap();
    root.join(file).display().to_string()
}

/// What the model does: works on each task through tools, first wrongly on the first, and judges.
fn model(page: String) -> impl FnMut(&Asked) -> Act + Send + 'static {
    move |asked: &Asked| {
        let is = |words: &str| asked.text.contains(words);
        if !is("Do this task in the project in the current folder") {
            return Act::ruling("Complete", !is("+half"), "the page says half of it");
        }
        let done = asked.text.matches("\"tool_result\"").count();
        let complete = Act::Say { text: "It is done.\n\nTASK_COMPLETE", stop: "end_turn" };
        let tool = |tool, input: Value| Act::Use { tool, input };
        let write = |content: &str| tool("Write", json!({ "file_path": page, "content": content }));
        let read = || tool("Read", json!({ "file_path": page }));
        match (is("# TASK-001"), is("# TASK-002"), done) {
            (true, _, 0) if is("the page says half of it") => read(),
            (true, _, 1) if is("the page says half of it") => write("whole, tipo\n"),
            (true, _, 0) => write("half\n"),
            (_, true, 0) => read(),
            (_, true, 1) => {
                let (old, new) = ("tipo", "no typo");
                tool("Edit", json!({ "file_path": page, "old_string": old, "new_string": new }))
            }
            (false, false, 0) => {
                tool("Bash", json!({ "command": "ls *.md >pages.txt", "description": "list" }))
            }
            _ => complete,
        }
    }
}

/// RUN-8.
#[test]
fn run_8_three_tasks_done_and_judged_by_claude() {
    let mut bench = Bench::new(Messages::always(Act::Hang));
    bench.service = Messages::minded(model(at(&bench.project, "page.md")));
    let repository = tasks(&bench, TASKS, "claude --setting-sources= --strict-mcp-config");
    let ran = run(&bench, &["run", "--all", "--reviewer", "claude"]).exits(0);
    assert_eq!(bench.project.read("page.md"), "whole, no typo\n", "{ran:?}");
    assert_eq!(bench.project.read("pages.txt"), "a.md\npage.md\n");
    let subjects = repository.git(["log", "--first-parent", "--format=%s", "main"]);
    let merged =
        ["Merge TASK-003: List the pages", "Merge TASK-002: Mend the page", "Merge TASK-001: Write a page"];
    assert_eq!(subjects.lines().collect::<Vec<_>>(), [&merged[..], &["begin"]].concat());
    let trailer =
        repository.git(["log", "-1", "--format=%(trailers:key=Countersign-Review,valueonly)", "main"]);
    assert!(trailer.trim().starts_with("rv-"), "{trailer}");
    assert_eq!(repository.git(["for-each-ref", "--format=%(refname)", "refs/heads"]), "refs/heads/main");
    let status = run(&bench, &["status"]).exits(0).stdout;
    let lines = ["TASK-001: success (review: passed)", "TASK-002: success (review: passed)"];
    assert!(lines.iter().all(|line| status.contains(line)), "{status}");
    let json = run(&bench, &["status", "--json"]).exits(0).json();
    assert_eq!(json["tasks"][0]["attempts"], 2, "{json}");
    assert!(json["tasks"][0]["cost_usd"].as_f64().unwrap() > 0.0, "{json}");
    assert_eq!(
        bench.project.read("spec/tasks.md"),
        TASKS.replace("⬜ TODO", "✅ DONE").replace("[ ]", "[x]")
    );
    // People can read along what it did.
    let output = run(&bench, &["output", "TASK-002"]).exits(0).stdout;
    assert!(output.contains("→ Edit") && output.contains("TASK_COMPLETE"), "{output}");
    bench.assert_nothing_runs();
}

const ONE: &str = "### TASK-001: Write a page\n🔴 P0 | ⬜ TODO\n";

/// One task by a program whose model uses one tool, judged by a script.
fn works<D: Dialect>(bench: &Bench<D>, command: &str) {
    let judge = Judge::by_word(&bench.project, "Complete");
    let repository = tasks(bench, ONE, command);
    let ran = run(bench, &["run", "--all", "--max-retries", "1", "--reviewer", judge.name()]);
    let output = run(bench, &["output", "TASK-001"]).stdout;
    assert_eq!(ran.code, 0, "{ran:?}\n{output}");
    assert_eq!(bench.project.read("page.md"), "a page\n");
    let subjects = repository.git(["log", "--first-parent", "--format=%s", "main"]);
    assert_eq!(subjects, "Merge TASK-001: Write a page\nbegin");
    assert!(output.contains("TASK_COMPLETE"), "{output}");
    bench.assert_nothing_runs();
}

/// A model that uses one tool and says that it is done.
fn uses(tool: &'static str, input: Value) -> impl FnMut(&Asked) -> Act + Send + 'static {
    let mut used = false;
    move |asked: &Asked| {
        // Some ask a question without tools first, for a title.
        let has_tools = asked.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if !has_tools || std::mem::replace(&mut used, true) {
            return Act::Say { text: "It is done.\n\nTASK_COMPLETE", stop: "end_turn" };
        }
        Act::Use { tool, input: input.clone() }
    }
}

/// A file in the home of the user.
fn home(project: &Project, file: &str, content: &str) {
    let file = project.home().join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

/// RUN-8.
#[test]
fn run_8_a_task_done_by_codex() {
    let mut bench = Bench::of(CODEX, Responses::always(Act::Hang));
    bench.service = Responses::minded(uses("exec_command", json!({ "cmd": "echo 'a page' >page.md" })));
    let url = bench.service.url();
    home(&bench.project, ".codex/config.toml", &settings_for(&url));
    works(&bench, "codex");
}

/// RUN-8.
#[test]
fn run_8_a_task_done_by_gemini() {
    let mut bench = Bench::of(GEMINI, Gemini::always(Act::Hang));
    let input = json!({ "file_path": at(&bench.project, "page.md"), "content": "a page\n" });
    bench.service = Gemini::minded(uses("write_file", input));
    let sign_in = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    home(&bench.project, ".gemini/settings.json", &sign_in.to_string());
    works(&bench, "gemini -m gemini-test");
}

/// RUN-8.
#[test]
fn run_8_a_task_done_by_opencode() {
    let mut bench = Bench::of(OPENCODE, Chat::always(Act::Hang));
    let input = json!({ "command": "echo 'a page' >page.md", "description": "Write the page" });
    bench.service = Chat::minded(uses("bash", input));
    let options = json!({ "baseURL": format!("{}/v1", bench.service.url()), "apiKey": "{env:CHAT_KEY}" });
    let provider =
        json!({ "npm": "@ai-sdk/openai-compatible", "options": options, "models": { "gpt-test": {} } });
    let settings = json!({ "provider": { "loopback": provider }, "autoupdate": false, "lsp": false });
    home(&bench.project, ".config/opencode/opencode.json", &settings.to_string());
    works(&bench, "opencode run -m loopback/gpt-test");
}
