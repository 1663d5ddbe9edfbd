//! Handing work in: it goes on in the server, joins what is under way, and survives the server.

use super::{Server, handed_in, judged, slow};
use crate::project;
use countersign_testkit::{Repository, eventually};
use serde_json::{Value, json};

#[test]
fn a_review_is_started_goes_on_and_is_waited_for() {
    let (project, judge) = slow();
    let server = Server::start(&project);
    let begun = server.post("/v1/reviews", &json!({ "subject": "s", "notes": "as agreed" }));
    assert_eq!(begun.status, 202, "{begun:?}");
    let json = begun.json();
    let path = begun.header("location").unwrap();
    assert_eq!(path, format!("/v1/reviews/{}", json["review"]["id"].as_str().unwrap()));
    assert_eq!(
        (&json["state"], &json["outcome"], &json["exit_code"]),
        (&json!("running"), &json!(null), &json!(null))
    );
    // The same again joins.
    let joined = server.post("/v1/reviews", &json!({ "subject": "s", "notes": "as agreed" }));
    assert_eq!((joined.status, &joined.json()["review"]["id"]), (202, &json["review"]["id"]));
    assert_eq!(server.get(&path).json()["state"], "running");
    project.write(".go", "");
    let done = server.get(&format!("{path}?wait=100"));
    assert_eq!(
        (&done.json()["state"], &done.json()["review"]["outcome"]),
        (&json!("done"), &json!("passed"))
    );
    // What has passed is answered at once, with its verdict.
    let again = server.post("/v1/reviews", &json!({ "subject": "s", "notes": "as agreed" }));
    assert_eq!(
        (again.status, &again.json()["outcome"], &again.json()["exit_code"]),
        (200, &json!("passed"), &json!(0))
    );
    assert_eq!(judge.asked().len(), 2);
}

/// Who only looks has not been answered; who waited has, and the same bytes again are the next attempt.
#[test]
fn an_answer_that_was_waited_for_counts_as_given() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let first = handed_in(&server, "s");
    assert_eq!(
        (&first["outcome"], &first["review"]["round"], &first["exit_code"]),
        (&json!("needs_work"), &json!(1), &json!(1))
    );
    assert_eq!(handed_in(&server, "s")["review"]["round"], 2);
    let stopped = handed_in(&server, "s");
    assert_eq!(stopped["outcome"], "stopped");
    assert_eq!((&stopped["reason"], &stopped["exit_code"]), (&json!("attempts_used_up"), &json!(6)));
}

#[test]
fn files_criteria_and_changes_are_judged_like_those_of_agents() {
    let (project, judge) = judged();
    project.write(".gitignore", ".asked*\n");
    Repository::at(project.root()).commit("first");
    let server = Server::start(&project);
    let own = json!({ "files": ["a.md"], "criteria": [{ "name": "Complete", "ask": "Is it?" }], "each_file": true });
    let answer = server.post("/v1/reviews?wait=100", &own).json();
    assert_eq!((&answer["outcome"], &answer["findings"][0]["file"]), (&json!("needs_work"), &json!("a.md")));
    let found = &answer["findings"][0]["findings"][0];
    assert_eq!(found["message"], answer["findings"][0]["feedback"], "issue 15, item 4: at least one");
    let nothing = server.post("/v1/reviews", &json!({ "change": {} }));
    assert_eq!((nothing.status, &nothing.json()["outcome"]), (422, &json!("no_verdict")), "{nothing:?}");
    project.write("b.md", "fine\n");
    let change = server.post("/v1/reviews?wait=100", &json!({ "change": { "base": "HEAD" } })).json();
    assert_eq!(change["outcome"], "passed", "{change}");
    assert_eq!(judge.asked().len(), 2);
}

#[test]
fn issue_18_a_finding_has_the_judged_lines_after_the_file_changed() {
    let project = project();
    let check = "{name: F, check: no_placeholders}";
    let rule = format!("{{name: r, for: ['*.md'], criteria: [{check}]}}");
    project.write("countersign.yml", format!("version: 1\nrules: [{rule}]\n")).write("a.md", "one\nTODO\n");
    let server = Server::start(&project);
    let answer = server.post("/v1/reviews?wait=100", &json!({ "files": ["a.md"] })).json();
    let id = answer["review"]["id"].as_str().unwrap();
    project.write("a.md", "other\n");
    let shown = server.get(&format!("/v1/reviews/{id}")).json();
    let excerpt = |answer: &Value| answer["findings"][0]["findings"][0]["excerpt"].clone();
    let lines = |now: bool| json!({ "first_line": 1, "lines": ["one", "TODO"], "is_current": now });
    assert_eq!((excerpt(&answer), excerpt(&shown)), (lines(true), lines(false)));
}

/// Kill -9 in the middle: what was ruled stands, the same work goes on, by the next server or by a command.
#[test]
fn what_a_killed_server_was_doing_goes_on() {
    for by_command in [false, true] {
        let (project, judge) = slow();
        let server = Server::start(&project);
        let body = json!({ "subject": "s" });
        let begun = server.post("/v1/reviews", &body).json();
        let path = format!("/v1/reviews/{}", begun["review"]["id"].as_str().unwrap());
        eventually("the first answer, and the second question", || {
            let events = server.get(&format!("{path}/events")).json();
            let answered = |event: &serde_json::Value| event["event"]["kind"] == "answered";
            events["events"].as_array().unwrap().iter().any(answered) && judge.asked().len() == 2
        });
        server.served.kill();
        let server = Server::start(&project);
        assert_eq!(server.get(&path).json()["state"], "interrupted");
        assert_eq!(server.get("/v1/status").json()["open"][0]["interrupted"], true);
        project.write(".go", "");
        let done = match by_command {
            true => project.run(&["review", "--json"]).exits(0).json(),
            false => server.post("/v1/reviews?wait=100", &body).json(),
        };
        assert_eq!(done["outcome"], "passed", "{done}");
        assert_eq!(by_command, done["review"]["id"] != begun["review"]["id"]);
        let asked = |name: &str| judge.asked().iter().filter(|file| *file == name).count();
        assert_eq!((asked("a.md"), asked("b.md")), (1, 2), "only what had no ruling was asked again");
        project.run(&["log", "--verify"]).exits(0);
    }
}

/// A verdict is that of its own round, and of nobody else's work.
#[test]
fn who_was_superseded_gets_no_verdict_of_others() {
    let (project, _) = slow();
    let server = Server::start(&project);
    let body = json!({ "subject": "s" });
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.post("/v1/reviews?wait=100", &body));
        eventually("the first round", || server.get("/v1/reviews").json()["reviews"][0]["round"] == 1);
        project.write("a.md", "other work\n");
        assert_eq!(server.post("/v1/reviews", &body).json()["review"]["round"], 2);
        project.write(".go", "");
        let answer = waiting.join().unwrap();
        assert_eq!(answer.status, 409, "{answer:?}");
    });
}
