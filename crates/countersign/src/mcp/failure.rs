//! Failures as clients see them: a tool error with everything a program or a model needs to go on.

use crate::output::failure_json;
use countersign_app::Failure;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A failure as the result of a call.
pub fn tool_error(failure: &Failure) -> CallToolResult {
    let error = failure_json(failure);
    let mut result = CallToolResult::error(vec![ContentBlock::text(words(&error))]);
    result.structured_content = Some(json!({ "error": error }));
    result
}

/// The same for clients that hand only text on.
fn words(error: &Value) -> String {
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    let mut words = format!("error ({}/{}): {}", text("kind"), text("code"), text("message"));
    if let (Some(file), Some(line)) = (error["file"].as_str(), error["line"].as_u64()) {
        words.push_str(&format!("\nat {file}:{line}"));
    }
    if let Some(hint) = error["hint"].as_str() {
        words.push_str(&format!("\nwhat to do: {hint}"));
    }
    words
}
