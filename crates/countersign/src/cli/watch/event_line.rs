//! An event on one line, for people: when, about what, what happened.

use crate::cli::log::event_words;
use crate::cli::task::texts::result_words;
use crate::output::{bold, dim, local};
use countersign_app::doors::DOORS;
use countersign_app::notify;
use countersign_core::review::Event;
use countersign_core::text::{cut_noted, visible_line};
use countersign_doors::service::event::{self, Happened, ServiceEvent};
use countersign_engine::ledger::{Note, Recorded};
use serde_json::Value;

/// Longer foreign text is cut.
const WORDS_BYTES: usize = 300;
/// The keys that describe an event of a door best.
const TELLING: [&str; 8] = ["title", "workflow", "goal", "step", "item", "status", "explanation", "reason"];

pub fn line(event: &Recorded) -> String {
    let (about, words) = told(event);
    let words = visible_line(&words);
    let words = match words.is_empty() {
        true => String::new(),
        false => format!("  {}", cut_noted(&words, WORDS_BYTES)),
    };
    format!(
        "{:>6}  {}  {:<17}  {}{words}\n",
        event.seq,
        dim(&local(event.at_ms)),
        visible_line(&event.kind),
        bold(&visible_line(&about))
    )
}

fn told(event: &Recorded) -> (String, String) {
    let Recorded { stream, kind, body, n, at_ms, .. } = event;
    if let Some(subject) = &event.subject {
        // The subject is in the line already.
        let happened = serde_json::from_str::<Event>(body).ok();
        let happened = happened.filter(|event| !matches!(event, Event::ReviewOpened { .. }));
        return (subject.clone(), happened.map(|event| event_words(&event)).unwrap_or_default());
    }
    let data: Value = serde_json::from_str(body).unwrap_or_default();
    if stream == event::STREAM {
        let note = Note { n: *n, at_ms: *at_ms, kind: kind.clone(), body: body.clone() };
        if let Some(event) = ServiceEvent::of(&note) {
            return of_task(&event);
        }
    }
    if stream == notify::STREAM {
        return (text(&data, "subject").unwrap_or_default(), of_notification(&data));
    }
    let words: Vec<String> = TELLING.iter().filter_map(|key| text(&data, key)).collect();
    (stream.clone(), words.join(", "))
}

fn of_task(event: &ServiceEvent) -> (String, String) {
    let Happened { task_id, title, status, review, .. } = event.happened();
    let words = match event {
        ServiceEvent::ReviewStarted(_) => format!("attempt {}", review.attempt),
        ServiceEvent::ReviewSkipped(_) => format!("the task is {}: {}", status.word(), review.summary),
        ServiceEvent::ReviewCompleted(_) | ServiceEvent::ReviewFailed(_) => {
            let summary = match review.summary.trim() {
                "" => String::new(),
                summary => format!(": {summary}"),
            };
            format!("{}, the task is {}{summary}", result_words(review), status.word())
        }
    };
    (format!("{task_id} {title}"), words)
}

fn of_notification(data: &Value) -> String {
    let title = text(data, "title").unwrap_or_default();
    let message = text(data, "message").unwrap_or_default();
    let ways = data["ways"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ways: Vec<String> = ways
        .iter()
        .map(|way| {
            let name = text(way, "way").unwrap_or_default();
            match way["state"].as_str() {
                Some("done") => name,
                state => format!("{name} {}", state.unwrap_or_default().replace('_', " ")),
            }
        })
        .collect();
    let by = if ways.is_empty() { String::new() } else { format!(" ({})", ways.join(", ")) };
    format!("{title}: {message}{by}")
}

fn text(data: &Value, key: &str) -> Option<String> {
    data[key].as_str().map(str::to_owned)
}

/// Whether an event is about a subject, as it is typed.
pub fn is_about(event: &Recorded, typed: &str) -> bool {
    let named = || text(&serde_json::from_str(&event.body).unwrap_or_default(), "subject");
    let subject = event.subject.clone().or_else(named).unwrap_or_else(|| event.stream.clone());
    DOORS.is_meant(&subject, typed)
}
