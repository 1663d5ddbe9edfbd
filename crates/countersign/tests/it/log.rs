//! History: filters, pages, local times, files by name.

use crate::project;
use countersign_testkit::Project;

const CONFIG: &str = "version: 1
rules: [{name: r, for: ['*.md'], criteria: [{name: Done, check: no_placeholders}]}]
";

fn judged() -> Project {
    let project = project();
    project.write("countersign.yml", CONFIG);
    for (n, (subject, text)) in
        [("guide", "TODO"), ("guide", "fine"), ("plan", "fine"), ("plan/next", "TODO")]
            .into_iter()
            .enumerate()
    {
        project.write("a.md", format!("{text} {n}"));
        project.run(&["review", "--subject", subject]);
    }
    project
}

fn subjects(project: &Project, args: &[&str]) -> Vec<String> {
    let json = project.run(&[&["log", "--json"], args].concat()).exits(0).json();
    let rows = json["reviews"].as_array().unwrap();
    rows.iter().map(|row| row["subject"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn issue_16_3_reviews_are_filtered() {
    let project = judged();
    assert_eq!(subjects(&project, &[]), ["cli/plan%2Fnext", "cli/plan", "cli/guide"]);
    assert_eq!(subjects(&project, &["--outcome", "needs_work"]), ["cli/plan%2Fnext"]);
    assert_eq!(subjects(&project, &["--subject", "guide"]), ["cli/guide"]);
    assert_eq!(subjects(&project, &["--subject", "plan/next"]), ["cli/plan%2Fnext"]);
    assert_eq!(subjects(&project, &["--subject", "cli/"]).len(), 3);
    assert_eq!(subjects(&project, &["--since", "1h"]).len(), 3);
    assert!(subjects(&project, &["--since", "2100-01-01"]).is_empty());
    assert_eq!(subjects(&project, &["--reviewer", "checks"]).len(), 3);
    assert!(subjects(&project, &["--reviewer", "other"]).is_empty());
    assert!(project.run(&["log", "--reviewer", "other"]).exits(0).stdout.contains("no review matches"));
    for (args, says) in [
        (["log", "--outcome", "failed"], "needs_work"),
        (["log", "--since", "soon"], "expected a length such as 2h or 3d, or a date such as 2026-11-16"),
    ] {
        let ran = project.run(&args).exits(2);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn issue_16_3_pages_go_on_where_the_last_one_ended() {
    let project = judged();
    let (mut from, mut all) = (None::<String>, vec![]);
    loop {
        let more: Vec<&str> = from.as_deref().map(|from| vec!["--from", from]).unwrap_or_default();
        let args = [&["log", "--json", "--limit", "1"], more.as_slice()].concat();
        let json = project.run(&args).exits(0).json();
        all.push(json["reviews"][0]["subject"].as_str().unwrap().to_owned());
        match json["next"].as_u64() {
            Some(next) => from = Some(next.to_string()),
            None => break,
        }
    }
    assert_eq!(all, subjects(&project, &[]));
    let first = project.run(&["log", "guide", "--limit", "2"]).exits(0).stdout;
    assert!(first.contains("more: run the same command with --from 2, or --limit N"), "{first}");
    let rest = project.run(&["log", "guide", "--from", "2"]).exits(0).stdout;
    assert!(rest.trim_start().starts_with("3  "), "{rest}");
    // Files are named, and times are local with their zone.
    let whole = project.run(&["log", "guide"]).exits(0).stdout;
    assert!(whole.contains("round 1, a.md, 1 question, "), "{whole}");
    let mut elsewhere = project.command(&["log", "guide"]);
    let out = elsewhere.env("TZ", "Asia/Tokyo").output().unwrap().stdout;
    assert!(String::from_utf8(out).unwrap().contains(" JST  "));
}

#[test]
fn issue_16_3_a_subject_is_shown_as_it_was_given() {
    let project = judged();
    let shown = project.run(&["show", "plan"]).stdout;
    assert!(shown.contains(" · cli/plan · round 1 · ") && shown.ends_with("\npassed\n"), "{shown}");
    let shown = project.run(&["show", "plan/next"]).stdout;
    assert!(shown.ends_with("\nneeds work: 1 finding in 1 file, 1 must\n"), "{shown}");
}

#[test]
fn issue_19_a_review_with_more_events_than_a_page_is_shown_to_its_end() {
    let project = project();
    project.write("countersign.yml", "version: 1\nrules: [{name: r, for: ['docs/*'], each: file, criteria: [{name: Done, check: not_empty}]}]\n");
    for n in 0..520 {
        project.write(&format!("docs/{n}"), "text");
    }
    let id = project.run(&["review", "--json"]).exits(0).json()["review"]["id"].as_str().unwrap().to_owned();
    let first = project.run(&["log", &id, "-n", "1000", "--json"]).exits(0).json();
    let next = first["next"].as_u64().unwrap().to_string();
    assert_eq!((first["events"].as_array().unwrap().len(), first["more"].as_bool()), (1000, Some(true)));
    let rest = project.run(&["log", &id, "-n", "1000", "--from", &next, "--json"]).exits(0).json();
    let (events, kinds) =
        (rest["events"].as_array().unwrap(), |n: usize| rest["events"][n]["event"]["kind"].clone());
    assert_eq!((events[0]["n"].as_u64(), rest["more"].as_bool()), (Some(1001), Some(false)));
    assert_eq!(kinds(events.len() - 1), "notified", "the last one");
    let text = project.run(&["log", &id, "-n", "1000"]).exits(0).stdout;
    assert!(text.contains(&format!("--from {next}")), "the text names the next page too");
}
