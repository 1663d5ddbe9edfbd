//! `countersign dispute`: a finding that may be wrong is judged again by another reviewer, who sees the evidence.

use super::review::delivered;
use super::signing::{SignOptions, Signed};
use super::{Failure, Global};
use crate::output::{Answer, Printer, bold, dim};
use clap::Args;
use countersign_app::answer::v1::Disputed;
use countersign_app::author::actor;
use countersign_app::dispute::{EVIDENCE_LIMIT_BYTES, dispute};
use countersign_app::project::Project;
use countersign_core::review::Review;
use countersign_core::text::{visible, visible_line};
use countersign_engine::config::Flags;
use countersign_engine::workspace;
use std::io::Read;
use tokio_util::sync::CancellationToken;

const DISPUTE_HELP: &str = "\
Examples:
  countersign dispute fi-3c1f --evidence 'the limit is checked in line 12'
  countersign dispute fi-3c1f --evidence notes/why.md --reviewer codex
  run-the-test | countersign dispute fi-3c1f --evidence -

Another reviewer judges the finding again, with the same material and the evidence.
  0  withdrawn: it does not come back on unchanged bytes; submit the work again
  1  upheld: the finding stays; only a person can allow one more dispute (unblock)
  4  no verdict";

#[derive(Debug, Args)]
#[command(after_help = DISPUTE_HELP)]
pub struct DisputeOptions {
    /// The finding, as a verdict names it, or a unique beginning
    #[arg(value_name = "FINDING")]
    pub finding: String,
    /// Why it is wrong: a text, a file that holds it, or - for standard input
    #[arg(long, value_name = "TEXT|FILE")]
    pub evidence: String,
    /// Who judges it again; otherwise the first who did not make the finding
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    #[command(flatten)]
    pub signing: SignOptions,
}

pub async fn run(
    global: &Global,
    options: DisputeOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer };
    let evidence = async |project: &Project| evidence(project, &options.evidence).await;
    let mut to_sign = None;
    let by = async |project: &Project, review: &Review, action: &str, reason: &str| {
        if !options.signing.is_wanted() {
            return Ok(Some(actor()));
        }
        Ok(match options.signing.signed(project, review, action, reason).await? {
            Signed::By(by) => Some(by),
            Signed::WrittenOut(answer) => {
                to_sign = Some(answer);
                None
            }
        })
    };
    let Some(disputing) = dispute(&flags, &options.finding, evidence, by).await? else {
        return Ok(to_sign.unwrap_or_else(Answer::silent));
    };
    let (engine, ticket) = (disputing.engine.clone(), disputing.ticket.clone());
    let stored = printer.during(&engine, engine.wait(&ticket, cancel)).await?;
    let answer = disputing.ended(&stored).await?;
    let text = text(&answer.own);
    let answer = delivered(Answer::of(answer, text), &engine, Some(&ticket), printer, cancel).await?;
    engine.ledger().clone().close().await;
    Ok(answer)
}

async fn evidence(project: &Project, typed: &str) -> Result<String, Failure> {
    let path = project.here.join(typed);
    match typed {
        "-" => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(EVIDENCE_LIMIT_BYTES + 1).read_to_string(&mut text);
            read.map_err(|error| Failure::usage(format!("the evidence cannot be read: {error}")))?;
            Ok(text)
        }
        _ if !typed.contains('\n') && path.is_file() => {
            let read = workspace::read_notes(&path, EVIDENCE_LIMIT_BYTES).await;
            read.map_err(|error| Failure::usage(format!("the evidence in `{typed}` cannot be read: {error}")))
        }
        _ => Ok(typed.to_owned()),
    }
}

fn text(disputed: &Disputed) -> String {
    let Disputed { finding, dispute, place, words, next, .. } = disputed;
    let mut text = format!(
        "{}  {}  {} {}\n",
        bold(words),
        finding.id,
        visible_line(finding.criterion.as_deref().unwrap_or_default()),
        dim(&format!("({}) {}", visible_line(&finding.rule), visible_line(place)))
    );
    if disputed.upheld.is_some() {
        let again = format!("judged again by {} in {}", visible_line(&dispute.reviewer), dispute.review);
        text.push_str(&format!("  {}\n", dim(&again)));
        text.extend(visible(&dispute.feedback).lines().map(|line| format!("    {line}\n")));
    }
    text.extend(next.iter().map(|next| format!("{}\n", dim(&format!("next: {next}")))));
    text
}
