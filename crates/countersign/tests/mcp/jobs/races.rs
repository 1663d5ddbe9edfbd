//! What happens while a review runs: the workflow is given up, gone back in, or its siblings end.

use super::lost_answers::slow;
use super::*;
use countersign_testkit::eventually;

fn finishing(client: &mut Client, arguments: Value) -> u64 {
    client.send("tools/call", json!({ "name": "finished_step", "arguments": arguments }))
}

/// A verdict that comes after the workflow was given up or gone back in advances nothing.
#[test]
fn what_was_changed_meanwhile_is_not_advanced() {
    for (tool, more, says) in [
        ("abort_workflow", json!({ "explanation": "not wanted" }), "changed meanwhile"),
        ("go_to_step", json!({ "step_id": "plan" }), "changed meanwhile"),
    ] {
        let (project, _) = guide();
        let judge = slow(&project);
        let mut client = external(&project, &["--no-quality-gate"]);
        let session = start(&mut client);
        client.good("finished_step", plan(&session));
        drop(client);
        let mut client = external(&project, &[]);
        let id = finishing(&mut client, pages(&session, &["a.md"]));
        eventually("the reviewer is asked", || !judge.asked().is_empty());
        let mut call = more;
        call["session_id"] = json!(session);
        client.good(tool, call);
        project.write(".go", "");
        let answer = client.answer(id)["result"]["structuredContent"]["error"]["message"].clone();
        assert!(answer.as_str().unwrap_or_default().contains(says), "{tool}: {answer}");
        assert_eq!(count(&project, "step_finished"), 1, "{tool}");
        project.run(&["log", "--verify"]).exits(0);
    }
}

/// Two agents finish two steps of one entry at the same moment, by two servers: both are judged, the entry advances
/// once, and a call that is repeated gets its answer.
#[test]
fn siblings_that_end_at_once_advance_once() {
    let project = project();
    let step = |id: &str, output: &str| {
        format!(
            "  - {{id: {id}, name: {id}, description: d, instructions_file: plan.md, outputs: {{{output}: {{type: file, description: d, \
             required: true}}}}, reviews: [{{run_each: step, quality_criteria: {{Complete: Is it complete in every part?}}}}]}}\n"
        )
    };
    let job = format!(
        "name: guide\nversion: \"1.0.0\"\nsummary: s\ncommon_job_info_provided_to_all_steps_at_runtime: c\nworkflows:\n\
         \x20 - {{name: write, summary: s, steps: [[one, two], three]}}\nsteps:\n{}{}{}",
        step("one", "x"),
        step("two", "y"),
        step("three", "z")
    );
    write_job(&project, "guide", &job);
    project.write("x.md", "x").write("y.md", "y").write("z.md", "z");
    let judge = slow(&project);
    let (mut first, mut second) = (external(&project, &[]), external(&project, &[]));
    let session = start(&mut first);
    let call = |output: &str| json!({ "session_id": session, "outputs": { output: format!("{output}.md") } });
    let ids = (finishing(&mut first, call("x")), finishing(&mut second, call("y")));
    eventually("both are asked", || judge.asked().len() == 2);
    // Going back to one of them while both are judged undoes nothing that was done.
    first.good("go_to_step", json!({ "step_id": "one", "session_id": session }));
    project.write(".go", "");
    let answers = [first.answer(ids.0), second.answer(ids.1)];
    let next = answers.map(|answer| answer["result"]["structuredContent"]["begin_step"]["step_id"].clone());
    assert!(next.contains(&json!("three")), "{next:?}");
    assert_eq!(count(&project, "step_finished"), 2);
    for output in ["x", "y"] {
        let again = second.good("finished_step", call(output));
        assert_eq!(again["begin_step"]["step_id"], "three", "{again}");
    }
    assert_eq!((judge.asked().len(), count(&project, "step_finished")), (2, 2));
    assert_eq!(first.good("finished_step", call("z"))["status"], "workflow_complete");
}

/// What is handed in becomes a link out of the project while it is judged: no verdict, nothing advanced.
#[test]
fn a_file_that_becomes_a_link_is_not_what_was_judged() {
    let (project, _) = guide();
    let judge = slow(&project);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    let id = finishing(&mut client, plan(&session));
    eventually("the reviewer is asked", || !judge.asked().is_empty());
    let secret = project.home().join("secret");
    std::fs::write(&secret, "the plan").unwrap();
    std::fs::remove_file(project.path("plan.md")).unwrap();
    std::os::unix::fs::symlink(&secret, project.path("plan.md")).unwrap();
    project.write(".go", "");
    let answer = client.answer(id)["result"].clone();
    assert_eq!(status(&answer), "no_verdict", "{answer}");
    assert!(
        client.bad("finished_step", plan(&session))["message"]
            .as_str()
            .unwrap()
            .contains("outside the project")
    );
    assert_eq!(count(&project, "step_finished"), 0);
}
