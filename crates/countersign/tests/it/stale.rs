//! A verdict belongs to exact bytes.

use crate::{COMPLETE, project};
use countersign_testkit::Judge;

const PASS: &str = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;

#[test]
fn a_file_that_changes_under_review_makes_the_verdict_stale() {
    let project = project();
    project.write("a.md", "before");
    let body = format!("echo after >'{}'; {PASS}", project.path("a.md").display());
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let json = project.run(&args).exits(4).json();
    assert_eq!((json["outcome"].as_str(), json["reason"].as_str()), (Some("no_verdict"), Some("stale")));
    assert_eq!(json["review"]["attempts"], 0);
    // The bytes it left are judged on their own, and pass.
    project.run(&args).exits(0);
    assert_eq!(judge.asked().len(), 2);
}

#[test]
fn a_file_that_vanishes_under_review_is_never_a_pass() {
    let project = project();
    project.write("a.md", "x").write("b.md", "y");
    let body = format!("rm -f '{}'; {PASS}", project.path("b.md").display());
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let args = ["review", "a.md", "b.md", "--criterion", COMPLETE, "--reviewer", judge.name()];
    project.run(&args).exits(4);
}
