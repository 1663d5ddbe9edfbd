//! Reviews to record: work, answers, and the events the core makes of them.

use countersign_core::answer::{Answer, Ruling};
use countersign_core::criterion::Criterion;
use countersign_core::digest::{Digest, Key};
use countersign_core::endpoint::Endpoint;
use countersign_core::ids::{CallId, ReviewId, Subject, Token};
use countersign_core::plan::{Reviewer, ReviewerKind, plan};
use countersign_core::policy::{Attempts, Policy};
use countersign_core::review::{
    Actor, ActorKind, By, Channel, Confirmation, Effect, Event, Input, Opening, Review, Submit, apply, due,
    step,
};
use countersign_core::rule::{Each, Lines, Rule, Scope};
use countersign_core::submission::{Content, Form, Material, Output, OutputKind, Submission};
use countersign_engine::ledger::{Ledger, LedgerError, Stored};

/// The name of the one reviewer.
pub const REVIEWER: &str = "main";

/// A new review id.
pub fn review_id() -> ReviewId {
    ReviewId::new(random())
}

/// A new call id.
pub fn call_id() -> CallId {
    CallId::new(random())
}

fn random() -> [u8; 12] {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).expect("random bytes");
    bytes
}

/// The files of a submission, made up from a name: as many as wanted, each of its own bytes.
pub fn work(subject: &str, content: &str, files: usize) -> Submit {
    let rules = vec![Rule {
        name: "docs".to_owned(),
        scope: Scope::Files { patterns: vec!["**".to_owned()], each: Each::File },
        criteria: vec![
            Criterion::must("Complete", "Is it complete?"),
            Criterion::must("Correct", "Is it correct?"),
        ],
        guidance: None,
        reviewer: None,
        unseen: None,
        exclude: vec![],
        lines: Lines::File,
    }];
    let material = |i: usize| {
        let bytes = format!("{content} {i}");
        Material {
            path: format!("docs/{i}.md"),
            old_path: None,
            output: 0,
            digest: Digest::of(bytes.as_bytes()),
            size_bytes: bytes.len() as u64,
            content: Content::Text,
            form: Form::File,
        }
    };
    let outputs = vec![Output { name: "files".to_owned(), kind: OutputKind::Files }];
    let submission = Submission::new(&rules, outputs, (0..files).map(material).collect(), None);
    let reviewer = Reviewer {
        name: REVIEWER.to_owned(),
        kind: ReviewerKind::Asked,
        identity: "scripted/1".to_owned(),
        sees_project: false,
        room_bytes: None,
        place: None,
    };
    let assignments = plan(&rules, &submission, &[reviewer], "").expect("a plan").assignments;
    let policy = Policy { attempts: Attempts::AtMost(3), ..Policy::default() };
    Submit {
        opening: Opening { subject: Subject::new("cli", [subject]), policy },
        rules,
        submission,
        assignments,
        known: vec![],
        standing: vec![],
        not_submitted: vec![],
        fresh: false,
        token: Token::new(random()),
        is_decided: false,
        now_ms: 1,
    }
}

/// An answer to both criteria.
pub fn answer(passed: bool) -> Answer {
    let said = || Some("As \"seen\" on line 3 – ünïcode too.".to_owned());
    let ruling = |criterion: &str, passed| Ruling::new(criterion, passed, said());
    Answer::from_rulings(vec![ruling("Complete", true), ruling("Correct", passed)])
}

/// The next question that is due.
pub fn question(review: &Review) -> Option<(Key, String)> {
    due(review).into_iter().find_map(|effect| match effect {
        Effect::Ask { key, reviewer, .. } => Some((key, reviewer)),
        _ => None,
    })
}

/// A question that is about to be asked.
pub fn asking(call: &CallId, key: &Key, reviewer: String) -> Input {
    Input::Asking { call: call.clone(), key: key.clone(), reviewer, place: Endpoint::default() }
}

/// A reviewer's answer.
pub fn by_call(call: CallId) -> By {
    By::Call { call, reviewer: REVIEWER.to_owned() }
}

/// What the core decides; panics where it refuses.
pub fn decide(review: &Review, input: Input) -> Vec<Event> {
    step(review, input).expect("the core takes it")
}

/// The events from opening to the end of the first round, every question answered like this.
pub fn judged(id: &ReviewId, submit: Submit, passed: bool) -> Vec<Event> {
    let mut events = decide(&Review::unopened(id.clone()), Input::Submit(Box::new(submit)));
    let mut review = events.iter().fold(Review::unopened(id.clone()), apply);
    let mut take = |review: &mut Review, input: Input| {
        for event in decide(review, input) {
            *review = apply(std::mem::take(review), &event);
            events.push(event);
        }
    };
    while let Some((key, reviewer)) = question(&review) {
        let call = call_id();
        take(&mut review, asking(&call, &key, reviewer));
        take(&mut review, Input::Answered { key, answer: answer(passed), by: by_call(call) });
    }
    take(&mut review, Input::Confirmed { round: 1, found: Confirmation::Same, now_ms: 2 });
    events
}

/// Appends in a transaction of its own.
pub async fn append(
    ledger: &Ledger,
    from: Stored,
    events: &[Event],
    at_ms: i64,
) -> Result<Stored, LedgerError> {
    let mut transaction = ledger.transaction().await?;
    let stored = transaction.append(from, events, at_ms).await?;
    transaction.commit().await?;
    Ok(stored)
}

/// Records a review that passed.
pub async fn record_passed(ledger: &Ledger, subject: &str) -> Stored {
    let id = review_id();
    let events = judged(&id, work(subject, subject, 2), true);
    append(ledger, Stored::unopened(id), &events, 1_000).await.expect("recorded")
}

/// Records a review that was handed in and not judged yet.
pub async fn record_open(ledger: &Ledger, subject: &str) -> Stored {
    let id = review_id();
    let events = decide(&Review::unopened(id.clone()), Input::Submit(Box::new(work(subject, "open", 2))));
    append(ledger, Stored::unopened(id), &events, 1_000).await.expect("recorded")
}

/// A ledger in a folder of its own.
pub async fn scratch() -> (tempfile::TempDir, Ledger) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let ledger = Ledger::open(&dir.path().join(".countersign")).await.expect("a new ledger");
    (dir, ledger)
}

/// Somebody who may do everything.
pub fn person() -> Actor {
    Actor::new("ann", ActorKind::Person, Channel::Unknown)
}
