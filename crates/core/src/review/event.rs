//! What happened to a review, as the ledger keeps it. Fields are only ever added.

use super::{Actor, Dispute};
use crate::answer::Answer;
use crate::cost::BudgetOf;
use crate::digest::{Digest, Key};
use crate::ids::{CallId, ReviewId, Subject, Token};
use crate::judge::{Judgement, RoundEnd};
use crate::outcome::{NoVerdict, Settlement};
use crate::place::Place;
use crate::plan::Assignment;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::submission::Submission;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// A loop on a subject began.
    ReviewOpened {
        /// What stays the same over retries.
        subject: Subject,
        /// The rules in force.
        rules: Vec<Rule>,
        /// The policy in force, until the review is over.
        policy: Policy,
    },
    /// Work was handed in; a round began.
    Submitted {
        round: u32,
        /// What was handed in.
        submission: Submission,
        /// What is asked.
        assignments: Vec<Assignment>,
        /// The rules, where they differ from those of the round before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rules: Option<Vec<Rule>>,
    },
    /// A reviewer is being asked.
    Asked {
        round: u32,
        /// The question's own id.
        call: CallId,
        /// What is asked.
        key: Key,
        /// Who is asked.
        reviewer: String,
        /// Which look at the work it is.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        look: u32,
        #[serde(default, skip_serializing_if = "Place::is_empty")]
        place: Place,
    },
    /// A valid answer came.
    Answered {
        round: u32,
        /// What was asked.
        key: Key,
        answer: Answer,
        /// Who gave it.
        by: By,
        /// The mark of the place where it was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Digest>,
    },
    /// A question got no answer.
    AskFailed {
        round: u32,
        /// The question's own id.
        call: CallId,
        /// What was asked.
        key: Key,
        /// Why there is no answer.
        why: NoVerdict,
        detail: String,
        /// What a reviewer found that changed the files itself, in its own words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fixed: Option<String>,
        /// The budget that does not cover the question, where that is why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<BudgetOf>,
    },
    /// The author was asked for a self-review.
    SelfReviewAsked {
        round: u32,
        /// What the answer must bring back.
        token: Token,
    },
    /// A round ended.
    RoundJudged {
        round: u32,
        end: RoundEnd,
        /// The verdict, by reference.
        judgement: Judgement,
        at_ms: i64,
    },
    /// A round has ended, and a person has the last word on it.
    PersonAsked { round: u32 },
    /// A person decided, or another actor that the policy allows to.
    Decided { decision: Decision },
    /// A finding was disputed and judged again.
    Disputed {
        /// What came of it.
        dispute: Dispute,
    },
    /// A person, or within limits the session of an agent, let a stopped review go on.
    Lifted {
        by: Actor,
        /// Why.
        reason: String,
    },
    /// The review is over.
    Settled { outcome: Settlement },
    /// The door delivered the answer of a round.
    Notified { round: u32 },
}

impl Event {
    /// The name of the kind, as the ledger's column has it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ReviewOpened { .. } => "review_opened",
            Self::Submitted { .. } => "submitted",
            Self::Asked { .. } => "asked",
            Self::Answered { .. } => "answered",
            Self::AskFailed { .. } => "ask_failed",
            Self::SelfReviewAsked { .. } => "self_review_asked",
            Self::RoundJudged { .. } => "round_judged",
            Self::PersonAsked { .. } => "person_asked",
            Self::Decided { .. } => "decided",
            Self::Disputed { .. } => "disputed",
            Self::Lifted { .. } => "lifted",
            Self::Settled { .. } => "settled",
            Self::Notified { .. } => "notified",
        }
    }
}

/// Who gave an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A reviewer that was asked.
    Call {
        /// The question's own id.
        call: CallId,
        /// The reviewer's name.
        reviewer: String,
    },
    /// A ruling that stands from before.
    Reused {
        /// The review it was given in.
        review: ReviewId,
        /// The event it was given by.
        n: u64,
        /// The reviewer's name.
        reviewer: String,
    },
    /// The answer a reviewer had given, without a finding that was withdrawn.
    Disputed {
        /// The review in which it was judged again.
        review: ReviewId,
        /// Who judged it again.
        reviewer: String,
    },
    /// The author's own review.
    SelfReview {
        /// The token it brought back.
        token: Token,
    },
}

/// What can be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Verb {
    /// Let it pass, whatever the verdict.
    Approve,
    /// Stop it for good.
    Reject,
    /// Let it pass without a review.
    Skip,
    /// Send it back, with what was found.
    Fix,
}

impl Verb {
    /// The name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Skip => "skip",
            Self::Fix => "fix",
        }
    }
}

/// A recorded decision: who, what, why, about which bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Who decided.
    pub by: Actor,
    pub verb: Verb,
    /// Why.
    pub reason: String,
    /// What they had before them.
    pub digest: Digest,
    pub at_ms: i64,
}

impl Decision {
    /// In a line for people.
    pub fn words(&self) -> String {
        format!("{} by {}: {}", self.verb.name(), self.by.words(), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 15: what ledgers hold already reads as before, and what cannot settle a review is damage.
    #[test]
    fn issue_15_events_of_older_ledgers_are_read() {
        let failed =
            r#"{"kind":"ask_failed","round":1,"call":"ca-1","key":"00","why":"budget","detail":"no"}"#;
        let event: Event = serde_json::from_str(failed).unwrap();
        assert!(matches!(event, Event::AskFailed { budget: None, fixed: None, .. }), "{event:?}");
        for good in [r#""passed""#, r#"{"stopped":"withdrawn"}"#, r#"{"no_verdict":"stale"}"#] {
            let written = format!(r#"{{"kind":"settled","outcome":{good}}}"#);
            let event: Event = serde_json::from_str(&written).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), written);
        }
        for bad in ["usage", "interrupted", "internal", "integrity", "awaiting_person"] {
            let written = format!(r#"{{"kind":"settled","outcome":"{bad}"}}"#);
            assert!(serde_json::from_str::<Event>(&written).is_err(), "{bad}");
        }
    }
}
