//! What may happen to items, and what may not.

use super::*;
use crate::qr::scope::Scope;
use crate::qr::{LoopState, Phase};
use countersign_core::criterion::Severity;
use proptest::prelude::*;

fn item(id: &str, severity: Severity, status: Status) -> Item {
    let mut item = Item::new(id, Scope::whole(), "check", severity);
    item.status = status;
    if status == Status::Fail {
        item.finding = Some("old".to_owned());
        item.fail_count = 1;
    }
    item
}

fn one(status: Status) -> State {
    State::new(Phase::PlanCode, vec![item("a", Severity::Must, status)])
}

fn fail(finding: &str) -> Ruling {
    Ruling::Fail(finding.to_owned())
}

/// QR-7.
#[test]
fn qr_7_transitions_one_by_one() {
    let rows = [
        (Status::Todo, Ruling::Pass, Ok((Status::Pass, None, 0))),
        (Status::Todo, fail("new"), Ok((Status::Fail, Some("new"), 1))),
        (Status::Fail, Ruling::Pass, Ok((Status::Pass, None, 1))),
        (Status::Fail, fail("new"), Ok((Status::Fail, Some("new"), 1))),
        (Status::Pass, Ruling::Pass, Ok((Status::Pass, None, 0))),
        (Status::Pass, fail("new"), Err(Refused::AlreadyPassed("a".to_owned()))),
    ];
    for (from, ruling, expected) in rows {
        let mut state = one(from);
        let before = state.clone();
        let ended = record(&mut state, "a", &ruling, None);
        match expected {
            Ok((status, finding, fails)) => {
                ended.unwrap();
                let item = &state.items[0];
                assert_eq!((item.status, item.finding.as_deref(), item.fail_count), (status, finding, fails));
            }
            Err(refused) => {
                assert_eq!(ended, Err(refused));
                assert_eq!(state, before);
            }
        }
    }
    assert!(matches!(record(&mut one(Status::Todo), "b", &Ruling::Pass, None), Err(Refused::UnknownItem(_))));
}

/// QR-3.
#[test]
fn qr_3_a_ruling_is_exactly_pass_or_fail() {
    assert_eq!(Ruling::of("PASS", None), Ok(Ruling::Pass));
    assert_eq!(Ruling::of("PASS", Some(" ")), Ok(Ruling::Pass));
    assert_eq!(Ruling::of("FAIL", Some(" why\n")), Ok(fail("why")));
    assert_eq!(Ruling::of("FAIL", None), Err(Refused::NoFinding));
    assert_eq!(Ruling::of("FAIL", Some(" ")), Err(Refused::NoFinding));
    assert_eq!(Ruling::of("PASS", Some("but")), Err(Refused::FindingOnPass));
    assert_eq!(Ruling::of("FAIL", Some(&"x".repeat(FINDING_BYTES_MAX + 1))), Err(Refused::FindingTooLong));
    for word in ["pass", "PASSED", "TODO", "", "PASS.", "PASS FAIL", " PASS"] {
        assert!(matches!(Ruling::of(word, None), Err(Refused::NoRuling(_))), "{word}");
    }
}

#[test]
fn a_ruling_changes_no_severity_and_nothing_else_of_an_item() {
    let mut state = one(Status::Todo);
    record(&mut state, "a", &fail("x"), None).unwrap();
    let expected = Item {
        status: Status::Fail,
        finding: Some("x".to_owned()),
        fail_count: 1,
        ..item("a", Severity::Must, Status::Todo)
    };
    assert_eq!(state.items, [expected]);
}

/// QR-13.
#[test]
fn qr_13_a_fix_begins_one_round_however_often_it_is_said() {
    let mut state = one(Status::Fail);
    let policy = GatePolicy::default();
    let first = fixed(&mut state, &policy, false, |_| Touched::Unknown).unwrap();
    assert_eq!(first, Fixed { next_round: true, reopened: vec!["a".to_owned()] });
    assert_eq!((state.iteration, state.items[0].status, &state.items[0].finding), (2, Status::Todo, &None));
    let before = state.clone();
    assert_eq!(fixed(&mut state, &policy, false, |_| Touched::Unknown), Ok(Fixed::default()));
    assert_eq!(state, before);
    // With files named it still is no further round.
    assert!(!fixed(&mut state, &policy, true, |_| Touched::Yes).unwrap().next_round);
    assert_eq!(state.iteration, 2);
}

#[test]
fn what_passed_stays_passed_only_if_it_is_known_to_be_as_it_was() {
    let accepted = Item { accepted: true, ..item("acc", Severity::Must, Status::Fail) };
    let start = State::new(
        Phase::PlanCode,
        vec![
            item("failed", Severity::Must, Status::Fail),
            item("ok", Severity::Must, Status::Pass),
            accepted,
        ],
    );
    for (touched, reopened) in [
        (Touched::No, &["failed"][..]),
        (Touched::Unknown, &["failed", "ok"]),
        (Touched::Yes, &["failed", "ok", "acc"]),
    ] {
        let mut state = start.clone();
        let done = fixed(&mut state, &GatePolicy::default(), false, |_| touched).unwrap();
        assert_eq!(done.reopened, reopened, "{touched:?}");
        let open: Vec<_> =
            state.items.iter().filter(|item| item.status == Status::Todo).map(|item| &item.id).collect();
        assert_eq!(open, reopened);
        assert!(
            state.items.iter().all(|item| item.accepted == (item.id == "acc" && touched != Touched::Yes))
        );
    }
}

#[test]
fn a_failure_that_no_longer_blocks_keeps_its_finding_and_is_listed() {
    let mut state = State::new(
        Phase::PlanCode,
        vec![item("must", Severity::Must, Status::Fail), item("may", Severity::May, Status::Fail)],
    );
    state.iteration = 2;
    let policy = GatePolicy::default();
    assert_eq!(fixed(&mut state, &policy, false, |_| Touched::Unknown).unwrap().reopened, ["must"]);
    let may = state.item("may").unwrap();
    assert_eq!((may.status, may.finding.as_deref()), (Status::Fail, Some("old")));
    assert_eq!(gate(&state, &policy).waived, ["may"]);
}

#[test]
fn a_loop_ends_at_a_person() {
    let policy = GatePolicy { item_failures_max: 3, ..GatePolicy::default() };
    let mut state = one(Status::Fail);
    state.iteration = 5;
    let before = state.clone();
    let ended = fixed(&mut state, &policy, true, |_| Touched::Yes);
    assert_eq!(ended, Err(Refused::Ceiling { round: 5, ceiling: 5 }));
    assert_eq!(state, before);
    let mut state = one(Status::Fail);
    state.items[0].fail_count = 3;
    let ended = fixed(&mut state, &policy, false, |_| Touched::Yes);
    assert_eq!(ended, Err(Refused::ItemCap { item: "a".to_owned(), failures: 3 }));
}

#[test]
fn an_acceptance_has_a_reason_and_settles_the_item() {
    let mut state = one(Status::Fail);
    assert_eq!(accept(&mut state, "a", " "), Err(Refused::NoReason));
    accept(&mut state, "a", "known, and fine").unwrap();
    let policy = GatePolicy::default();
    assert_eq!(gate(&state, &policy).end, GateEnd::Pass);
    assert_eq!(gate(&state, &policy).accepted, ["a"]);
    assert_eq!(record(&mut state, "a", &fail("y"), None), Err(Refused::AlreadyAccepted("a".to_owned())));
    assert_eq!(accept(&mut one(Status::Pass), "a", "x"), Err(Refused::AlreadyPassed("a".to_owned())));
}

/// QR-13.
#[test]
fn qr_13_loop_states_follow_from_items_and_round() {
    let policy = GatePolicy::default();
    for (status, round, expected) in [
        (Status::Todo, 1, LoopState::Initial),
        (Status::Fail, 1, LoopState::Retry),
        (Status::Pass, 1, LoopState::Complete),
        (Status::Todo, 2, LoopState::Retry),
        (Status::Fail, 3, LoopState::Retry),
        (Status::Pass, 3, LoopState::Complete),
    ] {
        let mut state = one(status);
        state.iteration = round;
        assert_eq!(LoopState::of(&state, &policy), expected, "{status:?} {round}");
    }
}

#[test]
fn asking_something_else_keeps_the_round() {
    let mut state = one(Status::Fail);
    state.iteration = 4;
    replace_items(&mut state, vec![item("b", Severity::May, Status::Todo)]);
    assert_eq!((state.iteration, state.items.len()), (4, 1));
}

proptest! {
    /// Whatever is done in whichever order: the round goes up by one for each fix of a blocking failure and by
    /// nothing else, a pass has no finding, a failure has one, and the loop ends.
    #[test]
    fn any_run_keeps_the_rules(steps in prop::collection::vec((0usize..4, 0u8..5), 0..80)) {
        let weights = [Severity::Must, Severity::Should, Severity::May, Severity::Must];
        let items = weights.iter().enumerate().map(|(n, weight)| item(&n.to_string(), *weight, Status::Todo));
        let mut state = State::new(Phase::PlanCode, items.collect());
        let policy = GatePolicy::default();
        for (n, what) in steps {
            let (id, before) = (n.to_string(), state.clone());
            let mut next_round = false;
            let refused = match what {
                0 => record(&mut state, &id, &Ruling::Pass, None).is_err(),
                1 | 2 => record(&mut state, &id, &fail("f"), None).is_err(),
                3 => match fixed(&mut state, &policy, n == 0, |_| Touched::Unknown) {
                    Ok(done) => { next_round = done.next_round; false }
                    Err(_) => true,
                },
                _ => accept(&mut state, &id, "r").is_err(),
            };
            if refused {
                prop_assert_eq!(&state, &before);
            }
            prop_assert_eq!(state.iteration, before.iteration + u32::from(next_round));
            prop_assert!(state.iteration <= policy.ceiling_rounds);
            for item in &state.items {
                prop_assert_eq!(item.finding.is_some(), item.status == Status::Fail);
            }
        }
    }
}
