//! Failures stand on rule, criterion and bytes, and what is left out does not pass: as tables.

use super::*;
use crate::judge::RoundEnd;

fn notes(text: Option<&str>) -> Option<Digest> {
    text.map(|text| Digest::of(text.as_bytes()))
}

fn bases(submit: &Submit) -> Vec<Basis> {
    Bases::new(&submit.rules, &submit.submission).of(&submit.assignments[0])
}

/// The same work under this name of its question.
fn named(question: &str) -> Submit {
    let mut work = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
    work.assignments[0].candidates[0].key = key(question);
    work
}

type Changed<'a> = &'a dyn Fn(&mut Submit);

#[test]
fn attack_17_a_failure_stands_on_rule_criterion_and_bytes_alone() {
    let first = bases(&named("a@1"));
    assert_eq!(first.len(), 2, "one for each criterion");
    assert_ne!(first[0].files, first[1].files);
    let changed = |change: &dyn Fn(&mut Submit)| {
        let mut other = named("another question");
        change(&mut other);
        bases(&other)[0].files != first[0].files
    };
    let table: [(&str, bool, Changed<'_>); 11] = [
        ("notes", false, &|work| work.submission.notes = notes(Some("new"))),
        ("context", false, &|work| work.submission.context = notes(Some("a title, a session"))),
        ("guidance", false, &|work| work.rules[0].guidance = Some("Be kind.".into())),
        ("reviewer", false, &|work| work.assignments[0].candidates[0].reviewer = "other".into()),
        ("subject", false, &|work| work.opening.subject = Subject::new("hook", ["other"])),
        ("severity", false, &|work| work.rules[0].criteria[0].severity = Severity::May),
        ("rule", true, &|work| work.rules[0].name = "other".into()),
        ("question", true, &|work| work.rules[0].criteria[0].question = "Is it?".into()),
        ("path", true, &|work| work.submission.files[0].path = "other".into()),
        ("bytes", true, &|work| work.submission.files[0].digest = Digest::of(b"other")),
        ("output of tests", true, &|work| work.submission.evidence = notes(Some("1 test failed"))),
    ];
    for (what, differs, change) in table {
        assert_eq!(changed(change), differs, "{what}");
    }
    let checks = submit(&["a@1"], ReviewerKind::Checks, Policy::default(), 0);
    assert!(bases(&checks).is_empty(), "a check says the same each time");
}

/// A failure of the first criterion, judged with these notes.
fn failure(work: &Submit, judged_with: Option<&str>, new_notes: NewNotes) -> Standing {
    Standing {
        basis: bases(work)[0].files.clone(),
        answer: answer(false, true),
        ruling: Some(0),
        by: By::Reused { review: ReviewId::from_text("rv-other"), n: 3, reviewer: "main".into() },
        notes: notes(judged_with),
        new_notes,
    }
}

#[test]
fn attack_17_new_notes_may_change_a_failure_once() {
    let only = |text| NewNotes::Only(Digest::of(str::as_bytes(text)));
    // the notes it failed with, those that may change it, those that are submitted, and whether a reviewer is asked
    let table = [
        (None, NewNotes::Any, None, false),
        (None, NewNotes::Any, Some("one"), true),
        (Some("one"), NewNotes::Any, Some("one"), false),
        (Some("one"), NewNotes::Any, None, false),
        (Some("one"), NewNotes::Any, Some("two"), true),
        (Some("one"), only("two"), Some("two"), true),
        (Some("one"), only("two"), Some("three"), false),
        (Some("one"), NewNotes::Used, Some("two"), false),
    ];
    for (judged_with, new_notes, submitted, asked) in table {
        let mut work = named("another question");
        work.standing = vec![failure(&work, judged_with, new_notes.clone())];
        work.submission.notes = notes(submitted);
        let standing = work.standing.clone();
        let mut story = Story::new();
        story.take(Input::Submit(Box::new(work)));
        let row = format!("{judged_with:?} {new_notes:?} {submitted:?}");
        assert_eq!(!story.questions().is_empty(), asked, "{row}");
        if !asked {
            story.confirmed().stands(Outcome::NeedsWork);
            continue;
        }
        let (given, held) =
            stands_over(&story.review, &key("another question"), answer(true, true), &standing);
        assert_eq!(held, None, "{row}");
        story.answered("another question", given).confirmed().stands(Outcome::Passed);
        let passed: Vec<_> = story.review.passed_after_notes().map(|(rule, name, _)| (rule, name)).collect();
        assert_eq!((passed, story.review.attempts), (vec![("docs", CRITERIA[0])], 1), "{row}");
        assert_eq!(fold(story.review.id.clone(), &story.events), story.review);
    }
}

#[test]
fn attack_17_the_worst_holds_between_judgings_and_both_answers_are_on_record() {
    let mut work = named("another question");
    let standing = vec![failure(&work, None, NewNotes::Any)];
    // It does not answer what is asked, so the question is asked.
    work.rules[0].criteria.swap(0, 1);
    work.rules[0].criteria.push(Criterion::must("Short", "?"));
    work.assignments[0].criteria = vec![1, 2];
    work.standing = standing.clone();
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(work))).asks(&["another question"]);
    let ruling = |name: &str| Ruling::new(name, true, None);
    let passes = Answer::from_rulings(vec![ruling(CRITERIA[0]), ruling("Short")]);
    let asked = key("another question");
    let (given, held) = stands_over(&story.review, &asked, passes.clone(), &standing);
    let (worse, by) = held.expect("the failure holds");
    assert_eq!(given, passes);
    story.answered("another question", given).take(Input::Answered { key: asked, answer: worse, by });
    let answers = story.events.iter().filter(|event| matches!(event, Event::Answered { .. })).count();
    assert_eq!(answers, 2);
    story.confirmed().stands(Outcome::NeedsWork);
    let found: Vec<_> = story.review.findings().into_iter().filter_map(|finding| finding.criterion).collect();
    assert_eq!(found, [CRITERIA[0]]);
}

#[test]
fn attack_17_a_recorded_pass_is_not_the_answer_while_a_failure_stands() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(true, true)).confirmed().stands(Outcome::Passed);
    let mut work = named("a@1");
    assert!(!contradicts(&story.review, &work));
    work.standing = vec![failure(&work, None, NewNotes::Any)];
    assert!(contradicts(&story.review, &work));
    work.standing[0].answer = answer(true, true);
    assert!(!contradicts(&story.review, &work), "what a dispute left is no failure");
}

/// What is submitted after a file failed: a change of the first submission, and what it leaves out.
type Second = (&'static str, Box<dyn Fn(&mut Submit)>, Option<LeftOutBy>);

fn row(what: &'static str, second: impl Fn(&mut Submit) + 'static, left_out: Option<LeftOutBy>) -> Second {
    (what, Box::new(second), left_out)
}

/// Another file, and what is there of the first one.
fn other(work: &mut Submit, there: Option<Option<&[u8]>>) {
    let file = &mut work.submission.files[0];
    (file.path, file.digest) = ("b".into(), Digest::of(b"b"));
    let looked_at = there.map(|bytes| (bytes.map(Digest::of), "a".to_owned(), Form::File));
    work.not_submitted =
        looked_at.into_iter().map(|(digest, path, form)| NotSubmitted { path, form, digest }).collect();
}

fn changed(work: &mut Submit) {
    work.submission.files[0].digest = Digest::of(b"changed");
}

fn second_submissions() -> Vec<Second> {
    let files = || Some(LeftOutBy::Files(vec!["a".into()]));
    let lighter = |work: &mut Submit, severity| work.rules[0].criteria[0].severity = severity;
    let no_rule = |work: &mut Submit| work.rules[0].name = "other".into();
    let no_criterion = |work: &mut Submit| work.rules[0].criteria[0].name = "Other".into();
    vec![
        row("submitted", |_| {}, None),
        row("left out, and not looked at", |work| other(work, None), files()),
        // The digest of the fixture is that of the name.
        row("left out", |work| other(work, Some(Some(b"a@1"))), files()),
        row("left out with other bytes", |work| other(work, Some(Some(b"x"))), files()),
        row("deleted", |work| other(work, Some(None)), None),
        row("no rule", no_rule, Some(LeftOutBy::Rule)),
        row("no rule, other bytes", move |work| (changed(work), no_rule(work)).1, None),
        row("no criterion", no_criterion, Some(LeftOutBy::Criterion)),
        row("lighter", move |work| lighter(work, Severity::May), Some(LeftOutBy::Severity)),
        row("lighter, and it blocks", move |work| lighter(work, Severity::Should), None),
        row("lighter, other bytes", move |work| (changed(work), lighter(work, Severity::May)).1, None),
        row(
            "a rule for fewer files, other bytes",
            |work| {
                other(work, Some(Some(b"x")));
                work.rules[0].scope = Scope::Output("docs".into());
            },
            None,
        ),
    ]
}

#[test]
fn attack_17_what_is_left_out_is_carried() {
    for (what, second, expected) in second_submissions() {
        let mut story = Story::new();
        story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
        let id = story.review.findings()[0].id.clone();
        let mut work = named("second");
        second(&mut work);
        work.submission.digest = Digest::of(what.as_bytes());
        story.take(Input::Submit(Box::new(work)));
        let left_out: Vec<_> =
            story.review.round().unwrap().left_out.iter().map(|one| one.why.clone()).collect();
        assert_eq!(left_out, Vec::from_iter(expected), "{what}");
        if left_out.is_empty() {
            continue;
        }
        // All else passes, and it does not pass for what was left out.
        let criteria = story.review.rules[0].criteria.clone();
        let passes = criteria.iter().map(|criterion| Ruling::new(&criterion.name, true, None));
        story.answered("second", Answer::from_rulings(passes.collect())).confirmed();
        assert_eq!(story.review.round().unwrap().end, Some(RoundEnd::NeedsWork), "{what}");
        let found: Vec<_> = story.review.findings().into_iter().map(|finding| finding.id).collect();
        assert_eq!((found, story.review.open.len()), (vec![id], 1), "{what}");
        let stored = story.events.iter().map(|event| serde_json::to_string(event).unwrap());
        let stored: Vec<Event> = stored.map(|event| serde_json::from_str(&event).unwrap()).collect();
        assert_eq!(fold(story.review.id.clone(), &stored), story.review);
    }
}

#[test]
fn attack_17_rounds_without_an_answer_do_not_forget_a_finding() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
    story.submit(&["a@2"]).failed("a@2", NoVerdict::Timeout).confirmed();
    story.submit(&["a@3"]);
    story.submit(&["b@1"]).answered("b@1", answer(true, true)).confirmed().stands(Outcome::NeedsWork);
    assert_eq!(story.review.findings().len(), 1);
    // A withdrawn finding is not carried.
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    let finding = story.review.findings()[0].id.clone();
    let dispute = Dispute { finding, ..super::disputes::dispute("a@1", false, false) };
    story.take(Input::Disputed(Box::new(dispute))).delivered();
    story.submit(&["b@1"]).answered("b@1", answer(true, true)).confirmed().stands(Outcome::Passed);
}
