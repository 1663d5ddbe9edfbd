//! `outputs`: lines for the file in `$GITHUB_OUTPUT`, which later steps of a job read.

use super::report::{Kind, Report};

pub fn render(report: &Report) -> String {
    let exit_code = report.outcome.map_or(4, |outcome| outcome.exit_code());
    let rows = [
        ("outcome", report.outcome_name().to_owned()),
        ("exit-code", exit_code.to_string()),
        ("passed", report.passes().to_string()),
        ("findings", report.count(Kind::Blocks).to_string()),
        ("review", report.review.clone().unwrap_or_default()),
    ];
    // None of these values can have a line break: they are words, numbers and ids of our own.
    rows.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}
