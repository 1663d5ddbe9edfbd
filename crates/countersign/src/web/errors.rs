//! Pages that say what went wrong.

use super::layout::{self, Head};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::{Code, Failure};
use countersign_core::outcome::Outcome;
use countersign_core::text::visible;
use maud::html;

/// A failure of a use case, as a page.
pub fn failed(failure: &Failure) -> Response {
    let status = match (failure.code, failure.outcome) {
        (Code::NotFound, _) => StatusCode::NOT_FOUND,
        (_, Outcome::Internal | Outcome::Integrity) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    page(status, "This did not work", &failure.to_string(), failure.hint.as_deref())
}

pub fn not_found() -> Response {
    page(StatusCode::NOT_FOUND, "There is no such page", "The address is wrong, or the page is gone.", None)
}

pub fn too_many() -> Response {
    let words =
        "There are as many event streams as this server can have, so this page does not change by itself.";
    page(
        StatusCode::SERVICE_UNAVAILABLE,
        "Too many pages are open",
        words,
        Some("close one, or reload this one"),
    )
}

/// A request that did not come from the page itself.
pub fn foreign() -> Response {
    let words = "The form was not sent by this page, or the session has ended. Nothing was changed.";
    page(StatusCode::FORBIDDEN, "This was refused", words, Some("reload the page and try again"))
}

pub fn no_session() -> Response {
    let words = "Only the person who started the server at a terminal sees this page.";
    let hint = "open the link that the server shows there: press Enter in that terminal for a new one";
    page(StatusCode::UNAUTHORIZED, "Open the link from the terminal", words, Some(hint))
}

fn page(status: StatusCode, title: &str, words: &str, hint: Option<&str>) -> Response {
    let body = html! {
        div .lead { h1 { (title) } }
        div .card.pad {
            p { (visible(words)) }
            @if let Some(hint) = hint { p .dim { "What to do: " (visible(hint)) } }
            p { a href="/" { "Back to the inbox" } }
        }
    };
    layout::page(status, &Head { title, ..Head::default() }, body)
}
