//! Failures: with file, line, column, caret and hint.

use super::style;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use countersign_app::Failure;
use countersign_app::answer::v1::hint_of;
use countersign_core::redact::{Redaction, stars};
use countersign_core::text::visible;
use countersign_engine::config::Diagnostic;

pub fn failure_text(failure: &Failure) -> String {
    let mut out: String = failure.diagnostics.iter().map(render).collect();
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
    let hint = visible(hint_of(diagnostic)).into_owned();
    if !diagnostic.has_line() {
        let message = diagnostic.words();
        let message = visible(&message);
        return format!("{}: {message}\n{}: {hint}\n", style::error("error"), style::bold("help"));
    }
    let message = visible(&diagnostic.message).into_owned();
    let source = without_secrets(diagnostic);
    let mut snippet =
        Snippet::source(source.as_str()).path(&path).annotation(AnnotationKind::Primary.span(place.span()));
    if let Some(related) = &diagnostic.related {
        snippet =
            snippet.annotation(AnnotationKind::Context.span(related.place.span()).label(&related.label));
    }
    let group = Level::ERROR.primary_title(&message).element(snippet).element(Level::HELP.message(&hint));
    Renderer::styled().render(&[group]) + "\n"
}

/// The text of the file for the quote, without secrets: other people may read the output.
fn without_secrets(diagnostic: &Diagnostic) -> String {
    let source = diagnostic.place.source();
    // Our own patterns are fixed, so there are always some.
    let masked = Redaction::new(&[]).map_or_else(|_| source.to_string(), |redaction| redaction.mask(source));
    match diagnostic.code {
        "bad-variable" | "sign-in-in-address" => stars(&masked, diagnostic.place.span()),
        _ => masked,
    }
}
