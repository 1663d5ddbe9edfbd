//! Tools with the fixed names and answers that the MCP conformance suite calls. Only in debug builds, and only where
//! the variable is set.

use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, ProgressNotificationParam, ResourceContents,
    SamplingCapability, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

const VARIABLE: &str = "COUNTERSIGN_MCP_FIXTURES";
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const NAMES: [&str; 12] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_custom_header",
    "json_schema_2020_12_tool",
];

pub fn tools() -> Vec<Tool> {
    if std::env::var_os(VARIABLE).is_none() {
        return vec![];
    }
    NAMES.iter().map(|name| Tool::new(*name, "For the conformance suite.", input(name))).collect()
}

fn input(name: &str) -> Map<String, Value> {
    let schema = match name {
        "test_custom_header" => json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        }),
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            } },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }),
        _ => json!({ "type": "object" }),
    };
    schema.as_object().cloned().unwrap_or_default()
}

/// Calls a tool of this file; none for another name.
pub async fn call(
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, ErrorData>> {
    tools().iter().find(|tool| tool.name == name)?;
    let text = || ContentBlock::text("This is a simple text response for testing.");
    let image = || ContentBlock::image(PNG, "image/png");
    let resource = || {
        let contents =
            ResourceContents::text("This is an embedded resource content.", "test://embedded-resource");
        ContentBlock::resource(contents.with_mime_type("text/plain"))
    };
    Some(Ok(CallToolResult::success(match name {
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => vec![resource()],
        "test_multiple_content_types" => vec![text(), image(), resource()],
        "test_error_handling" => {
            let words = "This tool intentionally returns an error for testing";
            return Some(Ok(CallToolResult::error(vec![ContentBlock::text(words)])));
        }
        "test_missing_capability" => {
            let mut needed = ClientCapabilities::default();
            needed.sampling = Some(SamplingCapability::default());
            return Some(Err(ErrorData::missing_required_client_capability(needed)));
        }
        "test_tool_with_progress" => {
            if let Some(token) = context.meta.get_progress_token() {
                for done in [0.0, 50.0, 100.0] {
                    let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
            vec![text()]
        }
        _ => vec![text()],
    })))
}
