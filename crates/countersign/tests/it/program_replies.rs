//! What agent programs say, by scripts with their names: replies that can be read and are no verdict.

use crate::{COMPLETE, project};
use countersign_testkit::{Project, Ran, Running};
use std::os::unix::fs::PermissionsExt;

const RULING: &str = r#"{"passed":true,"feedback":"fine","criteria_results":[{"criterion":"Complete","passed":true,"feedback":null}]}"#;

/// What the program of this name says when all is well.
fn said(name: &str) -> String {
    let text = serde_json::to_string(RULING).unwrap();
    match name {
        "claude" => format!(
            r#"{{"type":"result","is_error":false,"subtype":"success","terminal_reason":"completed","stop_reason":"tool_use","structured_output":{RULING}}}"#
        ),
        "codex" => format!(
            "{{\"type\":\"turn.started\"}}\n{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{text}}}}}\n{{\"type\":\"turn.completed\",\"usage\":{{}}}}"
        ),
        "gemini" => format!(r#"{{"response":{text},"stats":{{"models":{{"m":{{}}}}}}}}"#),
        "opencode" => format!(
            "{{\"type\":\"text\",\"part\":{{\"messageID\":\"m\",\"text\":{text}}}}}\n{{\"type\":\"step_finish\",\"part\":{{\"messageID\":\"m\",\"reason\":\"stop\"}}}}"
        ),
        other => panic!("{other}"),
    }
}

/// The record that `gemini` keeps, for a reply that ended for this reason.
fn record(reason: &str) -> String {
    let text = serde_json::json!([{ "candidates": [{ "finishReason": reason }] }]).to_string();
    let attributes =
        serde_json::json!({ "event.name": "gemini_cli.api_response", "role": "main", "response_text": text });
    serde_json::json!({ "attributes": attributes }).to_string()
}

/// A project of some files whose reviewer is a script with the name of a program. It writes `said` and `record` as they
/// are in the user's home.
struct Bench {
    project: Project,
    name: &'static str,
}

impl Bench {
    fn new(name: &'static str, said: impl AsRef<[u8]>, record: &str) -> Self {
        let project = project();
        project.write("a.md", "text\n");
        let programs = project.home().join("programs");
        std::fs::create_dir_all(&programs).unwrap();
        // Some programs get a home of their own.
        let home = project.home().display();
        let script = format!(
            "#!/bin/sh\ncase \"$1\" in --version) echo 1.0; exit;; esac\ncat >'{home}/asked'\nprintf '%s\\n' \"$*\" >'{home}/words'\n\
             [ -n \"$GEMINI_TELEMETRY_OUTFILE\" ] && cp '{home}/record' \"$GEMINI_TELEMETRY_OUTFILE\"\ncat '{home}/said'\n"
        );
        let path = programs.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let bench = Self { project, name };
        bench.says(said);
        std::fs::write(bench.project.home().join("record"), record).unwrap();
        bench
    }

    fn says(&self, said: impl AsRef<[u8]>) {
        std::fs::write(self.project.home().join("said"), said).unwrap();
    }

    fn review(&self, more: &[&str]) -> Ran {
        let args = ["review", "--criterion", COMPLETE, "--reviewer", self.name, "--json", "--no-cache"];
        let mut command = self.project.command(&[&args[..], more].concat());
        let programs = self.project.home().join("programs");
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        command.env("ANTHROPIC_API_KEY", "k").env("GEMINI_API_KEY", "k").env("OPENAI_API_KEY", "k");
        Running::start(&mut command).wait()
    }

    #[track_caller]
    fn no_verdict(&self, more: &[&str], reason: &str, words: &str) {
        let ran = self.review(more).exits(4);
        let json = ran.json();
        assert_eq!(json["reason"], reason, "{ran:?}");
        let detail = json["assignments"][0]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(words), "{words}: {detail}");
    }
}

const PROGRAMS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

#[test]
fn a_whole_reply_is_an_answer() {
    for name in PROGRAMS {
        Bench::new(name, said(name), &record("STOP")).review(&["a.md"]).exits(0);
    }
}

/// Beside the answer or in it: with another character in its place, it could say something else.
#[test]
fn attack_bytes_that_are_no_text_are_no_verdict() {
    for name in PROGRAMS {
        for at in ["beside", "within"] {
            let mut bytes = said(name).into_bytes();
            match at {
                "beside" => bytes.extend(b"\n\xff\n"),
                _ => {
                    let fine = bytes.windows(4).position(|four| four == b"fine").unwrap();
                    bytes[fine] = 0xff;
                }
            }
            let ran = Bench::new(name, bytes, &record("STOP")).review(&["a.md"]).exits(4);
            assert_eq!(ran.json()["reason"], "garbled", "{name} {at}: {ran:?}");
        }
    }
}

#[test]
fn attack_a_reply_of_claude_that_was_cut_or_filtered_is_no_verdict() {
    for (stop, reason, words) in [
        ("\"max_tokens\"", "too_long", "`max_tokens`"),
        ("\"refusal\"", "refused", "`refusal`"),
        ("\"pause_turn\"", "garbled", "`pause_turn`"),
        ("\"content_filter\"", "garbled", "`content_filter`"),
        ("\"something_new\"", "garbled", "`something_new`"),
        ("null", "garbled", "does not say why it stopped"),
    ] {
        let said = said("claude").replace("\"tool_use\"", stop);
        Bench::new("claude", said, "").no_verdict(&["a.md"], reason, words);
    }
}

#[test]
fn attack_a_reply_of_gemini_that_was_cut_or_filtered_is_no_verdict() {
    for (record, reason, words) in [
        (record("MAX_TOKENS"), "too_long", "`MAX_TOKENS`"),
        (record("SAFETY"), "refused", "`SAFETY`"),
        (record("OTHER"), "garbled", "`OTHER`"),
        (String::new(), "garbled", "its record has no reply"),
    ] {
        Bench::new("gemini", said("gemini"), &record).no_verdict(&["a.md"], reason, words);
    }
}

#[test]
fn attack_a_reply_of_opencode_that_was_cut_or_filtered_is_no_verdict() {
    for (stop, reason) in [("length", "too_long"), ("content-filter", "refused"), ("unknown", "garbled")] {
        let said = said("opencode").replace("\"stop\"", &format!("\"{stop}\""));
        Bench::new("opencode", said, "").no_verdict(&["a.md"], reason, stop);
    }
}

/// What `claude` writes where it has files to read: its events, and its report.
fn with_events(events: &[&str]) -> String {
    let before = events.iter().map(|event| format!("{event}\n")).collect::<String>();
    format!("{{\"type\":\"system\",\"subtype\":\"init\"}}\n{before}{}\n", said("claude"))
}

const READ: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a.md"}}]}}"#;
const CAME: &str =
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"text"}]}}"#;

/// Six small files with a defect each were passed by one request that had their names only.
#[test]
fn attack_many_small_files_are_shown_or_have_to_be_opened() {
    let bench = Bench::new("claude", said("claude"), "");
    for n in 0..6 {
        bench.project.write(&format!("{n}.md"), format!("defect {n}\n"));
    }
    bench.review(&["."]).exits(0);
    let asked = std::fs::read_to_string(bench.project.home().join("asked")).unwrap();
    assert!((0..6).all(|n| asked.contains(&format!("defect {n}"))), "{asked}");
    let listed = [".", "--max-inline-files", "5"];
    let failed = CAME.replace("\"content\":\"text\"", "\"is_error\":true");
    let globbed = READ.replace("\"Read\"", "\"Glob\"");
    for events in [vec![], vec![READ], vec![READ, failed.as_str()], vec![globbed.as_str(), CAME]] {
        bench.says(with_events(&events));
        bench.no_verdict(&listed, "garbled", "its record shows that it opened no file (files to read: 7)");
    }
    let words = std::fs::read_to_string(bench.project.home().join("words")).unwrap();
    assert!(words.contains("--output-format stream-json --verbose"), "{words}");
    bench.says(with_events(&[READ, CAME]));
    bench.review(&listed).exits(0);
    // What is not all events is no answer.
    bench.says(format!("half an event\n{}", with_events(&[READ, CAME])));
    bench.no_verdict(&listed, "garbled", "without a result");
    bench.says(format!("{}{}", with_events(&[READ, CAME]), said("claude")));
    bench.no_verdict(&listed, "garbled", "without a result");
}
