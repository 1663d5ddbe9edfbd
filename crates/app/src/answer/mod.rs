//! The answers of use cases, as types. Text, `--json`, MCP, HTTP and the description of the API come from these.

pub mod v1;
