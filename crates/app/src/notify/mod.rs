//! Telling people: what needs them, and what they want to know. Whatever goes wrong with it concerns no review: the
//! verdict is on record before, all ways are taken at once, and none takes longer than a bound.

mod bell;
mod command;
mod desktop;
mod message;
mod sound;
mod test_message;
mod ways;
mod webhook;

pub use countersign_core::notify::About;
pub use message::Message;
pub use test_message::test;
pub use ways::{Came, State, by};

use crate::project::Project;
use countersign_core::notify::{TimeOfDay, Way};
use countersign_doors::service::task::Notification;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::{Ledger, LedgerError};
use serde_json::{Value, json};

/// The stream of the ledger that has all notifications.
pub const STREAM: &str = "notifications";

/// Something people are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it is about.
    pub about: About,
    /// What stays the same about the work: a subject of the ledger.
    pub subject: String,
    /// The review, where there is one.
    pub review: Option<String>,
    /// The words.
    pub notification: Notification,
}

/// Tells people, by every way the project has switched on, and puts on record who was told how. Nothing happens where
/// nobody wants to know.
pub async fn tell(project: &Project, ledger: &Ledger, told: Told) {
    let switches = &project.config.notify.switches;
    if !switches.wants(told.about) {
        return;
    }
    let message = match Message::new(project, &told) {
        Ok(message) => message,
        Err(failure) => return complain("nobody was told", &failure.message),
    };
    let time = local_time();
    let came = by(&switches.ways(told.about, time), project, &message).await;
    for (way, came) in came.iter().filter(|(_, came)| came.state == State::Failed) {
        complain(&format!("not told by {}", way.word()), &came.why);
    }
    let body = record(&message, switches.is_quiet(time), &came);
    if let Err(error) = put_on_record(ledger, &body).await {
        complain("that people were told is not on record", &error.to_string());
    }
}

/// The time of the day where the user is.
fn local_time() -> TimeOfDay {
    let now = jiff::Zoned::now();
    let part = |part: i8| u16::try_from(part).unwrap_or_default();
    TimeOfDay::at(part(now.hour()), part(now.minute())).unwrap_or(TimeOfDay::MIDNIGHT)
}

fn complain(what: &str, why: &str) {
    eprintln!("countersign: {what}: {}", countersign_core::text::visible_line(why));
}

/// What the ledger keeps of it.
fn record(message: &Message, quiet: bool, came: &[(Way, Came)]) -> Value {
    let ways = came.iter().map(|(way, came)| {
        let why = (!came.why.is_empty()).then_some(&came.why);
        json!({ "way": way.word(), "state": came.state.word(), "why": why })
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
    let at_ms = now_ms();
    transaction.note(STREAM, seen, &[("told", body.to_string())], at_ms).await?;
    transaction.commit().await
}
