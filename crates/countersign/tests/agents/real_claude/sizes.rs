//! Large questions go through, or are named.

use crate::bench::{Bench, detail};
use countersign_testkit::{Act, Messages};

const LINE: &str = "A line of text, long enough to be one of many.\n";

fn text(bytes: usize, end: &str) -> String {
    LINE.repeat(bytes / LINE.len() + 1) + end
}

fn passing() -> Bench {
    Bench::new(Messages::always(Act::ruling("Complete", true, "")))
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
