//! kill -9 at every write of a hook: the next stop finds out the same, and never a pass that was not given.

use super::{Bench, goes, held};
use countersign_testkit::Running;
use serde_json::json;

#[test]
fn slow_dying_at_every_write_passes_nothing_and_the_next_stop_goes_on() {
    for (work, passes) in [("good\n", true), ("BAD\n", false)] {
        let mut deaths = 0;
        'writes: for write in 1.. {
            for moment in [format!("{write}"), format!("{write}!")] {
                let bench = Bench::new("");
                goes(&bench.stops(false));
                bench.project.write("a.md", work);
                let input = json!({
                    "session_id": "s-1", "cwd": bench.project.root(), "hook_event_name": "Stop",
                    "stop_hook_active": false, "transcript_path": null,
                });
                let mut command = bench.project.command(&["hook", "claude"]);
                command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", &moment);
                let ran = Running::fed(&mut command, input.to_string().as_bytes()).wait();
                if ran.code != -1 {
                    assert_eq!(ran.code, 0, "{ran:?}");
                    break 'writes;
                }
                deaths += 1;
                let again = bench.stops(false);
                match passes {
                    true => goes(&again),
                    false => assert!(held(&again).contains("there is a BAD word"), "{moment}: {again:?}"),
                }
                assert!(bench.judge.asked().len() <= 2, "{moment}");
                bench.project.run(&["log", "--verify"]).exits(0);
            }
        }
        assert!(deaths >= 6, "{work}: {deaths}");
    }
}
