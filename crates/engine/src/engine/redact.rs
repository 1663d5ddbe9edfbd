//! Keeping secrets back: in the words of a question, in what comes back, and in what people write down.
//! What is hashed is never changed: digests and keys are of the original bytes, and checks see the truth.

use super::Engine;
use super::ask::Asking;
use crate::programs::Usage;
use crate::reviewer::ReviewerReply;
use countersign_core::answer::Row;
use countersign_core::prompt::{Body, ShownFile};
use countersign_core::redact::{Counts, Redaction};
use countersign_core::rule::Rule;
use countersign_core::text;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

const MODEL_BYTES: usize = 200;

impl Engine {
    /// Asks, and takes secrets out of the answer before it is recorded or shown.
    pub(super) async fn ask_redacted(&self, asking: Asking, cancel: &CancellationToken) -> ReviewerReply {
        let told = self.ask(&asking, cancel).await;
        let replaced = asking.redacted.load(Ordering::Relaxed);
        let told = self.without_secrets(told, |redaction, answer| {
            answer.redacted = answer.redacted.saturating_add(replaced);
            redaction.answer(answer);
            answer.make_visible();
        });
        let result = match told.result {
            Ok(answer) => self.check_locations(answer, &asking.assignment, &asking.prepared).await,
            failed => failed,
        };
        ReviewerReply { result, ..told }
    }

    /// Takes secrets out of everything in a reply; `hide` does so for the answer itself.
    pub(super) fn without_secrets<T>(
        &self,
        told: ReviewerReply<T>,
        hide: impl FnOnce(&Redaction, &mut T),
    ) -> ReviewerReply<T> {
        let redaction = &self.0.planner.redaction;
        let result = match told.result {
            Ok(mut answer) => {
                hide(redaction, &mut answer);
                Ok(answer)
            }
            Err(mut failed) => {
                let words = std::iter::once(&mut failed.detail).chain(&mut failed.fixed);
                words.for_each(|words| *words = text::visible(&redaction.hide(words)).into_owned());
                Err(failed)
            }
        };
        let model =
            |name: String| text::cut(&text::visible_line(&redaction.hide(&name)), MODEL_BYTES).to_owned();
        let usage = told.usage.map(|usage| Usage { model: usage.model.map(model), ..usage });
        ReviewerReply { result, reply: told.reply.map(|reply| redaction.reply(&reply)), usage }
    }

    /// A text that goes on record.
    pub fn hide(&self, text: &str) -> String {
        self.0.planner.redaction.hide(text)
    }

    pub(super) fn hide_rows(&self, rows: &mut [Row]) {
        for row in rows {
            let flaws =
                row.findings.iter_mut().flat_map(|flaw| [Some(&mut flaw.message), flaw.file.as_mut()]);
            for text in flaws.chain([row.feedback.as_mut()]).flatten() {
                *text = text::visible(&self.hide(text)).into_owned();
            }
        }
    }
}

/// Rules as they are asked and recorded. Checks stay as they are: they are carried out, not shown.
pub(super) fn rules(redaction: &Redaction, rules: &mut [Rule]) {
    for rule in rules {
        rule.guidance = rule.guidance.take().map(|guidance| redaction.hide(&guidance));
        for criterion in &mut rule.criteria {
            criterion.question = redaction.hide(&criterion.question);
        }
    }
}

/// Takes secrets out of the contents of a question, and counts them.
pub(crate) fn shown(redaction: &Redaction, files: &mut [ShownFile]) -> Counts {
    let mut counts = Counts::default();
    for file in files {
        if let Body::Text(text) = &mut file.body {
            let (hidden, found) = redaction.redact(text);
            if found.total() > 0 {
                *text = hidden.into_owned();
            }
            counts.add(found);
        }
    }
    counts
}
