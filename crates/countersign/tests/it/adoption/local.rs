//! From nothing to a verdict: a model on this machine behind a server that does not stream, and a key alone.

use crate::project;
use countersign_testkit::{Repository, Running};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that answers every question at once, as plain JSON; documents with the word BAD fail.
fn plain_server(wrap: fn(Value) -> Value) -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, asked) = (format!("http://{}/v1", listener.local_addr().unwrap()), Arc::new(Mutex::new(0)));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            *count.lock().unwrap() += 1;
            let body = question(&mut connection);
            let text = wrap(answer(&body)).to_string().replace("passed_twice", "passed");
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\nconnection: close";
            let _ = write!(connection, "{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len());
        }
    });
    (url, asked)
}

fn question(connection: &mut TcpStream) -> Value {
    let (mut read, mut buffer) = (vec![], [0; 8 * 1024]);
    loop {
        let n = connection.read(&mut buffer).unwrap();
        read.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if n == 0 || body.len() >= length.unwrap().trim().parse().unwrap() {
            return serde_json::from_str(body).unwrap();
        }
    }
}

fn answer(body: &Value) -> Value {
    let schema = &body["response_format"]["json_schema"]["schema"];
    let schema = if schema.is_null() { &body["tools"][0]["input_schema"] } else { schema };
    let names = schema["properties"]["criteria_results"]["items"]["properties"]["criterion"]["enum"].clone();
    let passed = !body["messages"].to_string().contains("BAD");
    let ruling =
        |name: &Value| json!({ "criterion": name, "passed": passed, "feedback": "x", "findings": [] });
    let rulings: Vec<Value> = names.as_array().unwrap().iter().map(ruling).collect();
    json!({ "passed": passed, "feedback": "f", "criteria_results": rulings })
}

fn chat(answer: Value) -> Value {
    json!({
        "id": "c", "object": "chat.completion", "model": "tiny",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": answer.to_string() } }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    })
}

fn messages(answer: Value) -> Value {
    json!({
        "id": "m", "type": "message", "role": "assistant", "model": "tiny", "stop_reason": "tool_use",
        "content": [{ "type": "tool_use", "id": "t", "name": "rulings", "input": answer }],
        "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
}

fn cut(answer: Value) -> Value {
    let mut whole = chat(answer);
    whole["choices"][0]["finish_reason"] = json!("length");
    whole
}

fn unfinished(answer: Value) -> Value {
    let mut whole = chat(answer);
    whole["choices"][0].as_object_mut().unwrap().remove("finish_reason");
    whole
}

fn refused(_: Value) -> Value {
    json!({ "error": { "message": "the model is loading", "code": "server_error" } })
}

#[test]
fn issue_20_thirty_documents_and_a_local_model_take_two_commands() {
    let (url, asked) = plain_server(chat);
    let project = project();
    for n in 0..30 {
        project.write(&format!("docs/page-{n}.md"), format!("# Page {n}\n\nA sentence.\n"));
    }
    project.run(&["init", "--yes", "--reviewer", &format!("openai:tiny@{url}")]).exits(0);
    let json = project.run(&["review", "--json"]).exits(0).json();
    assert_eq!((json["outcome"].as_str(), json["cost"]["tokens_in"].as_u64()), (Some("passed"), Some(300)));
    assert_eq!(*asked.lock().unwrap(), 30);
    project.write("docs/page-7.md", "# Page 7\n\nBAD\n");
    let json = project.run(&["review", "--json"]).exits(1).json();
    assert_eq!(json["findings"][0]["file"], "docs/page-7.md");
    assert_eq!(*asked.lock().unwrap(), 31);
}

#[test]
fn issue_20_one_command_holds_an_agent_until_its_work_passes() {
    let (url, asked) = plain_server(chat);
    let project = project();
    let repository = Repository::at(project.root());
    project.write("README.md", "# A\n\nA sentence.\n");
    repository.commit("first");
    let reviewer = format!("openai:tiny@{url}");
    project.type_in(&["init", "--agent", "claude", "--hook", "--reviewer", &reviewer]);
    repository.commit("set up");
    let stop = |session: &str| {
        let input = json!({
            "session_id": session, "transcript_path": null, "cwd": project.root(), "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": "I am done.",
        });
        let mut command = project.command(&["hook", "claude"]);
        Running::fed(&mut command, input.to_string().as_bytes()).wait().exits(0).stdout
    };
    assert!(!stop("s-1").contains("\"block\""));
    project.write("README.md", "# A\n\nBAD\n");
    assert!(stop("s-1").contains("\"decision\":\"block\""));
    project.write("README.md", "# A\n\nAnother sentence.\n");
    assert!(!stop("s-1").contains("\"block\""));
    assert_eq!(*asked.lock().unwrap(), 2);
}

#[test]
fn issue_20_a_reviewer_is_named_by_its_model_and_address() {
    for (name, wrap) in [("openai", chat as fn(Value) -> Value), ("anthropic", messages)] {
        let (url, asked) = plain_server(wrap);
        let project = project();
        project.write("a.md", "text\n");
        let reviewer = format!("{name}:tiny@{url}");
        let args = ["review", "a.md", "--criterion", "Complete=Is it?", "--reviewer", &reviewer, "--json"];
        let json = project.run(&args).exits(0).json();
        assert_eq!(json["assignments"][0]["ruled_by"], reviewer);
        project.write("a.md", "BAD\n");
        project.run(&args).exits(1);
        assert_eq!(*asked.lock().unwrap(), 2);
    }
    let project = project();
    project.write("a.md", "text\n");
    for (reviewer, words) in [
        ("openai:", "names no model"),
        ("openai:m@http://user:word@127.0.0.1/v1", "more than a host and a path"),
        ("openai:m@http://127.0.0.1/v1?key=x", "more than a host and a path"),
        ("opnai:m", "opnai:m"),
    ] {
        let args = ["review", "a.md", "--criterion", "Complete=Is it?", "--reviewer", reviewer];
        let ran = project.run(&args).exits(2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

fn doubled(mut answer: Value) -> Value {
    answer["passed_twice"] = json!(true);
    messages(answer)
}

#[test]
fn issue_20_a_double_key_in_a_reply_that_comes_at_once_is_no_reply() {
    let (url, _) = plain_server(doubled);
    let project = project();
    project.write("a.md", "text\n");
    let reviewer = format!("anthropic:tiny@{url}");
    project.run(&["review", "a.md", "--criterion", "Complete=Is it?", "--reviewer", &reviewer]).exits(4);
}

#[test]
fn issue_20_half_a_reply_that_comes_at_once_is_none() {
    for wrap in [cut as fn(Value) -> Value, unfinished, refused, |_| json!([]), |_| json!({})] {
        let (url, _) = plain_server(wrap);
        let project = project();
        project.write("a.md", "text\n");
        let reviewer = format!("openai:tiny@{url}");
        project.run(&["review", "a.md", "--criterion", "Complete=Is it?", "--reviewer", &reviewer]).exits(4);
    }
}

#[test]
fn issue_20_a_key_alone_is_enough_to_begin_with() {
    for (name, line) in [("anthropic", "use: anthropic"), ("openai", "use: openai")] {
        let project = project();
        project.write("a.md", "# A\n\ntext\n");
        project.run(&["init", "--yes", "--reviewer", name]).exits(0);
        let file = project.read("countersign.yml");
        assert!(file.contains(line) && file.contains("model: "), "{file}");
        project.run(&["validate"]).exits(0);
        let ran = project.run(&["review"]).exits(4);
        assert!(ran.stdout.contains("_API_KEY"), "{}", ran.stdout);
    }
}

#[test]
fn issue_20_packs_are_written_for_the_files_that_are_there() {
    let project = project();
    project.write("src/a.py", "x = 1\n").write("README.md", "# A\n");
    let ran = project.run(&["init", "--pack", "api"]).exits(2);
    assert!(ran.stderr.contains("no file of that kind"), "{}", ran.stderr);
    let ran = project.run(&["init", "--pack", "securty"]).exits(2);
    assert!(ran.stderr.contains("security, docs, spec, migrations, api"), "{}", ran.stderr);
    assert!(!project.path("countersign.yml").exists());
    project
        .run(&[
            "init",
            "--pack",
            "security",
            "--pack",
            "docs",
            "--reviewer",
            "self",
            "--cases",
            "cases.jsonl",
        ])
        .exits(0);
    let file = project.read("countersign.yml");
    assert!(file.contains("  - name: security\n    for: [\"**/*.py\"]\n    each: fit\n"), "{file}");
    assert!(file.contains("  - name: docs\n"), "{file}");
    assert_eq!(project.read("cases.jsonl").lines().count(), 14);
    // A file that is there stays as it is.
    let ran = project.run(&["init", "--pack", "security"]).exits(0);
    assert!(
        ran.stdout.contains("Add this to its `rules`:") && ran.stdout.contains("- name: security"),
        "{}",
        ran.stdout
    );
    assert_eq!(project.read("countersign.yml"), file);
}
