//! A failure as a tool error: structured for programs, and as text for models.

use countersign_app::Failure;
use countersign_app::answer::v1::{Mistake, Problem};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

/// A failure as the result of a call.
pub fn tool_error(failure: &Failure) -> CallToolResult {
    let problem = Problem::from(failure);
    let mut result = CallToolResult::error(vec![ContentBlock::text(words(&problem))]);
    result.structured_content = Some(json!({ "error": problem }));
    result
}

/// The same for clients that hand only text on.
fn words(Problem { kind, first, .. }: &Problem) -> String {
    let Mistake { code, message, hint, file, line, .. } = first;
    let mut words = format!("error ({kind}/{code}): {message}");
    if let (Some(file), Some(line)) = (file, line) {
        words.push_str(&format!("\nat {file}:{line}"));
    }
    if let Some(hint) = hint {
        words.push_str(&format!("\nwhat to do: {hint}"));
    }
    words
}
