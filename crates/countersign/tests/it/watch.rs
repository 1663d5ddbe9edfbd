//! `watch`: what happens in a project, live (SVC-13): in words, as JSON, from where somebody left off, and its ends.

mod crowd;

use crate::task;
use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A `watch` that runs, and every whole line it has printed.
struct Watch {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Watch {
    fn start(project: &Project, args: &[&str]) -> Self {
        let mut command = project.command(&[&["watch"], args].concat());
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        Self::of(child)
    }

    fn of(mut child: Child) -> Self {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let lines = Arc::new(Mutex::new(vec![]));
        let heard = lines.clone();
        let reader = std::thread::spawn(move || {
            let mut line = String::new();
            // What was cut off by a kill is no line.
            while out.read_line(&mut line).is_ok_and(|bytes| bytes > 0) && line.ends_with('\n') {
                heard.lock().unwrap().push(std::mem::take(&mut line));
            }
        });
        Self { child, lines, reader: Some(reader) }
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn ids(&self) -> Vec<u64> {
        let id = |line: &String| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap();
        self.lines().iter().map(id).collect()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end: the exit code, -1 for a signal.
    fn ends(&mut self) -> i32 {
        let mut status = None;
        eventually("watch ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.reader.take().map(JoinHandle::join);
        status.unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn add(project: &Project, title: &str) {
    project.run(&["task", "add", title, "--id", title]).exits(0);
}

/// SVC-13.
#[test]
fn svc_13_without_a_ledger_it_waits_makes_none_and_then_misses_nothing() {
    let project = project();
    let mut command = project.command(&["watch"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("no events in this project yet"), "{said}");
    assert!(!project.ledger_dir().exists());
    let watch = Watch::of(child);
    add(&project, "one");
    add(&project, "two");
    eventually("both are seen", || watch.lines().len() >= 2);
    let [one, two] = &watch.lines()[..] else { panic!("{:?}", watch.lines()) };
    assert!(one.starts_with("     1  ") && one.ends_with("task_added         task/one  one\n"), "{one}");
    assert!(two.starts_with("     2  ") && two.ends_with("task_added         task/two  two\n"), "{two}");
}

/// SVC-13.
#[test]
fn svc_13_programs_read_an_object_a_line() {
    let project = project();
    add(&project, "one");
    let watch = Watch::start(&project, &["--json", "--after", "0"]);
    eventually("it is seen", || watch.lines().len() == 1);
    let event: Value = serde_json::from_str(&watch.lines()[0]).unwrap();
    assert_eq!((&event["id"], &event["n"]), (&1.into(), &1.into()));
    assert_eq!((&event["kind"], &event["stream"]), (&"task_added".into(), &"task/one".into()));
    assert_eq!((&event["data"]["title"], &event["review"]), (&"one".into(), &Value::Null));
    assert!(event["at"].as_str().unwrap().ends_with('Z') && event["subject"].is_null());
}

#[test]
fn it_resumes_after_an_id_and_refuses_one_that_never_was() {
    let project = project();
    ["one", "two", "three"].iter().for_each(|title| add(&project, title));
    let watch = Watch::start(&project, &["--json", "--after", "1"]);
    eventually("the rest is seen", || watch.lines().len() >= 2);
    assert_eq!(watch.ids(), [2, 3]);
    let ran = project.run(&["watch", "--after", "4"]).exits(2);
    assert!(ran.stderr.contains("the ledger has no event 4: its last is 3"), "{}", ran.stderr);
}

#[test]
fn stopping_it_is_how_it_ends() {
    let project = project();
    add(&project, "one");
    for signal in [Signal::INT, Signal::TERM] {
        let mut watch = Watch::start(&project, &["--json", "--after", "0"]);
        eventually("it watches", || watch.lines().len() == 1);
        watch.signal(signal);
        assert_eq!(watch.ends(), 0);
    }
}

/// With a ledger and without one, and while nothing happens.
#[test]
fn it_ends_when_nobody_reads_any_more() {
    for with_ledger in [false, true] {
        let project = project();
        if with_ledger {
            add(&project, "one");
        }
        let mut child = project
            .command(&["watch", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut status = None;
        eventually("watch ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(0));
        assert_eq!(project.ledger_dir().exists(), with_ledger);
    }
}

#[test]
fn a_ledger_that_is_moved_away_or_replaced_ends_it_with_words() {
    for replaced in [false, true] {
        let project = project();
        add(&project, "one");
        let mut watch = Watch::start(&project, &["--json", "--after", "0"]);
        eventually("it watches", || watch.lines().len() == 1);
        std::fs::rename(project.ledger_dir(), project.path("elsewhere")).unwrap();
        if replaced {
            let other = crate::project();
            add(&other, "other");
            std::fs::rename(other.ledger_dir(), project.ledger_dir()).unwrap();
        }
        assert_eq!(watch.ends(), 7);
        // For programs the last line is the failure.
        let last: Value = serde_json::from_str(watch.lines().last().unwrap()).unwrap();
        assert_eq!((&last["outcome"], &last["error"]["code"]), (&"integrity".into(), &"ledger".into()));
        assert_eq!(last["error"]["message"], "the ledger was moved, removed or replaced after event 1");
    }
}

/// SVC-13.
#[test]
fn svc_13_people_read_words_and_nothing_in_them_acts() {
    let (project, _repository, _judge) = task::started("notify: {bell: false, desktop: false}\n");
    task::says(&project, "No.", r#"{"result": "REJECTED", "summary": "a \u001b[31mred\nkey"}"#);
    project.run(&["task", "done", "1.1"]).exits(6);
    let watch = Watch::start(&project, &["--after", "0"]);
    let seen = |words: &str| eventually(words, || watch.lines().iter().any(|line| line.contains(words)));
    seen("told ");
    for words in [
        "review_started     1.1 Build walls  attempt 1",
        "service/PLAN.md/",
        "submitted ",
        " 1 question, ",
        "round_judged ",
        "stopped: rejected",
        "review_failed      1.1 Build walls  rejected in attempt 1, the task is blocked: a \\u{1b}[31mred key",
        "Review Rejected: Build walls: Blocking issue found: a \\u{1b}[31mred key",
    ] {
        seen(words);
    }
    assert!(!watch.lines().concat().contains('\u{1b}'));
}

#[test]
fn a_subject_is_watched_alone() {
    let project = project();
    project.write("a.md", "fine");
    let judge = Judge::by_word(&project, "Complete");
    add(&project, "one");
    for subject in ["x", "y", "x"] {
        project
            .run(&[
                "review",
                "a.md",
                "--criterion",
                COMPLETE,
                "--reviewer",
                judge.name(),
                "--subject",
                subject,
            ])
            .exits(0);
    }
    add(&project, "end");
    let subjects = |wanted: &str| {
        let watch = Watch::start(&project, &["--json", "--after", "0", "--subject", wanted]);
        let all = Watch::start(&project, &["--json", "--after", "0"]);
        eventually("everything was seen", || {
            all.lines().last().is_some_and(|line| line.contains("task/end"))
        });
        let of = |line: &String| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["subject"].as_str().or(event["stream"].as_str()).unwrap().to_owned()
        };
        let expected: Vec<String> = all
            .lines()
            .iter()
            .map(of)
            .filter(|subject| match wanted {
                "x" | "cli/x" => subject == "cli/x",
                prefix => subject.starts_with(prefix),
            })
            .collect();
        assert!(!expected.is_empty());
        eventually("as much is seen", || watch.lines().len() >= expected.len());
        assert_eq!(watch.lines().iter().map(of).collect::<Vec<_>>(), expected);
    };
    ["x", "cli/x", "cli/", "task/"].into_iter().for_each(subjects);
}
