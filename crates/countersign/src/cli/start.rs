//! `countersign` alone: what to do next here.

use super::{Failure, Global};
use crate::output::{Answer, bold};
use countersign_app::answer::v1::Step;
use countersign_app::start::start;
use countersign_core::text::visible_line;

pub async fn run(global: &Global) -> Result<Answer, Failure> {
    let answer = start(global.config.as_deref()).await?;
    let next = &answer.own.next;
    let width = next.iter().map(|step| step.command.chars().count()).max().unwrap_or_default();
    let row = |Step { command, why }: &Step| {
        format!("  {}  {}\n", bold(&format!("{command:<width$}")), visible_line(why))
    };
    let rows: String = next.iter().map(row).collect();
    Ok(Answer::of(answer, format!("No command was given. Next:\n{rows}\nAll commands: countersign --help\n")))
}
