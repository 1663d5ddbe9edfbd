//! One question: its prompt, its files, its reviewer.

use super::drive::{label, not_configured};
use super::panel::Judge;
use super::planner::materials;
use super::reading::{self, Access, Private, ProjectFiles, stale};
use super::{Engine, Happening, Prepared};
use crate::ledger::Report;
use crate::private;
use crate::reviewer::{Asks, Brief, Failed, Told, replay, rule_by_checks};
use crate::scratch::Scratch;
use crate::workspace::{self, Root};
use countersign_core::answer::{self, Marked, MarkedRuling};
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::{Assignment, CHECKS};
use countersign_core::prompt::{self, Body, Shown};
use countersign_core::redact::Counts;
use countersign_core::review::Confirmation;
use countersign_core::rule::Rule;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

/// Said of a reviewer that fixed what it found.
const FIXED: &str = "the reviewer changed the files itself, so they are judged again";

/// Everything a question is made of.
pub(super) struct Asking {
    pub rules: Arc<Vec<Rule>>,
    pub assignment: Assignment,
    pub prepared: Arc<Prepared>,
    pub call: CallId,
    pub reviewer: String,
    pub repair: Option<String>,
    pub accept_bare: bool,
    pub index: usize,
    pub review: ReviewId,
    /// Set as soon as it has a slot.
    pub put: Arc<AtomicBool>,
    /// Whether a budget in dollars is in force.
    pub counts_money: bool,
    /// How many secrets were kept back.
    pub redacted: AtomicUsize,
}

/// A question in words.
#[derive(Default)]
pub(super) struct Worded {
    pub system_prompt: String,
    pub payload: String,
    pub shown: Vec<Shown>,
    pub redacted: Counts,
}

impl Engine {
    /// Asks, and comes back with whatever there is.
    pub(super) async fn ask(&self, asking: &Asking, cancel: &CancellationToken) -> Told {
        let told = self.put(asking, cancel).await;
        self.priced(&asking.reviewer, told)
    }

    /// What came back, priced where the reviewer does not say what it cost, and nothing where it may have seen
    /// only a part of the question.
    pub(super) fn priced<T>(&self, reviewer: &str, mut told: Told<T>) -> Told<T> {
        let panelist = self.0.planner.panel.find(reviewer).map(|(panelist, _)| panelist);
        let price = panelist.as_ref().and_then(|panelist| panelist.price);
        if let (Some(price), Some(usage)) = (price, &mut told.usage)
            && let (None, Some(input), Some(output)) =
                (usage.cost_microusd, usage.tokens_in, usage.tokens_out)
        {
            usage.cost_microusd = Some(price.of(input, output));
        }
        let tokens_in = told.usage.as_ref().and_then(|usage| usage.tokens_in);
        if let (Ok(_), Some(panelist), Some(tokens_in)) = (&told.result, panelist, tokens_in)
            && let Some(failed) = panelist.was_cut(tokens_in)
        {
            told.result = Err(failed);
        }
        told
    }

    async fn put(&self, asking: &Asking, cancel: &CancellationToken) -> Told {
        if asking.reviewer == CHECKS {
            let slots = self.0.planner.panel.checks();
            let _slot = slots.acquire(&asking.review).await;
            if cancel.is_cancelled() {
                return not_put();
            }
            self.say_asked(asking);
            let brief = self.brief(asking, None, self.0.planner.root.path().to_owned());
            let files = Arc::new(ProjectFiles { root: self.0.planner.root.clone() });
            return rule_by_checks(&self.0.guard, &brief, files, cancel).await;
        }
        let Some((panelist, slots)) = self.0.planner.panel.find(&asking.reviewer) else {
            return not_configured(&asking.reviewer);
        };
        let _slot = slots.acquire(&asking.review).await;
        if cancel.is_cancelled() {
            return not_put();
        }
        self.say_asked(asking);
        match &panelist.judge {
            Judge::Command(command) => {
                match self.private_brief(asking, Access::of(panelist.sees_project)).await {
                    Ok(private) => {
                        let told = command.ask(&self.0.guard, &private.brief, cancel).await;
                        let told = private.let_go(told).await;
                        self.0.planner.panel.vouch(&asking.reviewer, self.0.planner.root.path(), told)
                    }
                    Err(failed) => Told::not_asked(failed),
                }
            }
            Judge::Marked(marked) => match self.private_brief(asking, Access::ProjectToMend).await {
                Ok(private) => {
                    let told = marked.ask(&self.0.guard, &private.brief, cancel).await;
                    let told = self.rule_marked(asking, &private.brief, told).await;
                    self.0.planner.panel.vouch(&asking.reviewer, self.0.planner.root.path(), told)
                }
                Err(failed) => Told::not_asked(failed),
            },
            Judge::Agent(agent) => {
                match self.private_brief(asking, Access::of(panelist.sees_project)).await {
                    Ok(private) => {
                        let told = agent.ask(&self.0.guard, &private.brief, cancel).await;
                        private.let_go(told).await
                    }
                    Err(failed) => Told::not_asked(failed),
                }
            }
            Judge::Service(service) => match self.private_brief(asking, Access::Copies).await {
                Ok(private) => service.ask(&private.brief, cancel).await,
                Err(failed) => Told::not_asked(failed),
            },
            Judge::Replay { recording, .. } => {
                replay::answer(recording, &self.brief(asking, None, self.0.planner.root.path().to_owned()))
            }
            Judge::Library(library) => match self.worded(asking).await {
                Ok(question) => {
                    let root = self.0.planner.root.path().to_owned();
                    let brief = self.brief(asking, Some(question), root);
                    library.hear(&brief).await.and_then(|said| brief.ruled(&said))
                }
                Err(failed) => Told::not_asked(failed),
            },
            Judge::TwoCall(two) => self.ask_twice(asking, two, cancel).await,
            Judge::SelfReview => {
                Told::failed(NoVerdict::Unavailable, "a self-review is handed in, not asked")
            }
        }
    }

    /// What a free text comes to, by the files as its writer left them.
    async fn rule_marked(&self, asking: &Asking, brief: &Brief, told: Told<Marked>) -> Told {
        let looked = match told.result {
            Ok(_) => self.look_at_files(&asking.prepared.submission).await,
            Err(_) => Ok(Confirmation::Same),
        };
        told.and_then(|marked| {
            let found = looked.map_err(|error| Failed::new(NoVerdict::Unavailable, error.to_string()))?;
            match answer::rule_marked(&marked, &brief.asked(), found == Confirmation::Changed) {
                Ok(MarkedRuling::Answer(answer)) => Ok(answer),
                Ok(MarkedRuling::Fixed(found)) => {
                    Err(Failed { fixed: Some(found), ..Failed::new(NoVerdict::Stale, FIXED) })
                }
                Err(defect) => Err(Failed::new(defect.why(), defect.to_string())),
            }
        })
    }

    fn say_asked(&self, asking: &Asking) {
        asking.put.store(true, Ordering::Relaxed);
        self.say(Happening::Asked {
            review: asking.review.clone(),
            assignment: asking.index,
            label: label(&asking.rules, &asking.assignment),
            reviewer: asking.reviewer.clone(),
            again: asking.repair.is_some(),
        });
    }

    /// The question in words, where it fits.
    async fn worded(&self, asking: &Asking) -> Result<Worded, Failed> {
        let planner = &self.0.planner;
        self.fits(asking)?;
        let question = planner.word(&asking.rules, &asking.assignment, &asking.prepared, &asking.reviewer);
        let question = question.await.map_err(stale)?;
        let bytes = (question.system_prompt.len() + question.payload.len()) as u64;
        let panelist = planner.panel.find(&asking.reviewer).map(|(panelist, _)| panelist);
        let refused = panelist.and_then(|panelist| panelist.refuse(bytes, asking.assignment.files.len()));
        refused.map_or(Ok(question), Err)
    }

    /// A brief for a program that runs in a folder of its own, with copies of the files it must read itself.
    pub(super) async fn private_brief(&self, asking: &Asking, access: Access) -> Result<Private, Failed> {
        let submission = &asking.prepared.submission;
        let planner = &self.0.planner;
        let mut question = self.worded(asking).await?;
        let broken = |error: std::io::Error| {
            Failed::new(NoVerdict::Unavailable, format!("no private folder for the reviewer: {error}"))
        };
        let folder = Scratch::new("question").map_err(broken)?;
        let own = Some(folder.path().to_owned());
        let files = materials(&asking.assignment, submission);
        if access != Access::Copies {
            let held = match access {
                Access::ProjectToMend => None,
                _ => reading::hold(planner.root.clone(), reading::kept(&files)).await?,
            };
            let brief = self.brief(asking, Some(question), planner.root.path().to_owned());
            return Ok(Private { brief: Brief { private: own, ..brief }, _folder: folder, held });
        }
        let path = folder.path().join("files");
        private::make_folder(&path).map_err(broken)?;
        // What the question does not show must be there to be looked at.
        let beside = files.into_iter().zip(&question.shown).filter(|(_, shown)| shown.body.is_beside());
        let files: Vec<_> = beside.map(|(file, _)| file).collect();
        let mut held = None;
        if !files.is_empty() {
            let copied = workspace::copy_into(&planner.root, files, &path, &planner.redaction).await;
            let copied = copied.map_err(broken)?.map_err(stale)?;
            question.redacted.add(copied.redacted);
            held = reading::hold(Root::new(&path).map_err(broken)?, copied.files).await?;
        }
        let brief = self.brief(asking, Some(question), path);
        Ok(Private { brief: Brief { private: own, ..brief }, _folder: folder, held })
    }

    /// What whoever is asked must be told about money: where a budget counts it, and no price limits it.
    pub(super) fn most_microusd(&self, reviewer: &str, counts_money: bool) -> Option<u64> {
        let (panelist, _) = self.0.planner.panel.find(reviewer)?;
        panelist.question_microusd.filter(|_| counts_money && panelist.price.is_none())
    }

    /// Whoever cannot be given files gets everything in the question, so that has to fit.
    fn fits(&self, asking: &Asking) -> Result<(), Failed> {
        let planner = &self.0.planner;
        if let Some(handed) = &asking.prepared.request.change {
            let (assignment, most) = (&asking.assignment, planner.bounds.prompt_bytes);
            let panelist = planner.panel.find(&asking.reviewer).map(|(panelist, _)| panelist);
            let refused = panelist.and_then(|panelist| handed.refuse(assignment, &panelist, most));
            return refused.map_or(Ok(()), Err);
        }
        let files = materials(&asking.assignment, &asking.prepared.submission);
        let bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
        let most = planner.bounds.prompt_bytes;
        let reads = planner.panel.find(&asking.reviewer).is_none_or(|(panelist, _)| panelist.reads_files());
        if reads || bytes <= most {
            return Ok(());
        }
        let name = &asking.reviewer;
        Err(Failed::new(
            NoVerdict::TooLong,
            format!(
                "the files have {bytes} bytes together, and {name} gets all of them in one question, which holds \
                 {most}: hand in less at once, use `each: file`, or raise `prompt_bytes`"
            ),
        ))
    }

    fn brief(&self, asking: &Asking, question: Option<Worded>, folder: PathBuf) -> Brief {
        let assignment = &asking.assignment;
        let question = question.unwrap_or_default();
        asking.redacted.store(question.redacted.total(), Ordering::Relaxed);
        let system_prompt = match &asking.repair {
            Some(defect) => prompt::repair_prompt(&question.system_prompt, defect),
            None => question.system_prompt,
        };
        Brief {
            call: asking.call.clone(),
            rule: asking.rules.get(assignment.rule).map(|rule| rule.name.clone()).unwrap_or_default(),
            asks: Asks::Rulings,
            target: assignment.target.clone(),
            criteria: assignment.asks(&asking.rules).cloned().collect(),
            system_prompt,
            payload: prompt::with_redactions(question.payload, &question.redacted),
            files: materials(assignment, &asking.prepared.submission),
            unshown: unshown(asking, &question.shown),
            shown: question.shown,
            timeout: self.0.planner.timeout(assignment, &asking.reviewer),
            reply_bytes: self.0.planner.bounds.reply_bytes,
            accept_bare: asking.accept_bare,
            folder,
            private: None,
            root: self.0.planner.root.path().to_owned(),
            most_microusd: self.most_microusd(&asking.reviewer, asking.counts_money),
        }
    }
}

/// How many files a reviewer has to read beside the question: those that are only listed, and diffs that are cut.
fn unshown(asking: &Asking, shown: &[Shown]) -> usize {
    let listed = shown.iter().filter(|shown| shown.body == Body::Listed).count();
    let change = asking.prepared.request.change.as_ref();
    listed + change.map_or(0, |handed| handed.cut(&asking.assignment).count())
}

/// Its turn came when nobody wanted the answer any more.
pub(super) fn not_put<T>() -> Told<T> {
    Told::failed(NoVerdict::Unavailable, "it was cancelled before it was asked")
}

/// What the ledger keeps of what came back, beside the answer.
pub(super) fn report_of<T>(told: &Told<T>) -> Report {
    let usage = told.usage.clone().unwrap_or_default();
    Report {
        model: usage.model,
        tokens_in: usage.tokens_in,
        tokens_out: usage.tokens_out,
        cost_microusd: usage.cost_microusd,
        reply: told.reply.clone(),
    }
}
