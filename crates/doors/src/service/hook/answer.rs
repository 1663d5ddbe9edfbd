//! The answer to a hook: whether the agent may stop, in the form of its program.

use super::messages;
use countersign_core::outcome::Outcome;
use countersign_core::policy::{MAX_EMPTY_ROUNDS, OnNoVerdict};
use countersign_core::review::{Review, State};
use countersign_engine::programs::Hook;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    /// The agent may stop.
    Go,
    /// The agent may stop, with a message for the person.
    Tell(String),
    /// The agent goes on, for this reason.
    Hold(String),
    /// The agent goes on, for this reason, with a message for the person.
    HoldAndTell(String, String),
}

pub struct Stands<'a> {
    pub review: &'a Review,
    pub outcome: Outcome,
    pub on_no_verdict: OnNoVerdict,
    /// The file of the instructions, where a self-review is asked for.
    pub self_review: Option<String>,
}

impl Stands<'_> {
    /// An agent is held only where that is counted: a failing round is an attempt, a round without a verdict one of three.
    pub fn say(&self) -> Say {
        let Self { review, outcome, .. } = self;
        match outcome {
            Outcome::Passed | Outcome::Overridden | Outcome::Skipped => Say::Go,
            Outcome::NeedsWork => Say::Hold(messages::findings(review)),
            Outcome::AwaitingPerson => match &self.self_review {
                Some(file) if review.state != State::AwaitingPerson => {
                    Say::Hold(messages::self_review(review, file))
                }
                _ => Say::Tell(messages::stopped(review, *outcome)),
            },
            Outcome::NoVerdict(_)
                if self.on_no_verdict == OnNoVerdict::Hold && review.empty_rounds < MAX_EMPTY_ROUNDS =>
            {
                Say::Hold(messages::no_verdict(review, *outcome))
            }
            _ => Say::Tell(messages::stopped(review, *outcome)),
        }
    }
}

impl Say {
    /// The same with another message for the person.
    pub fn also(self, words: &str) -> Self {
        match self {
            Self::Go => Self::Tell(words.to_owned()),
            Self::Tell(before) => Self::Tell(format!("{before}\n{words}")),
            Self::Hold(reason) => Self::HoldAndTell(reason, words.to_owned()),
            Self::HoldAndTell(reason, before) => Self::HoldAndTell(reason, format!("{before}\n{words}")),
        }
    }

    pub fn output(&self, hook: Hook) -> String {
        let object: Value = match self {
            Self::Go => return String::new(),
            Self::Tell(words) => json!({ "systemMessage": words }),
            Self::Hold(reason) => json!({ "decision": hook.hold, "reason": reason }),
            Self::HoldAndTell(reason, words) => {
                json!({ "decision": hook.hold, "reason": reason, "systemMessage": words })
            }
        };
        format!("{object}\n")
    }
}

/// The answer where the hook itself failed, `tries` times in a row, if counted. It holds the agent at most twice.
pub fn failed(why: &str, what_to_do: Option<&str>, tries: Option<u32>) -> Say {
    let told = messages::failed(why, what_to_do);
    match tries {
        Some(tries) if tries < MAX_EMPTY_ROUNDS => {
            Say::HoldAndTell(messages::held_by_failure(why, tries), told)
        }
        _ => Say::Tell(told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::outcome::{NoVerdict, Stop};
    use countersign_engine::programs::PROGRAMS;

    /// SVC-8, SVC-11.
    #[test]
    fn svc_8_and_11_only_findings_and_a_missing_verdict_hold_an_agent_and_never_for_ever() {
        let of = |outcome, on_no_verdict, empty_rounds| {
            let review = Review { empty_rounds, ..Review::default() };
            let say = Stands { review: &review, outcome, on_no_verdict, self_review: None }.say();
            match say {
                Say::Go => "go",
                Say::Tell(_) => "tell",
                Say::Hold(_) | Say::HoldAndTell(..) => "hold",
            }
        };
        let no_verdict = Outcome::NoVerdict(NoVerdict::Unavailable);
        let (hold, tell) = (OnNoVerdict::Hold, OnNoVerdict::Tell);
        let table = [
            (Outcome::Passed, hold, 0, "go"),
            (Outcome::Overridden, hold, 0, "go"),
            (Outcome::Skipped, hold, 0, "go"),
            (Outcome::NeedsWork, tell, 0, "hold"),
            (Outcome::Stopped(Stop::AttemptsUsedUp), hold, 0, "tell"),
            (Outcome::Stopped(Stop::NotConverging), hold, 0, "tell"),
            (Outcome::Stopped(Stop::Rejected), hold, 0, "tell"),
            (Outcome::AwaitingPerson, hold, 0, "tell"),
            (Outcome::BudgetReached, hold, 1, "tell"),
            (no_verdict, hold, 1, "hold"),
            (no_verdict, hold, 2, "hold"),
            (no_verdict, hold, 3, "tell"),
            (no_verdict, tell, 1, "tell"),
            (Outcome::Integrity, hold, 0, "tell"),
        ];
        for (outcome, policy, empty, expected) in table {
            assert_eq!(of(outcome, policy, empty), expected, "{outcome} {policy:?} {empty}");
        }
    }

    #[test]
    fn every_program_is_told_in_its_own_form() {
        let hook = |name: &str| PROGRAMS.named(name).unwrap().hook.unwrap();
        let hold = Say::Hold("a\n\"b\"".into());
        let tell = Say::Tell("x".into());
        assert_eq!(hold.output(hook("claude")), "{\"decision\":\"block\",\"reason\":\"a\\n\\\"b\\\"\"}\n");
        assert_eq!(hold.output(hook("codex")), hold.output(hook("claude")));
        assert_eq!(hold.output(hook("gemini")), "{\"decision\":\"deny\",\"reason\":\"a\\n\\\"b\\\"\"}\n");
        for hook in PROGRAMS.hooks() {
            assert_eq!(tell.output(hook), "{\"systemMessage\":\"x\"}\n");
            assert_eq!(Say::Go.output(hook), "");
        }
        let both = Say::HoldAndTell("r".into(), "x".into());
        assert_eq!(
            both.output(hook("claude")),
            "{\"decision\":\"block\",\"reason\":\"r\",\"systemMessage\":\"x\"}\n"
        );
    }

    #[test]
    fn a_hook_that_fails_holds_twice_and_then_the_person_is_told() {
        for (tries, holds) in
            [(Some(1), true), (Some(2), true), (Some(3), false), (Some(9), false), (None, false)]
        {
            let said = failed("the ledger is damaged", Some("restore it"), tries);
            assert_eq!(matches!(said, Say::HoldAndTell(..)), holds, "{tries:?}");
            let (Say::HoldAndTell(_, told) | Say::Tell(told)) = said else { panic!("{tries:?}") };
            assert!(told.contains("the ledger is damaged") && told.contains("restore it"), "{told}");
        }
    }
}
