//! Failures: with file, line, column, caret and hint.

use super::style;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use countersign_app::Failure;
use countersign_core::redact::{Redaction, stars};
use countersign_core::text::visible;
use countersign_engine::config::Diagnostic;
use serde_json::{Value, json};

/// What to do where the problem itself does not say.
const GENERAL_HINT: &str =
    "docs/configuration.md describes every key; `countersign config --schema` is for editors";

fn hint(diagnostic: &Diagnostic) -> &str {
    diagnostic.hint.as_deref().unwrap_or(GENERAL_HINT)
}

/// For people.
pub fn failure_text(failure: &Failure) -> String {
    let mut out: String = failure.diagnostics.iter().map(|diagnostic| render(diagnostic) + "\n").collect();
    if failure.left_out > 0 {
        out.push_str(&format!("{}: and {} more\n", style::error("error"), failure.left_out));
    }
    if failure.diagnostics.is_empty() {
        out.push_str(&format!("{}: {}\n", style::error("error"), visible(&failure.message)));
        if let Some(hint) = &failure.hint {
            out.push_str(&format!("{}: {}\n", style::bold("help"), visible(hint)));
        }
    }
    out
}

fn render(diagnostic: &Diagnostic) -> String {
    let place = &diagnostic.place;
    let path = place.file().display().to_string();
    let message = visible(&diagnostic.message).into_owned();
    let source = without_secrets(diagnostic);
    let mut snippet =
        Snippet::source(source.as_str()).path(&path).annotation(AnnotationKind::Primary.span(place.span()));
    if let Some(related) = &diagnostic.related {
        snippet =
            snippet.annotation(AnnotationKind::Context.span(related.place.span()).label(&related.label));
    }
    let hint = visible(hint(diagnostic)).into_owned();
    let group = Level::ERROR.primary_title(&message).element(snippet).element(Level::HELP.message(&hint));
    Renderer::styled().render(&[group])
}

/// The file as it is quoted: what looks like a key, or stands where somebody took a key for something else,
/// is not repeated where others may read it.
fn without_secrets(diagnostic: &Diagnostic) -> String {
    let source = diagnostic.place.source();
    // Our own patterns are fixed, so there are always some.
    let masked = Redaction::new(&[]).map_or_else(|_| source.to_string(), |redaction| redaction.mask(source));
    match diagnostic.code {
        "bad-variable" | "sign-in-in-address" => stars(&masked, diagnostic.place.span()),
        _ => masked,
    }
}

/// For programs: the first problem in full, all of them in a list.
pub fn failure_json(failure: &Failure) -> Value {
    let all: Vec<Value> = failure.diagnostics.iter().map(diagnostic_json).collect();
    let first = all.first().cloned().unwrap_or_else(
        || json!({ "code": failure.code, "message": failure.message, "file": null, "line": null, "column": null, "hint": failure.hint }),
    );
    let mut error = first;
    error["kind"] = json!(failure.kind());
    error["problems"] = json!(all);
    error["problems_left_out"] = json!(failure.left_out);
    error
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    let place = &diagnostic.place;
    json!({
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": place.file().display().to_string(),
        "line": place.line(),
        "column": place.column(),
        "hint": hint(diagnostic),
    })
}
