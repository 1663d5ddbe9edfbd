//! Long reviews, clients that vanish, and the same call once more.

use super::*;
use crate::http::{Server, message, newest, with};
use countersign_testkit::eventually;
use std::io::Write;

/// A reviewer that answers once `.go` is there.
pub(super) fn slow(project: &Project) -> Judge {
    let body = format!(
        r#"while [ ! -e '{}' ]; do sleep 0.01; done
printf '{{"passed": true, "feedback": "f", "criteria_results": [{{"criterion": "Complete", "passed": true}}]}}'"#,
        project.path(".go").display()
    );
    Judge::scripted(project, "judge.sh", &body)
}

#[test]
fn a_review_that_takes_long_is_answered_and_attached_to() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &["--wait-seconds", "1"]);
    let session = start(&mut client);
    let id = client.send(
        "tools/call",
        json!({ "name": "finished_step", "arguments": plan(&session), "_meta": { "progressToken": "p" } }),
    );
    let running = client.answer(id)["result"]["structuredContent"].clone();
    assert_eq!((&running["status"], &running["failed_reviews"]), (&json!("needs_work"), &json!([])));
    assert!(
        running["feedback"].as_str().unwrap().starts_with("REVIEW RUNNING: change nothing, call again"),
        "{running}"
    );
    assert!(
        client.notifications.iter().any(|one| one["method"] == "notifications/progress"),
        "{:?}",
        client.notifications
    );
    assert!(
        client.good("finished_step", plan(&session))["feedback"]
            .as_str()
            .unwrap()
            .starts_with("REVIEW RUNNING")
    );
    project.write(".go", "");
    eventually("it passes", || client.good("finished_step", plan(&session))["status"] == "next_step");
    assert_eq!(judge.asked().len(), 1, "nobody is asked twice");
}

/// The client goes away while the reviewer works. Another server on the same folder gives the recorded answer.
#[test]
fn a_client_that_comes_back_gets_the_recorded_answer() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    let id = client.send("tools/call", json!({ "name": "finished_step", "arguments": plan(&session) }));
    eventually("the reviewer is asked", || !judge.asked().is_empty());
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    project.write(".go", "");
    // Also to somebody else.
    let mut other = external(&project, &[]);
    eventually("it passes", || status(&other.call("finished_step", plan(&session))) == "next_step");
    assert_eq!((judge.asked().len(), count(&project, "step_finished")), (1, 1));
    // The same call once more is the same answer, and advances nothing.
    let again = other.good("finished_step", plan(&session));
    assert_eq!((&again["status"], &again["begin_step"]["step_id"]), (&json!("next_step"), &json!("pages")));
    assert_eq!(count(&project, "step_finished"), 1);
}

#[test]
fn killed_while_a_reviewer_works_it_goes_on_elsewhere() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    client.send("tools/call", json!({ "name": "finished_step", "arguments": plan(&session) }));
    eventually("the reviewer is asked", || !judge.asked().is_empty());
    client.kill();
    project.write(".go", "");
    let mut other = external(&project, &[]);
    assert_eq!(other.good("finished_step", plan(&session))["status"], "next_step");
    // Without a session the only one that is under way is meant.
    assert_eq!(
        other.good("finished_step", json!({ "outputs": { "pages": ["a.md"] } }))["status"],
        "workflow_complete"
    );
}

/// Over HTTP: a client hangs up while the reviewer works. What it comes back for is the recorded answer, and nobody is
/// asked twice; whoever has another session meanwhile is served.
#[test]
fn who_hangs_up_over_http_gets_the_recorded_answer() {
    let (project, _) = guide();
    let judge = slow(&project);
    let server = Server::start(&project, &["--no-token", "--external-runner", &runner(&project)], &[]);
    let call = |name: &str, arguments: Value| {
        let (asked, headers) =
            newest("tools/call", Some(name), json!({ "name": name, "arguments": arguments }));
        let answer = server.post(&with(&[], &headers), &asked);
        message(&answer)["result"].clone()
    };
    let begin = || {
        let started = call("start_workflow", started_with("guide"));
        started["structuredContent"]["begin_step"]["session_id"].as_str().unwrap().to_owned()
    };
    let (session, other) = (begin(), begin());
    let (message, headers) = newest(
        "tools/call",
        Some("finished_step"),
        json!({ "name": "finished_step", "arguments": plan(&session) }),
    );
    let body = message.to_string();
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let own: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {}\r\n{own}\r\n",
        server.port,
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    eventually("the reviewer is asked", || !judge.asked().is_empty());
    drop(stream);
    // Without a session it is not guessed whose is meant.
    let nobodys = call("finished_step", json!({ "outputs": { "plan": "plan.md" } }));
    assert!(
        nobodys["structuredContent"]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("name one with session_id")
    );
    let went = call("go_to_step", json!({ "step_id": "plan", "session_id": other }));
    assert_eq!(went["structuredContent"]["begin_step"]["step_id"], "plan");
    project.write(".go", "");
    let again = call("finished_step", plan(&session));
    assert_eq!(status(&again), "next_step", "{again}");
    assert_eq!((judge.asked().len(), count(&project, "step_finished")), (1, 1));
}

/// Two steps in a row have an output of one name. An answer that did not reach its client is repeated for the same files,
/// and not for others: those are the next step's.
#[test]
fn issue_19_a_second_call_with_other_contents_is_the_next_step() {
    let step = |id: &str| {
        format!(
            "  - {{id: {id}, name: {id}, description: d, instructions_file: plan.md, outputs: {{text: {{type: file, description: d, \
             required: true}}}}, reviews: []}}\n"
        )
    };
    let job = format!(
        "name: guide\nversion: \"1.0.0\"\nsummary: s\ncommon_job_info_provided_to_all_steps_at_runtime: c\nsteps:\n{}{}{}",
        step("draft"),
        step("second"),
        step("third")
    );
    let call = json!({ "session_id": "the-session", "outputs": { "text": "text.md" } });
    let client = |project: &Project, die_at: &str| {
        let mut command = project.command(&["mcp"]);
        let mut client = Client::of(command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", die_at));
        client.initialize("2025-11-25");
        client
    };
    let mut lost = 0;
    // The server dies at one of its writes: at that of the delivery the step is finished and its answer not on record.
    for (contents, expected) in [("a draft", "second"), ("the second text", "third")] {
        for write in 1..30 {
            let project = project();
            write_job(&project, "guide", &job);
            project.write("text.md", "a draft");
            let mut dying = client(&project, &write.to_string());
            let mut begin = started_with("guide");
            begin["session_id"] = json!("the-session");
            let began = dying.try_call("start_workflow", begin).is_some();
            let finished = began && dying.try_call("finished_step", call.clone()).is_some();
            dying.hang_up();
            if !finished || count(&project, "step_finished") != 1 || count(&project, "answer_delivered") != 0
            {
                continue;
            }
            project.write("text.md", contents);
            let next = client(&project, "").good("finished_step", call.clone());
            assert_eq!(next["begin_step"]["step_id"], expected, "{contents}: {next}");
            lost += 1;
            break;
        }
    }
    assert_eq!(lost, 2, "a write is that of the delivery");
}
