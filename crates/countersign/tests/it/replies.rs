//! What a reviewer can reply, seen at the door: each leads to its named outcome, none to an unearned pass.

use crate::{COMPLETE, project};
use countersign_testkit::Judge;

const PASS: &str = r#"{"passed": true, "feedback": "fine", "criteria_results": [{"criterion": "Complete", "passed": true}]}"#;
const FAIL: &str = r#"{"passed": false, "feedback": "no", "criteria_results": [{"criterion": "Complete", "passed": false, "feedback": "gap"}]}"#;

/// The exit code, the reason and how often the reviewer was asked.
fn judge(reply: &str) -> (i32, String, usize) {
    let project = project();
    project.write("a.md", "text");
    let judge = Judge::replying(&project, reply);
    let ran = project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"]);
    let json = ran.json();
    assert_eq!(json["exit_code"], ran.code);
    (ran.code, json["reason"].as_str().unwrap_or("").to_owned(), judge.asked().len())
}

#[test]
fn replies_lead_where_they_must() {
    let garbled = (4, "garbled".to_owned(), 2);
    let contradictory = (4, "contradictory".to_owned(), 2);
    let table = [
        (PASS.to_owned(), (0, String::new(), 1)),
        (format!("```json\n{PASS}\n```"), (0, String::new(), 1)),
        (FAIL.to_owned(), (1, String::new(), 1)),
        (r#"{"passed": false, "feedback": "no"}"#.to_owned(), (1, String::new(), 1)),
        (PASS.replacen("true", "false", 1), contradictory.clone()),
        (FAIL.replacen("false", "true", 1), contradictory),
        (r#"{"passed": true, "feedback": "fine"}"#.to_owned(), garbled.clone()),
        (PASS.replace("Complete", "Other"), garbled.clone()),
        (format!("{PASS}{PASS}"), garbled.clone()),
        (PASS.replace("\"feedback\": \"fine\"", "\"passed\": true"), garbled.clone()),
        (PASS.replace("true", "NaN"), garbled.clone()),
        (PASS.replacen("true", "\"yes\"", 1), garbled.clone()),
        ("passed".to_owned(), garbled.clone()),
        (format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), garbled.clone()),
        (String::new(), garbled),
    ];
    for (reply, expected) in table {
        assert_eq!(judge(&reply), expected, "{}", &reply[..reply.len().min(200)]);
    }
}

/// In the reply, or beside it where nothing would be lost without it.
#[test]
fn attack_a_reply_that_is_no_text_is_no_verdict() {
    let within = PASS.replace("fine", "\\377");
    for reply in [format!("{within}\\n"), format!("{PASS}\\n\\377\\n")] {
        let project = project();
        project.write("a.md", "text");
        let judge = Judge::scripted(&project, "judge.sh", &format!("printf '{reply}'"));
        let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
        assert_eq!(project.run(&args).exits(4).json()["reason"], "garbled", "{reply}");
    }
}

/// Every other way a reviewer can end is no verdict either.
#[test]
fn ends_without_a_reply_are_no_verdicts() {
    let reply = format!("printf '%s' '{PASS}'");
    let table = [
        (format!("{reply}; exit 3"), "unavailable"),
        (format!("{reply}; kill -KILL $$"), "unavailable"),
        (format!("{reply}; kill -KILL $PPID"), "unavailable"),
        (format!("{reply}; yes"), "too_long"),
        ("head -c 1000000000 /dev/zero".to_owned(), "too_long"),
        ("head -c 1000 /dev/urandom".to_owned(), "garbled"),
    ];
    for (body, reason) in table {
        let project = project();
        project.write("a.md", "text");
        let judge = Judge::scripted(&project, "judge.sh", &body);
        let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
        let json = project.run(&args).exits(4).json();
        assert_eq!(
            (json["outcome"].as_str(), json["reason"].as_str()),
            (Some("no_verdict"), Some(reason)),
            "{body}"
        );
        assert_eq!(json["assignments"][0]["state"], "no_verdict");
    }
}

#[test]
fn a_missing_program_and_a_timeout_are_named() {
    let project = project();
    project.write("a.md", "text");
    let missing = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "command:./nowhere", "--json"];
    let json = project.run(&missing).exits(4).json();
    assert!(json["assignments"][0]["detail"].as_str().unwrap().contains("no such program"), "{json}");
    Judge::scripted(&project, "slow.sh", "sleep 1000");
    let config = "version: 1\nreviewers: [{name: slow, use: command, command: [./slow.sh], timeout_seconds: 1}]\nrules: [{name: r, for: ['*.md'], criteria: [{name: C, ask: 'ok?'}]}]\n";
    project.write("countersign.yml", config);
    let json = project.run(&["review", "--json"]).exits(4).json();
    assert_eq!(json["reason"], "timeout");
}

/// The second try names the defect, and its answer counts.
#[test]
fn a_defective_reply_is_repaired_once() {
    let project = project();
    project.write("a.md", "text");
    let body = format!(
        "case \"$brief\" in *'could not be used: `passed` is false, and every criterion passed'*) printf '%s' '{PASS}';; *) printf '%s' '{}';; esac",
        PASS.replacen("true", "false", 1)
    );
    let judge = Judge::scripted(&project, "judge.sh", &body);
    project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()]).exits(0);
    assert_eq!(judge.asked().len(), 2);
}

/// A failure wins over a missing ruling, and nothing already judged is lost.
#[test]
fn no_verdict_costs_no_attempt_and_loses_nothing() {
    let project = project();
    project.write("a.md", "fine").write("b.md", "BROKEN");
    let body = format!(
        "case \"$brief\" in *BROKEN*) exit 1;; *BAD*) printf '%s' '{FAIL}';; *) printf '%s' '{PASS}';; esac"
    );
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let args = [
        "review",
        "a.md",
        "b.md",
        "--each-file",
        "--criterion",
        COMPLETE,
        "--reviewer",
        judge.name(),
        "--subject",
        "x",
        "--json",
    ];
    let json = project.run(&args).exits(4).json();
    assert_eq!(
        (json["review"]["attempts"].as_u64(), json["assignments"][0]["state"].as_str()),
        (Some(0), Some("passed"))
    );
    // Again: only what has no ruling is asked.
    project.run(&args).exits(4);
    let mut asked = judge.asked();
    asked.sort();
    assert_eq!(asked, ["a.md", "b.md", "b.md"]);
    project.write("a.md", "BAD");
    let json = project.run(&args).exits(1).json();
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    assert_eq!(json["assignments"][1]["state"], "no_verdict");
    // Fixed, and the reviewer is well again.
    project.write("a.md", "fine").write("b.md", "works now");
    project.run(&args).exits(0);
}

#[test]
fn after_three_rounds_without_a_verdict_nobody_is_asked_for_a_while() {
    let project = project();
    project.write("a.md", "text");
    let judge = Judge::scripted(&project, "judge.sh", "exit 1");
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    for _ in 0..3 {
        project.run(&args).exits(4);
    }
    let json = project.run(&args).exits(4).json();
    assert!(
        json["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Countersign waits before it asks a reviewer again"),
        "{json}"
    );
    assert_eq!(judge.asked().len(), 3);
}
