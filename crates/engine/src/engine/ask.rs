//! Putting one question of a review to its reviewer: its prompt, its files, the ruling that comes back, and the locations
//! that its findings name.

use super::panel::{Judge, Panelist};
use super::planner::materials;
use super::reading::{self, Access, Private, ProjectFiles, no_private_folder, stale};
use super::{Engine, Prepared, ProgressEvent};
use crate::ledger::Report;
use crate::private;
use crate::reviewer::checks::MAX_TEXT_BYTES;
use crate::reviewer::{Asks, Brief, Failed, ReviewerReply, replay, rule_by_checks};
use crate::scratch::Scratch;
use crate::workspace::{self, Root};
use countersign_core::answer::{self, Answer, Asked, Marked, MarkedRuling, Source};
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::{Assignment, CHECKS};
use countersign_core::prompt::{self, Body, Shape, ShownFile};
use countersign_core::redact::Counts;
use countersign_core::review::{Confirmation, Streak};
use countersign_core::rule::Rule;
use countersign_core::submission::Content;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

const FIXED: &str = "the reviewer changed the files itself, so they are judged again";

/// The failures in a row of each reviewer, in a round that this process performs.
pub(super) type Streaks = Arc<Mutex<HashMap<String, Streak>>>;

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
    /// What came of the questions before it, by reviewer.
    pub streaks: Streaks,
    /// Whether a budget in dollars is in force.
    pub counts_money: bool,
    /// How many secrets were kept back.
    pub redacted: AtomicUsize,
}

impl Asking {
    fn streak<T>(&self, look: impl FnOnce(&mut Streak) -> T) -> T {
        let mut streaks = self.streaks.lock().unwrap_or_else(PoisonError::into_inner);
        look(streaks.entry(self.reviewer.clone()).or_default())
    }

    /// Why it is not put to its reviewer, which counts as down.
    fn down(&self) -> Option<Failed> {
        let (why, words) = self.streak(|streak| streak.down(&self.reviewer))?;
        Some(Failed { not_put: true, ..Failed::new(why, words) })
    }

    fn count(&self, told: &ReviewerReply) {
        let failure = told.result.as_ref().err().map(|failed| (failed.why, failed.detail.as_str()));
        self.streak(|streak| streak.take(failure));
    }
}

#[derive(Default)]
pub(super) struct Worded {
    pub system_prompt: String,
    pub payload: String,
    pub shape: Shape,
    pub shown: Vec<ShownFile>,
    pub redacted: Counts,
}

impl Engine {
    /// Asks, and returns the answer or why there is none.
    pub(super) async fn ask(&self, asking: &Asking, cancel: &CancellationToken) -> ReviewerReply {
        let told = self.put(asking, cancel).await;
        self.priced(&asking.reviewer, told)
    }

    /// Adds the price where the reviewer does not say it. An answer to a question that may have been cut is dropped.
    pub(super) fn priced<T>(&self, reviewer: &str, mut told: ReviewerReply<T>) -> ReviewerReply<T> {
        let Some((panelist, _)) = self.0.planner.panel.find(reviewer) else { return told };
        let Some(usage) = &mut told.usage else { return told };
        panelist.add_price(usage);
        if let (Ok(_), Some(tokens_in)) = (&told.result, usage.tokens_in)
            && let Some(failed) = panelist.was_cut(tokens_in)
        {
            told.result = Err(failed);
        }
        told
    }

    async fn put(&self, asking: &Asking, cancel: &CancellationToken) -> ReviewerReply {
        let panel = &self.0.planner.panel;
        let (panelist, slots) = match panel.find(&asking.reviewer) {
            _ if asking.reviewer == CHECKS => (None, panel.checks()),
            Some((panelist, slots)) => (Some(panelist), slots),
            // A review that was taken over may name a reviewer of another configuration.
            None => {
                let words = format!("reviewer `{}` is not configured here", asking.reviewer);
                return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words));
            }
        };
        let _slot = slots.acquire(&asking.review).await;
        if cancel.is_cancelled() {
            return not_put();
        }
        if let Some(down) = asking.down() {
            return ReviewerReply::not_asked(down);
        }
        self.say_asked(asking);
        match panelist {
            Some(panelist) => {
                let told = self.ask_panelist(asking, &panelist, cancel).await;
                let told = told.unwrap_or_else(ReviewerReply::not_asked);
                // Before the slot is free: the next question depends on it.
                asking.count(&told);
                told
            }
            None => {
                let brief = self.brief(asking, None, self.0.planner.root.path().to_owned());
                let files = Arc::new(ProjectFiles { root: self.0.planner.root.clone() });
                rule_by_checks(&self.0.guard, &brief, files, cancel).await
            }
        }
    }

    async fn ask_panelist(
        &self,
        asking: &Asking,
        panelist: &Panelist,
        cancel: &CancellationToken,
    ) -> Result<ReviewerReply, Failed> {
        let (guard, panel, root) = (&self.0.guard, &self.0.planner.panel, self.0.planner.root.path());
        let access = Access::of(panelist.sees_project);
        Ok(match &panelist.judge {
            Judge::Command(command) => {
                let private = self.private_brief(asking, access).await?;
                let told = command.ask(guard, &private.brief, cancel).await;
                panel.vouch(&asking.reviewer, root, private.let_go(told).await)
            }
            Judge::Marked(marked) => {
                let private = self.private_brief(asking, Access::ProjectToMend).await?;
                let told = marked.ask(guard, &private.brief, cancel).await;
                let told = self.rule_marked(asking, &private.brief, told).await;
                panel.vouch(&asking.reviewer, root, told)
            }
            Judge::Agent(agent) => {
                let private = self.private_brief(asking, access).await?;
                let told = agent.ask(guard, &private.brief, cancel).await;
                private.let_go(told).await
            }
            Judge::Service(service) => {
                let private = self.private_brief(asking, Access::Copies).await?;
                service.ask(&private.brief, cancel).await
            }
            Judge::Replay { recording, .. } => {
                replay::answer(recording, &self.brief(asking, None, root.to_owned()))
            }
            Judge::Library(library) => {
                let brief = self.brief(asking, Some(self.worded(asking).await?), root.to_owned());
                library.ask_raw(&brief).await.and_then(|said| brief.ruled(&said))
            }
            Judge::TwoCall(two) => self.ask_twice(asking, two, cancel).await?,
            Judge::SelfReview => ReviewerReply::failed(
                NoVerdict::Unavailable,
                "Countersign cannot ask for a self-review; submit its results with `countersign rule`",
            ),
        })
    }

    /// The ruling of a review in free text. Its writer may have changed the files, so they are looked at again.
    async fn rule_marked(
        &self,
        asking: &Asking,
        brief: &Brief,
        told: ReviewerReply<Marked>,
    ) -> ReviewerReply {
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
        let rule = asking.rules.get(asking.assignment.rule).map_or("", |rule| rule.name.as_str());
        self.say(ProgressEvent::Asked {
            review: asking.review.clone(),
            assignment: asking.index,
            label: format!("{rule}: {}", asking.assignment.target_words()),
            reviewer: asking.reviewer.clone(),
            again: asking.repair.is_some(),
        });
    }

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

    /// A question for a program that runs in a folder of its own, with copies of the files it must read itself.
    pub(super) async fn private_brief(&self, asking: &Asking, access: Access) -> Result<Private, Failed> {
        let submission = &asking.prepared.submission;
        let planner = &self.0.planner;
        let mut question = self.worded(asking).await?;
        let folder = Scratch::new("question").map_err(no_private_folder)?;
        let files = materials(&asking.assignment, submission);
        let mut held = None;
        let path = match access {
            Access::Copies => folder.path().join("files"),
            Access::Project | Access::ProjectToMend => planner.root.path().to_owned(),
        };
        if access == Access::Project {
            held = reading::hold(planner.root.clone(), reading::kept(&files)).await?;
        }
        if access == Access::Copies {
            private::make_folder(&path).map_err(no_private_folder)?;
            // What the question does not show must be there to be looked at.
            let beside = files.into_iter().zip(&question.shown).filter(|(_, shown)| shown.body.is_beside());
            let files: Vec<_> = beside.map(|(file, _)| file).collect();
            if !files.is_empty() {
                let copied = workspace::copy_into(&planner.root, files, &path, &planner.redaction).await;
                let copied = copied.map_err(no_private_folder)?.map_err(stale)?;
                question.redacted.add(copied.redacted);
                held = reading::hold(Root::new(&path).map_err(no_private_folder)?, copied.files).await?;
            }
        }
        let private = Some(folder.path().to_owned());
        let brief = Brief { private, ..self.brief(asking, Some(question), path) };
        Ok(Private { brief, _folder: folder, held })
    }

    /// Whether the question fits the reviewer: without a way to read files, all of them are in the question.
    fn fits(&self, asking: &Asking) -> Result<(), Failed> {
        let planner = &self.0.planner;
        let most = planner.bounds.prompt_bytes;
        let Some((panelist, _)) = planner.panel.find(&asking.reviewer) else { return Ok(()) };
        if let Some(handed) = &asking.prepared.request.change {
            let rule = asking.prepared.request.rules.get(asking.assignment.rule);
            return handed.refuse(&asking.assignment, rule, &panelist, most).map_or(Ok(()), Err);
        }
        let files = materials(&asking.assignment, &asking.prepared.submission);
        let text = files.iter().filter(|file| file.content == Content::Text);
        let bytes: u64 = text.map(|file| file.size_bytes).sum();
        if panelist.reads_files() || bytes <= most {
            return Ok(());
        }
        let words = format!(
            "the files have {bytes} bytes in total. {} gets them all in one question, and a question can have at most {most} bytes: submit fewer files, use `each: file`, or raise `prompt_bytes`",
            asking.reviewer
        );
        Err(Failed::new(NoVerdict::TooLong, words))
    }

    fn brief(&self, asking: &Asking, question: Option<Worded>, folder: PathBuf) -> Brief {
        let (assignment, planner) = (&asking.assignment, &self.0.planner);
        let question = question.unwrap_or_default();
        asking.redacted.store(question.redacted.total(), Ordering::Relaxed);
        let system_prompt = match &asking.repair {
            Some(defect) => prompt::repair_prompt(&question.system_prompt, defect),
            None => question.system_prompt,
        };
        Brief {
            call: asking.call.clone(),
            rule: asking.rules.get(assignment.rule).map(|rule| rule.name.clone()).unwrap_or_default(),
            asks: Asks::Rulings(question.shape),
            target: assignment.target.clone(),
            criteria: assignment.asks(&asking.rules).cloned().collect(),
            system_prompt,
            payload: prompt::with_redactions(question.payload, &question.redacted),
            files: materials(assignment, &asking.prepared.submission),
            unshown: unshown(asking, &question.shown),
            shown: question.shown,
            timeout: planner.timeout(assignment, &asking.reviewer),
            reply_bytes: planner.bounds.reply_bytes,
            is_repair: asking.repair.is_some(),
            accept_bare: asking.accept_bare,
            folder,
            private: None,
            root: planner.root.path().to_owned(),
            surroundings: planner.panel.surroundings(),
            most_microusd: planner
                .panel
                .find(&asking.reviewer)
                .and_then(|(panelist, _)| panelist.most_microusd(asking.counts_money)),
        }
    }
}

/// How many files the reviewer has to read itself: those that are only listed, and diffs that are cut.
fn unshown(asking: &Asking, shown: &[ShownFile]) -> usize {
    let listed = shown.iter().filter(|shown| shown.body == Body::Listed).count();
    let change = asking.prepared.request.change.as_ref();
    listed + change.map_or(0, |handed| handed.cut(&asking.assignment).count())
}

/// The review was cancelled while the question waited for a slot.
pub(super) fn not_put<T>() -> ReviewerReply<T> {
    ReviewerReply::failed(NoVerdict::Unavailable, "it was cancelled before it was asked")
}

/// What the ledger keeps of a reply, beside the answer.
pub(super) fn report_of<T>(told: &ReviewerReply<T>) -> Report {
    let usage = told.usage.clone().unwrap_or_default();
    Report {
        model: usage.model,
        tokens_in: usage.tokens_in,
        tokens_out: usage.tokens_out,
        cost_microusd: usage.cost_microusd,
        reply: told.reply.clone(),
    }
}

impl Engine {
    pub(super) async fn check_locations(
        &self,
        mut answer: Answer,
        assignment: &Assignment,
        prepared: &Prepared,
    ) -> Result<Answer, Failed> {
        if !answer.fails() {
            return Ok(answer);
        }
        let root = self.0.planner.root.clone();
        let files = &prepared.submission.files;
        let asked = Asked {
            about: assignment.about(files).to_owned(),
            files: assignment.named_files(files).into_iter().map(str::to_owned).collect(),
            root: root.path().to_string_lossy().into_owned(),
        };
        let (files, change) = (files.clone(), prepared.request.change.clone());
        let check = move || {
            let mut read: HashMap<String, Option<Source>> = HashMap::new();
            let source = |path: &str| {
                let file = files.iter().find(|file| file.path == path && file.form.is_file())?;
                if file.size_bytes > MAX_TEXT_BYTES as u64 {
                    return None;
                }
                let Ok(Body::Text(text)) = workspace::read_body_now(&root, file) else { return None };
                let change = change.as_ref();
                let changed = change.and_then(|change| change.shown_lines(path));
                let touched = change.and_then(|change| change.touched_lines(path));
                Some(Source { text, changed, touched })
            };
            answer.check_locations(&asked, |path| {
                read.entry(path.to_owned()).or_insert_with(|| source(path)).clone()
            });
            answer
        };
        tokio::task::spawn_blocking(check).await.map_err(|error| {
            let words = format!("the locations in the answer were not checked: {error}");
            Failed::new(NoVerdict::Unavailable, words)
        })
    }
}
