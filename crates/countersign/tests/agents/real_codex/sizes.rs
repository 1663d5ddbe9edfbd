//! Large questions go through, or are named.

use super::always;
use crate::bench::detail;
use countersign_testkit::Act;

const LINE: &str = "A line of text, long enough to be one of many.\n";

#[test]
fn nearly_a_megabyte_goes_through() {
    let bench = always(Act::ruling("Complete", true, ""));
    bench.project.write("a.md", LINE.repeat(1_000_000 / LINE.len()) + "the very last line");
    bench.configure("", "prompt_bytes: 20000000").run_configured(&[]).exits(0);
    assert!(bench.sent().contains("the very last line"));
    bench.assert_clean();
}

#[test]
fn five_megabytes_are_named_and_nothing_is_started() {
    let bench = always(Act::ruling("Complete", true, ""));
    bench.project.write("a.md", LINE.repeat(5_000_000 / LINE.len()));
    let json = bench.configure("", "prompt_bytes: 20000000").run_configured(&[]).exits(4).json();
    assert_eq!(json["reason"], "too_long");
    assert!(detail(&json).contains("reads at most 1048576"), "{}", detail(&json));
    assert!(bench.service.asked().is_empty());
}
