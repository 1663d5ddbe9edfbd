//! Rules × outputs → assignments (004.7.3 to 004.7.5), keys, and what is an error rather than silence.

use super::*;
use crate::check::{Check, RunCheck};
use crate::digest::{Digest, Parts};
use crate::prompt::PROMPT_VERSION;
use crate::submission::{Content, Form, GuidanceFile, Material, Output};

fn submission(files: &[(&str, usize, &str)]) -> Submission {
    let outputs = vec![
        Output { name: "plan".into(), kind: OutputKind::File },
        Output { name: "docs".into(), kind: OutputKind::Files },
        Output { name: "extra".into(), kind: OutputKind::File },
    ];
    let material = |(path, output, content): &(&str, usize, &str)| Material {
        path: (*path).into(),
        old_path: None,
        output: *output,
        digest: Digest::of(content.as_bytes()),
        size_bytes: content.len() as u64,
        content: Content::Text,
        form: Form::File,
    };
    Submission::new(&[], outputs, files.iter().map(material).collect(), None)
}

fn three() -> Submission {
    submission(&[("plan.md", 0, "p"), ("docs/a.md", 1, "a"), ("docs/b.md", 1, "b")])
}

fn rule(scope: Scope) -> Rule {
    Rule::new("r", scope, vec![Criterion::must("C", "?")])
}

fn reviewer(name: &str) -> Reviewer {
    Reviewer {
        name: name.into(),
        kind: ReviewerKind::Asked,
        identity: format!("id {name}"),
        sees_project: false,
        room_bytes: None,
        place: None,
    }
}

fn planned(rule: Rule, submission: &Submission) -> Plan {
    plan(&[rule], submission, &[reviewer("main")], "r").unwrap()
}

fn only_key(rule: &Rule, submission: &Submission, reviewer: Reviewer) -> Key {
    let plan = plan(std::slice::from_ref(rule), submission, &[reviewer], "r").unwrap();
    assert_eq!(plan.assignments.len(), 1);
    plan.assignments[0].candidates[0].key.clone()
}

#[test]
fn req_004_7_3_to_5_targets_follow_the_scope() {
    let files = |scope: Scope| -> Vec<(Target, Vec<usize>)> {
        planned(rule(scope), &three()).assignments.into_iter().map(|a| (a.target, a.files)).collect()
    };
    // 004.7.3: the whole step is one evaluation over all outputs.
    assert_eq!(files(Scope::Whole), [(Target::All, vec![0, 1, 2])]);
    // 004.7.4: a `files` output is one evaluation per file.
    let each = [(Target::File("docs/a.md".into()), vec![1]), (Target::File("docs/b.md".into()), vec![2])];
    assert_eq!(files(Scope::Output("docs".into())), each);
    // 004.7.5: a `file` output is one evaluation.
    assert_eq!(files(Scope::Output("plan".into())), [(Target::Output("plan".into()), vec![0])]);
    let globs = |each| Scope::Files { patterns: vec!["docs/*.md".into()], each };
    assert_eq!(files(globs(Each::File)), each);
    assert_eq!(files(globs(Each::Together)), [(Target::Matching, vec![1, 2])]);
}

#[test]
fn what_names_nothing_is_an_error_and_what_is_unjudged_is_named() {
    let submission = three();
    let unknown = plan(&[rule(Scope::Output("nope".into()))], &submission, &[reviewer("m")], "r");
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "rule 'r' is for output 'nope', which does not exist; outputs: plan, docs, extra"
    );
    let absent = plan(&[rule(Scope::Output("extra".into()))], &submission, &[reviewer("m")], "r");
    assert_eq!(absent, Err(PlanError::NothingToJudge));
    let both = [rule(Scope::Output("extra".into())), rule(Scope::Output("plan".into()))];
    let both = plan(&both, &submission, &[reviewer("m")], "r").unwrap();
    assert_eq!((both.not_applicable, both.unjudged), (vec!["r".to_owned()], vec![1, 2]));
    let empty = Rule { criteria: vec![], ..rule(Scope::Whole) };
    assert!(matches!(plan(&[empty], &submission, &[], "r"), Err(PlanError::NoCriteria { .. })));
    assert_eq!(plan(&[], &submission, &[], "r"), Err(PlanError::NothingToJudge));
    assert!(matches!(plan(&[rule(Scope::Whole)], &submission, &[], "r"), Err(PlanError::NoReviewer { .. })));
    let named = Rule { reviewer: Some("x".into()), ..rule(Scope::Whole) };
    assert!(matches!(
        plan(&[named], &submission, &[reviewer("m")], "r"),
        Err(PlanError::UnknownReviewer { .. })
    ));
    let bad = rule(Scope::Files { patterns: vec!["a[".into()], each: Each::Together });
    assert!(matches!(plan(&[bad], &submission, &[reviewer("m")], "r"), Err(PlanError::BadPattern { .. })));
}

/// Files that guidance names are in the key of their rule's questions, beside the files that are judged.
#[test]
fn issue_19_context_is_in_the_key_of_its_own_rule() {
    let named = |rule: usize, path: &str, content: &str| {
        let mut file = submission(&[(path, 0, content)]).files.remove(0);
        file.size_bytes = content.len() as u64;
        GuidanceFile { rule, file }
    };
    let with = |files: &[GuidanceFile]| three().with_guidance_files(files.to_vec());
    let key = |files: &[GuidanceFile]| only_key(&rule(Scope::Whole), &with(files), reviewer("main"));
    let none = key(&[]);
    let table = [
        // Of another rule, or judged itself: nothing more is shown.
        (vec![named(1, "terms.md", "t")], true),
        (vec![named(0, "plan.md", "p")], true),
        (vec![named(0, "terms.md", "t")], false),
        (vec![named(0, "terms.md", "T")], false),
        (vec![named(0, "other.md", "t")], false),
    ];
    let mut keys = vec![];
    for (files, is_same) in &table {
        assert_eq!(key(files) == none, *is_same, "{files:?}");
        assert_ne!(with(files).digest, three().digest, "it is another submission");
        keys.extend(Some(key(files)).filter(|_| !is_same));
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 3);
    // Checks see no context; what does not fit any more is named.
    let check = Criterion { check: Some(Check::NotEmpty), ..Criterion::must("C", "?") };
    let checked = Rule { criteria: vec![check], ..rule(Scope::Whole) };
    let of_check = |files: &[GuidanceFile]| only_key(&checked, &with(files), reviewer("main"));
    assert_eq!(of_check(&[]), of_check(&[named(0, "terms.md", "t")]));
    let long = "x".repeat(200 * 1024);
    let several = with(&[named(0, "a", &long), named(0, "b", &long), named(0, "c", "short")]);
    let shown: Vec<_> =
        several.guidance_shown(0, &[]).map(|(file, fits)| (file.path.as_str(), fits)).collect();
    assert_eq!(shown, [("a", true), ("b", false), ("c", true)]);
}

#[test]
fn everything_a_reviewer_sees_is_in_the_key_and_nothing_else() {
    let base = rule(Scope::Whole);
    let key = |rule: &Rule| only_key(rule, &three(), reviewer("main"));
    let same = key(&base);
    let mut heavier = base.clone();
    heavier.criteria[0].severity = crate::criterion::Severity::May;
    assert_eq!(key(&heavier), same, "severity is not shown");
    let changed = |change: fn(&mut Rule)| {
        let mut rule = base.clone();
        change(&mut rule);
        key(&rule)
    };
    let keys = [
        same,
        changed(|rule| rule.criteria[0].question = "? ".into()),
        changed(|rule| rule.criteria[0].name = "c".into()),
        changed(|rule| rule.name = "another name".into()),
        changed(|rule| rule.guidance = Some("one word".into())),
        changed(|rule| rule.guidance = Some("one sword".into())),
        changed(|rule| rule.criteria.push(Criterion::must("D", "?"))),
        only_key(&base, &Submission { notes: Some(Digest::of(b"notes")), ..three() }, reviewer("main")),
        only_key(&base, &three(), reviewer("other")),
        only_key(&base, &three(), Reviewer { sees_project: true, ..reviewer("main") }),
        only_key(
            &base,
            &submission(&[("plan.md", 0, "P"), ("docs/a.md", 1, "a"), ("docs/b.md", 1, "b")]),
            reviewer("main"),
        ),
        only_key(
            &base,
            &submission(&[("plan.md", 0, "p"), ("docs/a.md", 1, "a"), ("docs/c.md", 1, "b")]),
            reviewer("main"),
        ),
        only_key(&base, &submission(&[("plan.md", 0, "p"), ("docs/a.md", 1, "a")]), reviewer("main")),
        plan(std::slice::from_ref(&base), &three(), &[reviewer("main")], "other redaction")
            .unwrap()
            .assignments[0]
            .candidates[0]
            .key
            .clone(),
    ];
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
    let checked = |name: &str, check| {
        let check = Criterion { check: Some(check), ..Criterion::must("C", "?") };
        let rule = Rule { name: name.into(), criteria: vec![check], ..base.clone() };
        only_key(&rule, &three(), reviewer("main"))
    };
    let not_empty = checked("r", Check::NotEmpty);
    assert_eq!(not_empty, checked("another name", Check::NotEmpty), "a check does not know the rule's name");
    let pattern = |pattern: &str| checked("r", Check::RequiredPattern(pattern.into()));
    assert!(not_empty != pattern("x") && pattern("x") != pattern("y"), "another check is another question");
    let in_output = |output| only_key(&base, &submission(&[("plan.md", output, "p")]), reviewer("main"));
    assert_ne!(in_output(0), in_output(1), "the output's name is shown");
}

#[test]
fn questions_never_run_into_each_other() {
    let key = |name: &str, ask: &str| {
        let rule = Rule { criteria: vec![Criterion::must(name, ask)], ..rule(Scope::Whole) };
        only_key(&rule, &three(), reviewer("main"))
    };
    assert_ne!(key("xy", "z"), key("x", "yz"));
    assert_ne!(
        only_key(&rule(Scope::Whole), &submission(&[("xy", 0, "z")]), reviewer("m")),
        only_key(&rule(Scope::Whole), &submission(&[("x", 0, "yz")]), reviewer("m")),
    );
}

#[test]
fn checks_and_questions_are_separate_and_only_pure_ones_are_reused() {
    let check = |name: &str, check| Criterion { check: Some(check), ..Criterion::must(name, "") };
    let run = RunCheck { command: "true".into(), exit_code: 0, timeout_seconds: 1 };
    let rule = Rule {
        criteria: vec![
            Criterion::must("Ask", "?"),
            check("Empty", Check::NotEmpty),
            check("Run", Check::Run(run)),
            check("Links", Check::LinksResolve),
        ],
        ..rule(Scope::Whole)
    };
    let plan = planned(rule, &three());
    let seen: Vec<_> = plan
        .assignments
        .iter()
        .map(|a| (a.criteria.clone(), a.candidates[0].reviewer.as_str(), a.candidates[0].reuse))
        .collect();
    assert_eq!(
        seen,
        [
            (vec![1], "checks", Reuse::Anywhere),
            (vec![2, 3], "checks", Reuse::Never),
            (vec![0], "main", Reuse::Anywhere),
        ]
    );
}

#[test]
fn how_far_a_ruling_reaches() {
    let reuse = |reviewer: Reviewer, submission: &Submission| {
        plan(&[rule(Scope::Whole)], submission, &[reviewer], "r").unwrap().assignments[0].candidates[0].reuse
    };
    assert_eq!(reuse(reviewer("m"), &three()), Reuse::Anywhere);
    assert_eq!(reuse(reviewer("m"), &submission(&[])), Reuse::Never, "no files");
    assert_eq!(reuse(Reviewer { sees_project: true, ..reviewer("m") }, &three()), Reuse::Review);
    assert_eq!(reuse(Reviewer { kind: ReviewerKind::SelfReview, ..reviewer("m") }, &three()), Reuse::Never);
}

#[test]
fn what_does_not_fit_is_split_by_file_where_the_rule_allows_it() {
    let submission = submission(&[("docs/a.md", 1, "12345"), ("docs/b.md", 1, "12345")]);
    let targets = |each, rooms: &[Option<u64>]| {
        let rule = rule(Scope::Files { patterns: vec!["docs/*.md".into()], each });
        let room =
            |(i, room): (usize, &Option<u64>)| Reviewer { room_bytes: *room, ..reviewer(&i.to_string()) };
        let reviewers: Vec<_> = rooms.iter().enumerate().map(room).collect();
        plan(&[rule], &submission, &reviewers, "r").unwrap().assignments.len()
    };
    for (rooms, questions) in [
        (&[None][..], 1),
        (&[Some(10)], 1),
        (&[Some(9)], 2),
        // The first reviewer decides; for the next one it may be too long, which is reported then.
        (&[Some(9), None], 2),
        (&[None, Some(9)], 1),
    ] {
        assert_eq!(targets(Each::Fit, rooms), questions, "{rooms:?}");
        assert_eq!(targets(Each::Together, rooms), 1);
    }
}

mod change;

/// Rulings of earlier commands stand: the key of a first look is what it always was. Each further look is another
/// question.
#[test]
fn issue_15_a_look_is_part_of_the_key_and_the_first_one_is_not() {
    let (rule, reviewer) = (rule(Scope::Whole), reviewer("main"));
    let batch = &batches(&rule, std::slice::from_ref(&reviewer), "r").unwrap()[0];
    let at = |look| key((0, &rule), batch, &[0, 1, 2], &three(), &reviewer, look);
    assert_eq!(at(FIRST_LOOK), only_key(&rule, &three(), reviewer.clone()));
    let mut parts = Parts::new("assignment/2");
    parts.count(PROMPT_VERSION as usize).count(1).text("C").text("?").maybe(None);
    parts.maybe(Some("r")).maybe(None).maybe(None).count(0).text("id main").text("r").count(3);
    for file in &three().files {
        parts.text(&file.path).text(three().output_name(file)).text(file.digest.as_str());
    }
    assert_eq!(at(FIRST_LOOK), parts.key(), "these parts and no other");
    let keys: HashSet<Key> = (0..4).map(at).collect();
    assert_eq!(keys.len(), 4);
    let candidate = planned(rule.clone(), &three()).assignments[0].candidates[0].clone();
    let written = serde_json::to_value(&candidate).unwrap();
    assert_eq!(written.get("look"), None, "{written}");
    assert_eq!(serde_json::from_value::<Candidate>(written).unwrap(), candidate);
    let second = serde_json::to_value(Candidate { look: 1, ..candidate }).unwrap();
    assert_eq!(second["look"], 1);
}
