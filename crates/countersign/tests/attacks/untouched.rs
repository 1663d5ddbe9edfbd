//! Commands that judge or show leave the repository and the work as they were, byte for byte.

use countersign_testkit::{Project, Repository, Running};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

/// What is ours, and the objects of the repository.
const OWN: [&str; 3] = [".countersign", ".git/countersign", ".git/objects"];
/// Where hooks keep the commit that passed.
const REFS: &str = ".git/refs/countersign";

const CONFIG: &str = "version: 1\nreviewers: [{name: judge, use: command, command: [JUDGE]}]\n\
    rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\nreview: {trigger: session_idle}\n";
const PLAN: &str =
    "# Plan\n\n### Phase 1: Ground\n\n- [ ] **Build walls** `[in_progress]`\n  - **Scope:** all\n";
const TASKS: &str =
    "# Tasks\n\n### TASK-001: Build walls\n🔴 P0 | ⬜ TODO | Est: 1h\n\n**Checklist:**\n- [ ] Build them\n";
const JUDGE: &str = r#"#!/bin/sh
brief=$(cat)
case "$brief" in
*'"consult":"parse-review"'*) printf '{"result": "APPROVED", "issues": [], "summary": "fine", "blocking": false}'; exit;;
*BAD*) p=false;;
*) p=true;;
esac
name=$(printf '%s' "$brief" | grep -o '"criteria":\[{"name":"[^"]*"' | cut -d'"' -f6)
printf '{"passed": %s, "feedback": "f", "criteria_results": [{"criterion": "%s", "passed": %s, "feedback": "there is a BAD word"}]}' $p "$name" $p
"#;
const JOB: &str = r#"
name: guide
version: "1.0.0"
summary: Write a guide
common_job_info_provided_to_all_steps_at_runtime: Write plainly.
workflows:
  - {name: write, summary: A plan, steps: [plan]}
steps:
  - id: plan
    name: Plan
    description: Plan it
    instructions_file: plan.md
    outputs: {plan: {type: file, description: The plan, required: true}}
    reviews: [{run_each: plan, quality_criteria: {Complete: Is the plan complete?}}]
"#;

/// A project that a person trusts, with work of every kind.
fn started() -> (Project, Repository) {
    let project = Project::new(env!("CARGO_BIN_EXE_countersign")).judged_from_outside();
    let repository = Repository::at(project.root());
    let judge = project.judges().join("judge");
    fs::write(&judge, JUDGE).unwrap();
    fs::set_permissions(&judge, fs::Permissions::from_mode(0o755)).unwrap();
    let item = json!({ "id": "a", "scope": "*", "check": "c", "status": "PASS", "finding": null });
    let items = json!({ "schema_version": "1.0", "phase": "plan-code", "items": [item] });
    project
        .write("countersign.yml", CONFIG.replace("JUDGE", &judge.display().to_string()))
        .write("PLAN.md", PLAN)
        .write("spec/tasks.md", TASKS)
        .write("a.md", "one\n")
        .write("state/qr-plan-code.json", items.to_string())
        .write(".deepwork/jobs/guide/job.yml", JOB)
        .write(".deepwork/jobs/guide/plan.md", "Make a plan.\n")
        .write(".gitignore", "*.log\n");
    repository.commit("first");
    project.trust();
    repository.git(["checkout", "-q", "-b", "topic"]);
    // An index whose times are not those of the files: git would like to write it anew.
    project.write("a.md", "two BAD\n").write("new.md", "new\n").write("x.log", "ignored\n");
    repository.git(["add", "--intent-to-add", "new.md"]);
    project.write("PLAN.md", PLAN);
    (project, repository)
}

/// Mode, time and contents of everything but what is ours, and the same of our refs.
fn everything(root: &Path) -> [BTreeMap<String, String>; 2] {
    let mut all = [BTreeMap::new(), BTreeMap::new()];
    add(root, root, &mut all);
    all
}

fn add(root: &Path, path: &Path, all: &mut [BTreeMap<String, String>; 2]) {
    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    if OWN.contains(&name.as_str()) {
        return;
    }
    let found = fs::symlink_metadata(path).unwrap();
    let bytes = if found.is_file() { fs::read(path).unwrap() } else { vec![] };
    let digest = countersign_core::digest::Digest::of(&bytes);
    let line = format!("{:o} {}.{} {digest}", found.mode(), found.mtime(), found.mtime_nsec());
    all[usize::from(name.starts_with(REFS))].insert(name, line);
    if found.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| add(root, &entry.unwrap().path(), all));
    }
}

/// What differs, but these files that it is for.
fn touched(project: &Project, before: &[BTreeMap<String, String>; 2], its: &[&str]) -> Vec<String> {
    let after = everything(project.root());
    let names = before.iter().chain(&after).flat_map(BTreeMap::keys);
    let differs = |name: &&String| (0..2).any(|part| before[part].get(*name) != after[part].get(*name));
    let mut found: Vec<String> = names.filter(differs).cloned().collect();
    found.sort();
    found.dedup();
    found.retain(|name| !its.contains(&name.as_str()));
    found
}

fn hook(project: &Project) -> String {
    let root = project.root().canonicalize().unwrap();
    let input = json!({
        "session_id": "s-1", "transcript_path": null, "cwd": root, "hook_event_name": "Stop",
        "stop_hook_active": false, "last_assistant_message": "I am done.",
    });
    Running::fed(&mut project.command(&["hook", "claude"]), input.to_string().as_bytes()).wait().stdout
}

#[test]
fn issue_18_commands_that_judge_or_show_touch_nothing_of_the_users() {
    let (project, _repository) = started();
    let qr = ["--state-dir", "state", "--phase", "plan-code"];
    let state = ["state/qr-plan-code.json", "state"];
    // The commands, and the files that they are for.
    let rows: Vec<(Vec<&str>, &[&str])> = vec![
        (vec!["review"], &[]),
        (vec!["review", "--dry-run"], &[]),
        (vec!["review", "--change"], &[]),
        (vec!["review", "--change", "--gate"], &[]),
        (vec!["review", "--change", "--gate", "--json"], &[]),
        (vec!["task", "list"], &[]),
        (vec!["task", "show", "1.1"], &[]),
        (vec!["task", "review", "1.1"], &["PLAN.md", ""]),
        (vec!["task", "done", "1.1"], &["PLAN.md", ""]),
        ([&["qr", "gate"], &qr[..]].concat(), &[]),
        ([&["qr", "status"], &qr[..]].concat(), &[]),
        ([&["qr", "verify", "--artifact", "a.md"], &qr[..]].concat(), &state),
        (vec!["status"], &[]),
        (vec!["show"], &[]),
        (vec!["log"], &[]),
        (vec!["log", "--verify"], &[]),
        (vec!["costs"], &[]),
        (vec!["config"], &[]),
        (vec!["doctor"], &[]),
        (vec!["trust", "--show"], &[]),
        (vec!["validate"], &[]),
        (vec!["init", "--dry-run"], &[]),
        (vec!["run", "--dry-run"], &[]),
    ];
    let mut wrong = vec![];
    for (args, its) in rows {
        let before = everything(project.root());
        let ran = project.run(&args);
        let found = touched(&project, &before, its);
        // A command that was not understood shows nothing.
        if !found.is_empty() || ran.code == 2 || ran.stderr.contains("panicked") {
            wrong.push(format!("{args:?} (exit code {}) touched {found:?}\n{}", ran.code, ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn issue_18_hooks_touch_nothing_but_the_ref_of_what_passed() {
    let (project, repository) = started();
    let mut held = vec![];
    for text in ["two BAD\n", "three BAD\n", "four\n", "four\n"] {
        project.write("a.md", text);
        let before = everything(project.root());
        held.push(hook(&project).contains(r#""decision":"block""#));
        let found = touched(&project, &before, &[".git/refs"]);
        // A pass is where the next stop begins.
        let is_new = text == "four\n" && held.len() == 3;
        assert!(found.iter().all(|name| name.starts_with(REFS)), "{found:?}");
        assert_eq!(found.is_empty(), !is_new, "{text}: {found:?}");
    }
    assert_eq!(held, [true, true, false, false]);
    assert!(repository.git(["for-each-ref", "refs/countersign/passed"]).contains("refs/countersign/passed/"));
}

/// The answer to a request.
fn ask(child: &mut Child, out: &mut impl BufRead, id: u32, method: &str, params: &Value) -> Value {
    let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
    loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "no answer to {method}");
        let answer: Value = serde_json::from_str(&line).unwrap();
        if answer["id"] == id {
            return answer["result"].clone();
        }
    }
}

fn started_process(project: &Project, args: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut command = project.command(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

#[test]
fn issue_18_servers_and_watchers_touch_nothing_of_the_users() {
    let (project, _repository) = started();
    let before = everything(project.root());
    let runner = format!("command:{}", project.judges().join("judge").display());
    let (mut child, mut out) = started_process(&project, &["mcp", "--external-runner", &runner]);
    let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    ask(&mut child, &mut out, 1, "initialize", &client);
    let mut call = |id, name: &str, arguments: Value| {
        ask(&mut child, &mut out, id, "tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    let start = json!({ "goal": "g", "job_name": "guide", "workflow_name": "write" });
    let session = call(2, "start_workflow", start)["structuredContent"]["begin_step"]["session_id"].clone();
    assert!(session.is_string());
    let done = call(3, "finished_step", json!({ "session_id": session, "outputs": { "plan": "PLAN.md" } }));
    assert!(done["structuredContent"]["status"].is_string(), "{done}");
    let submitted = call(4, "review_submit", json!({}));
    let review = submitted["structuredContent"]["review"].clone();
    call(5, "review_wait", json!({ "review": review }));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(touched(&project, &before, &[]), Vec::<String>::new(), "mcp");
    let (mut child, mut out) = started_process(&project, &["watch", "--after", "0"]);
    assert!(out.read_line(&mut String::new()).unwrap() > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(touched(&project, &before, &[]), Vec::<String>::new(), "watch");
}
