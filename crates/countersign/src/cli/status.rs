//! `countersign status`: what is open, and how reviews have ended.

use super::log::{review_json, review_line};
use super::{Failure, Global};
use crate::output::{Answer, ago, bold, dim, outcome_words};
use crate::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::review::State;
use countersign_engine::ledger::{Count, Filter, Ledger, Row, is_alive};
use serde_json::{Value, json};

/// How many open reviews are listed.
const OPEN_ROWS: u32 = 50;

/// Shows the project's reviews at a glance.
pub async fn run(global: &Global) -> Result<Answer, Failure> {
    let project = Project::find(global, None)?;
    let Some(ledger) = project.existing_ledger().await? else {
        let json = json!({ "open": [], "open_more": false, "ended": {} });
        return Ok(Answer::new(Outcome::Passed, "nothing has been judged in this project yet\n", json));
    };
    let answer = status(&ledger).await?;
    ledger.close().await;
    Ok(answer)
}

async fn status(ledger: &Ledger) -> Result<Answer, Failure> {
    let counts = ledger.counts().await?;
    let mut open = ledger.list(Filter { open_only: true, before: None, limit: OPEN_ROWS + 1 }).await?;
    let more = open.len() > OPEN_ROWS as usize;
    open.truncate(OPEN_ROWS as usize);
    let mut text = String::new();
    if !open.is_empty() {
        text.push_str(&format!("{}\n", bold("open")));
        for row in &open {
            text.push_str(&format!("  {}", review_line(row)));
            if is_interrupted(ledger, row) {
                let words = format!(
                    "    interrupted {}; what was ruled stands, and handing the same files in again asks only the rest\n",
                    ago(row.changed_ms)
                );
                text.push_str(&dim(&words));
            }
        }
    }
    let (ended_text, ended) = ended(&counts);
    text.push_str(&ended_text);
    let open: Vec<Value> = open
        .iter()
        .map(|row| {
            let mut value = review_json(row);
            value["interrupted"] = json!(is_interrupted(ledger, row));
            value
        })
        .collect();
    Ok(Answer::new(Outcome::Passed, text, json!({ "open": open, "open_more": more, "ended": ended })))
}

/// Whether a round is under way that nobody performs any more.
fn is_interrupted(ledger: &Ledger, row: &Row) -> bool {
    row.state == State::Judging
        && row.standing.is_none()
        && !row.holder.as_deref().is_some_and(|holder| is_alive(ledger.dir(), holder))
}

fn ended(counts: &[Count]) -> (String, Value) {
    let over = counts.iter().filter(|count| matches!(count.state, State::Settled(_)));
    let mut text = String::new();
    let mut json = serde_json::Map::new();
    for count in over {
        let name = count.standing.map_or("", Outcome::name);
        let key = match count.standing.and_then(Outcome::reason) {
            Some(reason) => format!("{name}/{reason}"),
            None => name.to_owned(),
        };
        text.push_str(&format!("  {:>6}  {}\n", count.reviews, outcome_words(count.standing)));
        json.insert(key, json!(count.reviews));
    }
    if !text.is_empty() {
        text = format!("{}\n{text}", bold("ended"));
    }
    (text, Value::Object(json))
}
