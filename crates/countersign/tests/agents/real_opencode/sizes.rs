//! A large question goes through.

use super::passing;

const LINE: &str = "A line of text, long enough to be one of many.\n";

fn text(bytes: usize, end: &str) -> String {
    LINE.repeat(bytes / LINE.len() + 1) + end
}

/// Also a system prompt that is longer than a variable may be.
#[test]
fn megabytes_go_through() {
    let bench = passing();
    bench.configure("", "prompt_bytes: 20000000");
    bench.project.write("a.md", text(2_000_000, "the very last line"));
    bench.project.write("notes.txt", text(150_000, "the very last note"));
    bench.run_configured(&["--notes", "notes.txt"]).exits(0);
    let messages = &bench.service.asked()[0].body["messages"];
    assert!(messages[0]["content"].as_str().unwrap().contains("the very last note"));
    assert!(messages[1]["content"].as_str().unwrap().contains("the very last line"));
    bench.assert_clean();
}
