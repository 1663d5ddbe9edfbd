//! The law, shown: as stories here and in [`people`], condition by condition in [`held`], as random inputs in
//! random order in [`random`].

mod disputes;
mod held;
mod people;
mod random;
mod routes;
mod same_bytes;
mod standing;

use super::*;
use crate::answer::Ruling;
use crate::criterion::{Criterion, Severity};
use crate::endpoint::Endpoint;
use crate::ids::CallId;
use crate::outcome::Stop;
use crate::plan::{Candidate, Reuse, ReviewerKind};
use crate::policy::{Attempts, COOL_OFF_MS, Decisions, Overrides};
use crate::rule::Scope;
use crate::submission::{Content, Form, Material, Output, OutputKind};

const CRITERIA: [&str; 2] = ["Complete", "Clear"];

/// A person or an agent, by a way that is not recorded.
fn actor(name: &str, person: bool) -> Actor {
    let kind = if person { ActorKind::Person } else { ActorKind::Agent };
    Actor::new(name, kind, Channel::Unknown)
}

fn rules() -> Vec<Rule> {
    let criteria = vec![
        Criterion::must(CRITERIA[0], "?"),
        Criterion { severity: Severity::Should, ..Criterion::must(CRITERIA[1], "?") },
    ];
    vec![Rule::new("docs", Scope::Whole, criteria)]
}

fn key(name: &str) -> Key {
    Key::from(name.to_owned())
}

fn assignment(name: &str, kind: ReviewerKind) -> Assignment {
    let reuse = if kind == ReviewerKind::SelfReview { Reuse::Never } else { Reuse::Anywhere };
    Assignment {
        rule: 0,
        target: Target::File(name.split('@').next().unwrap_or(name).into()),
        criteria: vec![0, 1],
        files: vec![0],
        candidates: vec![Candidate {
            reviewer: "main".into(),
            kind,
            look: 0,
            key: key(name),
            reuse,
            place: None,
        }],
        not_seen: false,
    }
}

/// A submission whose assignments are named like `file@version`: the name is the key.
fn submit(names: &[&str], kind: ReviewerKind, policy: Policy, now_ms: i64) -> Submit {
    let path = |name: &&str| name.split('@').next().unwrap_or(name).to_owned();
    let material = Material {
        path: names.iter().map(path).collect::<Vec<_>>().join(","),
        old_path: None,
        output: 0,
        digest: Digest::of(names.join(",").as_bytes()),
        size_bytes: 1,
        content: Content::Text,
        form: Form::File,
    };
    let outputs = vec![Output { name: "docs".into(), kind: OutputKind::Files }];
    Submit {
        rules: rules(),
        opening: Opening { subject: Subject::new("cli", ["test"]), policy },
        submission: Submission::new(&rules(), outputs, vec![material], None),
        assignments: names.iter().map(|name| assignment(name, kind)).collect(),
        known: vec![],
        standing: vec![],
        not_submitted: vec![],
        fresh: false,
        token: Token::from_text("sr-again"),
        is_decided: false,
        now_ms,
    }
}

fn answer(complete: bool, clear: bool) -> Answer {
    let ruling = |name: &str, passed| Ruling::new(name, passed, None);
    Answer::from_rulings(vec![ruling(CRITERIA[0], complete), ruling(CRITERIA[1], clear)])
}

/// A ruling that stands from another review.
fn known(name: &str, answer: Answer) -> Known {
    let by = By::Call { call: call(), reviewer: "main".into() };
    Known { key: key(name), answer, by, place: None, disputed: false }
}

fn asking(name: &str) -> Input {
    Input::Asking { call: call(), key: key(name), reviewer: "main".into(), place: Endpoint::default() }
}

fn call() -> CallId {
    CallId::from_text("ca-test")
}

/// A review with its events, as the ledger would hold it.
struct Story {
    review: Review,
    events: Vec<Event>,
}

impl Story {
    fn new() -> Self {
        Self { review: Review::unopened(ReviewId::from_text("rv-test")), events: vec![] }
    }

    fn input(&mut self, input: Input) -> Result<&mut Self, Refused> {
        for event in step(&self.review, input)? {
            self.review = apply(std::mem::take(&mut self.review), &event);
            self.events.push(event);
        }
        Ok(self)
    }

    fn take(&mut self, input: Input) -> &mut Self {
        self.input(input).unwrap()
    }

    fn submit(&mut self, names: &[&str]) -> &mut Self {
        self.take(Input::Submit(Box::new(submit(names, ReviewerKind::Asked, Policy::default(), 0))))
    }

    fn answered(&mut self, name: &str, answer: Answer) -> &mut Self {
        let by = By::Call { call: call(), reviewer: "main".into() };
        self.take(Input::Answered { key: key(name), answer, by })
    }

    fn failed(&mut self, name: &str, why: NoVerdict) -> &mut Self {
        self.take(Input::AskFailed {
            call: call(),
            key: key(name),
            why,
            detail: "because".into(),
            fixed: None,
            budget: None,
            not_put: false,
        })
    }

    fn confirmed(&mut self) -> &mut Self {
        let round = self.round();
        self.take(Input::Confirmed { round, found: Confirmation::Same, now_ms: 0 })
    }

    fn delivered(&mut self) -> &mut Self {
        let round = self.round();
        self.take(Input::Delivered { round })
    }

    /// The number of the current round.
    fn round(&self) -> u32 {
        self.review.round().map_or(0, |round| round.n)
    }

    fn questions(&self) -> Vec<(String, Option<String>)> {
        let ask = |effect| match effect {
            Effect::Ask { key, repair, .. } => Some((key.to_string(), repair)),
            _ => None,
        };
        due(&self.review).into_iter().filter_map(ask).collect()
    }

    fn asks(&self, names: &[&str]) {
        let asked: Vec<_> = self.questions().into_iter().map(|(key, _)| key).collect();
        assert_eq!(asked, names);
    }

    fn stands(&self, outcome: Outcome) {
        assert_eq!(self.review.standing(), Some(outcome));
    }
}

#[test]
fn a_review_is_sent_back_and_passes() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).asks(&["a@1", "b@1"]);
    story.answered("a@1", answer(true, true)).asks(&["b@1"]);
    story.answered("b@1", answer(false, true));
    assert_eq!(due(&story.review), [Effect::Confirm]);
    story.confirmed().stands(Outcome::NeedsWork);
    let findings = story.review.findings();
    assert_eq!((findings.len(), findings[0].criterion.as_deref()), (1, Some("Complete")));
    assert_eq!(findings[0].target, Target::File("b".into()));
    // One file changed: only that is asked again.
    story.delivered().submit(&["a@1", "b@2"]).asks(&["b@2"]);
    assert_eq!(story.review.round().unwrap().asked_and_reused(), (0, 1));
    story.answered("b@2", answer(true, true)).confirmed().stands(Outcome::Passed);
    assert_eq!(fold(story.review.id.clone(), &story.events), story.review);
}

#[test]
fn the_same_failing_bytes_ask_nobody_and_count() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().stands(Outcome::NeedsWork);
    // Not delivered: the recorded answer, no new round.
    story.submit(&["a@1"]).stands(Outcome::NeedsWork);
    assert_eq!((story.review.rounds.len(), story.review.attempts), (1, 1));
    for attempt in 2..=3 {
        story.delivered().submit(&["a@1"]).asks(&[]);
        story.confirmed();
        assert_eq!(story.review.attempts, attempt);
    }
    story.stands(Outcome::Stopped(Stop::AttemptsUsedUp));
    // Stopped is stopped, for these bytes and for others.
    story.submit(&["a@1"]).stands(Outcome::Stopped(Stop::AttemptsUsedUp));
    story.submit(&["a@2"]).asks(&[]);
    let person = actor("ann", true);
    story.take(Input::Lifted { by: person, reason: "go on".into() }).submit(&["a@2"]).asks(&["a@2"]);
    story.answered("a@2", answer(true, true)).confirmed().stands(Outcome::Passed);
}

#[test]
fn a_defective_reply_is_asked_for_once_more_then_there_is_no_verdict() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).answered("b@1", answer(true, true));
    story.failed("a@1", NoVerdict::Garbled);
    assert_eq!(story.questions(), [("a@1".to_owned(), Some("because".to_owned()))]);
    story.failed("a@1", NoVerdict::Contradictory).asks(&[]);
    story.confirmed().stands(Outcome::NoVerdict(NoVerdict::Contradictory));
    assert_eq!(story.review.attempts, 0, "no verdict costs no attempt");
    // What was ruled stays ruled; only the rest is asked again.
    story.submit(&["a@1", "b@1"]).asks(&["a@1"]);
}

#[test]
fn a_failure_wins_over_a_missing_ruling() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).answered("b@1", answer(false, true)).failed("a@1", NoVerdict::Timeout);
    story.confirmed().stands(Outcome::NeedsWork);
    let unanswered = &story.review.round().unwrap().judgement.unanswered;
    assert_eq!((unanswered.len(), unanswered[0].why), (1, NoVerdict::Timeout));
}

#[test]
fn work_that_changed_while_it_was_judged_is_stale() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(true, true));
    story.take(Input::Confirmed { round: 1, found: Confirmation::Changed, now_ms: 0 });
    story.stands(Outcome::NoVerdict(NoVerdict::Stale));
}

#[test]
fn other_work_supersedes_and_given_rulings_stay() {
    let mut story = Story::new();
    story.submit(&["a@1", "b@1"]).answered("a@1", answer(true, true));
    story.submit(&["a@1", "b@2"]).asks(&["b@2"]);
    assert_eq!(story.review.rounds[0].end, Some(RoundEnd::Superseded));
    // A late answer to the old round is kept, and used when the old bytes come back.
    story.answered("b@1", answer(true, true)).asks(&["b@2"]);
    story.submit(&["a@1", "b@1"]).asks(&[]);
}

#[test]
fn what_is_said_about_one_round_does_not_count_for_another() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed();
    story.submit(&["a@2"]).answered("a@2", answer(true, true));
    // The files of the first round were read; those of the second were not.
    let old = Input::Confirmed { round: 1, found: Confirmation::Same, now_ms: 0 };
    assert!(matches!(story.input(old).err(), Some(Refused::NotNow(_))));
    story.confirmed().take(Input::Delivered { round: 1 });
    let delivered: Vec<_> = story.review.rounds.iter().map(|round| round.delivered).collect();
    assert_eq!(delivered, [true, false]);
}

#[test]
fn nobody_is_asked_for_a_while_after_three_rounds_without_a_verdict() {
    let mut story = Story::new();
    for _ in 0..3 {
        story.submit(&["a@1"]).failed("a@1", NoVerdict::Unavailable).confirmed();
    }
    let again =
        |now_ms| Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, Policy::default(), now_ms)));
    let refused = story.input(again(COOL_OFF_MS - 1)).err();
    assert_eq!(refused, Some(Refused::CoolingOff { until_ms: COOL_OFF_MS }));
    // A decision asks no reviewer.
    let early = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), COOL_OFF_MS - 1);
    let decided = Input::Submit(Box::new(Submit { is_decided: true, ..early }));
    assert!(step(&story.review, decided).is_ok());
    story.take(again(COOL_OFF_MS)).asks(&["a@1"]);
}

#[test]
fn the_same_findings_again_and_again_do_not_converge() {
    let policy = Policy { attempts: Attempts::AtMost(10), ..Policy::default() };
    let mut story = Story::new();
    for version in ["a@1", "a@2", "a@3"] {
        let submit = submit(&[version], ReviewerKind::Asked, policy.clone(), 0);
        story
            .take(Input::Submit(Box::new(submit)))
            .answered(version, answer(false, true))
            .confirmed()
            .delivered();
    }
    story.stands(Outcome::Stopped(Stop::NotConverging));
}

#[test]
fn what_does_not_block_any_more_is_waived_and_shown() {
    let blocking = vec![
        crate::policy::Blocking { from_round: 1, severity: Severity::Should },
        crate::policy::Blocking { from_round: 2, severity: Severity::Must },
    ];
    let policy = Policy { blocking, ..Policy::default() };
    let mut story = Story::new();
    let one = |names: &[&str]| Input::Submit(Box::new(submit(names, ReviewerKind::Asked, policy.clone(), 0)));
    story.take(one(&["a@1"])).answered("a@1", answer(true, false)).confirmed().stands(Outcome::NeedsWork);
    story.delivered().take(one(&["a@1"])).confirmed().stands(Outcome::Passed);
    assert_eq!((story.review.findings().len(), story.review.waived().len()), (0, 1));
}

#[test]
fn one_look_is_one_round() {
    let policy = Policy { attempts: Attempts::Once, ..Policy::default() };
    let one = || Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::Asked, policy.clone(), 0)));
    let mut failing = Story::new();
    failing.take(one()).answered("a@1", answer(false, true)).confirmed();
    assert_eq!(failing.review.state, State::Settled(Settlement::NeedsWork));
    let mut silent = Story::new();
    silent.take(one()).failed("a@1", NoVerdict::Timeout).confirmed();
    assert_eq!(silent.review.state, State::Settled(Settlement::NoVerdict(NoVerdict::Timeout)));
}

#[test]
fn an_author_who_mends_four_times_may_still_hand_in() {
    let own =
        |name: &str| Input::Submit(Box::new(submit(&[name], ReviewerKind::SelfReview, Policy::default(), 0)));
    let mut story = Story::new();
    let token = |n: u32| Token::from_text(format!("sr-{n}"));
    for n in 1..=4 {
        story.take(own(&format!("a@{n}"))).take(Input::SelfReviewAsked { token: token(n) });
    }
    // The results come with other bytes than those the token was given out for.
    story.take(own("a@5")).take(Input::SelfReviewAsked { token: token(4) });
    let answers = vec![(key("a@5"), answer(true, true))];
    story.take(Input::SelfReviewed { token: token(4), answers }).confirmed().stands(Outcome::Passed);
}

#[test]
fn a_self_review_answers_for_nobody_else() {
    let mut both = submit(&["a@1", "b@1"], ReviewerKind::SelfReview, Policy::default(), 0);
    both.assignments[0] = assignment("a@1", ReviewerKind::Asked);
    let token = Token::from_text("sr-one");
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(both))).failed("a@1", NoVerdict::Timeout);
    story.take(Input::SelfReviewAsked { token: token.clone() });
    let answers = |names: &[&str]| names.iter().map(|name| (key(name), answer(true, true))).collect();
    let all = Input::SelfReviewed { token: token.clone(), answers: answers(&["a@1", "b@1"]) };
    assert_eq!(story.input(all).err(), Some(Refused::NotAsked));
    story.take(Input::SelfReviewed { token, answers: answers(&["b@1"]) }).confirmed();
    story.stands(Outcome::NoVerdict(NoVerdict::Timeout));
}

#[test]
fn a_round_that_was_stopped_under_way_is_judged_after_a_lift() {
    let person = || actor("ann", true);
    let lift = || Input::Lifted { by: person(), reason: "go on".into() };
    let own = || Input::Submit(Box::new(submit(&["a@1"], ReviewerKind::SelfReview, Policy::default(), 0)));
    let mut unanswered = Story::new();
    unanswered.take(own()).take(Input::SelfReviewAsked { token: Token::from_text("sr-one") });
    for _ in 0..4 {
        unanswered.take(own());
    }
    unanswered.take(lift()).take(own());
    assert_eq!(due(&unanswered.review), [Effect::AskSelf]);
    let mut rejected = Story::new();
    rejected.submit(&["a@1"]);
    let digest = rejected.review.digest().unwrap().clone();
    let reject = Decision { by: person(), verb: Verb::Reject, reason: "no".into(), digest, at_ms: 0 };
    rejected.take(Input::Decided(reject)).take(lift()).submit(&["a@1"]).asks(&["a@1"]);
}

#[test]
fn changed_rules_hold_for_the_next_round_and_are_counted() {
    let mut story = Story::new();
    story.submit(&["a@1"]).answered("a@1", answer(false, true)).confirmed().delivered();
    let mut other = submit(
        &["a@9"],
        ReviewerKind::Asked,
        Policy { attempts: Attempts::AtMost(99), ..Policy::default() },
        0,
    );
    other.rules[0].guidance = Some("new".into());
    story.take(Input::Submit(Box::new(other)));
    assert_eq!((story.review.rule_changes, story.review.rules[0].guidance.as_deref()), (1, Some("new")));
    assert_eq!(story.review.policy, Policy::default(), "the policy stays what it was opened under");
}

#[test]
fn events_survive_the_ledger() {
    let mut story = Story::new();
    story
        .submit(&["a@1", "b@1"])
        .answered("a@1", answer(false, true))
        .failed("b@1", NoVerdict::Timeout)
        .confirmed();
    for event in &story.events {
        let json = serde_json::to_string(event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), *event);
        assert!(json.starts_with(&format!("{{\"kind\":\"{}\"", event.kind())));
    }
}

#[test]
fn only_a_reviewer_that_is_not_there_makes_room_for_the_next() {
    let second = |name: &str| Candidate {
        reviewer: "second".into(),
        kind: ReviewerKind::Asked,
        look: 0,
        key: key(name),
        reuse: Reuse::Anywhere,
        place: None,
    };
    let author = || Candidate {
        reviewer: "self".into(),
        kind: ReviewerKind::SelfReview,
        look: 0,
        key: key("own"),
        reuse: Reuse::Never,
        place: None,
    };
    for (why, next) in [
        (NoVerdict::Unavailable, vec!["a@second"]),
        (NoVerdict::Timeout, vec![]),
        (NoVerdict::Refused, vec![]),
    ] {
        let mut story = Story::new();
        let mut submit = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
        submit.assignments[0].candidates.extend([second("a@second"), author()]);
        story.take(Input::Submit(Box::new(submit))).failed("a@1", why).asks(&next);
    }
    // Without a reviewer there is no verdict; the author does not replace a reviewer.
    let mut story = Story::new();
    let mut submit = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
    submit.assignments[0].candidates.push(author());
    story.take(Input::Submit(Box::new(submit))).failed("a@1", NoVerdict::Unavailable).confirmed();
    story.stands(Outcome::NoVerdict(NoVerdict::Unavailable));
}

#[test]
fn a_key_that_several_assignments_share_is_found_wherever_it_stands() {
    let candidate = |name: &str| Candidate {
        reviewer: name.into(),
        ..assignment(name, ReviewerKind::Asked).candidates[0].clone()
    };
    let asks = |names: &[&str]| Assignment {
        candidates: names.iter().map(|name| candidate(name)).collect(),
        ..assignment(names[0], ReviewerKind::Asked)
    };
    let mut submit = submit(&["a"], ReviewerKind::Asked, Policy::default(), 0);
    submit.assignments = vec![asks(&["a", "b", "b"]), asks(&["b"]), asks(&["c"]), asks(&["a"])];
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(submit)));
    let indices = |story: &Story, name: &str| -> Vec<usize> {
        let round = story.review.round().unwrap();
        round.asking(&key(name)).map(|(index, _)| index).collect()
    };
    let table: [(&str, &[usize]); 4] = [("a", &[0, 3]), ("b", &[0, 1]), ("c", &[2]), ("d", &[])];
    for (name, expected) in table {
        assert_eq!(indices(&story, name), expected, "{name}");
    }
    // `b` is the second choice of the first assignment and the first choice of the second.
    story.asks(&["a", "b", "c"]);
    for name in ["a", "b", "c"] {
        story.take(asking(name));
    }
    assert_eq!(story.input(asking("d")).err(), Some(Refused::NotAsked));
    story.answered("b", answer(true, true));
    story.asks(&["c", "a"]);
}

/// A second look is data: an assignment whose candidate has another look, and so another key. Nothing else is needed
/// for it to be asked, recorded and to count.
#[test]
fn issue_15_the_unit_that_is_asked_is_an_assignment_a_reviewer_and_a_look() {
    let mut submit = submit(&["a@1"], ReviewerKind::Asked, Policy::default(), 0);
    let mut second = submit.assignments[0].clone();
    second.candidates[0] = Candidate { look: 1, key: key("a@1 again"), ..second.candidates[0].clone() };
    submit.assignments.push(second);
    let mut story = Story::new();
    story.take(Input::Submit(Box::new(submit))).asks(&["a@1", "a@1 again"]);
    for (name, look) in [("a@1", 0), ("a@1 again", 1)] {
        let events = step(&story.review, asking(name)).unwrap();
        assert!(matches!(events[..], [Event::Asked { look: asked, .. }] if asked == look), "{events:?}");
        let written = serde_json::to_value(&events[0]).unwrap();
        assert_eq!(written.get("look").is_some(), look > 0, "{written}");
        assert_eq!(serde_json::from_value::<Event>(written).unwrap(), events[0]);
    }
    // What the first look found says nothing about the second, and both count.
    story.answered("a@1", answer(true, true)).asks(&["a@1 again"]);
    story.answered("a@1 again", answer(true, false)).confirmed();
    story.stands(Outcome::NeedsWork);
}
