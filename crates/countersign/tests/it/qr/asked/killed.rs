//! Killed while verifying: what was ruled is in the file, and only the rest is asked again.

use super::*;
use countersign_testkit::{Running, eventually};

#[test]
fn what_was_judged_is_kept_when_a_verification_is_killed() {
    let project = project();
    project.write("plan.md", PLAN.replace("BAD", "good"));
    let pipe = project.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // The last item waits for somebody who never comes, the first time.
    let waits = format!(
        "if [ \"$id\" = plan-003 ] && [ ! -e '{0}' ]; then : >'{0}'; read -r line <'{1}'; fi",
        project.path("waited").display(),
        pipe.display()
    );
    let judge = reviewer(&project, &Says::default(), &waits);
    qr(&project, &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()]).exits(0);
    asked(&project);
    let words = args(&verify(&judge));
    let mut running = Running::start(&mut project.command(&words));
    eventually("two of three items passed", || statuses(&project) == ["PASS", "PASS", "TODO"]);
    eventually("the third one is being verified", || project.path("waited").exists());
    running.kill();
    running.wait();
    assert_eq!(statuses(&project), ["PASS", "PASS", "TODO"]);
    qr(&project, &["gate"]).exits(4);
    asked(&project);
    qr(&project, &verify(&judge)).exits(0);
    assert_eq!(asked(&project), ["plan-003"]);
}
