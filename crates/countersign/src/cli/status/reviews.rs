//! The part of `status` on reviews of tasks that are under way.

use crate::output::{ago, bold, dim, rfc3339};
use countersign_core::text::visible_line;
use countersign_doors::service::event::Happened;
use serde_json::{Value, json};

/// For people: nothing where there is none.
pub fn text(active: &[Happened]) -> String {
    if active.is_empty() {
        return String::new();
    }
    let line = |one: &Happened| {
        let began = since(one).map(|ms| format!(", {}", ago(ms))).unwrap_or_default();
        let name = format!("{} {}", one.task_id, one.title);
        let attempt = dim(&format!("attempt {}{began}", one.review.attempt));
        format!("  {}  {attempt}\n", visible_line(&name))
    };
    format!("{}\n{}", bold("under review"), active.iter().map(line).collect::<String>())
}

/// For programs.
pub fn json(active: &[Happened]) -> Value {
    let row = |one: &Happened| {
        json!({
            "task_id": one.task_id, "title": one.title, "subject": one.subject, "attempt": one.review.attempt,
            "started_at": since(one).and_then(rfc3339),
        })
    };
    active.iter().map(row).collect()
}

/// When it began.
fn since(one: &Happened) -> Option<i64> {
    one.review.reviewed_at.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond())
}
