//! Rulings that stand from before, as they are written: each names the event that gave it, and the answer is not
//! written again. An answer that is not word for word the one of that event is written whole.

use super::entry::Line;
use super::rulings::known;
use super::store::Session;
use super::{LedgerError, Result};
use countersign_core::ids::ReviewId;
use countersign_core::review::{By, Event, Known, ReusedAnswer};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

const KIND: &str = "reused";
/// What stands before the stream of an imported event: a reference leads to the event beside it.
pub(super) const IMPORTED: &str = "imported/";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kind: String,
    round: u32,
    answers: Vec<Answer>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    /// That of this event of this review.
    OfEvent(ReviewId, u64),
    Whole(Box<ReusedAnswer>),
}

/// The events that gave answers, by stream and number, each with its number in the ledger.
type Origins = HashMap<(String, u64), (u64, Known)>;

/// The body of an event.
pub(super) async fn body(session: &mut Session, event: &Event) -> Result<String> {
    let written = match event {
        Event::Reused { round, answers } => {
            let named = answers.iter().filter_map(|answer| match &answer.by {
                By::Reused { review, n, .. } => Some((review.to_string(), *n)),
                _ => None,
            });
            let origins = origins(session, &named.collect::<Vec<_>>()).await?;
            let answers = answers.iter().map(|answer| match &answer.by {
                By::Reused { review, n, .. } if same(origins.get(&(review.to_string(), *n)), answer) => {
                    Answer::OfEvent(review.clone(), *n)
                }
                _ => Answer::Whole(Box::new(answer.clone())),
            });
            serde_json::to_string(&Written {
                kind: KIND.to_owned(),
                round: *round,
                answers: answers.collect(),
            })
        }
        event => serde_json::to_string(event),
    };
    written.map_err(|error| LedgerError::Other(error.to_string()))
}

fn same(origin: Option<&(u64, Known)>, answer: &ReusedAnswer) -> bool {
    let ReusedAnswer { key, answer, by, place } = answer;
    origin.is_some_and(|(_, known)| {
        (&known.key, &known.answer, &known.by, &known.place) == (key, answer, by, place)
    })
}

/// What happened, by these lines; each is checked against the chain, and so is every event that one refers to.
pub(super) async fn events(session: &mut Session, lines: &[Line]) -> Result<Vec<Event>> {
    let mut all = Vec::with_capacity(lines.len());
    for line in lines {
        all.push(match line.kind.as_str() {
            KIND => read(session, line).await?,
            _ => line.event()?,
        });
    }
    Ok(all)
}

async fn read(session: &mut Session, line: &Line) -> Result<Event> {
    let Written { round, answers, .. } = written(line)?;
    let before = beside(&line.stream);
    let place = |review: &ReviewId, n: u64| (format!("{before}{review}"), n);
    let named = answers.iter().filter_map(|answer| match answer {
        Answer::OfEvent(review, n) => Some(place(review, *n)),
        Answer::Whole(_) => None,
    });
    let origins = origins(session, &named.collect::<Vec<_>>()).await?;
    let answer = |answer| match answer {
        Answer::OfEvent(review, n) => {
            // A ruling stands from before: what comes later gives none.
            let (_, known) = origins.get(&place(&review, n)).filter(|(seq, _)| *seq < line.seq)?;
            let (reviewer, key) = (known.by.reviewer()?.to_owned(), known.key.clone());
            let (answer, place) = (known.answer.clone(), known.place.clone());
            Some(ReusedAnswer { key, answer, by: By::Reused { review, n, reviewer }, place })
        }
        Answer::Whole(answer) => Some(*answer),
    };
    let answers: Option<Vec<ReusedAnswer>> = answers.into_iter().map(answer).collect();
    let answers = answers.ok_or(LedgerError::Tampered { seq: line.seq })?;
    Ok(Event::Reused { round, answers })
}

/// Whether a line can be read, apart from the events that it refers to.
pub(super) fn check(line: &Line) -> Result<()> {
    match line.kind.as_str() {
        KIND => written(line).map(drop),
        _ => line.event().map(drop),
    }
}

fn written(line: &Line) -> Result<Written> {
    line.check()?;
    let unknown = || LedgerError::UnknownEvent { seq: line.seq, kind: line.kind.clone() };
    let written: Written = serde_json::from_str(&line.body).map_err(|_| unknown())?;
    if written.kind == KIND { Ok(written) } else { Err(unknown()) }
}

/// The events that a line refers to, by stream and number.
pub(super) fn referred(line: &Line) -> Result<Vec<(String, u64)>> {
    if line.kind != KIND {
        return Ok(vec![]);
    }
    let place = |answer| match answer {
        Answer::OfEvent(review, n) => Some((review.to_string(), n)),
        Answer::Whole(_) => None,
    };
    Ok(written(line)?.answers.into_iter().filter_map(place).collect())
}

/// What stands before the names of streams that were imported together.
fn beside(stream: &str) -> &str {
    let rest = stream.strip_prefix(IMPORTED).and_then(|rest| rest.split_once('/'));
    rest.map_or("", |(_, own)| &stream[..stream.len() - own.len()])
}

async fn origins(session: &mut Session, named: &[(String, u64)]) -> Result<Origins> {
    let mut all = HashMap::new();
    if named.is_empty() {
        return Ok(all);
    }
    for line in session.at(named).await? {
        let n = line.number()?;
        if let Some(known) = known(&line)? {
            all.insert((line.stream, n), (line.seq, known));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn references_stay_within_an_import() {
        assert_eq!(beside("rv-a"), "");
        assert_eq!(beside("imported/0123/rv-a"), "imported/0123/");
        assert_eq!(beside("imported/0123/session/rv-a"), "imported/0123/");
        assert_eq!(beside("imported"), "");
    }
}
