//! All reviews, newest first, and a search over subjects, outcomes and reviewers.

use super::layout::{self, Head, state};
use super::router::Visit;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Failure;
use countersign_app::answer::v1::Row;
use countersign_app::log::{LogQuery, search};
use countersign_app::time::{ago, local};
use countersign_core::text::visible_line;
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

const ROWS: u32 = 50;
const OUTCOMES: [(&str, &str); 9] = [
    ("", "any outcome"),
    ("passed", "passed"),
    ("needs_work", "needs work"),
    ("awaiting_person", "waits for a person"),
    ("no_verdict", "no verdict"),
    ("stopped", "stopped"),
    ("overridden", "overridden"),
    ("skipped", "skipped"),
    ("under_way", "running"),
];

pub async fn page(visit: &Visit) -> Result<Response, Failure> {
    let field = |name| visit.fields.filled(name).map(str::to_owned);
    let wanted = LogQuery {
        limit: ROWS,
        from: visit.fields.filled("from").and_then(|from| from.parse().ok()),
        outcome: field("outcome"),
        words: field("q"),
        reviewer: field("reviewer"),
        ..LogQuery::default()
    };
    let (rows, next) = match &visit.ledger {
        Some(ledger) => search(ledger, &wanted).await?,
        None => (vec![], None),
    };
    let name = visit.name();
    let body = html! {
        div .lead { h1 { "History" } p { "Every review of this project, newest first." } }
        form .search.card.pad method="get" action="/history" role="search" {
            label { "Subject or file " input type="search" name="q" value=(wanted.words.as_deref().unwrap_or_default()) maxlength="500"; }
            label { "Outcome "
                select name="outcome" {
                    @for (value, words) in OUTCOMES {
                        option value=(value) selected[wanted.outcome.as_deref().unwrap_or_default() == value] { (words) }
                    }
                }
            }
            label { "Reviewer " input type="search" name="reviewer" value=(wanted.reviewer.as_deref().unwrap_or_default()) maxlength="200"; }
            button .btn { "Search" }
        }
        section id="rows" .card data-live aria-label="Reviews" {
            @if rows.is_empty() { p .empty.dim { "No review matches." } }
            ul .rows { @for row in &rows { li { (line(row)) } } }
            @if let Some(next) = next {
                p .empty { a href=(next_page(visit, next)) { "Older reviews" } }
            }
        }
    };
    let head = Head { title: "History", current: "History", project: &name, waiting: None };
    Ok(layout::page(StatusCode::OK, &head, body))
}

fn next_page(visit: &Visit, next: u64) -> String {
    let mut path = format!("/history?from={next}");
    for field in ["q", "outcome", "reviewer"] {
        if let Some(value) = visit.fields.filled(field) {
            path.push_str(&format!("&{field}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        }
    }
    path
}

fn line(row: &Row) -> Markup {
    html! {
        a .row href={ "/r/" (row.id) } {
            span .t {
                span .name { (visible_line(row.subject.as_str())) }
                (state(row.outcome.map(|outcome| outcome.0)))
                @if row.pruned { span .st.off { (layout::shape("off")) "pruned" } }
            }
            span .meta title=(local(row.changed_ms)) { b { (ago(row.changed_ms)) } "round " (row.round) }
            span .why.mono { (row.id) }
        }
    }
}
