//! Large questions go through whole, or are named.

use super::{passing, question};
use crate::bench::detail;

const LINE: &str = "A line of text, long enough to be one of many.\n";

fn text(bytes: usize, end: &str) -> String {
    LINE.repeat(bytes / LINE.len() + 1) + end
}

#[test]
fn four_megabytes_go_through_and_what_is_never_sent_is_named() {
    let bench = passing();
    bench.configure("", "prompt_bytes: 20000000");
    let largest = text(4_000_000, "the very last line");
    bench.project.write("a.md", &largest).write("notes.txt", text(150_000, "the very last note"));
    bench.run_configured(&["--notes", "notes.txt"]).exits(0);
    assert!(question(&bench).contains(&largest));
    let system = bench.service.asked()[0].body["systemInstruction"].to_string();
    assert!(system.contains("the very last note"));

    // The program takes four letters for a token, and sends no more of those than a model has room for.
    let table = [(5_000_000, "it counted the tokens itself"), (9_000_000, "reads at most 8388608")];
    for (bytes, words) in table {
        bench.project.write("a.md", text(bytes, ""));
        let json = bench.run_configured(&[]).exits(4).json();
        assert_eq!(json["reason"], "too_long");
        assert!(detail(&json).contains(words), "{}", detail(&json));
    }
    assert_eq!(bench.service.asked().len(), 1);
    bench.assert_clean();
}
