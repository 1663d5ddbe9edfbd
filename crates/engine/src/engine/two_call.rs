//! A review in two calls: the reviewer writes in free words, the parser reads the conclusion out of them.
//! The parser gets the reviewer's reply alone, as data between markers. It is asked once more where its own reply cannot
//! be used, always about the same review: the reviewer is not asked until it says something else.

use super::ask::Asking;
use super::reading::Access;
use super::{Engine, Panelist};
use crate::programs::{ReplyBody, Usage};
use crate::reviewer::{Asks, Brief, Failed, ReviewerReply};
use countersign_core::answer::{self, PARSED_REVIEW, REVIEW_TEXT, Reviewed};
use countersign_core::cost::Size;
use countersign_core::digest::Parts;
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt::{self, Body, ShownFile};
use countersign_core::text;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// What the question to the reader is called, for programs and in recordings.
pub const PARSE_REVIEW: &str = "parse-review";
/// Longer reviews are refused.
const REVIEW_BYTES_MAX: usize = 256 * 1024;
/// How long the parser may take, where no setting says so.
const PARSER_SECONDS: u64 = 120;
/// An upper bound for the words around a review.
const PARSER_AROUND_BYTES: u64 = 8 * 1024;

const PARSER_TASK: &str = "\
You read the review that somebody wrote about a piece of work, and say what it says. You do not judge the work, and \
you do not judge the review.

- `APPROVED` only if the review itself, as its own conclusion, lets the work pass as it is.
- What the review quotes, what it would say under other conditions, and what it says about somebody else's opinion is \
not its conclusion.
- A review that approves and asks for a change before it counts is `NEEDS_REVISION`. So is one that is empty, cut off, \
or that you cannot read.
- `REJECTED` if the review says that a person has to decide, or that the work must not go on like this at all.";

/// Who reviews, who reads, and the words of the review.
#[derive(Clone, Debug)]
pub struct TwoCall {
    pub reviewer: Panelist,
    pub parser: Panelist,
    /// What the question to the reviewer is called: the review command without its `/`.
    pub command: String,
    pub task: String,
}

impl TwoCall {
    /// The identity, with those of the two reviewers that are asked.
    pub(super) fn identity(&self, reviewer: &str, parser: &str) -> String {
        let mut parts = Parts::new("two-call/1");
        parts.text(reviewer).text(parser).text(&self.command).text(&self.task);
        parts.text(PARSER_TASK).text(&PARSED_REVIEW.in_words());
        format!("two-call {}", parts.digest())
    }

    /// What both may cost together, each asked twice.
    pub(super) fn size(&self, bytes: u64) -> Option<Size> {
        let review = self.reviewer.size(bytes + self.task.len() as u64);
        let reply_bytes = review.map_or(0, |size| size.reply_tokens.saturating_mul(4));
        let parse = self.parser.size(reply_bytes + PARSER_AROUND_BYTES);
        let both = [review, parse].into_iter().flatten();
        both.reduce(|a, b| Size { bytes: a.bytes + b.bytes, reply_tokens: a.reply_tokens + b.reply_tokens })
            .map(|size| Size {
                bytes: size.bytes.saturating_mul(2),
                reply_tokens: size.reply_tokens.saturating_mul(2),
            })
    }
}

/// A review in two calls under way, with all replies so far and what they cost.
struct Reviewing<'a> {
    engine: &'a Engine,
    asking: &'a Asking,
    two: &'a TwoCall,
    cancel: &'a CancellationToken,
    reply: String,
    usage: Option<Usage>,
    /// Whether a reply did not say what it cost.
    unknown: bool,
}

impl Engine {
    /// Has work reviewed in free words, and has that review read.
    pub(super) async fn ask_twice(
        &self,
        asking: &Asking,
        two: &TwoCall,
        cancel: &CancellationToken,
    ) -> Result<ReviewerReply, Failed> {
        // A reply that could not be used was asked for again here, about the same review.
        if let Some(defect) = &asking.repair {
            return Err(Failed::new(NoVerdict::Garbled, defect));
        }
        let mut reviewing = Reviewing {
            engine: self,
            asking,
            two,
            cancel,
            reply: String::new(),
            usage: None,
            unknown: false,
        };
        let (review, brief) = match reviewing.free_review().await {
            Ok(reviewed) => reviewed,
            // No reviewer was asked.
            Err(failed) if reviewing.usage.is_none() && !reviewing.unknown => return Err(failed),
            Err(failed) => return Ok(reviewing.told(Err(failed))),
        };
        let (criteria, root) = (brief.criteria, brief.root);
        let answer = reviewing.parse_review(&review).await.and_then(|reviewed| {
            answer::rule_reviewed(reviewed, &criteria.iter().collect::<Vec<_>>())
                .map_err(|defect| Failed::new(defect.why(), defect.to_string()))
        });
        Ok(self.0.planner.panel.vouch(&asking.reviewer, &root, reviewing.told(answer)))
    }
}

impl Reviewing<'_> {
    fn add<T>(&mut self, who: &str, panelist: &Panelist, told: &ReviewerReply<T>) {
        if let Some(reply) = &told.reply {
            let between = if self.reply.is_empty() { "" } else { "\n\n" };
            self.reply.push_str(&format!("{between}[{who}]\n{reply}"));
        }
        let Some(mut usage) = told.usage.clone() else {
            self.unknown = true;
            return;
        };
        panelist.add_price(&mut usage);
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.usage = Some(match self.usage.take() {
            None => usage,
            Some(before) => Usage {
                model: before.model.or(usage.model),
                tokens_in: sum(before.tokens_in, usage.tokens_in),
                tokens_out: sum(before.tokens_out, usage.tokens_out),
                cost_microusd: sum(before.cost_microusd, usage.cost_microusd),
            },
        });
    }

    fn told<T>(self, result: Result<T, Failed>) -> ReviewerReply<T> {
        let reply = (!self.reply.is_empty()).then_some(self.reply);
        ReviewerReply { result, reply, usage: self.usage.filter(|_| !self.unknown) }
    }

    /// The review in free words, with the question for it; an empty review is asked for once more.
    async fn free_review(&mut self) -> Result<(String, Brief), Failed> {
        let (engine, two) = (self.engine, self.two);
        let system_prompt = prompt::consultation_prompt(&two.task, REVIEW_TEXT);
        let empty = "the review is empty";
        for asked_for in [system_prompt.clone(), prompt::repair_prompt(&system_prompt, empty)] {
            // The folder of a reviewer goes with its call.
            let private = engine.private_brief(self.asking, Access::of(two.reviewer.sees_project)).await?;
            let brief = Brief {
                rule: two.command.clone(),
                asks: Asks::Consultation(REVIEW_TEXT),
                system_prompt: asked_for,
                ..private.brief.clone()
            };
            let told = engine.ask_raw(&two.reviewer, &brief, self.cancel).await;
            let told = private.let_go(told).await;
            self.add(&two.command, &two.reviewer, &told);
            let review = review_text(told.result?);
            if review.len() > REVIEW_BYTES_MAX {
                let words = format!("the review has {} bytes; the limit is {REVIEW_BYTES_MAX}", review.len());
                return Err(Failed::new(NoVerdict::TooLong, words));
            }
            if !review.trim().is_empty() {
                return Ok((engine.0.planner.redaction.redact(&review).0.into_owned(), brief));
            }
        }
        Err(Failed::new(NoVerdict::Garbled, empty))
    }

    /// Has the parser read a review; it is asked once more where its reply cannot be used.
    async fn parse_review(&mut self, review: &str) -> Result<Reviewed, Failed> {
        let (path, output) = ("review".to_owned(), "review".to_owned());
        let shown = ShownFile { path, output, body: Body::Text(review.to_owned()) };
        let (Asking { call, counts_money, .. }, asks) = (self.asking, (PARSE_REVIEW, PARSED_REVIEW));
        let system_prompt = prompt::consultation_prompt(PARSER_TASK, PARSED_REVIEW);
        let mut brief = Brief {
            system_prompt: system_prompt.clone(),
            payload: prompt::payload(&[shown], None),
            ..self.engine.empty_brief(&self.two.parser, call.clone(), asks, PARSER_SECONDS, *counts_money)
        };
        let mut read = self.parse_once(brief.clone()).await;
        if let Err(Failed { why, detail, .. }) = &read
            && why.is_repairable()
        {
            brief.system_prompt = prompt::repair_prompt(&system_prompt, detail);
            read = self.parse_once(brief).await;
        }
        read
    }

    async fn parse_once(&mut self, brief: Brief) -> Result<Reviewed, Failed> {
        let told = self.engine.hear_consultation(&self.two.parser, brief, self.cancel).await;
        let told = told.unwrap_or_else(ReviewerReply::not_asked);
        self.add(PARSE_REVIEW, &self.two.parser, &told);
        told.result.and_then(|said| reviewed_of(&said))
    }
}

/// The text of a review: that in the form that was asked for, or all of a reply in another form.
fn review_text(said: ReplyBody) -> String {
    let of = |value: &Value| value.get("review").and_then(Value::as_str).map(str::to_owned);
    let text = match said {
        ReplyBody::Structured(value) => of(&value).unwrap_or_else(|| value.to_string()),
        ReplyBody::Text(reply) => {
            answer::read_value(reply.as_bytes()).ok().and_then(|value| of(&value)).unwrap_or(reply)
        }
    };
    // Invisible characters count as an empty text.
    match text.chars().all(|c| c.is_whitespace() || text::hides(c)) {
        true => String::new(),
        false => text,
    }
}

fn reviewed_of(said: &ReplyBody) -> Result<Reviewed, Failed> {
    let value = match said {
        ReplyBody::Structured(value) => Ok(value.clone()),
        ReplyBody::Text(text) => answer::read_value(text.as_bytes()),
    };
    let read = value.and_then(|value| answer::read_reviewed(&value));
    read.map_err(|defect| Failed::new(defect.why(), defect.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_words_of_a_review_are_all_of_it_or_those_in_the_form() {
        let table = [
            (ReplyBody::Text("Looks good.\nAPPROVED".into()), "Looks good.\nAPPROVED"),
            (ReplyBody::Text(r#"{"review": "no"}"#.into()), "no"),
            (ReplyBody::Text("```json\n{\"review\": \"no\"}\n```".into()), "no"),
            (ReplyBody::Text(r#"{"result": "APPROVED"}"#.into()), r#"{"result": "APPROVED"}"#),
            (
                ReplyBody::Text(r#"{"review": "a", "review": "b"}"#.into()),
                r#"{"review": "a", "review": "b"}"#,
            ),
            (ReplyBody::Structured(json!({ "review": "r" })), "r"),
            (ReplyBody::Structured(json!({ "passed": true })), r#"{"passed":true}"#),
            (ReplyBody::Structured(json!({ "review": " \u{200b}\n" })), ""),
            (ReplyBody::Text(" \n".into()), ""),
        ];
        for (said, expected) in table {
            assert_eq!(review_text(said.clone()), expected, "{said:?}");
        }
    }

    /// SVC-6.
    #[test]
    fn svc_6_what_the_reader_says_is_data_or_nothing() {
        let bad = [
            "APPROVED",
            "",
            "verdict: approved",
            r#"{"result": "APPROVED"} trailing"#,
            r#"{"result": "APPROVED", "result": "REJECTED"}"#,
            r#"[{"result": "APPROVED"}]"#,
        ];
        for text in bad {
            assert!(reviewed_of(&ReplyBody::Text(text.to_owned())).is_err(), "{text}");
        }
        assert!(
            reviewed_of(&ReplyBody::Text("```json\n{\"result\": \"APPROVED\"}\n```".into()))
                .unwrap()
                .passes()
        );
    }
}
