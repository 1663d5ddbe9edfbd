//! The style sheet and the script, inside the program, under names that change with their contents.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use countersign_core::digest::Digest;
use std::sync::LazyLock;

pub struct Asset {
    /// Its path on the page.
    pub path: LazyLock<String>,
    pub text: &'static str,
    kind: &'static str,
}

const STYLE_TEXT: &str = include_str!("assets/style.css");
const SCRIPT_TEXT: &str = include_str!("assets/page.js");

pub static STYLE: Asset = Asset {
    path: LazyLock::new(|| named("style", STYLE_TEXT, "css")),
    text: STYLE_TEXT,
    kind: "text/css; charset=utf-8",
};

pub static SCRIPT: Asset = Asset {
    path: LazyLock::new(|| named("page", SCRIPT_TEXT, "js")),
    text: SCRIPT_TEXT,
    kind: "text/javascript; charset=utf-8",
};

fn named(name: &str, text: &str, ending: &str) -> String {
    format!("/assets/{name}-{}.{ending}", Digest::of(text.as_bytes()).short())
}

impl Asset {
    pub fn response(&self) -> Response {
        let headers = [
            (CONTENT_TYPE, self.kind),
            (CACHE_CONTROL, "public, max-age=31536000, immutable"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        (headers, self.text).into_response()
    }
}

/// The asset at a path.
pub fn at(path: &str) -> Option<&'static Asset> {
    [&STYLE, &SCRIPT].into_iter().find(|asset| *asset.path == path)
}
