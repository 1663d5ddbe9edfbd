//! Consultations: questions to the panel that ask for something else than rulings.
//! A door needs a list of items, or instructions, before there is anything to rule on. Such a question has the same
//! panel, slots, guard, deadline, bounds, redaction and budget of the day as the questions of a review. It belongs to no
//! review; its own stream in the ledger records who was asked and the result, and its calls count as costs.

use super::ask::{Worded, not_put, report_of};
use super::reading::no_private_folder;
use super::slots::Slots;
use super::{Engine, EngineError, Judge, Panelist, ProgressEvent, Result};
use crate::fresh::{now_ms, random};
use crate::private;
use crate::programs::ReplyBody;
use crate::reviewer::{Asks, Brief, Failed, ReviewerReply, replay};
use crate::scratch::Scratch;
use countersign_core::answer;
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::Target;
use countersign_core::policy;
use countersign_core::prompt::{self, Shape, ShownFile};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

/// An upper bound for the description of a reply.
const SCHEMA_BYTES: u64 = 4 * 1024;

#[derive(Clone, Debug)]
pub struct Consultation {
    /// What it is called: in progress lines, for programs, and in recordings.
    pub name: String,
    pub about: String,
    /// Everything that is wanted, with the form of the answer.
    pub system_prompt: String,
    /// The material. It is data, and shown between markers.
    pub files: Vec<ShownFile>,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Consulted<T> {
    /// An answer that was accepted, or why there is none.
    pub result: Result<T, Failed>,
    pub reviewer: Option<String>,
    pub stream: String,
}

/// One consultation under way.
struct Consulting<'a> {
    engine: &'a Engine,
    about: &'a Consultation,
    worded: Worded,
    stream: String,
    noted: u64,
    cancel: &'a CancellationToken,
}

impl Engine {
    /// Asks the panel in order until a reviewer is available. A reply that does not have the shape, or that `accept`
    /// does not take, is asked for once more with its defect named.
    pub async fn consult<T>(
        &self,
        about: &Consultation,
        accept: impl Fn(&Value) -> Result<T, String>,
        cancel: &CancellationToken,
    ) -> Result<Consulted<T>> {
        let stream = format!("consult/{}", CallId::new(random()?));
        let worded = self.word_consultation(about);
        let mut consulting = Consulting { engine: self, about, worded, stream, noted: 0, cancel };
        let none = "no reviewer is configured";
        let mut result = Err(Failed::new(NoVerdict::Unavailable, none));
        let mut reviewer = None;
        for name in self.0.planner.panel.names() {
            result = consulting.ask(&name, None, &accept).await?;
            if let Err(Failed { why, detail, .. }) = &result
                && why.is_repairable()
            {
                let defect = detail.clone();
                result = consulting.ask(&name, Some(&defect), &accept).await?;
            }
            reviewer = Some(name);
            // Another reviewer does not help where the question itself is the problem.
            if !matches!(&result, Err(failed) if failed.why == NoVerdict::Unavailable) {
                break;
            }
        }
        Ok(Consulted { result, reviewer, stream: consulting.stream })
    }

    /// The question as it would be asked.
    pub fn consultation_words(&self, about: &Consultation) -> (String, String) {
        let worded = self.word_consultation(about);
        (worded.system_prompt, worded.payload)
    }

    fn word_consultation(&self, about: &Consultation) -> Worded {
        let redaction = &self.0.planner.redaction;
        let (system_prompt, mut redacted) = redaction.redact(&about.system_prompt);
        let mut shown = about.files.clone();
        redacted.add(super::redact::shown(redaction, &mut shown));
        let payload = prompt::with_redactions(prompt::payload(&shown, None), &redacted);
        Worded { system_prompt: system_prompt.into_owned(), payload, shown, redacted, ..Worded::default() }
    }

    /// A question without words, about no file, that asks for something else than rulings.
    pub(super) fn empty_brief(
        &self,
        panelist: &Panelist,
        call: CallId,
        (name, shape): (&str, Shape),
        seconds: u64,
        counts_money: bool,
    ) -> Brief {
        let root = self.0.planner.root.path().to_owned();
        Brief {
            call,
            rule: name.to_owned(),
            asks: Asks::Consultation(shape),
            target: Target::All,
            criteria: vec![],
            system_prompt: String::new(),
            payload: String::new(),
            files: vec![],
            shown: vec![],
            unshown: 0,
            timeout: panelist.timeout.unwrap_or(Duration::from_secs(seconds)),
            reply_bytes: self.0.planner.bounds.reply_bytes,
            is_repair: false,
            accept_bare: false,
            folder: root.clone(),
            private: None,
            root,
            surroundings: self.0.planner.panel.surroundings(),
            most_microusd: panelist.most_microusd(counts_money),
        }
    }

    pub(super) async fn hear_consultation(
        &self,
        panelist: &Panelist,
        mut brief: Brief,
        cancel: &CancellationToken,
    ) -> Result<ReviewerReply<ReplyBody>, Failed> {
        let folder = Scratch::new("question").map_err(no_private_folder)?;
        brief.private = Some(folder.path().to_owned());
        if !panelist.sees_project {
            brief.folder = folder.path().join("files");
            private::make_folder(&brief.folder).map_err(no_private_folder)?;
        }
        Ok(self.ask_raw(panelist, &brief, cancel).await)
    }

    /// The reply of a reviewer to a question that is ready to be put.
    pub(super) async fn ask_raw(
        &self,
        panelist: &Panelist,
        brief: &Brief,
        cancel: &CancellationToken,
    ) -> ReviewerReply<ReplyBody> {
        let words = match &panelist.judge {
            Judge::Command(command) => {
                let told = command.ask_raw(&self.0.guard, brief, cancel).await;
                return self.0.planner.panel.vouch(&panelist.name, &brief.root, told);
            }
            Judge::Agent(agent) => return agent.ask_raw(&self.0.guard, brief, cancel).await,
            Judge::Service(service) => return service.ask_raw(brief, cancel).await,
            Judge::Replay { recording, .. } => return replay::consult(recording, &brief.rule),
            Judge::Library(library) => return library.ask_raw(brief).await,
            Judge::Marked(_) => {
                "a reviewer that answers in free text can only judge work and cannot answer this question: choose another reviewer"
            }
            Judge::TwoCall(_) => {
                "a task reviewer (two calls) can only judge work and cannot answer this question: choose another reviewer"
            }
            Judge::SelfReview => {
                "a self-review can only judge work and cannot answer this question: choose another reviewer"
            }
        };
        ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words))
    }
}

impl Consulting<'_> {
    /// The name of the stream, where slots and progress need a review.
    fn id(&self) -> ReviewId {
        ReviewId::from_text(self.stream.as_str())
    }

    async fn ask<T>(
        &mut self,
        reviewer: &str,
        repair: Option<&str>,
        accept: &impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Result<T, Failed>> {
        let engine = self.engine;
        let Some((panelist, slots)) = engine.0.planner.panel.find(reviewer) else {
            let words = format!("the reviewer `{reviewer}` is not configured");
            return Ok(Err(Failed::new(NoVerdict::Unavailable, words)));
        };
        let brief = self.brief(&panelist, repair)?;
        if let Some(failed) = self.too_long(&panelist, &brief) {
            return Ok(Err(failed));
        }
        let call = brief.call.clone();
        if let Err(failed) = self.put_on_record(&panelist, &brief).await? {
            return Ok(Err(failed));
        }
        let span = info_span!("call", id = %call, reviewer);
        let told = self.put(&panelist, &slots, brief, repair.is_some()).instrument(span).await;
        let told = engine.priced(reviewer, told).and_then(|said| value_of(&said, self.about.shape));
        let told = engine.without_secrets(told, |redaction, value| {
            redaction.value(value);
        });
        let garbled = |words: String| Failed::new(NoVerdict::Garbled, words);
        let result = told.result.as_ref().map_err(Clone::clone);
        let result = result.and_then(|value| accept(value).map_err(garbled));
        self.end(&call, &told, result.as_ref().err()).await?;
        let (review, assignment) = (self.id(), 0);
        engine.say(match &result {
            Ok(_) => ProgressEvent::Answered { review, assignment, failed: 0 },
            Err(Failed { why, detail, .. }) => {
                ProgressEvent::AskFailed { review, assignment, why: *why, detail: detail.clone() }
            }
        });
        if self.cancel.is_cancelled() {
            return Err(EngineError::Interrupted);
        }
        Ok(result)
    }

    async fn put(
        &self,
        panelist: &Panelist,
        slots: &Slots,
        brief: Brief,
        again: bool,
    ) -> ReviewerReply<ReplyBody> {
        let review = self.id();
        let _slot = slots.acquire(&review).await;
        if self.cancel.is_cancelled() {
            return not_put();
        }
        let (label, reviewer) = (self.about.name.clone(), panelist.name.clone());
        self.engine.say(ProgressEvent::Asked { review, assignment: 0, label, reviewer, again });
        let told = self.engine.hear_consultation(panelist, brief, self.cancel).await;
        told.unwrap_or_else(ReviewerReply::not_asked)
    }

    fn brief(&self, panelist: &Panelist, repair: Option<&str>) -> Result<Brief> {
        let Worded { system_prompt, payload, .. } = &self.worded;
        let Consultation { name, shape, files, .. } = self.about;
        let counts_money = self.engine.0.planner.day_budget.microusd.is_some();
        let seconds = policy::timeout_seconds(files.len());
        let call = CallId::new(random()?);
        Ok(Brief {
            system_prompt: match repair {
                Some(defect) => prompt::repair_prompt(system_prompt, defect),
                None => system_prompt.clone(),
            },
            payload: payload.clone(),
            ..self.engine.empty_brief(panelist, call, (name, *shape), seconds, counts_money)
        })
    }

    /// Why a question is too long for its reviewer. All files are in the question.
    fn too_long(&self, panelist: &Panelist, brief: &Brief) -> Option<Failed> {
        let bytes = (brief.system_prompt.len() + brief.payload.len()) as u64;
        let most = self.engine.0.planner.bounds.prompt_bytes;
        if brief.payload.len() as u64 > most {
            let words = format!(
                "the question has {bytes} bytes, and the limit is {most}: show less at once, or raise `prompt_bytes`"
            );
            return Some(Failed::new(NoVerdict::TooLong, words));
        }
        panelist.refuse(bytes, 1)
    }

    /// Records the question before it is asked, and reserves the most it may cost.
    async fn put_on_record(&mut self, panelist: &Panelist, brief: &Brief) -> Result<Result<(), Failed>> {
        let bytes = (brief.system_prompt.len() + brief.payload.len()) as u64 + SCHEMA_BYTES;
        let worst = panelist.worst(bytes);
        let mut transaction = self.engine.0.ledger.transaction().await?;
        if let Err(words) = self.engine.allowed_today(&mut transaction, worst).await? {
            return Ok(Err(Failed::new(NoVerdict::Budget, format!("not asked: {words}"))));
        }
        let about = self.about;
        let asked = json!({
            "call": brief.call, "consult": about.name, "about": about.about, "reviewer": panelist.name,
        });
        let at_ms = now_ms();
        let (stream, noted) = (self.stream.as_str(), self.noted);
        transaction.note(stream, noted, &[("consult_asked", asked.to_string())], at_ms).await?;
        transaction.begin_call(stream, &brief.call, &panelist.name, at_ms).await?;
        transaction.reserve(&brief.call, worst).await?;
        transaction.commit().await?;
        self.noted += 1;
        Ok(Ok(()))
    }

    async fn end(
        &mut self,
        call: &CallId,
        told: &ReviewerReply<Value>,
        failed: Option<&Failed>,
    ) -> Result<()> {
        let (kind, body) = match failed {
            None => ("consult_answered", json!({ "call": call })),
            Some(Failed { why, detail, .. }) => {
                ("consult_failed", json!({ "call": call, "why": why, "detail": detail }))
            }
        };
        let mut transaction = self.engine.0.ledger.transaction().await?;
        let note = [(kind, body.to_string())];
        transaction.note(&self.stream, self.noted, &note, now_ms()).await?;
        transaction.record_call(call, &report_of(told)).await?;
        transaction.end_call(call, failed.is_none()).await?;
        transaction.commit().await?;
        self.noted += 1;
        Ok(())
    }
}

/// The reply as data, checked against the shape that was asked for.
fn value_of(said: &ReplyBody, shape: Shape) -> Result<Value, Failed> {
    let value = match said {
        ReplyBody::Structured(value) => value.clone(),
        ReplyBody::Text(text) => answer::read_value(text.as_bytes())
            .map_err(|defect| Failed::new(defect.why(), defect.to_string()))?,
    };
    shape.check(&value).map_err(|words| Failed::new(NoVerdict::Garbled, words))?;
    Ok(value)
}
