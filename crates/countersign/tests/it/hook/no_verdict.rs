//! No verdict is no finding, and never a loop.

use super::{Bench, goes, held, told};

#[test]
fn without_a_verdict_the_agent_is_held_twice_and_then_the_person_is_told() {
    let bench = Bench::new("");
    bench.project.write("a.md", "good\n").write(".down", "");
    for n in 1..=2 {
        let reason = held(&bench.stops(n > 1));
        for part in
            ["could not review", "There are no findings", &format!("try {n} of 3"), "do not change the files"]
        {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        assert!(!reason.contains("What to fix"), "{reason}");
    }
    let words = told(&bench.stops(true));
    assert!(words.contains("was not reviewed (no verdict"), "{words}");
    let asked = bench.judge.asked().len();
    // For a while nobody is asked, whoever stops.
    assert!(told(&bench.stops(false)).contains("Countersign waits before it asks a reviewer again"));
    assert_eq!(bench.judge.asked().len(), asked);
    let notified = bench.notifications();
    assert!(notified.len() == 1 && notified[0].0.starts_with("No Verdict: claude in "), "{notified:?}");
    // What nobody judged is not what passed.
    std::fs::remove_file(bench.project.path(".down")).unwrap();
    goes(&bench.hook("claude", "s-2", false));
    assert!(bench.payload().contains("+good"));
}

#[test]
fn by_policy_the_agent_is_not_held_without_a_verdict() {
    let bench = Bench::new("policy: {on_no_verdict: tell}\n");
    bench.project.write("a.md", "good\n").write(".down", "");
    assert!(told(&bench.stops(false)).contains("was not reviewed"));
    std::fs::remove_file(bench.project.path(".down")).unwrap();
    goes(&bench.stops(false));
}
