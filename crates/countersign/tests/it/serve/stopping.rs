//! Ctrl-C: answers are finished, streams end, reviews are left to go on.

use super::{Server, slow};
use countersign_testkit::eventually;
use rustix::process::Signal;
use serde_json::json;
use std::io::{Read, Write};

#[test]
fn a_server_that_stops_answers_who_waits_and_leaves_reviews_resumable() {
    for signal in [Signal::INT, Signal::TERM] {
        let (project, _) = slow();
        let server = Server::start(&project);
        let path = server.post("/v1/reviews", &json!({ "subject": "s" })).header("location").unwrap();
        let ask = |path: &str| {
            let mut stream = server.connect();
            let head = format!(
                "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: {}\r\n\r\n",
                server.port,
                server.bearer()
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream
        };
        let (mut waiting, mut events) = (ask(&format!("{path}?wait=600")), ask("/v1/events"));
        let mut begun = [0; 12];
        events.read_exact(&mut begun).unwrap();
        eventually("both are being answered", || server.get(&path).status == 200);
        assert_eq!(server.served.ends(signal), 0);
        let (mut answer, mut stream) = (String::new(), String::new());
        waiting.read_to_string(&mut answer).unwrap();
        events.read_to_string(&mut stream).unwrap();
        assert!(answer.contains(" 200 OK") && answer.contains("\"outcome\":null"), "{answer}");
        let status = project.run(&["status", "--json"]).exits(0).json();
        assert_eq!(status["open"][0]["interrupted"], true);
        project.write(".go", "");
        let server = Server::start(&project);
        let done = server.post("/v1/reviews?wait=100", &json!({ "subject": "s" })).json();
        assert_eq!((&done["outcome"], &done["review"]["round"]), (&json!("passed"), &json!(1)), "{done}");
        project.run(&["log", "--verify"]).exits(0);
    }
}
