//! The frame of every page, the headers that keep it alone, and small parts that several pages show.

use super::assets::{SCRIPT, STYLE};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use countersign_app::spent::Spent;
use countersign_core::cost::dollars;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use maud::{DOCTYPE, Markup, html};

/// Nothing from elsewhere, nothing inline, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What stands around a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    pub title: &'a str,
    /// The heading of the main navigation that it belongs to.
    pub current: &'a str,
    /// The name of the project; empty where there is no session.
    pub project: &'a str,
    /// How many things wait, where that is known.
    pub waiting: Option<usize>,
}

const PLACES: [(&str, &str); 4] =
    [("Inbox", "/"), ("Tasks", "/tasks"), ("History", "/history"), ("Insights", "/insights")];

pub fn page(status: StatusCode, head: &Head<'_>, body: Markup) -> Response {
    let text = document(head, body).into_string();
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ];
    (status, headers, text).into_response()
}

fn document(head: &Head<'_>, body: Markup) -> Markup {
    let waiting = head.waiting.filter(|count| *count > 0);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title {
                    @if let Some(count) = waiting { "(" (count) ") " }
                    (visible_line(head.title)) " · Countersign"
                }
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(*STYLE.path);
                script src=(*SCRIPT.path) defer {}
            }
            body {
                a .skip href="#main" { "Skip to content" }
                header .top { div {
                    a .brand href="/" { (brand()) "Countersign" }
                    @if !head.project.is_empty() {
                        nav aria-label="Main" {
                            @for (name, path) in PLACES {
                                a href=(path) aria-current=[(name == head.current).then_some("page")] {
                                    (name)
                                    @if name == "Inbox" && let Some(count) = waiting {
                                        span .badge { (count) span .vh { " waiting" } }
                                    }
                                }
                            }
                        }
                        div .who {
                            span .live role="status" { "Live" }
                            span .name { (visible_line(head.project)) }
                        }
                    }
                } }
                main id="main" tabindex="-1" { (body) }
                @if !head.project.is_empty() {
                    footer .foot {
                        span { kbd { "j" } " " kbd { "k" } " move" }
                        span { kbd { "Enter" } " open" }
                        span { kbd { "n" } " " kbd { "p" } " next, previous finding" }
                        span { kbd { "d" } " decide" }
                        span { kbd { "?" } " all keys" }
                    }
                    dialog id="keys" aria-labelledby="keys-title" {
                        h2 id="keys-title" { "Keys" }
                        dl .kv {
                            @for (key, words) in KEYS { dt { kbd { (key) } } dd { (words) } }
                        }
                        form method="dialog" { button .btn { "Close" } }
                    }
                }
            }
        }
    }
}

const KEYS: [(&str, &str); 7] = [
    ("j, k", "the next or previous row"),
    ("Enter", "open the row"),
    ("n, p", "the next or previous finding"),
    ("d", "go to the decision; no key decides by itself"),
    ("Ctrl+Enter", "send the form you are in"),
    ("g", "go to the inbox"),
    ("?", "show this"),
];

fn brand() -> Markup {
    html! {
        svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" {
            rect x="1" y="1" width="18" height="18" rx="5" fill="none" stroke="currentColor" stroke-width="1.6" {}
            path d="M5.2 10.4l3 3 6.6-7" fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round" {}
        }
    }
}

/// The shapes of states: never colour alone.
pub fn shape(kind: &str) -> Markup {
    let path = match kind {
        "ok" => "M3 8.5l3.2 3.2L13 5",
        "bad" => "M4 4l8 8M12 4l-8 8",
        "wait" => "M8 3v6M8 12.6v.1",
        "none" => "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.6M8 12.8v.1",
        "run" => "M8 4v4l3 2",
        _ => "M5 8h6",
    };
    html! { svg viewBox="0 0 16 16" aria-hidden="true" { path d=(path) {} } }
}

/// The kind of an outcome: its colour and shape.
pub fn kind_of(standing: Option<Outcome>) -> &'static str {
    match standing {
        None => "run",
        Some(Outcome::Passed) => "ok",
        Some(Outcome::Overridden | Outcome::Skipped) => "off",
        Some(Outcome::NeedsWork) => "bad",
        Some(Outcome::AwaitingPerson | Outcome::Stopped(_)) => "wait",
        Some(_) => "none",
    }
}

/// An outcome as a label.
pub fn state(standing: Option<Outcome>) -> Markup {
    let kind = kind_of(standing);
    let words = standing.map_or_else(|| "Running".to_owned(), |outcome| capital(&outcome.to_string()));
    html! { span .st.(kind) { (shape(kind)) (words) } }
}

pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What questions cost, in dollars; `?` where nothing is known.
pub fn money(spent: &Spent) -> String {
    match (spent.microusd, spent.unknown) {
        (None, 0) => "$0".to_owned(),
        (None, _) => "cost unknown".to_owned(),
        (Some(micro), 0) => dollars(micro),
        (Some(micro), _) => format!("{} + unknown", dollars(micro)),
    }
}
