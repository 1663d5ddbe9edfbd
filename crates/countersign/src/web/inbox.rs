//! The inbox: whose turn it is decides the order.

use super::layout::{self, Head, state};
use super::router::Visit;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Failure;
use countersign_app::page::{InboxRow, inbox};
use countersign_app::time::ago;
use countersign_core::outcome::Outcome;
use countersign_core::text::{counted, visible_line};
use maud::{Markup, html};

pub async fn page(visit: &Visit) -> Result<Response, Failure> {
    let inbox = inbox(visit.ledger.as_ref()).await?;
    let (name, waiting) = (visit.name(), inbox.waiting.len());
    let title = match waiting {
        0 => "Nothing waits for you".to_owned(),
        1 => "One thing waits for you".to_owned(),
        several => format!("{several} things wait for you"),
    };
    let words = format!(
        "{} running, {} with their authors, {} today.",
        inbox.running.len(),
        inbox.with_authors.len(),
        counted(inbox.ended_today.len(), "review passed", "reviews passed")
    );
    let is_new = visit.ledger.is_none();
    let body = html! {
        div id="lead" .lead data-live { h1 { (title) } p { (words) } }
        @if is_new {
            div .card.pad { p { "Nothing was judged in this project yet. " code { "countersign review" } " begins." } }
        }
        @if inbox.more { p .dim { "There is more than is listed here: see the " a href="/history" { "history" } "." } }
        div .grid {
            div .stack {
                (card("waiting", "Waiting for you", "nothing goes on before you decide", &inbox.waiting, "Nothing waits."))
                (card("authors", "With their authors", "sent back or interrupted; no need for you yet", &inbox.with_authors, "Nothing was sent back."))
            }
            div .stack {
                (card("running", "Running now", "", &inbox.running, "Nothing runs."))
                (card("ended", "Passed today", "", &inbox.ended_today, "Nothing yet."))
            }
        }
    };
    let head = Head { title: "Inbox", current: "Inbox", project: &name, waiting: Some(waiting) };
    Ok(layout::page(StatusCode::OK, &head, body))
}

fn card(id: &str, title: &str, words: &str, rows: &[InboxRow], empty: &str) -> Markup {
    html! {
        section id=(id) .card data-live aria-labelledby={ (id) "-title" } {
            div .cardhead { h2 id={ (id) "-title" } { (title) } span .dim { (words) } }
            @if rows.is_empty() { p .empty.dim { (empty) } }
            ul .rows { @for row in rows { li { (line(row)) } } }
        }
    }
}

fn line(row: &InboxRow) -> Markup {
    let shown = &row.review.row;
    html! {
        a .row href={ "/r/" (shown.id) } {
            span .t {
                span .name { (visible_line(shown.subject.as_str())) }
                @if row.review.interrupted {
                    span .st.none { (layout::shape("none")) "Interrupted" }
                } @else {
                    (state(shown.outcome.map(|outcome| outcome.0)))
                }
                (pips(shown.attempts, shown.outcome.map(|outcome| outcome.0)))
            }
            span .meta { b { (ago(shown.changed_ms)) } "round " (shown.round) }
            @if !row.why.is_empty() { span .why { (visible_line(&row.why)) } }
        }
    }
}

/// A square for each attempt that failed, and one for a pass.
fn pips(failed: u32, standing: Option<Outcome>) -> Markup {
    let passed = standing == Some(Outcome::Passed);
    let shown = failed.min(12);
    let words = format!(
        "{}{}",
        counted(failed, "attempt failed", "attempts failed"),
        if passed { ", then it passed" } else { "" }
    );
    html! {
        @if failed > 0 {
            span .pips role="img" aria-label=(words) {
                @for _ in 0..shown { i .bad {} }
                @if passed { i .ok {} }
            }
        }
    }
}
