//! A notification as a message that is safe to show: its texts come from plans and reviewers.

use super::{About, Notice};
use crate::Failure;
use crate::answer::v1::Version;
use crate::project::Project;
use countersign_core::text::{cut, visible_line};
use countersign_doors::service::task::{Notification, SOUND};
use countersign_engine::fresh;
use serde_json::{Value, json};
use std::ffi::OsString;

const TITLE_BYTES: usize = 200;
const MESSAGE_BYTES: usize = 1000;
const NAME_BYTES: usize = 500;

const TEST: &str = "test";

/// A message of bounded single lines, without control characters and secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The same for a message that is sent twice.
    pub id: String,
    pub at: String,
    pub about: &'static str,
    pub project: String,
    pub subject: String,
    pub review: Option<String>,
    pub title: String,
    pub message: String,
    pub sound: String,
}

impl Message {
    pub fn new(project: &Project, told: &Notice) -> Result<Self, Failure> {
        let redaction = project.redaction()?;
        let harmless = |text: &str, max_bytes| line(&redaction.redact(text).0, max_bytes);
        let id = fresh::id().map_err(|error| Failure::internal(error.to_string()))?;
        let folder = project.root.path().file_name().unwrap_or_default().to_string_lossy();
        let Notification { title, message, sound } = &told.notification;
        Ok(Self {
            id: format!("no-{id}"),
            at: jiff::Timestamp::now().to_string(),
            about: told.about.word(),
            project: line(&folder, NAME_BYTES),
            subject: line(&told.subject, NAME_BYTES),
            review: told.review.clone(),
            title: harmless(title, TITLE_BYTES),
            message: harmless(message, MESSAGE_BYTES),
            sound: project.config.notify.sound_name.as_ref().unwrap_or(sound).clone(),
        })
    }

    pub fn test(project: &Project) -> Result<Self, Failure> {
        let notification = Notification {
            title: "Test of countersign".to_owned(),
            message: "You get a notification like this when a review needs you".to_owned(),
            sound: SOUND.to_owned(),
        };
        let told =
            Notice { about: About::ReviewFailed, subject: TEST.to_owned(), review: None, notification };
        Ok(Self { about: TEST, ..Self::new(project, &told)? })
    }

    pub fn json(&self) -> Value {
        json!({
            "schema": Version::One, "event": "notification", "id": self.id, "at": self.at, "about": self.about,
            "project": self.project, "subject": self.subject, "review": self.review, "title": self.title,
            "message": self.message, "sound": self.sound,
        })
    }

    /// The same as variables. No value can have a zero byte.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let variables = [
            ("COUNTERSIGN_CALL", "notify"),
            ("COUNTERSIGN_NOTIFY_ABOUT", self.about),
            ("COUNTERSIGN_NOTIFY_PROJECT", &self.project),
            ("COUNTERSIGN_NOTIFY_SUBJECT", &self.subject),
            ("COUNTERSIGN_NOTIFY_REVIEW", self.review.as_deref().unwrap_or_default()),
            ("COUNTERSIGN_NOTIFY_TITLE", &self.title),
            ("COUNTERSIGN_NOTIFY_MESSAGE", &self.message),
        ];
        variables.map(|(name, value)| (name.into(), value.into())).to_vec()
    }
}

fn line(text: &str, max_bytes: usize) -> String {
    let line = visible_line(text);
    match line.len() <= max_bytes {
        true => line.into_owned(),
        false => format!("{}…", cut(&line, max_bytes.saturating_sub('…'.len_utf8()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_that_does_not_act_and_is_not_longer_than_it_may_be() {
        assert_eq!(line("a\nb\u{1b}[31m", 100), "a b\\u{1b}[31m");
        assert_eq!(line("ab\0c", 100), "ab\\u{0}c");
        assert_eq!(line("äöü", 6), "äöü");
        assert_eq!(line("äöüx", 6), "ä…");
        assert!(line(&"ä".repeat(5000), 200).len() <= 200);
    }
}
