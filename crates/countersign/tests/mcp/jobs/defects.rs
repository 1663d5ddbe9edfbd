//! What is known to go wrong elsewhere. Each row of the table has its test:
//!
//! | known defect | test |
//! |---|---|
//! | one reviewer's error loses the other verdicts | `blocked::no_verdict_is_an_error_that_counts_nothing`, `ends` |
//! | errors use up attempts | `blocked::no_verdict_is_an_error_that_counts_nothing` |
//! | blocked still asks; going back resets the count | `blocked::the_third_failing_call_…`, `ways::going_back_keeps_…` |
//! | a pass with a failed criterion; criteria not matched | `blocked::a_reply_that_does_not_hold_never_advances` |
//! | an override is stored nowhere | `self_review::a_bare_reason_…`, and counted: here |
//! | nobody checks that a self-review happened | `self_review::req_004_2_7_to_11_…` |
//! | 150 KB of notes are too long for arguments | here |
//! | `../` in session_id, outputs outside | `bad_calls`, `self_review::instructions_are_never_written_outside` |
//! | two calls at once start the next step twice | `together::two_calls_of_one_step_are_one` |
//! | a client's timeout leaves the step advanced | `lost_answers` |
//! | every call parses every job.yml | `doors: library::what_did_not_change_is_not_read_again` |
//! | 40 calls for 20 files with one fixed | here |
//! | siblings are never reviewed | `ways::steps_of_one_entry_are_all_judged`, `races` |
//! | a false END marker | `bad_calls::a_false_end_of_the_outputs_ends_nothing` |

use super::*;
use countersign_testkit::Repository;
use countersign_testkit::hiding::{self, Deed, FORGERIES, WAYS};

/// A job of one step whose files are judged one by one.
const SHEETS: &str = r#"
name: sheets
version: "1.0.0"
summary: Sheets
common_job_info_provided_to_all_steps_at_runtime: None.
workflows:
  - {name: write, summary: Sheets, steps: [sheets]}
steps:
  - id: sheets
    name: Sheets
    description: Write them
    instructions_file: pages.md
    outputs:
      sheets: {type: files, description: Sheets, required: true}
    reviews:
      - {run_each: sheets, additional_review_guidance: One of many., quality_criteria: {Complete: Is it complete in every part?}}
"#;

#[test]
fn twenty_files_with_one_fixed_are_twenty_one_questions() {
    let project = project();
    write_job(&project, "sheets", SHEETS);
    let judge = Judge::by_word(&project, "Complete");
    let files: Vec<String> = (0..20).map(|n| format!("sheet-{n}.md")).collect();
    for file in &files {
        project.write(file, format!("this is {file}"));
    }
    project.write("sheet-7.md", "BAD");
    let mut client = external(&project, &[]);
    let started = client.good("start_workflow", started_with("sheets"));
    let call = json!({
        "session_id": started["begin_step"]["session_id"],
        "outputs": { "sheets": files },
        // More than a command line takes.
        "notes": "n".repeat(150_000),
    });
    let failed = client.good("finished_step", call.clone());
    assert_eq!(failed["failed_reviews"].as_array().unwrap().len(), 1, "{failed}");
    assert_eq!(failed["failed_reviews"][0]["target_file"], "sheet-7.md");
    project.write("sheet-7.md", "this is better");
    assert_eq!(client.good("finished_step", call)["status"], "workflow_complete");
    assert_eq!(judge.asked().len(), 21);
}

/// JOBS-5: a reviewer sees outputs, criteria, guidance and notes, and nothing of the conversation.
#[test]
fn reviewers_see_the_work_and_never_the_conversation() {
    let project = project();
    write_job(&project, "sheets", SHEETS);
    let brief = project.path(".brief");
    let pass = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    Judge::scripted(&project, "judge.sh", &format!("printf '%s' \"$brief\" >'{}'\n{pass}", brief.display()));
    project.write("sheet.md", "the sheet itself");
    let mut client = external(&project, &[]);
    let mut begin = started_with("sheets");
    begin["goal"] = json!("what the user wants of me");
    let started = client.good("start_workflow", begin);
    let call = json!({
        "session_id": started["begin_step"]["session_id"],
        "outputs": { "sheets": ["sheet.md"] },
        "notes": "what the author says",
    });
    assert_eq!(client.good("finished_step", call)["status"], "workflow_complete");
    let shown = std::fs::read_to_string(brief).unwrap();
    for seen in ["the sheet itself", "Is it complete in every part?", "One of many.", "what the author says"]
    {
        assert!(shown.contains(seen), "{seen}: {shown}");
    }
    for unseen in ["what the user wants", "Write them", "session"] {
        assert!(!shown.contains(unseen), "{unseen}: {shown}");
    }
}

#[test]
fn overrides_are_counted_in_every_report() {
    let (project, judge) = guide();
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    project.write("plan.md", "BAD");
    client.good("finished_step", plan(&session));
    let mut call = plan(&session);
    call["quality_review_override_reason"] = json!("the reviewer is wrong");
    let passed = client.good("finished_step", call);
    assert!(passed["feedback"].as_str().unwrap().contains("recorded as an override"), "{passed}");
    assert_eq!(judge.asked().len(), 1, "nobody is asked for an override");
    let status = project.run(&["status", "--json"]).json();
    assert_eq!(status["ended"], json!({ "overridden": 1 }));
    let shown = project.run(&["show", &format!("{session}/plan"), "--json"]).json();
    let decision = &shown["review"]["decisions"][0];
    assert_eq!((&decision["reason"], &decision["person"]), (&json!("the reviewer is wrong"), &json!(false)));
    assert!(project.run(&["log"]).stdout.contains("overridden"));
}

/// What people wrote down for the record is free of secrets, like everything else in it.
#[test]
fn goals_and_explanations_are_recorded_without_secrets() {
    let (project, _) = guide();
    let mut client = external(&project, &[]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
    let mut begin = started_with("guide");
    begin["goal"] = json!(format!("publish with {secret}"));
    let session = client.good("start_workflow", begin)["begin_step"]["session_id"].clone();
    let explanation = format!("{secret} does not work");
    client.good("abort_workflow", json!({ "explanation": explanation, "session_id": session }));
    drop(client);
    for file in ["ledger.db", "ledger.db-wal"] {
        let bytes = std::fs::read(project.ledger_path(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{file}");
    }
    assert_eq!(count(&project, "workflow_aborted"), 1);
}

/// Files of a step are judged as they are on disk, whatever is done to the repository around them.
#[test]
fn attack_18_every_way_to_hide_from_a_job() {
    for way in WAYS.iter().chain(&FORGERIES) {
        let project = project();
        let repository = Repository::at(project.root());
        write_job(&project, "sheets", SHEETS);
        Judge::by_word(&project, "Complete");
        for (path, text) in hiding::before() {
            project.write(path, text);
        }
        repository.commit("before");
        for deed in [Deed::Modified, Deed::New].into_iter().filter(|deed| way.hides(*deed)) {
            way.apply(deed, &repository, project.home());
            let mut client = external(&project, &[]);
            let started = client.good("start_workflow", started_with("sheets"));
            let call = json!({
                "session_id": started["begin_step"]["session_id"],
                "outputs": { "sheets": [deed.path()] },
            });
            let failed = client.good("finished_step", call);
            assert_eq!(failed["status"], "needs_work", "{} {deed:?}: {failed}", way.name);
            assert_eq!(failed["failed_reviews"][0]["target_file"], deed.path(), "{} {deed:?}", way.name);
            // The next deed begins with the repository as it was.
            let git = ["-c", "core.bare=false", "--no-replace-objects"];
            repository.try_git([&git[..], &["reset", "-q", "--hard"]].concat());
        }
        countersign_testkit::attack_row(&format!("hiding by {}", way.name), "jobs", "seen", "failed_reviews");
    }
}

/// Reviewers write what they want: nothing of it steers the terminal of whoever reads the answer.
#[test]
fn issue_19_control_characters_of_reviewers_do_not_reach_clients() {
    let esc = "\\u001b[2J\\u202e\\u0007";
    let (project, _) = guide();
    let reply = format!(
        r#"{{"passed": false, "feedback": "whole {esc}", "criteria_results": [{{"criterion": "Complete", "passed": false,
        "feedback": "one {esc}\ntwo", "findings": [{{"message": "flaw {esc}"}}]}}]}}"#
    );
    Judge::replying(&project, &reply);
    let mut client = external(&project, &[]);
    let session = start(&mut client);
    let failed = client.call("finished_step", plan(&session));
    let review = &failed["structuredContent"]["failed_reviews"][0];
    assert_eq!(review["feedback"], r"whole \u{1b}[2J\u{202e}\u{7}");
    let said = review["criteria_results"][0]["feedback"].as_str().unwrap();
    assert!(said.contains("one \\u{1b}[2J") && said.contains("\ntwo"), "{said}");
    let shown = project.run(&["show", &format!("{session}/plan"), "--json"]).json();
    for text in [&failed, &shown] {
        let text = text.to_string();
        let steers = ["\\u001b", "\\u0007", "\u{202e}"].iter().any(|sign| text.contains(sign));
        assert!(!steers, "{text}");
    }
    // Nor does a reply that cannot be used, or what a program says of its end.
    for body in [
        format!(
            r#"printf '%s' '{{"passed": true, "feedback": "", "criteria_results": [{{"criterion": "{esc}", "passed": true}}]}}'"#
        ),
        r#"printf '\033[2J' >&2; exit 1"#.to_owned(),
    ] {
        Judge::scripted(&project, "judge.sh", &body);
        project.write("plan.md", format!("another {}", body.len()));
        let error = client.bad("finished_step", plan(&session)).to_string();
        assert!(!error.contains("\\u001b") && error.contains("no_verdict"), "{error}");
    }
}
