//! Large questions go through, or are named.

use crate::bench::{Bench, detail};
use countersign_testkit::{Act, Messages};
use serde_json::json;

const LINE: &str = "A line of text, long enough to be one of many.\n";

fn text(bytes: usize, end: &str) -> String {
    LINE.repeat(bytes / LINE.len() + 1) + end
}

fn passing() -> Bench {
    Bench::new(Messages::always(Act::ruling("Complete", true, "")))
}

/// Six files that nobody opened must not pass: their contents are in the question, or one of them is opened.
#[test]
fn attack_many_small_files_do_not_pass_unseen() {
    let bench = passing();
    for n in 0..6 {
        bench.project.write(&format!("{n}.md"), format!("the text of number {n}\n"));
    }
    bench.configure("", "").run_configured(&[]).exits(0);
    assert!((0..6).all(|n| bench.sent().contains(&format!("the text of number {n}"))));
    // By the user's own wish they are only listed.
    bench.configure("", "max_inline_files: 5");
    let json = bench.run_configured(&["--no-cache"]).exits(4).json();
    assert_eq!(json["reason"], "garbled");
    assert!(detail(&json).contains("opened no file (files to read: 7)"), "{}", detail(&json));
    for (tool, input, exit) in [
        ("Glob", json!({ "pattern": "*" }), 4),
        ("Read", json!({ "file_path": "/etc/hostname" }), 4),
        ("Read", json!({ "file_path": "0.md" }), 0),
        ("Grep", json!({ "pattern": "text", "output_mode": "content" }), 0),
    ] {
        let act = Act::Use { tool, input };
        let pass = || Act::ruling("Complete", true, "");
        let script = vec![act.clone(), pass(), act, pass()];
        let bench = Bench { service: Messages::scripted(script, pass()), ..passing() };
        bench.project.write("0.md", "the text of number 0\n");
        bench.configure("", "max_inline_files: 0").run_configured(&[]).exits(exit);
    }
}

#[test]
fn long_notes_go_through() {
    let bench = passing();
    bench.project.write("notes.txt", text(150_000, "the very last note"));
    bench.review(&["--notes", "notes.txt"]).exits(0);
    let asked = bench.service.asked();
    assert!(asked[0].body["system"].to_string().contains("the very last note"));
    assert!(asked[0].body["messages"].to_string().contains("the very last note"));
}

#[test]
fn five_megabytes_go_through() {
    let bench = passing();
    bench.project.write("a.md", text(5_000_000, "the very last line"));
    bench.configure("", "prompt_bytes: 20000000").run_configured(&[]).exits(0);
    assert!(bench.sent().contains("the very last line"));
    bench.assert_clean();
}

#[test]
fn eleven_megabytes_are_named_and_nothing_is_started() {
    let bench = passing();
    bench.project.write("a.md", text(11_000_000, ""));
    bench.configure("", "prompt_bytes: 20000000");
    let json = bench.run_configured(&[]).exits(4).json();
    assert_eq!(json["reason"], "too_long");
    assert!(detail(&json).contains("reads at most 10000000"), "{}", detail(&json));
    assert!(bench.service.asked().is_empty());
}
