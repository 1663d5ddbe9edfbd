//! What happened to a review, as the ledger keeps it. Fields are only ever added.

use super::{Actor, Dispute, LeftOut};
use crate::answer::Answer;
use crate::cost::BudgetOf;
use crate::digest::{Digest, Key};
use crate::endpoint::Endpoint;
use crate::ids::{CallId, ReviewId, Subject, Token};
use crate::judge::{Judgement, RoundEnd};
use crate::outcome::{NoVerdict, Settlement};
use crate::plan::Assignment;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::submission::Submission;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// A loop on a subject began.
    ReviewOpened {
        subject: Subject,
        rules: Vec<Rule>,
        /// The policy in force, until the review is over.
        policy: Policy,
    },
    Submitted {
        round: u32,
        submission: Submission,
        assignments: Vec<Assignment>,
        /// The rules, where they differ from those of the round before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rules: Option<Vec<Rule>>,
        /// Earlier findings that are about files or rules which are no part of it any more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    Asked {
        round: u32,
        call: CallId,
        key: Key,
        reviewer: String,
        /// Which look at the work it is.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        look: u32,
        #[serde(default, skip_serializing_if = "Endpoint::is_empty")]
        place: Endpoint,
    },
    Answered {
        round: u32,
        key: Key,
        answer: Answer,
        by: By,
        /// The mark of the place where it was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Digest>,
    },
    /// Rulings that stand from before, all those of a round at once.
    Reused {
        round: u32,
        answers: Vec<ReusedAnswer>,
    },
    AskFailed {
        round: u32,
        call: CallId,
        key: Key,
        why: NoVerdict,
        detail: String,
        /// What a reviewer found that changed the files itself, in its own words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fixed: Option<String>,
        /// The budget that does not cover the question, where that is why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<BudgetOf>,
        /// Whether the question was not put to the reviewer, because it counts as down.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_put: bool,
    },
    SelfReviewAsked {
        round: u32,
        /// What the answer must bring back.
        token: Token,
    },
    RoundJudged {
        round: u32,
        end: RoundEnd,
        judgement: Judgement,
        at_ms: i64,
    },
    /// A round has ended, and a person has the last word on it.
    PersonAsked {
        round: u32,
    },
    /// A person decided, or another actor that the policy allows to.
    Decided {
        decision: Decision,
    },
    Disputed {
        dispute: Dispute,
    },
    /// A person, or within limits the session of an agent, let a stopped review go on.
    Lifted {
        by: Actor,
        reason: String,
    },
    Settled {
        outcome: Settlement,
    },
    /// The door delivered the answer of a round.
    Notified {
        round: u32,
    },
}

impl Event {
    /// The name of the kind, as the ledger's column has it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ReviewOpened { .. } => "review_opened",
            Self::Submitted { .. } => "submitted",
            Self::Asked { .. } => "asked",
            Self::Answered { .. } => "answered",
            Self::Reused { .. } => "reused",
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

/// A ruling that stands from before, in a round of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReusedAnswer {
    pub key: Key,
    pub answer: Answer,
    pub by: By,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A reviewer that was asked.
    Call {
        call: CallId,
        reviewer: String,
    },
    /// A ruling that stands from before.
    Reused {
        review: ReviewId,
        /// The event it was given by.
        n: u64,
        reviewer: String,
    },
    /// The answer a reviewer had given, without a finding that was withdrawn.
    Disputed {
        /// The review in which it was judged again.
        review: ReviewId,
        reviewer: String,
    },
    SelfReview {
        token: Token,
    },
}

impl By {
    /// The reviewer that ruled, also where its ruling stands from before; none for the author itself.
    pub fn reviewer(&self) -> Option<&str> {
        match self {
            Self::Call { reviewer, .. } | Self::Reused { reviewer, .. } | Self::Disputed { reviewer, .. } => {
                Some(reviewer)
            }
            Self::SelfReview { .. } => None,
        }
    }
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
    pub by: Actor,
    pub verb: Verb,
    pub reason: String,
    /// What they had before them.
    pub digest: Digest,
    pub at_ms: i64,
}

impl Decision {
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
        assert!(
            matches!(event, Event::AskFailed { budget: None, fixed: None, not_put: false, .. }),
            "{event:?}"
        );
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
