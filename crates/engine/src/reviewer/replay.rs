//! The replay reviewer: recorded rulings, so that a policy can be tried without a model.
//!
//! The file has one JSON object a line: `{"rule", "file", "criterion", "passed", "feedback"}`. `rule` and
//! `file` may be left out where that is clear. What no line answers has no verdict.

use super::{Brief, Told};
use countersign_core::answer::{Answer, Row, match_rulings};
use countersign_core::outcome::NoVerdict;

/// Reads the lines of a replay file. The error names the line.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(i, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", i + 1))
    };
    lines.map(row).collect()
}

/// Answers from recorded rows.
pub fn answer(rows: &[Row], brief: &Brief) -> Told {
    let asked = brief.asked();
    let wanted: Vec<_> =
        asked.iter().map(|criterion| countersign_core::criterion::fold_name(&criterion.name)).collect();
    let fits = |row: &&Row| {
        row.speaks_of(&brief.rule, brief.file())
            && wanted.contains(&countersign_core::criterion::fold_name(&row.criterion))
    };
    let rulings: Vec<_> = rows.iter().filter(fits).map(Row::ruling).collect();
    match match_rulings(rulings, &asked) {
        Ok(rulings) => Told::bare(Ok(Answer::from_rulings(rulings))),
        // Asking a recording again changes nothing, so this is not a reply to be repaired.
        Err(defect) => {
            Told::failed(NoVerdict::Unavailable, format!("the recording does not answer this: {defect}"))
        }
    }
}
