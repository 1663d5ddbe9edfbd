//! The NEXT line of every answer: the next step, in the document's sentence and as the exact command.

use super::item::{Item, Status};
use super::phase::Phase;
use super::state::State;
use countersign_core::policy::{GateEnd, GatePolicy, GateResult};

/// What a caller can do here: every command of a NEXT line can be given as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The state directory, as the caller can type it.
    pub state_dir: String,
    pub phase: Phase,
    /// Whether an agent reads the answer: it gets no commands that are for people.
    pub for_agent: bool,
    /// Whether reviewers can be asked. Otherwise the caller finds the items and verifies them.
    pub has_reviewer: bool,
    /// The flags that a command needs to ask the reviewer of this one.
    pub flags: String,
    /// Whether artifacts are known.
    pub has_artifacts: bool,
    /// The plan, as the caller can type it.
    pub plan: Option<String>,
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

    /// The same for a command that asks reviewers.
    fn next_asking(&self, sentence: &str, words: &str) -> String {
        self.next(sentence, &format!("{words}{}", self.flags))
    }

    pub fn verify(&self, state: &State) -> String {
        const SENTENCE: &str = "Invoke verifiers for each item.";
        let open = |item: &&Item| item.status == Status::Todo && !item.accepted;
        match state.items.iter().find(open) {
            Some(item) if !self.has_reviewer => {
                let sentence = format!("{SENTENCE} Record each result, PASS or FAIL --finding TEXT.");
                let words = format!("record {} PASS --round {}", shell_word(&item.id), state.iteration);
                self.next(&sentence, &words)
            }
            _ => self.next_asking(SENTENCE, "verify"),
        }
    }

    pub fn decompose(&self) -> String {
        self.decompose_after("Break the artifact into items.")
    }

    fn decompose_after(&self, sentence: &str) -> String {
        match (self.has_reviewer, self.has_artifacts) {
            (true, true) => self.next_asking(sentence, "decompose"),
            (false, true) => self.next_asking(sentence, "decompose --print-prompt"),
            (_, false) => {
                let sentence = format!("{sentence} Give the items as JSON on standard input.");
                self.next(&sentence, "decompose --items -")
            }
        }
    }

    pub fn init(&self) -> String {
        let command = format!("countersign qr init --state-dir {}", shell_word(&self.state_dir));
        next_line("Make the state directory.", &command)
    }

    pub fn fixed(&self) -> String {
        self.next("Apply the fixes, then say so.", "fixed")
    }

    pub fn status(&self) -> String {
        self.next("Look at the phase.", "status")
    }

    /// After an error in the state file.
    pub fn mistakes(&self) -> String {
        let file = format!("{}/{}", self.state_dir.trim_end_matches('/'), self.phase.file_name());
        next_line(
            "Correct the state file; this names its mistakes.",
            &format!("countersign validate {}", shell_word(&file)),
        )
    }

    pub(super) fn gate(&self) -> String {
        self.next("Invoke the gate.", "gate")
    }

    pub fn execute(&self) -> String {
        self.decompose_after("Do the work of this phase, then review it.")
    }

    pub fn after_gate(&self, state: &State, gated: &GateResult<'_>, policy: &GatePolicy) -> String {
        match gated.end {
            GateEnd::Pass => self.next_phase(),
            GateEnd::Fail => self.next("Invoke fixer with failed items.", "execute --qr-fail"),
            GateEnd::Todo => self.verify(state),
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
        if let Some(next) = self.phase.next() {
            return next_line(SENTENCE, &self.command_in(next, "execute"));
        }
        let sentence = format!("{SENTENCE} {} was the last one.", self.phase);
        match &self.plan {
            Some(plan) if self.has_reviewer => {
                self.next_asking(&sentence, &format!("reconcile --plan {}", shell_word(plan)))
            }
            _ => self.next(&sentence, "status"),
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

pub fn next_line(sentence: &str, command: &str) -> String {
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
