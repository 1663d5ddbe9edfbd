//! `countersign watch`: what happens in this project, live, whichever process does it.

use super::arguments::WatchOptions;
use super::{Failure, Global};
use crate::feed::{self, Feed};
use crate::output::{Answer, Printer, dim, rfc3339, write_out};
use crate::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_engine::ledger::{Ledger, Recorded};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Prints a line for every event until it is stopped or nobody reads any more.
pub async fn run(
    global: &Global,
    options: WatchOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let project = Project::find(global, None)?;
    let ledger = Ledger::open(&project.ledger_dir()).await?;
    let mut feed = Feed::after(ledger.clone(), options.after).await?;
    loop {
        let event = tokio::select! {
            event = feed.next() => event?,
            () = cancel.cancelled() => break,
        };
        let line = match printer.is_json() {
            true => format!("{}\n", feed::json(&event)),
            false => line(&event),
        };
        if !write_out(&line) {
            break;
        }
    }
    ledger.close().await;
    let mut answer = Answer::new(Outcome::Passed, "", json!({}));
    answer.printed = true;
    Ok(answer)
}

fn line(event: &Recorded) -> String {
    let at = rfc3339(event.at_ms).unwrap_or_default();
    let about = event.subject.as_deref().unwrap_or(&event.stream);
    let at = dim(at.get(..19).unwrap_or(&at));
    format!("{:>6}  {at}  {:<17}  {}\n", event.seq, event.kind, visible_line(about))
}
