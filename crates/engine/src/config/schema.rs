//! The published JSON schema of `countersign.yml`, made from the very types that read it.

use super::written::WrittenProject;
use serde_json::Value;

/// The schema, for editors and for `docs/countersign.schema.json`.
pub fn schema() -> Value {
    schemars::schema_for!(WrittenProject).to_value()
}
