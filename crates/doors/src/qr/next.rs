//! The NEXT line of every answer: the next step, in the document's sentence and as the exact command.

use super::phase::Phase;
use super::state::State;
use countersign_core::policy::{GateEnd, GatePolicy, GateResult};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The state directory, as the caller can type it.
    pub state_dir: String,
    pub phase: Phase,
    /// Whether an agent reads the answer: it gets no commands that are for people.
    pub for_agent: bool,
}

impl Here {
    pub fn command(&self, words: &str) -> String {
        self.command_in(self.phase, words)
    }

    fn command_in(&self, phase: Phase, words: &str) -> String {
        format!("countersign qr {words} --state-dir {} --phase {phase}", shell_word(&self.state_dir))
    }

    fn next(&self, sentence: &str, words: &str) -> String {
        next_line(sentence, &self.command(words))
    }

    pub(super) fn verify(&self) -> String {
        self.next("Invoke verifiers for each item.", "verify")
    }

    pub fn decompose(&self) -> String {
        self.next("Break the artifact into items.", "decompose")
    }

    pub fn init(&self) -> String {
        let command = format!("countersign qr init --state-dir {}", shell_word(&self.state_dir));
        next_line("Make the state directory.", &command)
    }

    pub fn fixed(&self) -> String {
        self.next("Apply the fixes, then say so.", "fixed --files FILE…")
    }

    pub(super) fn gate(&self) -> String {
        self.next("Invoke the gate.", "gate")
    }

    pub fn execute(&self) -> String {
        self.next("Do the work of this phase, then review it.", "decompose")
    }

    pub fn after_gate(&self, state: &State, gated: &GateResult<'_>, policy: &GatePolicy) -> String {
        match gated.end {
            GateEnd::Pass => self.next_phase(),
            GateEnd::Fail => self.next("Invoke fixer with failed items.", "execute --qr-fail"),
            GateEnd::Todo => self.verify(),
            GateEnd::Empty => self.decompose(),
            GateEnd::Ceiling | GateEnd::ItemCap => {
                let id = gated.capped.first().or(gated.failed.first()).or(gated.open.first());
                let sentence = format!("Ask a person: {}.", why_stopped(state, gated, policy));
                if self.for_agent {
                    return format!("NEXT: {sentence} This phase waits for a person.");
                }
                let words = format!("accept {} --reason TEXT", shell_word(id.unwrap_or(&"ID")));
                self.next(&sentence, &words)
            }
        }
    }

    /// After a gate whose state file the ledger contradicts.
    pub fn contradicted(&self) -> String {
        next_line("Put the state file right: the ledger has the items and rulings.", "countersign reconcile")
    }

    fn next_phase(&self) -> String {
        const SENTENCE: &str = "Continue to next phase.";
        match self.phase.next() {
            Some(next) => next_line(SENTENCE, &self.command_in(next, "execute")),
            None => {
                self.next(&format!("{SENTENCE} {} was the last one.", self.phase), "reconcile --plan FILE")
            }
        }
    }
}

pub(super) fn why_stopped(state: &State, gated: &GateResult<'_>, policy: &GatePolicy) -> String {
    match gated.end {
        GateEnd::ItemCap => {
            let (ids, failures) = (gated.capped.join(", "), policy.item_failures_max);
            format!("{ids} failed {failures} times, as often as an item may")
        }
        _ => format!("round {} of at most {} is over", state.iteration, policy.ceiling_rounds),
    }
}

fn next_line(sentence: &str, command: &str) -> String {
    format!("NEXT: {sentence} Run: {command}")
}

/// A path or an id as one word of a shell command.
pub fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    match !path.is_empty() && path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", countersign_core::text::visible_line(path).replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_typed_as_they_stand() {
        for (path, word) in [
            ("/tmp/plan-1", "/tmp/plan-1"),
            ("my plan", "'my plan'"),
            ("it's; rm -rf", r"'it'\''s; rm -rf'"),
            ("", "''"),
            // An id may begin like a comment.
            ("#1", "'#1'"),
        ] {
            assert_eq!(shell_word(path), word);
        }
    }
}
