//! Whatever is submitted with the same bytes, in whichever order: a failure that stands never becomes a pass, except by a
//! dispute, and once by new notes.

use countersign_core::cost::Budget;
use countersign_core::criterion::Criterion;
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::Outcome;
use countersign_core::policy::{Attempts, Policy};
use countersign_core::redact::Redaction;
use countersign_core::review::{Actor, ActorKind, Channel, Dispute, Review};
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_engine::engine::{Bounds, Engine, Judge, Panel, Panelist, Planner, Request, Surroundings};
use countersign_engine::ledger::Ledger;
use countersign_engine::process::GuardProgram;
use countersign_engine::reviewer::replay;
use countersign_engine::workspace::Root;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const CRITERIA: [&str; 2] = ["Complete", "Clear"];

/// One submission, by small numbers, and what the reviewer would say if it were asked.
#[derive(Clone, Debug)]
struct Try {
    version: u8,
    notes: Option<u8>,
    subject: Option<u8>,
    reviewer: u8,
    sees_project: bool,
    fresh: bool,
    /// Which of the criteria are asked.
    asked: [bool; 2],
    says: [bool; 2],
    /// Whether a finding of it, if there is one, is withdrawn by a dispute.
    dispute: bool,
}

fn tries() -> impl Strategy<Value = Try> {
    let asked = prop_oneof![3 => Just([true, true]), 1 => Just([true, false]), 1 => Just([false, true])];
    let who = (0..2u8, prop::option::of(0..3u8), prop::option::of(0..2u8), 0..2u8);
    let how =
        (prop::bool::weighted(0.2), any::<bool>(), asked, any::<[bool; 2]>(), prop::bool::weighted(0.1));
    (who, how).prop_map(
        |((version, notes, subject, reviewer), (sees_project, fresh, asked, says, dispute))| Try {
            version,
            notes,
            subject,
            reviewer,
            sees_project,
            fresh,
            asked,
            says,
            dispute,
        },
    )
}

impl Try {
    fn panelist(&self) -> Panelist {
        let line = |i: usize| format!(r#"{{"criterion":"{}","passed":{}}}"#, CRITERIA[i], self.says[i]);
        let recording = replay::parse(&[line(0), line(1)].join("\n")).unwrap();
        // The digest is its identity: it may say something else each time it is asked.
        let digest = Digest::of(&[self.reviewer]);
        Panelist {
            name: format!("r{}", self.reviewer),
            judge: Judge::Replay { recording: Arc::new(recording), digest },
            sees_project: self.sees_project,
            timeout: None,
            concurrency: 1,
            window_tokens: None,
            price: None,
            question_microusd: None,
            vendor: None,
        }
    }

    fn request(&self, n: usize) -> Request {
        let asked = (0..2).filter(|i| self.asked[*i]);
        let rule = Rule {
            guidance: self.fresh.then(|| "Be kind.".into()),
            ..Rule::new("docs", Scope::Whole, asked.map(|i| Criterion::must(CRITERIA[i], "?")).collect())
        };
        let subject = self.subject.map_or_else(|| format!("own-{n}"), |name| format!("s{name}"));
        let attempts = if self.subject.is_some() { Attempts::AtMost(99) } else { Attempts::Once };
        Request {
            subject: Subject::new("cli", [subject.as_str()]),
            rules: vec![rule],
            policy: Policy { attempts, max_stalled_rounds: 99, ..Policy::default() },
            outputs: vec![Output { name: "files".into(), kind: OutputKind::Files }],
            files: vec![("a.md".into(), 0)],
            guidance_files: vec![],
            change: None,
            notes: self.notes.map(|notes| format!("notes {notes}")),
            fresh: self.fresh,
        }
    }
}

/// What the ledger must not forget of one version of the file.
#[derive(Default)]
struct Known {
    /// Criteria with a failure that stands.
    failed: BTreeSet<String>,
    /// The notes by which they passed all the same.
    excused: BTreeMap<String, BTreeSet<Option<u8>>>,
}

async fn play(script: &[Try]) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(folder.path()).unwrap();
    let planner = |panelist: Vec<Panelist>| Planner {
        panel: Panel::new(panelist, root.path(), 1, &Surroundings::default()),
        root: root.clone(),
        bounds: Bounds { max_inline_files: Some(5), prompt_bytes: 10_000, reply_bytes: 1000 },
        redaction: Redaction::off(),
        day_budget: Budget::default(),
        keep_contents_days: 0,
        rules_from: None,
        baseline: std::sync::Arc::default(),
    };
    let engine = Engine::new(planner(vec![]), Ledger::in_memory(), GuardProgram("/no/guard".into())).unwrap();
    let mut all: BTreeMap<u8, Known> = BTreeMap::new();
    for (n, made) in script.iter().enumerate() {
        std::fs::write(folder.path().join("a.md"), format!("version {}", made.version)).unwrap();
        let engine = engine.replanned(planner(vec![made.panelist()]));
        let prepared = engine.planner().prepare(made.request(n)).await.unwrap();
        let ticket = engine.submit(prepared).await.unwrap();
        let stored = engine.wait(&ticket, &CancellationToken::new()).await.unwrap();
        let known = all.entry(made.version).or_default();
        let review = &stored.review;
        check(made, ticket.outcome(&stored), review, known);
        engine.delivered(&ticket).await.unwrap();
        let asked = |name: &str| (0..2).any(|i| made.asked[i] && CRITERIA[i] == name);
        let finding = review
            .findings()
            .into_iter()
            .find(|finding| made.dispute && finding.criterion.as_deref().is_some_and(asked));
        if let Some(finding) = finding {
            let name = finding.criterion.clone().unwrap();
            engine.disputed(&review.id, dispute(review, finding.id, name.clone(), n)).await.unwrap();
            known.failed.remove(&name);
        }
    }
    engine.ledger().verify().await.unwrap();
}

fn dispute(review: &Review, finding: String, criterion: String, n: usize) -> Dispute {
    let round = review.round().unwrap();
    let (key, _) = round.answer_to(&round.assignments[0]).unwrap();
    Dispute {
        key: key.clone(),
        criterion,
        finding,
        review: ReviewId::from_text(format!("rv-dispute{n}")),
        reviewer: "other".into(),
        by: Actor::new("ann", ActorKind::Person, Channel::Unknown),
        upheld: false,
        feedback: "no".into(),
    }
}

fn check(made: &Try, outcome: Outcome, review: &Review, known: &mut Known) {
    let asked = (0..2).filter(|i| made.asked[*i]).map(|i| CRITERIA[i]);
    if outcome == Outcome::Passed {
        let after_notes: BTreeSet<&str> = review.passed_after_notes().map(|(_, name, _)| name).collect();
        for name in asked.filter(|name| known.failed.contains(*name)) {
            assert!(
                after_notes.contains(name),
                "{name} failed on these bytes, and passed silently: {made:?}"
            );
            let notes = known.excused.entry(name.to_owned()).or_default();
            notes.insert(made.notes);
            assert!(
                made.notes.is_some() && notes.len() == 1,
                "{name} passed by more than one note: {made:?}"
            );
        }
    }
    // What is carried was found before.
    let carried = |name: &String| !(0..2).any(|i| made.asked[i] && CRITERIA[i] == name);
    let blocking = review.findings().into_iter().filter_map(|finding| finding.criterion);
    let blocking = blocking.filter(|name| !carried(name));
    if outcome == Outcome::NeedsWork {
        known.failed.extend(blocking);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn attack_17_whatever_is_submitted_again_a_failure_stands(
        script in proptest::collection::vec(tries(), 1..14),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(&script));
    }
}
