//! `countersign validate` covers state files: named ones, and those where STATE_DIR or the project says.

use super::{FILE, decomposed, plain_items};
use countersign_testkit::Running;

#[test]
fn state_files_are_checked_by_name_and_by_place() {
    let project = decomposed(&plain_items(1));
    let ran = project.run(&["validate", FILE]).exits(0);
    assert!(ran.stdout.contains("qr-plan-code.json: valid"), "{}", ran.stdout);
    let with_variable = || Running::start(project.command(&["validate"]).env("STATE_DIR", "state")).wait();
    with_variable().exits(0);
    project.write(FILE, project.read(FILE).replace("TODO", "MAYBE"));
    for ran in [project.run(&["validate", FILE]), with_variable()] {
        let ran = ran.exits(2);
        assert!(
            ran.stderr.contains("`MAYBE` is not a status") && ran.stderr.contains("qr-plan-code.json:9"),
            "{}",
            ran.stderr
        );
    }
    let ran = project.run(&["validate", "items.json"]).exits(2);
    assert!(ran.stderr.contains("only state files"), "{}", ran.stderr);
    project.run(&["validate", "state/qr-plan-docs.json"]).exits(2);
}
