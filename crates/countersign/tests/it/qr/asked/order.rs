//! What is about everything goes one after the other, the rest at once.

use super::*;

/// QR-3.
#[test]
fn qr_3_macro_items_in_sequence_and_micro_items_in_parallel() {
    let whole = json!({ "scope": "*", "check": "c", "severity": "MUST" });
    let part = |n: u32| json!({ "scope": format!("milestone:M{n}"), "check": "c", "severity": "MUST" });
    let says = Says { items: json!({ "items": [part(1), whole, part(2), whole] }), ..Says::default() };
    let project = project();
    project.write("plan.md", PLAN.replace("BAD", "good"));
    let at = |name: &str| project.path(name).display().to_string();
    // Whoever verifies a part waits until the other one is being verified too.
    let meeting = format!(
        "if [ -n \"$id\" ]; then echo \"begin $id\" >>'{log}'; fi\n\
         case $id in plan-001) other=plan-003;; plan-003) other=plan-001;; *) other=;; esac\n\
         if [ -n \"$other\" ]; then : >'{met}'-$id; while [ ! -e '{met}'-$other ]; do sleep 0.02; done\n\
         elif [ -n \"$id\" ]; then echo \"end $id\" >>'{log}'; fi",
        log = at("log"),
        met = at("met"),
    );
    let judge = reviewer(&project, &says, &meeting);
    qr(&project, &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()]).exits(0);
    qr(&project, &verify(&judge)).exits(0);
    let log = project.read("log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..4], ["begin plan-002", "end plan-002", "begin plan-004", "end plan-004"], "{log}");
    assert_eq!(statuses(&project), ["PASS"; 4]);
}
