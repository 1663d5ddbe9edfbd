//! One decision by every way in: command line, HTTP, MCP, the screen of a run and the gate of a run record the same
//! events, and the task and the run go on in the same way.

use crate::run::kit::{Kit, ONE};
use crate::task;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Project, Served, Terminal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const REASON: &str = "at the terminal";
const CHOICES: &str = "a reason goes behind a colon, as in r: TEXT\n>";

/// Where a decision comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    CommandLine,
    Http,
    Mcp,
    Screen,
    Gate,
}

const WAYS: [Way; 5] = [Way::CommandLine, Way::Http, Way::Mcp, Way::Screen, Way::Gate];

/// Issue 15.2: the same review, decided by each of the five ways.
#[test]
fn slow_issue_15_a_decision_gives_the_same_events_by_every_way_in() {
    for verb in ["approve", "reject", "fix", "skip"] {
        let all: Vec<(Way, Effects)> = WAYS.map(|way| (way, decided(way, verb))).into();
        let expected = &all[0].1;
        assert_eq!(expected.events[0]["kind"], "decided", "{verb}: {expected:?}");
        assert_eq!(expected.events[0]["decision"]["verb"], verb, "{expected:?}");
        for (way, effects) in &all {
            assert_eq!(effects, expected, "{verb} by {way:?}");
        }
    }
}

/// Issue 15.2: the first decision about the same bytes counts, and the run goes on with it.
#[test]
fn issue_15_a_second_decision_on_the_same_digest_is_refused_by_every_way_in() {
    for way in WAYS {
        let kit = waiting(way);
        let mut open = Open::at(&kit, way);
        open.begin("approve");
        kit.said(&["reject", "TASK-001", "--reason", "no"]);
        let before = events(&kit.project);
        let said = open.end("approve");
        let first = format!("this was already decided: reject by {}", crate::people::at_terminal());
        assert!(said.contains(&first), "{way:?}: {said}");
        drop(open);
        assert_eq!(events(&kit.project), before, "{way:?}");
        kit.run(&["run", "--all"]).exits(6);
        kit.nothing_merged();
    }
}

/// Issue 15.2: a task of a plan moves whichever way its review was decided.
#[test]
fn issue_15_a_task_of_a_plan_moves_by_every_way_in() {
    let moved = |way: Way, verb: &str| {
        let (project, _repository, _judge) = task::started("policy: {max_attempts: 3}\n");
        allow_agents(&project);
        let parsed =
            r#"{"result": "NEEDS_REVISION", "issues": ["no door"], "summary": "s", "blocking": false}"#;
        task::says(&project, "Not yet.", parsed);
        project.run(&["task", "review", "1.1"]).exits(1);
        match way {
            Way::CommandLine => {
                let mut command = project.command(&[verb, "1.1", "--reason", REASON]);
                let mut terminal = Terminal::start(command.env("USER", "ann"), 100, 40);
                assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
            }
            Way::Http => drop(by_http(&project, verb)),
            _ => drop(by_mcp(&project, verb)),
        }
        let told = task::events(&project).into_iter().map(|(kind, mut body)| {
            strip(&mut body);
            (
                kind,
                body["status"].clone(),
                body["review"]["result"].clone(),
                body["review"]["summary"].clone(),
            )
        });
        let plan = project.read("PLAN.md");
        let plan: Vec<String> =
            plan.lines().filter(|line| !line.contains("Reviewed At")).map(str::to_owned).collect();
        (plan.join("\n"), told.collect::<Vec<_>>(), from_decision(&project))
    };
    for (verb, status) in
        [("approve", "[x] **Build walls**"), ("skip", "[x] **Build walls**"), ("reject", "[blocked]")]
    {
        let expected = moved(Way::CommandLine, verb);
        assert!(expected.0.contains(status), "{verb}: {}", expected.0);
        for way in [Way::Http, Way::Mcp] {
            assert_eq!(moved(way, verb), expected, "{verb} by {way:?}");
        }
    }
}

/// What a decision did.
#[derive(Debug, PartialEq)]
struct Effects {
    /// What is on record from the decision on, also by the run that went on.
    events: Vec<Value>,
    attempts: Vec<(bool, String, String)>,
    merges: Vec<String>,
    status: String,
}

/// Has a task decided about, and lets its run go on as far as it can.
fn decided(way: Way, verb: &str) -> Effects {
    let kit = waiting(way);
    let mut open = Open::at(&kit, way);
    open.begin(verb);
    open.end(verb);
    drop(open);
    if way != Way::Gate {
        kit.run(&["run", "--all", "--hitl-review"]);
    }
    Effects {
        events: from_decision(&kit.project),
        attempts: kit.attempts("TASK-001"),
        merges: kit.merges(),
        status: kit.run(&["status"]).stdout.lines().next().unwrap_or_default().to_owned(),
    }
}

/// A task that waits for a person; for the gate, the run itself comes so far.
fn waiting(way: Way) -> Kit {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("case $n in 1) echo BAD >a.txt;; *) echo good >a.txt;; esac; echo TASK_COMPLETE");
    allow_agents(&kit.project);
    if way != Way::Gate {
        kit.run(&["run", "--all", "--hitl-review"]).exits(3);
    }
    kit
}

/// Lets agents decide, so that MCP can, and trusts that.
fn allow_agents(project: &Project) {
    let folder = project.home().join(".config/countersign");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.yml"), "agents_may_decide: true\n").unwrap();
    project.trust();
}

/// A way in, with what is before the person who decides.
struct Open<'k> {
    kit: &'k Kit,
    way: Way,
    terminal: Option<Terminal>,
}

impl<'k> Open<'k> {
    fn at(kit: &'k Kit, way: Way) -> Self {
        let args: &[&str] = match way {
            Way::Screen => &["tui"],
            Way::Gate => &["run", "--all", "--hitl-review"],
            _ => return Self { kit, way, terminal: None },
        };
        let mut command = kit.project.command(args);
        command.env("USER", "ann").env("TERM", "xterm").env("NO_COLOR", "1");
        Self { kit, way, terminal: Some(Terminal::start(&command, 120, 40)) }
    }

    /// Up to the last key before the decision.
    fn begin(&mut self, verb: &str) {
        match (self.way, &mut self.terminal) {
            (Way::Screen, Some(terminal)) => {
                terminal.until("awaiting person");
                terminal.send(&verb[..1]);
                terminal.until(&format!("{verb} TASK-001 ("));
            }
            (Way::Gate, Some(terminal)) => terminal.until(CHOICES),
            _ => {}
        }
    }

    /// The decision, and what is said to it.
    fn end(&mut self, verb: &str) -> String {
        match (self.way, &mut self.terminal) {
            (Way::Screen, Some(terminal)) => {
                terminal.send("y");
                terminal.until_seen("an answer", |screen| {
                    screen.contains("is recorded") || screen.contains("Nothing was decided")
                });
                terminal.contents()
            }
            (Way::Gate, Some(terminal)) => {
                terminal.send(&format!("{}\n", &verb[..1]));
                if verb == "fix" {
                    terminal.until("Verdict: REVIEW_PASSED");
                    terminal.send("\u{3}");
                }
                terminal.ends();
                terminal.contents()
            }
            (Way::Http, _) => by_http(&self.kit.project, verb),
            (Way::Mcp, _) => by_mcp(&self.kit.project, verb),
            _ => self.kit.said(&[verb, "TASK-001", "--reason", REASON]),
        }
    }
}

/// The review of the one task there is, and the digest of its work.
fn review(project: &Project) -> (String, Value) {
    let shown = project.run(&["show", "--json"]).json();
    (shown["review"]["id"].as_str().unwrap().to_owned(), shown["review"]["digest"].clone())
}

fn by_http(project: &Project, verb: &str) -> String {
    let (id, digest) = review(project);
    let served = Served::at_terminal(&project.command(&["serve", "--port", "0"]));
    let bearer = format!("Bearer {}", served.person_token());
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = json!({ "verb": verb, "digest": digest, "reason": REASON }).to_string();
    served.send("POST", &format!("/v1/reviews/{id}/decision"), &headers, &body).body
}

/// A client of three lines.
fn by_mcp(project: &Project, verb: &str) -> String {
    let (id, _) = review(project);
    let mut child = project
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let client = json!({ "name": "ann", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let arguments = json!({ "review": id, "verb": verb, "reason": REASON });
    for line in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "review_decide", "arguments": arguments } }),
    ] {
        writeln!(stdin, "{line}").unwrap();
    }
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let answer = lines.find(|line| line.contains("\"id\":2")).expect("an answer");
    drop(stdin);
    child.wait().unwrap();
    answer
}

/// Everything on record about reviews.
fn events(project: &Project) -> Vec<Value> {
    let read = async {
        let ledger = Ledger::open_existing(&project.ledger_dir()).await.unwrap().unwrap();
        ledger.feed(0, 10_000).await.unwrap()
    };
    let all = tokio::runtime::Runtime::new().unwrap().block_on(read);
    let reviews = all.into_iter().filter(|event| event.subject.is_some());
    reviews.map(|event| serde_json::from_str(&event.body).unwrap()).collect()
}

/// The same from the first decision on, without ids, times and names.
fn from_decision(project: &Project) -> Vec<Value> {
    let events = events(project).into_iter().skip_while(|event| event["kind"] != "decided");
    events
        .map(|mut event| {
            strip(&mut event);
            event
        })
        .collect()
}

/// What differs from one time to the next: names, times, ids, and what is made of the folder and the commit.
const OF_ONE_TIME: [&str; 13] = [
    "terminal",
    "token",
    "by",
    "at_ms",
    "at",
    "id",
    "call",
    "digest",
    "key",
    "place",
    "base",
    "fingerprint",
    "rules_from",
];

fn strip(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(strip),
        Value::Object(map) => {
            map.retain(|key, _| !OF_ONE_TIME.contains(&key.as_str()));
            map.values_mut().for_each(strip);
        }
        _ => {}
    }
}
