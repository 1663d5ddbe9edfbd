//! Attempts, no verdict, and what only people can lift.

use super::*;

/// JOBS-9: calls 1 and 2 answer needs_work, the third failing call is itself the tool error; then nobody is asked
/// until a person lifts it, whatever is handed in, however the agent goes back.
#[test]
fn the_third_failing_call_blocks_until_a_person_lifts_it() {
    let (project, judge) = guide();
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    for n in 1..=3 {
        project.write("plan.md", format!("BAD {n}"));
        let result = client.call("finished_step", plan(&session));
        assert_eq!(status(&result), if n < 3 { "needs_work" } else { "blocked" }, "{result}");
    }
    let asked = judge.asked().len();
    project.write("plan.md", "a good plan at last");
    for _ in 0..2 {
        client.good("go_to_step", json!({ "step_id": "plan", "session_id": session }));
        let error = client.bad("finished_step", plan(&session));
        assert_eq!(error["code"], "blocked");
        let words = error["message"].as_str().unwrap();
        assert!(words.contains("Review rv-") && words.contains(" waits for a person"), "{error}");
        assert!(!words.contains("unblock") && !words.contains("approve"), "{error}");
    }
    let mut overridden = plan(&session);
    overridden["quality_review_override_reason"] = json!("it is fine");
    assert_eq!(client.bad("finished_step", overridden)["code"], "blocked");
    assert_eq!(judge.asked().len(), asked, "blocked means blocked");
    // People see it, and what to do.
    let status = project.run(&["status", "--json"]).json();
    let (shown, step) = (&status["workflows"][0], &status["workflows"][0]["open_steps"][0]);
    assert_eq!((&shown["workflow"], &shown["session_id"]), (&json!("guide/write"), &json!(session)));
    assert_eq!(
        (&shown["agent_id"], &shown["steps_done"], &shown["steps"]),
        (&json!("main"), &json!(0), &json!(2))
    );
    assert_eq!(
        (&step["step_id"], &step["attempts"], &step["blocked"]),
        (&json!("plan"), &json!(3), &json!(true))
    );
    let text = project.run(&["status"]).stdout;
    assert!(text.contains("step plan: blocked") && text.contains("3 failed attempts"), "{text}");
    // The step is named as the dialect does, or as the log shows it.
    let review = format!("{session}/plan");
    for name in [review.clone(), format!("jobs/{session}/1/plan")] {
        assert_eq!(project.run(&["show", &name, "--json"]).exits(0).json()["review"]["id"], step["review"]);
    }
    for nobody in ["nobody/plan", &format!("{session}/none"), "../x", "/"] {
        project.run(&["show", nobody]).exits(2);
    }
    // An agent cannot lift it: there is no terminal here.
    project.run(&["unblock", &review, "--reason", "go on"]).exits(2);
    let mut person = rexpect::session::spawn_command(
        project.command(&["unblock", &review, "--reason", "go on"]),
        Some(60_000),
    )
    .unwrap();
    person.exp_eof().unwrap();
    assert_eq!(project.run(&["show", "--json"]).json()["review"]["lifts"][0]["person"], true);
    assert_eq!(client.good("finished_step", plan(&session))["status"], "next_step");
}

/// Giving up and beginning anew in the session, also under another name, does not give the tries back.
#[test]
fn a_blocked_workflow_is_not_begun_anew_in_its_session() {
    let (project, judge) = guide();
    write_job(&project, "other", &JOB.replace("name: guide", "name: other"));
    let mut client = external(&project, &["--max-quality-attempts", "1"]);
    let session = start(&mut client);
    project.write("plan.md", "BAD");
    assert_eq!(status(&client.call("finished_step", plan(&session))), "blocked");
    let begin = |job: &str, agent: &str| {
        let mut call = started_with(job);
        (call["session_id"], call["agent_id"]) = (json!(session), json!(agent));
        call
    };
    let refused = |client: &mut Client| {
        for agent in ["main", "fresh"] {
            let error = client.bad("start_workflow", begin("guide", agent));
            assert_eq!(error["code"], "blocked");
            assert!(error["message"].as_str().unwrap().contains(" waits for a person"), "{error}");
        }
    };
    refused(&mut client);
    client.good("abort_workflow", json!({ "explanation": "too hard", "session_id": session }));
    refused(&mut client);
    assert_eq!((judge.asked().len(), count(&project, "workflow_started")), (1, 1));
    // Another workflow is another matter.
    client.good("start_workflow", begin("other", "main"));
}

#[test]
fn the_number_of_attempts_is_settable() {
    let (project, _) = guide();
    let mut client = external(&project, &["--max-quality-attempts", "1"]);
    let session = start(&mut client);
    project.write("plan.md", "BAD");
    assert_eq!(status(&client.call("finished_step", plan(&session))), "blocked");
}

/// A reviewer that fails costs no attempt and loses nothing that others ruled; failed and unanswered units together are
/// needs_work that names both.
#[test]
fn no_verdict_is_an_error_that_counts_nothing() {
    let (project, _) = guide();
    let body = r#"case "$file" in b.md) [ -e "$PWD_ROOT/.up" ] || { echo 'rate limit' >&2; exit 1; };; esac
case "$brief" in *BAD*) p=false;; *) p=true;; esac
printf '{"passed": %s, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": %s, "feedback": "f"}]}' $p $p"#;
    let body = body.replace("$PWD_ROOT", &project.root().display().to_string());
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    client.good("finished_step", plan(&session));
    for _ in 0..2 {
        let error = client.bad("finished_step", pages(&session, &["a.md", "b.md"]));
        assert_eq!(error["code"], "no_verdict");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("b.md") && message.contains("rate limit"), "{message}");
    }
    let asked = |file: &str| judge.asked().iter().filter(|one| *one == file).count();
    assert_eq!((asked("a.md"), asked("b.md")), (1, 2), "what was ruled is kept");
    project.write("a.md", "BAD");
    let failed = client.good("finished_step", pages(&session, &["a.md", "b.md"]));
    let feedback = failed["feedback"].as_str().unwrap();
    assert!(feedback.contains("No verdict yet on: b.md"), "{feedback}");
    assert!(feedback.contains("2 tries are left"), "only a real verdict counts: {feedback}");
    project.write("a.md", "page a").write(".up", "");
    assert_eq!(
        client.good("finished_step", pages(&session, &["a.md", "b.md"]))["status"],
        "workflow_complete"
    );
}

/// JOBS-6: a reviewer that contradicts itself is asked once more and then is no verdict; a pass without rulings, or with
/// other criteria than were asked, is none either.
#[test]
fn a_reply_that_does_not_hold_never_advances() {
    for reply in [
        r#"{"passed": false, "feedback": "no", "criteria_results": [{"criterion": "Complete", "passed": true}]}"#,
        r#"{"passed": true, "feedback": "yes", "criteria_results": [{"criterion": "Complete", "passed": false}]}"#,
        r#"{"passed": true, "feedback": "yes"}"#,
        r#"{"passed": true, "feedback": "yes", "criteria_results": [{"criterion": "Other", "passed": true}]}"#,
    ] {
        let (project, _) = guide();
        let judge = Judge::replying(&project, reply);
        let mut client = external(&project, &[]);
        let session = start(&mut client);
        assert_eq!(status(&client.call("finished_step", plan(&session))), "no_verdict", "{reply}");
        assert_eq!((judge.asked().len(), count(&project, "step_finished")), (2, 0), "{reply}");
    }
}

/// Document 001: the override is the way out where reviews time out. Messages say when calling again cannot help.
#[test]
fn issue_19_an_override_goes_through_where_no_reviewer_rules() {
    let (project, _) = guide();
    let judge = Judge::scripted(&project, "judge.sh", "echo 'rate limit' >&2; exit 1");
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    let mut refused = |code: &str| {
        let error = client.bad("finished_step", plan(&session));
        assert_eq!(error["code"], code, "{error}");
        let message = error["message"].as_str().unwrap().to_owned();
        assert!(message.contains("(review rv-") && message.contains("rate limit"), "{message}");
        message
    };
    for n in 1..=3 {
        let message = refused("no_verdict");
        assert_eq!(message.contains("calling again before that cannot help"), n == 3, "{message}");
        assert_eq!(message.contains("Call finished_step again"), n < 3, "{message}");
    }
    let asked = judge.asked().len();
    let message = refused("cooling_off");
    for words in ["calling again before that cannot help", "quality_review_override_reason", "(until "] {
        assert!(message.contains(words), "{words}: {message}");
    }
    let mut overridden = plan(&session);
    overridden["quality_review_override_reason"] = json!("the reviewer times out");
    let passed = client.good("finished_step", overridden);
    assert_eq!((&passed["status"], &passed["begin_step"]["step_id"]), (&json!("next_step"), &json!("pages")));
    assert_eq!(judge.asked().len(), asked, "no reviewer is asked for an override");
    let shown = project.run(&["show", &format!("{session}/plan"), "--json"]).json();
    assert_eq!(shown["outcome"], "overridden", "{shown}");
    assert_eq!(shown["review"]["decisions"][0]["reason"], "the reviewer times out");
    project.run(&["log", "--verify"]).exits(0);
}

/// The same where only people may override: it stays refused, and no round is added.
#[test]
fn issue_19_overrides_for_people_are_refused_also_without_a_verdict() {
    let (project, _) = guide();
    configure(&project, "policy: {overrides: people-only}\n");
    project.trust();
    Judge::scripted(&project, "judge.sh", "exit 1");
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    for _ in 0..3 {
        client.bad("finished_step", plan(&session));
    }
    let error = client.bad("finished_step", plan(&session));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("a person can unblock") && !message.contains("override_reason"), "{message}");
    let mut overridden = plan(&session);
    overridden["quality_review_override_reason"] = json!("it times out");
    let error = client.bad("finished_step", overridden);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("only people may override") && message.contains("review rv-"), "{message}");
}

/// 004.2.5 requires `passed` and `feedback`: a reply without one is asked for once more. Then 004.9 holds.
#[test]
fn issue_19_req_004_9_2_and_9_3_a_reply_without_what_the_schema_requires() {
    let ruled =
        |passed: bool| format!(r#""criteria_results": [{{"criterion": "Complete", "passed": {passed}}}]"#);
    let feedback = "No feedback provided";
    for (reply, expected, said) in [
        (format!("{{{}}}", ruled(false)), "needs_work", feedback),
        (format!(r#"{{"passed": false, {}}}"#, ruled(false)), "needs_work", feedback),
        (format!(r#"{{"passed": false, "feedback": null, {}}}"#, ruled(false)), "needs_work", feedback),
        (r#"{"feedback": "a gap"}"#.to_owned(), "needs_work", "a gap"),
        ("{}".to_owned(), "needs_work", feedback),
        (format!(r#"{{"passed": true, {}}}"#, ruled(true)), "next_step", ""),
        // Missing is false, and that contradicts a pass.
        (format!(r#"{{"feedback": "fine", {}}}"#, ruled(true)), "no_verdict", ""),
    ] {
        let (project, _) = guide();
        let judge = Judge::replying(&project, &reply);
        let mut client = external(&project, &[]);
        let session = start(&mut client);
        let answer = client.call("finished_step", plan(&session));
        assert_eq!((status(&answer), judge.asked().len()), (expected, 2), "{reply}: {answer}");
        if !said.is_empty() {
            assert_eq!(answer["structuredContent"]["failed_reviews"][0]["feedback"], said, "{reply}");
        }
    }
    // A second reply that is whole counts as it is.
    let (project, _) = guide();
    let flag = project.home().join("asked-before");
    let whole = format!(r#"{{"passed": true, "feedback": "", {}}}"#, ruled(true));
    let body = format!(
        "if [ -e '{0}' ]; then printf '%s' '{whole}'; else touch '{0}'; printf '{{}}'; fi",
        flag.display()
    );
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    assert_eq!(client.good("finished_step", plan(&session))["status"], "next_step");
    assert_eq!(judge.asked().len(), 2);
}
