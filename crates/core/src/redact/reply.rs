//! What comes back from a reviewer: it may quote a secret that it read somewhere else.

use super::{Counts, Redaction};
use crate::answer::{Answer, unfence};
use serde_json::Value;

impl Redaction {
    /// A reply as it came. Inside JSON a secret may be written with escapes, so its texts are looked at too.
    pub fn reply(&self, reply: &str) -> String {
        let hidden = self.hide(reply);
        if self.is_off() {
            return hidden;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(unfence(hidden.trim())) else { return hidden };
        if self.value(&mut value) > 0 { value.to_string() } else { hidden }
    }

    /// The texts of an answer; the count goes with it.
    pub fn answer(&self, answer: &mut Answer) {
        let mut counts = Counts::default();
        let mut hide = |text: &mut String| {
            let (hidden, found) = self.redact(text);
            if found.total() > 0 {
                *text = hidden.into_owned();
            }
            counts.add(found);
        };
        hide(&mut answer.feedback);
        if let Some(reviewed) = &mut answer.reviewed {
            hide(&mut reviewed.summary);
            reviewed.issues.iter_mut().for_each(&mut hide);
        }
        answer.rulings.iter_mut().filter_map(|ruling| ruling.feedback.as_mut()).for_each(&mut hide);
        let flaws = answer.rulings.iter_mut().flat_map(|ruling| &mut ruling.flaws).chain(&mut answer.flaws);
        for flaw in flaws {
            hide(&mut flaw.message);
            let claimed = flaw.claim.as_mut().and_then(|claim| claim.file.as_mut());
            flaw.location_dropped.as_mut().into_iter().chain(claimed).for_each(&mut hide);
        }
        answer.redacted = answer.redacted.saturating_add(counts.total());
    }

    /// Every text in a value; the number of secrets that were in them.
    pub fn value(&self, value: &mut Value) -> usize {
        match value {
            Value::String(text) => {
                let (hidden, found) = self.redact(text);
                *text = hidden.into_owned();
                found.total()
            }
            Value::Array(values) => values.iter_mut().map(|value| self.value(value)).sum(),
            Value::Object(members) => {
                let mut total = 0;
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(key, mut value)| {
                        let (hidden, found) = self.redact(&key);
                        total += found.total() + self.value(&mut value);
                        (hidden.into_owned(), value)
                    })
                    .collect();
                total
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }
}
