//! Consultations: what is accepted, what is asked again, and what is on record.

use countersign_core::cost::Budget;
use countersign_core::digest::Digest;
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt::{Body, Field, Kind, Shape, ShownFile};
use countersign_core::redact::Redaction;
use countersign_engine::engine::{
    Bounds, Consultation, Engine, Judge, Panel, Panelist, Planner, Surroundings,
};
use countersign_engine::ledger::Ledger;
use countersign_engine::process::GuardProgram;
use countersign_engine::reviewer::replay;
use countersign_engine::workspace::Root;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const SHAPE: Shape =
    Shape(&[Field { name: "word", kind: Kind::Text, required: true, says: "one of the words" }]);

fn panelist(name: &str, reply: Option<Value>) -> Panelist {
    let line = reply.map(|reply| json!({ "consult": "word", "reply": reply }).to_string());
    let recording = Arc::new(replay::parse(&line.unwrap_or_default()).unwrap());
    let judge = Judge::Replay { recording, digest: Digest::of(name.as_bytes()) };
    Panelist {
        name: name.to_owned(),
        judge,
        sees_project: false,
        timeout: None,
        concurrency: 1,
        window_tokens: None,
        price: None,
        question_microusd: None,
        vendor: None,
    }
}

struct Ended {
    result: Result<String, NoVerdict>,
    kinds: Vec<String>,
    questions: u64,
}

/// Asks for a word, of which only "good" is accepted.
async fn consult(panelists: Vec<Panelist>, prompt_bytes: u64) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(folder.path()).unwrap();
    let planner = Planner {
        panel: Panel::new(panelists, root.path(), 1, &Surroundings::default()),
        root,
        bounds: Bounds { max_inline_files: Some(5), prompt_bytes, reply_bytes: 1000 },
        redaction: Redaction::off(),
        day_budget: Budget::default(),
        keep_contents_days: 0,
        rules_from: None,
        baseline: std::sync::Arc::default(),
    };
    let ledger = Ledger::open(&folder.path().join(".countersign")).await.unwrap();
    let engine = Engine::new(planner, ledger, GuardProgram("/no/guard".into())).unwrap();
    let file = ShownFile { path: "a.md".into(), output: "o".into(), body: Body::Text("some text".into()) };
    let question = Consultation {
        name: "word".into(),
        about: "test".into(),
        system_prompt: "Say a word.".into(),
        files: vec![file],
        shape: SHAPE,
    };
    let accept = |value: &Value| match value["word"].as_str() {
        Some("good") => Ok("good".to_owned()),
        _ => Err("it is not the word".to_owned()),
    };
    let consulted = engine.consult(&question, accept, &CancellationToken::new()).await.unwrap();
    let notes = engine.ledger().notes(&consulted.stream).await.unwrap();
    let costs = engine.ledger().costs(0).await.unwrap();
    engine.ledger().verify().await.unwrap();
    Ended {
        result: consulted.result.map_err(|failed| failed.why),
        kinds: notes.into_iter().map(|note| note.kind).collect(),
        questions: costs.iter().map(|cost| cost.questions).sum(),
    }
}

#[tokio::test]
async fn every_question_is_on_record_and_only_those_who_are_not_there_are_passed_over() {
    let (asked, answered, failed) = ("consult_asked", "consult_answered", "consult_failed");
    let word = |word: &str| Some(json!({ "word": word }));
    let table = [
        (vec![word("good")], Ok("good"), vec![asked, answered]),
        (vec![None, word("good")], Ok("good"), vec![asked, failed, asked, answered]),
        (vec![word("bad"), word("good")], Err(NoVerdict::Garbled), vec![asked, failed, asked, failed]),
        (vec![Some(json!({}))], Err(NoVerdict::Garbled), vec![asked, failed, asked, failed]),
        (vec![Some(json!("two words"))], Err(NoVerdict::Garbled), vec![asked, failed, asked, failed]),
        (
            vec![Some(json!("{\"word\": \"good\", \"word\": \"bad\"}"))],
            Err(NoVerdict::Garbled),
            vec![asked, failed, asked, failed],
        ),
        (vec![Some(json!("```json\n{\"word\": \"good\"}\n```"))], Ok("good"), vec![asked, answered]),
        (vec![None], Err(NoVerdict::Unavailable), vec![asked, failed]),
        (vec![], Err(NoVerdict::Unavailable), vec![]),
    ];
    for (replies, expected, kinds) in table {
        let panelists = replies.into_iter().enumerate().map(|(i, reply)| panelist(&format!("r{i}"), reply));
        let ended = consult(panelists.collect(), 1000).await;
        assert_eq!(ended.result, expected.map(str::to_owned));
        assert_eq!(ended.kinds, kinds);
        assert_eq!(ended.questions, kinds.iter().filter(|kind| **kind == asked).count() as u64);
    }
}

#[tokio::test]
async fn what_does_not_fit_is_not_asked() {
    let ended = consult(vec![panelist("r", Some(json!({ "word": "good" })))], 10).await;
    assert_eq!((ended.result, ended.questions), (Err(NoVerdict::TooLong), 0));
}
