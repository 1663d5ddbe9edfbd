//! Events as JSON files: a pull request, a merge queue, a push, GitLab, plain git, and clones that lack something.

use super::{Hosted, LAX, pull_request};
use countersign_testkit::Running;
use serde_json::json;
use std::fs;

#[test]
fn issue_20_a_pull_request_is_judged_with_annotations_summary_outputs_and_comment() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    let head = hosted.branch("topic", &[("new.md", "fine\n\nTODO: later\n")]);
    // The branch went on meanwhile, with something bad that is not of this work.
    hosted.origin.write("other.md", "TODO: on main\n");
    hosted.origin.commit("meanwhile");
    let job = hosted.merged(&head);
    let comment = job.home().join("comment.md");
    let args = ["ci", "--comment", comment.to_str().unwrap()];
    let done = job.on_github_with("pull_request", &pull_request(&base, &head), &args).exits(1);
    let shown = done.shown();
    let at = shown.iter().find(|command| command.properties.contains_key("file")).unwrap();
    assert_eq!((at.name.as_str(), at.properties["file"].as_str()), ("error", "new.md"));
    assert_eq!(at.properties["line"], "3", "{at:?}");
    assert!(!done.said().contains("other.md"), "{}", done.said());
    assert!(
        done.summary.starts_with("# Other steps\n<!-- countersign:. -->\n### ❌ Countersign: needs work")
    );
    assert!(done.summary.contains("judged by the version of origin/main"), "{}", done.summary);
    let comment = fs::read_to_string(comment).unwrap();
    assert!(comment.starts_with("<!-- countersign:. -->\n") && comment.contains("new.md:3"), "{comment}");
    for line in ["outcome=needs_work\n", "exit-code=1\n", "passed=false\n", "findings=1\n", "review=rv-"] {
        assert!(done.outputs.contains(line), "{line}: {}", done.outputs);
    }
    // The head itself checked out is the same work.
    let job = hosted.job(&head);
    let done = job.on_github("pull_request", &pull_request(&base, &head)).exits(1);
    assert!(!done.said().contains("other.md"), "{}", done.said());
    // Fixed work passes.
    let head = hosted.branch("fixed", &[("new.md", "fine\n")]);
    let done = hosted.merged(&head).on_github("pull_request", &pull_request(&base, &head)).exits(0);
    assert!(done.summary.contains("### ✅ Countersign: passed") && done.outputs.contains("passed=true\n"));
    assert_eq!(done.shown().iter().filter(|command| command.name == "error").count(), 0);
}

#[test]
fn issue_20_only_the_commit_of_the_event_is_judged() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    let head = hosted.branch("topic", &[("new.md", "TODO\n")]);
    let event = pull_request(&base, &head);
    // Something else is checked out, such as the base in `pull_request_target`.
    for name in ["pull_request", "pull_request_target"] {
        let done = hosted.job(&base).on_github(name, &event).exits(2);
        assert!(done.said().contains(&format!("the event {name} is about")), "{}", done.said());
        assert!(
            done.summary.contains("### ❌") && done.outputs.contains("outcome=usage\n"),
            "{}",
            done.summary
        );
    }
    // A file was changed after the checkout: what is merged is not what was judged.
    let job = hosted.job(&head);
    job.clone.write("new.md", "fine\n");
    let done = job.on_github("pull_request", &event).exits(2);
    assert!(
        done.said().contains("1 file differs from the commit that is checked out: new.md"),
        "{}",
        done.said()
    );
    // The files of the command itself are none of the work.
    let job = hosted.job(&head);
    let done = job.on_github_with("pull_request", &event, &["ci", "--format", "sarif=out.sarif"]).exits(1);
    assert!(!done.said().contains("out.sarif"), "{}", done.said());
    let done =
        hosted.job(&head).on_github_with("pull_request", &event, &["ci", "--format", "sarif=a.md"]).exits(2);
    assert!(done.said().contains("`a.md` is a file of the work"), "{}", done.said());
    // An event that cannot be read is no event.
    let done = hosted.job(&head).on_github("pull_request", &json!({})).exits(2);
    assert!(done.said().contains("has no commit at `/pull_request/base/sha`"), "{}", done.said());
}

#[test]
fn issue_20_a_merge_queue_and_a_push_are_judged_between_their_commits() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    let head = hosted.branch("queue", &[("new.md", "TODO\n")]);
    let group = json!({ "merge_group": { "base_sha": base, "head_sha": head }, "repository": { "default_branch": "main" } });
    let done = hosted.job(&head).on_github("merge_group", &group).exits(1);
    assert!(done.said().contains("new.md"), "{}", done.said());
    // The next group has only its own work.
    hosted.origin.git(["checkout", "-q", "queue"]);
    hosted.origin.write("b.md", "fine\n");
    let next = hosted.origin.commit("next");
    hosted.origin.git(["checkout", "-q", "main"]);
    let group = json!({ "merge_group": { "base_sha": head, "head_sha": next }, "repository": { "default_branch": "main" } });
    hosted.job(&next).on_github("merge_group", &group).exits(0);
    // A push to the default branch is what was pushed; to another branch, all of its work.
    let push = |reference: &str, before: &str, after: &str| json!({ "before": before, "after": after, "ref": reference, "repository": { "default_branch": "main" } });
    hosted.job(&next).on_github("push", &push("refs/heads/queue", &head, &next)).exits(1);
    hosted.origin.git(["merge", "-q", "--ff-only", "queue"]);
    hosted.job(&next).on_github("push", &push("refs/heads/main", &head, &next)).exits(0);
    hosted.job(&next).on_github("push", &push("refs/heads/main", &base, &next)).exits(1);
}

#[test]
fn issue_20_the_default_branch_of_the_event_judges() {
    let hosted = Hosted::on("trunk");
    let base = hosted.tip();
    // Who can push branches makes one that others would take for the default one.
    hosted.branch("main", &[("countersign.yml", LAX)]);
    let head = hosted.branch("topic", &[("new.md", "TODO\n")]);
    let mut event = pull_request(&base, &head);
    event["repository"]["default_branch"] = json!("trunk");
    let job = hosted.job(&head);
    // As actions/checkout leaves it.
    job.clone.git(["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"]);
    let done = job.on_github("pull_request", &event).exits(1);
    assert!(done.said().contains("judged by the version of origin/trunk"), "{}", done.said());
    // A pull request does not change the rules it is judged by.
    let head = hosted.branch("lax", &[("countersign.yml", LAX), ("new.md", "TODO\n")]);
    let mut event = pull_request(&base, &head);
    event["repository"]["default_branch"] = json!("trunk");
    let done = hosted.job(&head).on_github("pull_request", &event).exits(3);
    assert!(done.said().contains("countersign.yml"), "{}", done.said());
}

#[test]
fn issue_20_gitlab_and_plain_git_are_judged_too() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    let head = hosted.branch("topic", &[("new.md", "TODO\n")]);
    let variables = |source: &'static str, head: &'static str| {
        vec![("CI_PIPELINE_SOURCE", source), ("CI_COMMIT_SHA", head), ("CI_DEFAULT_BRANCH", "main")]
    };
    let (base, head): (&'static str, &'static str) = (base.leak(), head.leak());
    let mut merge = variables("merge_request_event", head);
    merge.push(("CI_MERGE_REQUEST_DIFF_BASE_SHA", base));
    let args = ["ci", "--format", "gitlab=gl-code-quality-report.json"];
    let job = hosted.job(head);
    let ran = job.on_gitlab(&merge, &args).exits(1);
    assert!(ran.stdout.contains("needs work") && !ran.stdout.contains("::error"), "{ran:?}");
    let report = fs::read_to_string(job.clone.path("gl-code-quality-report.json")).unwrap();
    assert!(report.contains("\"path\":\"new.md\"") && report.contains("critical"), "{report}");
    // The merge of a pipeline for merged results.
    let job = hosted.merged(head);
    let merged: &'static str = job.clone.git(["rev-parse", "HEAD"]).leak();
    let mut results = variables("merge_request_event", merged);
    results.extend([("CI_MERGE_REQUEST_DIFF_BASE_SHA", base), ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", head)]);
    job.on_gitlab(&results, &["ci"]).exits(1);
    let ran = hosted.job(head).on_gitlab(&variables("merge_request_event", head), &["ci"]).exits(2);
    assert!(ran.stderr.contains("CI_MERGE_REQUEST_DIFF_BASE_SHA is not set"), "{ran:?}");
    // Without a service: all work since the default branch.
    let ran = Running::start(&mut hosted.job(head).command(&["ci"])).wait().exits(1);
    assert!(ran.stdout.contains("new.md"), "{ran:?}");
    Running::start(&mut hosted.job(base).command(&["ci"])).wait().exits(4);
}

#[test]
fn issue_20_nothing_to_judge_needs_an_event_and_is_said_in_one_line() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    let head = hosted.branch("topic", &[("b.txt", "two\n"), ("c.txt", "new\n")]);
    let event = pull_request(&base, &head);
    let done = hosted.job(&head).on_github("pull_request", &event).exits(0);
    let first = done.ran.stdout.lines().next().unwrap();
    assert_eq!(first, "nothing to judge: no rule covers 2 changed files: b.txt, c.txt");
    assert!(done.summary.contains("nothing to judge") && done.summary.contains("c.txt"), "{}", done.summary);
    assert!(done.outputs.contains("outcome=nothing_to_judge\n") && done.outputs.contains("passed=true\n"));
    let done = hosted.job(&head).on_github_with("pull_request", &event, &["ci", "--json"]).exits(0);
    let json = done.ran.json();
    assert_eq!((&json["outcome"], &json["verdict"]), (&json!("nothing_to_judge"), &json!(null)));
    assert_eq!(json["not_covered"], json!(["b.txt", "c.txt"]));
    assert_eq!((&json["event"]["base"], &json["event"]["base_from_event"]), (&json!(base), &json!(true)));
    // Where no event says what changed, no rule for it is a mistake.
    Running::start(&mut hosted.job(&head).command(&["ci"])).wait().exits(2);
    let named = ["ci", "--base", &base];
    hosted.job(&head).on_github_with("pull_request", &event, &named).exits(2);
    // An empty change is no verdict.
    let empty = pull_request(&base, &base);
    hosted.job(&base).on_github("pull_request", &empty).exits(4);
}

#[test]
fn issue_20_a_shallow_clone_is_explained_and_never_passes() {
    let hosted = Hosted::new();
    let base = hosted.tip();
    hosted.origin.write("a.md", "more\n");
    hosted.origin.commit("second");
    let head = hosted.branch("topic", &[("new.md", "fine\n")]);
    let event = pull_request(&base, &head);
    let clone = hosted.origin.cloned(&["--depth", "1", "--branch", "topic", "--no-single-branch"]);
    let job = super::Job { hosted: &hosted, clone };
    let done = job.on_github("pull_request", &event).exits(2);
    assert!(
        done.said().contains("this clone is shallow and lacks what the work is compared with"),
        "{}",
        done.said()
    );
    assert!(done.said().contains("fetch-depth: 0"), "{}", done.said());
    assert!(done.summary.contains("### ❌"), "{}", done.summary);
    // Only the branch itself: the rules are not there.
    let clone = hosted.origin.cloned(&["--branch", "topic", "--single-branch"]);
    let job = super::Job { hosted: &hosted, clone };
    let done = job.on_github("pull_request", &event).exits(3);
    assert!(done.said().contains("has not fetched the default branch"), "{}", done.said());
}
