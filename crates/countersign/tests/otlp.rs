//! Spans reach a collector on loopback. Only with the feature `otlp`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

use countersign_testkit::{Judge, Project};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

/// Takes one request and gives back its path and its body.
fn one_request(listener: &TcpListener) -> (String, Vec<u8>) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let mut path = String::new();
    reader.read_line(&mut path).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    (path, body)
}

#[test]
fn spans_of_a_review_reach_the_collector_that_the_standard_variable_names() {
    let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
    project.write("a.md", "SECRET WORK\n");
    let judge = Judge::by_word(&project, "Complete");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || one_request(&listener));
    let args = ["review", "a.md", "--criterion", "Complete=Is it complete?", "--reviewer", judge.name()];
    let ran = project.command(&args).env("OTEL_EXPORTER_OTLP_ENDPOINT", address).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (path, body) = collector.join().unwrap();
    let body = String::from_utf8_lossy(&body);
    assert!(path.starts_with("POST /v1/traces "), "{path}");
    for name in ["countersign", "review", "call", "process"] {
        assert!(body.contains(name), "{name}");
    }
    assert!(!body.contains("SECRET WORK"), "a span has no word of the work");
}
