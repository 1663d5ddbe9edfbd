//! Several agents, several servers, one project.

use super::*;

/// Two calls of one step at the same time, on one server and on two: one review, one advance, the same answer.
#[test]
fn two_calls_of_one_step_are_one() {
    for servers in [1, 2] {
        let (project, judge) = guide();
        let mut first = external(&project, &[]);
        let session = start(&mut first);
        let mut second = (servers == 2).then(|| external(&project, &[]));
        let call = json!({ "name": "finished_step", "arguments": plan(&session) });
        let one = first.send("tools/call", call.clone());
        let two = second.as_mut().unwrap_or(&mut first).send("tools/call", call);
        let answers = [first.answer(one), second.as_mut().unwrap_or(&mut first).answer(two)];
        for answer in &answers {
            let content = &answer["result"]["structuredContent"];
            assert_eq!(
                (&content["status"], &content["begin_step"]["step_id"]),
                (&json!("next_step"), &json!("pages")),
                "{answer}"
            );
        }
        assert_eq!((judge.asked().len(), count(&project, "step_finished")), (1, 1));
    }
}

fn whole(client: &mut Client) {
    let session = start(client);
    assert_eq!(client.good("finished_step", plan(&session))["status"], "next_step");
    assert_eq!(
        client.good("finished_step", pages(&session, &["a.md", "b.md"]))["status"],
        "workflow_complete"
    );
}

/// Ten sessions on one server, their calls interleaved; and two servers on one folder, five each.
#[test]
fn ten_sessions_on_one_server_and_two_servers_on_one_folder() {
    let (project, _) = guide();
    let mut client = external(&project, &[]);
    let sessions: Vec<_> = (0..10).map(|_| start(&mut client)).collect();
    let mut all = |calls: Vec<Value>, status: &str| {
        let call = |arguments| json!({ "name": "finished_step", "arguments": arguments });
        let ids: Vec<_> =
            calls.into_iter().map(|arguments| client.send("tools/call", call(arguments))).collect();
        for id in ids {
            let answer = client.answer(id);
            assert_eq!(answer["result"]["structuredContent"]["status"], status, "{answer}");
        }
    };
    all(sessions.iter().map(|session| plan(session)).collect(), "next_step");
    all(sessions.iter().map(|session| pages(session, &["a.md", "b.md"])).collect(), "workflow_complete");
    assert_eq!((count(&project, "workflow_started"), count(&project, "step_finished")), (10, 20));

    let (project, _) = guide();
    let project = &project;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let mut client = external(project, &[]);
                (0..5).for_each(|_| whole(&mut client));
            });
        }
    });
    assert_eq!((count(project, "workflow_started"), count(project, "step_finished")), (10, 20));
    project.run(&["log", "--verify"]).exits(0);
}
