//! Without a runner the author reviews: by a file, with a token, a result for every criterion.

use super::*;

fn own(project: &Project, more: &[&str]) -> Client {
    let mut client = Client::silent(project, more);
    client.initialize("2025-11-25");
    client
}

fn instructions(project: &Project, session: &str, step: &str) -> String {
    project.read(&format!(".deepwork/tmp/quality_review_{session}_{step}.md"))
}

fn token(text: &str) -> String {
    let at = text.find("\"sr-").unwrap() + 1;
    text[at..].split('"').next().unwrap().to_owned()
}

/// 004.2.7 to 004.2.11, JOBS-3, JOBS-8.
#[test]
fn req_004_2_7_to_11_instructions_a_token_and_results() {
    let (project, _) = guide();
    let mut client = own(&project, &[]);
    let session = start(&mut client);
    let asked = client.good("finished_step", plan(&session));
    // 004.2.10 and 004.2.11: needs_work, and the five things to do.
    assert_eq!((&asked["status"], &asked["failed_reviews"]), (&json!("needs_work"), &json!([])));
    let feedback = asked["feedback"].as_str().unwrap();
    for words in [
        "subagent",
        "1. read",
        "2. evaluate",
        "3. report",
        "fix",
        "4. repeat until",
        "5. then",
        "quality_review_override_reason",
    ] {
        assert!(feedback.contains(words), "{words}: {feedback}");
    }
    // 004.2.7 and 004.2.8: the file, by its name; JOBS-3: paths, never contents. 004.2.9: its parts.
    let text = instructions(&project, &session, "plan");
    assert!(feedback.contains(&format!(".deepwork/tmp/quality_review_{session}_plan.md")));
    for part in [
        "# Quality Review Instructions",
        "## Outputs to Review",
        "- plan.md  (output: plan)",
        "## Criteria to Evaluate",
        "## Guidelines",
        "## Your Task",
        "## Handing In",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(
        !text.contains("the plan\n") && !feedback.contains("sr-"),
        "the token has to be read in the file"
    );
    assert_eq!(project.read(".deepwork/tmp/.gitignore"), "*\n");

    let with = |token: &str, results: Value| {
        let mut call = plan(&session);
        call["quality_review_override_reason"] = json!("reviewed by a subagent");
        call["self_review"] = json!({ "token": token, "results": results });
        call
    };
    let token = token(&text);
    let result = |passed: bool| json!([{ "criterion": "Complete", "passed": passed, "feedback": "looked" }]);
    assert!(
        client.bad("finished_step", with("sr-wrongwrong12", result(true)))["message"]
            .as_str()
            .unwrap()
            .contains("token")
    );
    assert!(
        client.bad("finished_step", with(&token, json!([])))["message"]
            .as_str()
            .unwrap()
            .contains("Complete")
    );
    assert!(client.bad("finished_step", with(&token, json!([{ "criterion": "Other", "passed": true }])))["message"].as_str().unwrap().contains("was not asked"));
    assert_eq!(count(&project, "step_finished"), 0);
    // The author fixed something before coming back: the results are for the files as they are now.
    project.write("plan.md", "a better plan");
    let passed = client.good("finished_step", with(&token, result(true)));
    assert_eq!((&passed["status"], &passed["begin_step"]["step_id"]), (&json!("next_step"), &json!("pages")));
    let shown = project.run(&["show", "--json"]).json();
    assert_eq!(shown["assignments"][0]["ruled_by"], "self");
    assert_eq!(shown["review"]["decisions"], json!([]), "a self-review is no override");
}

#[test]
fn a_bare_reason_is_an_override_on_record_where_the_policy_allows_it() {
    let (project, _) = guide();
    let mut client = own(&project, &[]);
    let session = start(&mut client);
    let mut bare = plan(&session);
    bare["quality_review_override_reason"] = json!("the reviewer timed out");
    assert_eq!(client.good("finished_step", bare.clone())["status"], "next_step");
    let shown = project.run(&["show", "--json"]).json();
    let decision = &shown["review"]["decisions"][0];
    assert_eq!((&decision["reason"], &decision["person"]), (&json!("the reviewer timed out"), &json!(false)));
    assert!(decision["digest"].is_string() && decision["at"].is_string());
    assert!(
        project
            .run(&["show"])
            .stdout
            .contains("decided: approve by agent (an agent): the reviewer timed out")
    );
    for policy in ["people-only", "forbid"] {
        let (project, _) = guide();
        project.write("countersign.yml", format!(
            "version: 1\npolicy: {{overrides: {policy}}}\nrules: [{{name: r, for: ['*.md'], criteria: [{{name: A, check: not_empty}}]}}]\n"
        )).trust();
        let mut client = own(&project, &[]);
        let session = start(&mut client);
        let mut bare = plan(&session);
        bare["quality_review_override_reason"] = json!("please");
        let error = client.bad("finished_step", bare);
        assert!(error["message"].as_str().unwrap().contains("only people may override reviews"), "{error}");
        assert_eq!(count(&project, "step_finished"), 0);
        // An override does not skip the look at what is handed in.
        let missing = json!({ "session_id": session, "outputs": {}, "quality_review_override_reason": "x" });
        assert!(client.bad("finished_step", missing)["message"].as_str().unwrap().contains("is missing"));
    }
}

#[test]
fn calling_again_without_results_gets_a_new_token_and_the_fifth_time_stops() {
    let (project, _) = guide();
    let mut client = own(&project, &[]);
    let session = start(&mut client);
    let mut tokens = vec![];
    for n in 1..=5 {
        let result = client.call("finished_step", plan(&session));
        assert_eq!(status(&result), if n < 5 { "needs_work" } else { "blocked" }, "{n}: {result}");
        if n < 5 {
            tokens.push(token(&instructions(&project, &session, "plan")));
        }
    }
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 4);
}

#[test]
fn a_self_review_that_fails_counts_like_any_other() {
    let (project, _) = guide();
    let mut client = own(&project, &[]);
    let session = start(&mut client);
    client.good("finished_step", plan(&session));
    let first = token(&instructions(&project, &session, "plan"));
    let mut call = plan(&session);
    call["self_review"] = json!({ "token": first, "results": [{ "criterion": "Complete", "passed": false, "feedback": "half of it is missing" }] });
    let failed = client.good("finished_step", call);
    assert_eq!(failed["status"], "needs_work");
    assert_eq!(failed["failed_reviews"][0]["criteria_results"][0]["feedback"], "half of it is missing");
    assert!(failed["feedback"].as_str().unwrap().contains("2 tries are left"));
    // A token is good once: the fixed work needs a review of its own.
    project.write("plan.md", "a whole plan");
    let again = |token: &str| {
        let mut call = plan(&session);
        call["self_review"] =
            json!({ "token": token, "results": [{ "criterion": "Complete", "passed": true }] });
        call
    };
    let used = client.bad("finished_step", again(&first))["message"].as_str().unwrap().to_owned();
    assert!(used.contains("call finished_step without self_review"), "{used}");
    client.good("finished_step", plan(&session));
    assert!(project.run(&["status"]).stdout.contains("step plan: waiting for the author's self-review"));
    let wrong = client.bad("finished_step", again(&first))["message"].as_str().unwrap().to_owned();
    assert!(wrong.contains("instructions file"), "{wrong}");
    let second = token(&instructions(&project, &session, "plan"));
    assert_eq!(client.good("finished_step", again(&second))["status"], "next_step");
    // Nor for a step that is done again.
    client.good("go_to_step", json!({ "step_id": "plan", "session_id": session }));
    project.write("plan.md", "another plan");
    assert!(
        client.bad("finished_step", again(&second))["message"]
            .as_str()
            .unwrap()
            .contains("this token was already used")
    );
    assert_eq!(count(&project, "step_finished"), 1);
}

/// The folder of instructions may be a link that came with the project; nothing is written where it leads.
#[test]
fn instructions_are_never_written_outside() {
    let (project, _) = guide();
    let outside = project.home().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, project.path(".deepwork/tmp")).unwrap();
    let mut client = own(&project, &[]);
    let session = start(&mut client);
    let error = client.bad("finished_step", plan(&session));
    assert!(error["message"].as_str().unwrap().contains("outside the project root"), "{error}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    std::fs::remove_file(project.path(".deepwork/tmp")).unwrap();
    assert_eq!(client.good("finished_step", plan(&session))["status"], "needs_work");
}

/// Two agents of one session are at the same step: each gets instructions of its own, and its token is good.
#[test]
fn instructions_that_are_still_read_are_not_written_over() {
    let (project, _) = guide();
    let mut client = own(&project, &[]);
    let session = start(&mut client);
    let mut begin = started_with("guide");
    (begin["session_id"], begin["agent_id"]) = (json!(session), json!("helper"));
    client.good("start_workflow", begin);
    let of = |agent: &str| {
        let mut call = plan(&session);
        call["agent_id"] = json!(agent);
        call
    };
    let mut tokens = vec![];
    for agent in ["main", "helper"] {
        let asked = client.good("finished_step", of(agent));
        let feedback = asked["feedback"].as_str().unwrap();
        let file = feedback.split_once("1. read ").unwrap().1.split_once(",\n").unwrap().0;
        tokens.push((agent, token(&std::fs::read_to_string(file).unwrap())));
    }
    // The other's token is no good.
    let with = |agent: &str, token: &str| {
        let mut call = of(agent);
        call["self_review"] =
            json!({ "token": token, "results": [{ "criterion": "Complete", "passed": true }] });
        call
    };
    assert!(
        client.bad("finished_step", with("main", &tokens[1].1))["message"]
            .as_str()
            .unwrap()
            .contains("token")
    );
    assert_eq!(token(&instructions(&project, &session, "plan")), tokens[0].1, "the first has the plain name");
    for (agent, token) in &tokens {
        assert_eq!(client.good("finished_step", with(agent, token))["status"], "next_step");
    }
}
