//! People decide: about exactly what they saw, once.

use super::{Server, events_of, handed_in, judged};
use serde_json::{Value, json};

fn decide(server: &Server, review: &Value, verb: &str, digest: &Value) -> (u16, Value) {
    let path = format!("/v1/reviews/{}/decision", review["id"].as_str().unwrap());
    let answer = server.post(&path, &json!({ "verb": verb, "digest": digest, "reason": "because ghp_abcdefghijklmnopqrstuvwxyz0123456789" }));
    (answer.status, answer.json())
}

#[test]
fn a_decision_is_that_of_the_person_who_serves() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    for (verb, outcome) in [("approve", "overridden"), ("skip", "skipped"), ("reject", "stopped")] {
        let review = handed_in(&server, verb)["review"].clone();
        let (status, json) = decide(&server, &review, verb, &review["digest"]);
        assert_eq!((status, &json["review"]["outcome"]), (200, &json!(outcome)), "{json}");
        let decision = &json["review"]["decisions"][0];
        assert_eq!(
            (&decision["by"], &decision["person"], &decision["verb"]),
            (&json!(crate::people::account()), &json!(true), &json!(verb))
        );
        assert!(!json.to_string().contains("ghp_abc"), "a secret in a reason is kept back: {json}");
        let mut shown = project.run(&["show", review["id"].as_str().unwrap(), "--json"]).exits(0).json();
        assert_eq!((&json["outcome"], &json["exit_code"]), (&json!(outcome), &json!(0)), "{json}");
        // The decision was taken, whatever it did to the review.
        (shown["command"], shown["exit_code"]) = (json!("decide"), json!(0));
        // Only `show` and `review` look up what gates count.
        assert_eq!(shown["gates"]["count"], json!(false), "{shown}");
        shown["gates"] = json!(null);
        assert_eq!(json, shown);
    }
    let review = handed_in(&server, "reject")["review"].clone();
    let (status, json) = decide(&server, &review, "unblock", &review["digest"]);
    assert_eq!((status, &json["review"]["lifts"][0]["person"]), (200, &json!(true)), "{json}");
    let (status, json) = decide(&server, &review, "withdraw", &review["digest"]);
    assert_eq!((status, &json["review"]["reason"]), (200, &json!("withdrawn")), "{json}");
}

#[test]
fn about_other_work_nothing_is_decided() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    let seen = handed_in(&server, "s")["review"].clone();
    project.write("a.md", "another BAD text\n");
    let now = handed_in(&server, "s")["review"].clone();
    assert_eq!(seen["id"], now["id"]);
    let before = events_of(&project);
    for verb in ["approve", "skip", "reject", "fix", "unblock", "withdraw"] {
        let (status, json) = decide(&server, &seen, verb, &seen["digest"]);
        assert_eq!((status, &json["error"]["code"]), (409, &json!("refused")), "{verb}: {json}");
        assert!(json["error"]["message"].as_str().unwrap().contains("changed"), "{json}");
    }
    assert_eq!(events_of(&project), before);
    assert_eq!(decide(&server, &now, "approve", &now["digest"]).0, 200);
}

#[test]
fn of_many_who_decide_at_once_one_does() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    let review = handed_in(&server, "s")["review"].clone();
    let verbs = ["approve", "skip", "approve", "skip", "approve", "skip", "approve", "skip"];
    let mut answers: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = verbs
            .iter()
            .map(|verb| scope.spawn(|| decide(&server, &review, verb, &review["digest"]).0))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    answers.sort_unstable();
    assert_eq!(answers, [200, 409, 409, 409, 409, 409, 409, 409]);
    let shown = server.get(&format!("/v1/reviews/{}", review["id"].as_str().unwrap())).json();
    assert_eq!(shown["review"]["decisions"].as_array().unwrap().len(), 1);
}

/// Reject and then approve on one digest: the first counts.
#[test]
fn a_second_decision_about_the_same_digest_is_refused_and_names_the_first() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    for (first, second) in
        [("reject", "approve"), ("reject", "skip"), ("approve", "reject"), ("fix", "approve")]
    {
        let review = handed_in(&server, &format!("{first}-{second}"))["review"].clone();
        assert_eq!(decide(&server, &review, first, &review["digest"]).0, 200);
        let before = events_of(&project);
        let (status, json) = decide(&server, &review, second, &review["digest"]);
        assert_eq!((status, &json["error"]["code"]), (409, &json!("refused")), "{json}");
        let words = json["error"]["message"].as_str().unwrap();
        assert!(
            words.contains(&format!(
                "this was already decided: {first} by {} (over HTTP",
                crate::people::account()
            )),
            "{words}"
        );
        assert_eq!(events_of(&project), before);
    }
}

/// Issue 17: `serve & curl …/decision` decided as a person.
#[test]
fn attack_17_a_server_without_a_terminal_decides_nothing() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let review = handed_in(&server, "s")["review"].clone();
    let before = events_of(&project);
    for verb in ["approve", "skip", "reject", "fix", "unblock"] {
        let (status, json) = decide(&server, &review, verb, &review["digest"]);
        assert_eq!((status, &json["error"]["code"]), (403, &json!("people_only")), "{verb}: {json}");
        let hint = json["error"]["hint"].as_str().unwrap();
        assert!(
            hint.contains("no person started this server at a terminal: standard input is not"),
            "{hint}"
        );
    }
    assert_eq!(events_of(&project), before);
    let no_token = std::fs::read_dir(project.ledger_dir()).unwrap().flatten();
    assert!(no_token.into_iter().all(|file| !file.file_name().to_string_lossy().contains("person")));
    countersign_testkit::attack_row(
        "serve & curl .../decision without a terminal",
        "serve",
        "refused (403)",
        "the answer",
    );
}

/// The token in the file can be read by every program of the account, so it is none of a person.
#[test]
fn attack_17_the_token_in_the_file_decides_nothing() {
    let (project, _) = judged();
    let person = Server::at_terminal(&project);
    let review = handed_in(&person, "s")["review"].clone();
    let token = project.read_own("serve-token").trim().to_owned();
    assert_ne!(person.token, token);
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let path = format!("/v1/reviews/{}/decision", review["id"].as_str().unwrap());
    let body = json!({ "verb": "approve", "digest": review["digest"], "reason": "r" }).to_string();
    let answer = person.served.send("POST", &path, &headers, &body);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (403, &json!("people_only")));
    assert_eq!(person.served.send("GET", "/v1/status", &headers, "").status, 200);
    // The record says which token, and where it was made.
    let (status, json) = decide(&person, &review, "approve", &review["digest"]);
    let decision = &json["review"]["decisions"][0];
    assert_eq!((status, &decision["channel"]), (200, &json!("http")), "{json}");
    let (name, terminal) = (decision["token"].as_str().unwrap(), decision["terminal"].as_str().unwrap());
    assert!(name.len() == 8 && !person.token.contains(name) && terminal.starts_with("/dev/"), "{decision}");
    countersign_testkit::attack_row(
        "the token of a person's serve read from its file",
        "serve",
        "refused (403)",
        "the answer",
    );
}
