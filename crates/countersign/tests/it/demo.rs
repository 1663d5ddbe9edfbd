//! The demo: judged, sent back, fixed and passed, with no model and no network.

use crate::project;

/// What a person sees, with everything that changes from run to run taken out.
#[test]
fn the_demo_reads_well() {
    let project = project();
    let ran = project.run(&["demo"]).exits(0);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"rv-[a-z0-9]{12}", "rv-…");
    settings.bind(|| insta::assert_snapshot!(ran.stdout));
}

#[test]
fn later_rounds_ask_only_what_changed() {
    let project = project();
    let json = project.run(&["demo", "--json"]).exits(0).json();
    let rounds = json["rounds"].as_array().unwrap();
    let seen: Vec<_> = rounds
        .iter()
        .map(|round| {
            let count = |key: &str| round["cost"][key].as_u64().unwrap();
            (round["review"]["outcome"].as_str().unwrap(), count("questions_asked"), count("rulings_reused"))
        })
        .collect();
    assert_eq!(seen, [("needs_work", 6, 0), ("needs_work", 2, 4), ("passed", 2, 4)]);
}

#[test]
fn a_kept_demo_can_be_looked_at_and_nothing_is_overwritten() {
    let project = project();
    project.run(&["demo", "--keep", "here"]).exits(0);
    let mut log = project.command(&["log"]);
    let ran = countersign_testkit::Running::start(log.current_dir(project.path("here"))).wait();
    assert!(ran.stdout.contains("cli/demo"), "{ran:?}");
    project.run(&["demo", "--keep", "here"]).exits(2);
}
