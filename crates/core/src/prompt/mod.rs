//! What a reviewer is told: system prompt, payload, response schema, instructions of a self-review. Prompts are
//! deterministic: the same question gives the same bytes, so a ruling can stand for it.

mod payload;
mod schema;
mod sections;
mod system;

pub use payload::{
    Body, CONTEXT_BYTES_MAX, ShownFile, fits_inline, payload, payload_in_context, with_redactions,
};
pub use schema::{Field, Kind, RESPONSE, Shape, response_schema};
pub use sections::{
    DESCRIPTION_BYTES_MAX, DIFF_BYTES_MAX, ERROR_BYTES_MAX, LINT_CHARS_MAX, RunContext, Section, Sections,
    TEST_BYTES_MAX, TaskContext, change_payload, errors_cut, lint_cut, tests_cut,
};
pub use system::{
    Question, ReviewSection, SelfReview, consultation_prompt, marked_prompt, question_prompt, repair_prompt,
    self_review_instructions, system_prompt,
};

/// Goes up whenever the words change, so that rulings on the old words are not taken for the new ones.
pub const PROMPT_VERSION: u32 = 3;

/// Criteria as Markdown: a bold name and its question, further lines indented so that none reads as a heading.
fn criteria_list<'a>(criteria: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let item = |(name, question): (&str, &str)| {
        let name = crate::text::neutralise_name(name).0.into_owned();
        let question = crate::text::neutralise(question).0.trim().replace('\n', "\n  ");
        format!("- **{name}**: {question}\n")
    };
    criteria.into_iter().map(item).collect()
}

/// The author's notes as a quotation: data, whatever they say.
fn quoted_notes(notes: &str) -> String {
    let notes = crate::text::neutralise(notes).0.into_owned();
    notes.trim_end().split('\n').map(|line| format!("> {line}\n")).collect()
}
