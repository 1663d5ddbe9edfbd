//! A change handed in by an agent.

use crate::client::Client;
use crate::judged;
use countersign_testkit::Repository;
use serde_json::json;

#[test]
fn a_change_is_judged_by_the_configuration_of_its_base() {
    let (project, judge) = judged();
    let repository = Repository::at(project.root());
    project.write(".gitignore", ".asked*\n").write("a.md", "a good text\n");
    repository.commit("first");
    let mut client = Client::new(&project);
    let work = json!({ "change": {}, "subject": "s" });
    let refused = client.bad("review_submit", work.clone());
    assert!(refused.to_string().contains("nothing has changed since"), "{refused}");
    // An agent that writes itself other rules is judged by those that were there.
    let tame =
        "version: 1\nrules: [{name: tame, for: ['*.md'], criteria: [{name: Tame, check: not_empty}]}]\n";
    let rules = project.read("countersign.yml");
    project.write("a.md", "a BAD text\n").write("countersign.yml", tame);
    let first = client.review(work.clone());
    assert_eq!(first["outcome"], "needs_work");
    assert_eq!(first["findings"][0]["file"], "a.md");
    project.write("a.md", "another good text\n");
    // Good by the rules that were there, and a person has to see that it changes them.
    let waits = client.review(work.clone());
    assert_eq!((&waits["outcome"], &waits["passed"]), (&json!("awaiting_person"), &json!(false)));
    let next = waits["next"].to_string();
    assert!(next.contains("waits for a person") && !next.contains("approve"), "{waits}");
    project.write("countersign.yml", rules);
    assert_eq!(client.review(work)["passed"], true);
    assert_eq!(judge.asked(), ["a.md", "a.md"]);
    for (arguments, words) in [
        (json!({ "change": {}, "files": ["a.md"] }), "use either `files` or `change`, not both"),
        (json!({ "change": { "base": "nowhere" } }), "there is no commit `nowhere` in this repository"),
        (json!({ "change": { "base": "" } }), "change.base"),
        (json!({ "change": true }), "`change`: invalid type"),
    ] {
        let refused = client.bad("review_submit", arguments);
        assert!(refused.to_string().contains(words), "{refused}");
    }
}
