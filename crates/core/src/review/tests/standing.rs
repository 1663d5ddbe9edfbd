//! Which rulings stand: a failure on the same bytes is never replaced by asking again, and a ruling from another
//! place is not reused.

use super::*;

fn place(program: &str) -> Endpoint {
    Endpoint { programs: vec![program.into()], ..Endpoint::default() }
}

/// A submission whose reviewer would be asked at this place.
fn at(names: &[&str], program: &str, fresh: bool) -> Input {
    let mut submit = submit(names, ReviewerKind::Asked, Policy::default(), 0);
    let candidates = submit.assignments.iter_mut().flat_map(|assignment| &mut assignment.candidates);
    candidates.for_each(|candidate| candidate.place = place(program).mark());
    Input::Submit(Box::new(Submit { fresh, ..submit }))
}

impl Story {
    fn asked_at(&mut self, name: &str, program: &str, answer: Answer) -> &mut Self {
        let place = place(program);
        self.take(Input::Asking { call: call(), key: key(name), reviewer: "main".into(), place });
        self.answered(name, answer)
    }

    fn again(&mut self, names: &[&str]) -> &mut Self {
        let fresh = submit(names, ReviewerKind::Asked, Policy::default(), 0);
        self.take(Input::Submit(Box::new(Submit { fresh: true, ..fresh })))
    }
}

#[test]
fn reroll_asking_again_asks_only_about_what_passed() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).answered("a@1", answer(true, true)).answered("b@1", answer(false, true));
    story.confirmed().delivered().again(&["a@1", "b@1"]).asks(&["a@1"]);
    story.answered("a@1", answer(false, true)).confirmed().delivered();
    // Both failed once: both stand, whatever was said before.
    story.submit(&["a@1", "b@1"]).asks(&[]);
    story.confirmed();
    let failed: Vec<_> = story.review.findings().into_iter().map(|finding| finding.target).collect();
    assert_eq!(failed, [Target::File("a".into()), Target::File("b".into())]);
}

#[test]
fn reroll_a_failure_of_another_review_stands_also_where_all_is_asked_again() {
    for (answer_before, disputed, asks) in [
        (answer(true, true), false, &["a@1"][..]),
        (answer(false, true), false, &[]),
        // What a dispute left is as final as a failure: the finding does not come back on the same bytes.
        (answer(true, true), true, &[]),
    ] {
        let mut again = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
        again.fresh = true;
        again.known = vec![Known { disputed, ..known("a@1", answer_before) }];
        let mut story = Story::new();
        story.take(Input::Submit(Box::new(again))).asks(asks);
    }
}

#[test]
fn reroll_of_two_reviewers_who_ruled_the_failure_stands() {
    let second = |key| Candidate {
        reviewer: "second".into(),
        kind: ReviewerKind::Asked,
        look: 0,
        key,
        reuse: Reuse::Anywhere,
        place: None,
    };
    for (first_passes, second_passes, outcome) in
        [(true, true, Outcome::Passed), (true, false, Outcome::NeedsWork), (false, true, Outcome::NeedsWork)]
    {
        let mut work = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
        work.assignments[0].candidates.push(second(key("second@1")));
        work.known =
            vec![known("a@1", answer(first_passes, true)), known("second@1", answer(second_passes, true))];
        let mut story = Story::new();
        story.take(Input::Submit(Box::new(work))).asks(&[]);
        story.confirmed().stands(outcome);
    }
}

#[test]
fn reroll_of_two_answers_to_one_question_the_worse_holds_until_the_round_is_judged() {
    let standing = |passes| Input::Answered {
        key: key("a@1"),
        answer: answer(passes, true),
        by: By::Reused { review: ReviewId::from_text("rv-other"), n: 7, reviewer: "main".into() },
    };
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(true, true)).take(standing(false));
    story.confirmed().stands(Outcome::NeedsWork);
    let mut better = Story::new();
    better.submit(&["a@1"]).answered("a@1", answer(false, true));
    assert_eq!(step(&better.review, standing(true)), Ok(vec![]));
    let mut judged = Story::new();
    judged.submit(&["a@1"]).answered("a@1", answer(true, true)).confirmed();
    assert_eq!(step(&judged.review, standing(false)), Ok(vec![]), "a verdict is never computed again");
}

#[test]
fn place_a_ruling_by_a_program_found_elsewhere_is_not_reused() {
    let mut story = Story::new();
    story.take(at(&["a@1"], "/tmp/fake", false)).asked_at("a@1", "/tmp/fake", answer(true, true));
    story.confirmed().stands(Outcome::Passed);
    let same = |program: &str| {
        let Input::Submit(submit) = at(&["a@1"], program, false) else { unreachable!() };
        route(Some(&story.review), &submit.submission.digest, &submit.assignments, false)
    };
    assert_eq!(same("/tmp/fake"), Route::Recorded);
    assert_eq!(same("/usr/bin/claude"), Route::Open, "the recorded pass is another program's");
}

#[test]
fn place_a_failure_stands_at_every_place_and_a_pass_only_where_it_was_given() {
    let mut story = Story::new();
    story.take(at(&["a@1", "b@1"], "/usr/bin/claude", false));
    story.asked_at("a@1", "/usr/bin/claude", answer(false, true));
    story.asked_at("b@1", "/usr/bin/claude", answer(true, true)).confirmed().delivered();
    story.take(at(&["a@1", "b@1"], "/tmp/fake", false)).asks(&["b@1"]);
    story.asked_at("b@1", "/tmp/fake", answer(true, true)).confirmed().stands(Outcome::NeedsWork);
    // A failure of another review, found at another place.
    let Input::Submit(mut work) = at(&["c@1"], "/usr/bin/claude", false) else { unreachable!() };
    work.known = vec![Known { place: place("/tmp/other").mark(), ..known("c@1", answer(false, true)) }];
    let mut other = Story::new();
    other.take(Input::Submit(work.clone())).asks(&[]);
    work.known = vec![Known { place: place("/tmp/other").mark(), ..known("c@1", answer(true, true)) }];
    Story::new().take(Input::Submit(work)).asks(&["c@1"]);
}

#[test]
fn place_whoever_takes_a_review_over_is_recorded_where_it_really_asked() {
    let mut story = Story::new();
    // Handed in by an honest process, and performed by one that found another program.
    story.take(at(&["a@1"], "/usr/bin/claude", false)).asked_at("a@1", "/tmp/fake", answer(true, true));
    story.confirmed();
    let round = story.review.round().unwrap();
    let honest = route(Some(&story.review), &round.submission.digest, &round.assignments, false);
    assert_eq!(honest, Route::Open);
}
