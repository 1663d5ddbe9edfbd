//! The commands that ask reviewers, with scripted ones.

mod killed;
mod looping;
mod material;
mod no_verdict;
mod order;
mod reconcile;
mod rounds;
mod services;

use super::{args, project, qr, state, statuses};
use countersign_testkit::{Judge, Project};
use serde_json::{Value, json};

/// A plan with two milestones, one of which has a word in it that verifiers fail.
pub const PLAN: &str =
    "# Plan\n\n## Milestone M1: Parse\n\nAcceptance: BAD\n\n## Milestone M2: Write\n\nAcceptance: fine\n";

/// What the reviewer of these tests says about everything that is no item: by what is asked.
pub struct Says {
    pub items: Value,
    pub fixes: Value,
    pub milestone: Value,
}

impl Default for Says {
    fn default() -> Self {
        Self {
            items: json!({ "items": [
                { "scope": "*", "check": "Verify milestone definitions", "severity": "SHOULD" },
                { "scope": "milestone:M1", "check": "Check acceptance criteria", "severity": "MUST" },
                { "scope": "milestone:M2", "check": "Check acceptance criteria of M2", "severity": "MAY" },
            ] }),
            fixes: json!({ "fixes": [{ "id": "plan-002", "fix": "Add acceptance criteria to M1.\nInclude:\n- Success conditions" }] }),
            milestone: json!({}),
        }
    }
}

/// A reviewer that fails what has the word BAD in it, unless it is about everything; `before` runs first, with the
/// item's id in `$id`.
pub fn reviewer(project: &Project, says: &Says, before: &str) -> Judge {
    let file = |name: &str, value: &Value| {
        project.write(name, value.to_string());
        project.path(name).display().to_string()
    };
    let (items, fixes) = (file(".items", &says.items), file(".fixes", &says.fixes));
    let milestone = file(".milestone", &says.milestone);
    let body = format!(
        r#"id=$(printf '%s' "$brief" | grep -o '"criteria":\[{{"name":"[^"]*"' | cut -d'"' -f6)
echo "$id" >>'{log}'
{before}
case "$brief" in
*'"consult":"decompose:'*) cat '{items}';;
*'"consult":"fix:'*) cat '{fixes}';;
*'"consult":"reconcile:'*) cat '{milestone}';;
*)
  case "$id$brief" in plan-001*) p=true;; *BAD*) p=false;; *) p=true;; esac
  printf '{{"passed": %s, "feedback": "f", "criteria_results": [{{"criterion": "%s", "passed": %s, "feedback": "Acceptance criteria missing for M1", "severity": "MAY"}}], "severity": "MAY"}}' $p "$id" $p;;
esac"#,
        log = project.path(".ids").display()
    );
    Judge::scripted(project, "judge.sh", &body)
}

/// The items that were asked about since the last look, in order; consultations are empty.
fn asked(project: &Project) -> Vec<String> {
    let log = std::fs::read_to_string(project.path(".ids")).unwrap_or_default();
    let _ = std::fs::remove_file(project.path(".ids"));
    log.lines().map(str::to_owned).collect()
}

/// A project with the plan and the usual reviewer, broken into items by it.
pub fn decomposed_by(says: &Says, before: &str) -> (Project, Judge) {
    let project = project();
    project.write("plan.md", PLAN);
    let judge = reviewer(&project, says, before);
    qr(&project, &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()]).exits(0);
    asked(&project);
    (project, judge)
}

fn verify(judge: &Judge) -> Vec<&str> {
    vec!["verify", "--reviewer", judge.name()]
}
