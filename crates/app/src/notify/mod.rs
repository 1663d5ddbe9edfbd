//! Notifications for people. Their failure never affects a review: the verdict is recorded before, and each way has a
//! time limit.

mod bell;
mod desktop;
mod message;
mod sound;
mod test_message;
mod ways;

pub(crate) use countersign_core::notify::About;
pub use test_message::test;

use crate::project::Project;
use countersign_core::notify::{TimeOfDay, Way};
use countersign_doors::service::task::Notification;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::{Ledger, LedgerError};
use message::Message;
use serde_json::{Value, json};
use ways::{Sent, State, by};

pub const STREAM: &str = "notifications";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub about: About,
    pub subject: String,
    pub review: Option<String>,
    pub notification: Notification,
}

/// Sends a notification by every way that is switched on for it, and records the results.
pub(crate) async fn tell(project: &Project, ledger: &Ledger, told: Notice) {
    let switches = &project.config.notify.switches;
    if !switches.wants(told.about) {
        return;
    }
    let message = match Message::new(project, &told) {
        Ok(message) => message,
        Err(failure) => return complain("no notification was sent", &failure.message),
    };
    let time = local_time();
    let sent = by(&switches.ways(told.about, time), project, &message).await;
    for (way, sent) in sent.iter().filter(|(_, sent)| sent.state == State::Failed) {
        complain(&format!("no notification by {}", way.word()), &sent.why);
    }
    let body = record(&message, switches.is_quiet(time), &sent);
    if let Err(error) = put_on_record(ledger, &body).await {
        complain("the notification could not be recorded", &error.to_string());
    }
}

fn local_time() -> TimeOfDay {
    let now = jiff::Zoned::now();
    let part = |part: i8| u16::try_from(part).unwrap_or_default();
    TimeOfDay::at(part(now.hour()), part(now.minute())).unwrap_or(TimeOfDay::MIDNIGHT)
}

fn complain(what: &str, why: &str) {
    eprintln!("countersign: {what}: {}", countersign_core::text::visible_line(why));
}

fn record(message: &Message, quiet: bool, sent: &[(Way, Sent)]) -> Value {
    let ways = sent.iter().map(|(way, sent)| {
        let why = (!sent.why.is_empty()).then_some(&sent.why);
        json!({ "way": way.word(), "state": sent.state, "why": why })
    });
    let Message { about, subject, review, title, message, sound, .. } = message;
    json!({
        "about": about, "subject": subject, "review": review, "title": title, "message": message,
        "sound": sound, "quiet": quiet, "ways": ways.collect::<Vec<_>>(),
    })
}

async fn put_on_record(ledger: &Ledger, body: &Value) -> Result<(), LedgerError> {
    let mut transaction = ledger.transaction().await?;
    let seen = transaction.last_note(STREAM).await?.map_or(0, |note| note.n);
    transaction.note(STREAM, seen, &[("told", body.to_string())], now_ms()).await?;
    transaction.commit().await
}
