//! Plans for a change: questions about patches, checks on files, a summary where it is split.

use super::*;
use crate::prompt::DIFF_BYTES_MAX;
use crate::submission::ChangeOf;

/// Patches of so many bytes, a summary, and the files of those that are still there.
fn change(patches: &[(&str, u64, bool)]) -> Submission {
    let material = |path: &str, size_bytes, form| Material {
        path: path.into(),
        old_path: None,
        output: 0,
        digest: Digest::of(format!("{path} {size_bytes} {form:?}").as_bytes()),
        size_bytes,
        content: Content::Text,
        form,
    };
    let mut files: Vec<_> =
        patches.iter().map(|(path, bytes, _)| material(path, *bytes, Form::Patch)).collect();
    files.push(material("(all)", 100, Form::Summary));
    let there = patches.iter().filter(|(_, _, there)| *there);
    files.extend(there.map(|(path, ..)| material(path, 5, Form::File)));
    let outputs = vec![Output { name: "change".into(), kind: OutputKind::Files }];
    let of = ChangeOf { base: Some("b".into()), fingerprint: Digest::of(b"tree"), left_out: vec![] };
    Submission::new(&[], outputs, files, None).about(of, Digest::of(b"sections"))
}

/// A question, a check on each file, and a command.
fn asking_and_checking(scope: Scope) -> Rule {
    let check = |name: &str, check| Criterion { check: Some(check), ..Criterion::must(name, "") };
    let run = RunCheck { command: "true".into(), exit_code: 0, timeout_seconds: 1 };
    let criteria =
        vec![check("Empty", Check::NotEmpty), check("Run", Check::Run(run)), Criterion::must("Ask", "?")];
    Rule { criteria, ..rule(scope) }
}

fn seen(rule: Rule, submission: &Submission) -> Vec<(usize, Target, Vec<usize>)> {
    let plan = planned(rule, submission);
    plan.assignments.into_iter().map(|one| (one.criteria[0], one.target, one.files)).collect()
}

fn matching(pattern: &str, each: Each) -> Scope {
    Scope::Files { patterns: vec![pattern.into()], each }
}

fn file(path: &str) -> Target {
    Target::File(path.into())
}

#[test]
fn questions_are_about_patches_and_checks_about_files() {
    // 0, 1, 2 are patches, 3 the summary, 4 and 5 the files that are still there.
    let small = change(&[("a.md", 10, true), ("b.rs", 10, true), ("gone.md", 10, false)]);
    assert_eq!(
        seen(asking_and_checking(Scope::Whole), &small),
        [(0, Target::All, vec![4, 5]), (1, Target::All, vec![4, 5]), (2, Target::All, vec![0, 1, 2])]
    );
    assert_eq!(
        seen(asking_and_checking(matching("*.md", Each::Together)), &small),
        [(0, file("a.md"), vec![4]), (1, file("a.md"), vec![4]), (2, Target::Matching, vec![0, 2])]
    );
    assert_eq!(
        seen(rule(matching("*.md", Each::File)), &small),
        [(0, file("a.md"), vec![0]), (0, file("gone.md"), vec![2])],
        "what was deleted changed too"
    );
}

/// RUN-1.
#[test]
fn run_1_a_change_beyond_one_question_is_split_by_file_with_a_summary_over_all() {
    let most = DIFF_BYTES_MAX as u64;
    for (sizes, is_split) in [([most, 0], false), ([most, 1], true), ([20_000, 20_000], true)] {
        let large = change(&[("a.md", sizes[0], true), ("b.md", sizes[1], true)]);
        for (scope, whole) in [
            (Scope::Whole, Target::All),
            (matching("*.md", Each::Together), Target::Matching),
            (matching("*.md", Each::Fit), Target::Matching),
        ] {
            let expected = match is_split {
                true => vec![(0, file("a.md"), vec![0]), (0, file("b.md"), vec![1]), (0, whole, vec![2])],
                false => vec![(0, whole, vec![0, 1])],
            };
            assert_eq!(seen(rule(scope), &large), expected);
        }
        let each = [(0, file("a.md"), vec![0]), (0, file("b.md"), vec![1])];
        assert_eq!(seen(rule(matching("*.md", Each::File)), &large), each, "asked about each file anyway");
        assert_eq!(seen(rule(matching("a.*", Each::Together)), &large), each[..1], "one file is one file");
    }
}

#[test]
fn issue_19_a_large_change_has_as_many_files_in_a_question_as_fit() {
    let names: Vec<String> = (0..3000).map(|n| format!("{n:04}.md")).collect();
    let patches: Vec<_> = names.iter().map(|name| (name.as_str(), 1000, true)).collect();
    let large = change(&patches);
    for (scope, whole) in [(Scope::Whole, Target::All), (matching("*.md", Each::Together), Target::Matching)]
    {
        let mut questions = seen(rule(scope), &large);
        assert_eq!(questions.pop(), Some((0, whole, vec![3000])), "the summary");
        assert_eq!(questions.len(), 100);
        let shown: Vec<usize> = questions.iter().flat_map(|(_, _, files)| files.clone()).collect();
        assert_eq!(shown, (0..3000).collect::<Vec<_>>());
        assert!(questions.iter().all(|(_, target, files)| *target == Target::Matching && files.len() == 30));
    }
    assert_eq!(seen(rule(matching("*.md", Each::File)), &large).len(), 3000, "asked about each file anyway");
    // A file that fits nowhere is alone, and what is around it stays together.
    let most = DIFF_BYTES_MAX as u64;
    let large =
        change(&[("a.md", 10, true), ("b.md", most + 1, true), ("c.md", most - 10, true), ("d.md", 1, true)]);
    let expected = [
        (0, file("b.md"), vec![1]),
        (0, Target::Matching, vec![0, 2]),
        (0, file("d.md"), vec![3]),
        (0, Target::All, vec![4]),
    ];
    assert_eq!(seen(rule(Scope::Whole), &large), expected);
}

#[test]
fn a_reviewer_with_less_room_has_it_split_earlier() {
    let small = change(&[("a.md", 10, true), ("b.md", 10, true)]);
    for (room_bytes, questions) in [(None, 1), (Some(20), 1), (Some(19), 3), (Some(1 << 40), 1)] {
        let reviewers = [Reviewer { room_bytes, ..reviewer("m") }];
        let plan = plan(&[rule(Scope::Whole)], &small, &reviewers, "r").unwrap();
        assert_eq!(plan.assignments.len(), questions, "{room_bytes:?}");
    }
}

#[test]
fn the_author_reads_a_change_of_any_size_at_once() {
    let large = change(&[("a.md", 40_000, true), ("b.md", 40_000, true)]);
    let author = Reviewer { kind: ReviewerKind::SelfReview, ..reviewer("self") };
    let plan = plan(&[rule(Scope::Whole)], &large, &[author], "r").unwrap();
    assert_eq!(plan.assignments.len(), 1);
    assert_eq!(
        (&plan.assignments[0].target, plan.assignments[0].files.as_slice()),
        (&Target::All, &[0, 1][..])
    );
}

#[test]
fn what_no_rule_is_for_is_named_once() {
    let small = change(&[("a.md", 10, true), ("b.rs", 10, true), ("gone.md", 10, false)]);
    let checks = Criterion { check: Some(Check::NotEmpty), ..Criterion::must("C", "") };
    let only_checks = Rule { criteria: vec![checks], ..rule(matching("*.md", Each::Together)) };
    // A check looked at `a.md`; what is gone cannot be checked, and nothing is for `b.rs`.
    assert_eq!(planned(only_checks, &small).unjudged, [1, 2]);
    assert_eq!(planned(rule(matching("*.md", Each::Together)), &small).unjudged, [1]);
    assert_eq!(planned(rule(Scope::Whole), &small).unjudged, Vec::<usize>::new());
    let large = change(&[("a.md", 40_000, true), ("b.rs", 10, true)]);
    assert_eq!(planned(rule(Scope::Whole), &large).unjudged, Vec::<usize>::new());
}

#[test]
fn what_stands_around_a_change_is_in_the_key_of_questions_and_not_of_checks() {
    let small = change(&[("a.md", 10, true)]);
    let other = Submission { context: Some(Digest::of(b"other")), ..small.clone() };
    let keys = |submission: &Submission| -> Vec<Key> {
        let plan = planned(asking_and_checking(Scope::Whole), submission);
        plan.assignments.iter().map(|one| one.candidates[0].key.clone()).collect()
    };
    let (one, two) = (keys(&small), keys(&other));
    assert_eq!(one[..2], two[..2]);
    assert_ne!(one[2], two[2]);
    // The base is part of the submission's name, and not of what a reviewer sees.
    let of = small.change.clone().unwrap();
    let elsewhere = |base: Option<&str>, tree: &[u8], context: &[u8]| {
        let of = ChangeOf { base: base.map(str::to_owned), fingerprint: Digest::of(tree), ..of.clone() };
        Submission::new(&[], small.outputs.clone(), small.files.clone(), None).about(of, Digest::of(context))
    };
    let same = elsewhere(Some("b"), b"tree", b"sections");
    assert_eq!(same, small);
    for other in [
        elsewhere(None, b"tree", b"sections"),
        elsewhere(Some("c"), b"tree", b"sections"),
        elsewhere(Some("b"), b"trees", b"sections"),
        elsewhere(Some("b"), b"tree", b"section"),
    ] {
        assert_ne!(other.digest, same.digest);
    }
    assert_eq!(keys(&elsewhere(None, b"trees", b"sections")), one);
}

#[test]
fn the_ledger_keeps_files_as_it_always_did() {
    let json = serde_json::to_string(&three()).unwrap();
    assert!(!json.contains("form") && !json.contains("change") && !json.contains("context"), "{json}");
    let small = change(&[("a.md", 10, true)]);
    assert_eq!(serde_json::from_str::<Submission>(&serde_json::to_string(&small).unwrap()).unwrap(), small);
}
