//! What use cases answer, as types. Text, `--json`, MCP, HTTP and the description of the API come from these.

pub mod v1;
