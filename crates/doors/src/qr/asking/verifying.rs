//! Verifying: each item is a review of its own. What is about everything goes one after the other, the rest at
//! once; every ruling is in the file before the next one is waited for.

use super::{AskError, Asking, read};
use crate::qr::door::QrError;
use crate::qr::item::{Item, Status};
use crate::qr::material::{Materials, Shows};
use crate::qr::modules::Module;
use crate::qr::prompts;
use crate::qr::scope::Scope;
use crate::qr::state::State;
use crate::qr::transition::{FINDING_BYTES_MAX, Refused, Ruling};
use countersign_core::criterion::Severity;
use countersign_core::digest::Digest;
use countersign_core::ids::Subject;
use countersign_core::judge::Finding;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::policy::{Attempts, Blocking, Policy};
use countersign_core::review::{Actor, ActorKind, By, Channel, Review};
use countersign_core::submission::{Output, OutputKind};
use countersign_core::text;
use countersign_engine::engine::{Engine, EngineError, Prepared, Preview, Request};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How many reviews are under way at once; the reviewers' own slots are fewer.
const AT_ONCE_MAX: usize = 64;
/// What stands for the words of a reviewer who said nothing.
const NO_WORDS: &str = "It failed, and the reviewer did not say why.";

/// An item nobody ruled on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unruled {
    /// The item.
    pub id: String,
    /// How its review ended.
    pub outcome: Outcome,
    /// In words.
    pub detail: String,
}

/// What came of verifying.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The state after it.
    pub state: State,
    /// How many items were to be verified.
    pub items: usize,
    /// Those nobody ruled on; they are as they were.
    pub unruled: Vec<Unruled>,
}

/// An item, and what is handed in about it.
#[derive(Clone)]
struct Job {
    item: Item,
    request: Request,
    /// Texts that no review looks at again by itself.
    given: BTreeMap<String, String>,
}

/// What somebody ruled.
struct Ruled {
    ruling: Ruling,
    by: Actor,
    /// The file that was judged, for whoever asks later whether a fix touched it.
    digest: Option<Digest>,
}

impl Asking<'_> {
    /// Verifies items: those that are named, or all that are open or failed and block in this round.
    pub async fn verify(&self, ids: &[String], cancel: &CancellationToken) -> Result<Verified, AskError> {
        let state = self.qr.dir.require(self.qr.phase).map_err(QrError::from)?.state;
        let items = self.wanted(&state, ids)?;
        let jobs = self.jobs(&items)?;
        let engine = self.engine_for(&jobs);
        let mut verified = Verified { items: jobs.len(), state, unruled: vec![] };
        let (whole, parts): (Vec<Job>, Vec<Job>) =
            jobs.into_iter().partition(|job| job.item.scope.is_macro());
        for job in whole {
            let ended = judge(&engine, &job, cancel).await;
            self.take(&mut verified, &job, ended).await?;
        }
        self.verify_at_once(&engine, parts, &mut verified, cancel).await?;
        // Others may have ruled meanwhile.
        verified.state = self.qr.dir.require(self.qr.phase).map_err(QrError::from)?.state;
        Ok(verified)
    }

    async fn verify_at_once(
        &self,
        engine: &Engine,
        jobs: Vec<Job>,
        verified: &mut Verified,
        cancel: &CancellationToken,
    ) -> Result<(), AskError> {
        let mut waiting: VecDeque<Job> = jobs.into();
        let mut running = JoinSet::new();
        loop {
            while running.len() < AT_ONCE_MAX
                && let Some(job) = waiting.pop_front()
            {
                let (engine, cancel) = (engine.clone(), cancel.clone());
                running.spawn(async move {
                    let ended = judge(&engine, &job, &cancel).await;
                    (job, ended)
                });
            }
            let Some(joined) = running.join_next().await else { return Ok(()) };
            let (job, ended) =
                joined.map_err(|error| EngineError::Internal(format!("a review broke off: {error}")))?;
            self.take(verified, &job, ended).await?;
        }
    }

    /// Puts what was ruled into the file.
    async fn take(
        &self,
        verified: &mut Verified,
        job: &Job,
        ended: Result<Result<Ruled, Unruled>, EngineError>,
    ) -> Result<(), AskError> {
        let ruled = match ended? {
            Ok(_) if !self.is_still(job) => {
                let detail = "what it is about changed while it was verified".to_owned();
                let outcome = Outcome::NoVerdict(NoVerdict::Stale);
                verified.unruled.push(Unruled { id: job.item.id.clone(), outcome, detail });
                return Ok(());
            }
            Ok(ruled) => ruled,
            Err(unruled) => {
                verified.unruled.push(unruled);
                return Ok(());
            }
        };
        let recorded = self.qr.record(&job.item.id, &ruled.ruling, ruled.digest, (true, &ruled.by)).await;
        match recorded {
            // Somebody else was faster, or has put other items in their place: the file says what holds.
            Ok(_) | Err(QrError::Refused(Refused::AlreadyPassed(_) | Refused::AlreadyAccepted(_))) => Ok(()),
            Err(QrError::Refused(Refused::UnknownItem(detail))) => {
                let outcome = Outcome::NoVerdict(NoVerdict::Stale);
                verified.unruled.push(Unruled { id: job.item.id.clone(), outcome, detail });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A question as a verifier gets it, for those who think themselves.
    pub async fn verifier_prompt(&self, id: &str) -> Result<Preview, AskError> {
        let state = self.qr.dir.require(self.qr.phase).map_err(QrError::from)?.state;
        let item = state.find(id).map_err(Refused::UnknownItem).map_err(QrError::from)?;
        let jobs = self.jobs(&[item])?;
        let engine = self.engine_for(&jobs);
        let [job] = jobs.as_slice() else {
            return Err(AskError::material(format!("{id} has no question")));
        };
        let prepared = engine.planner().prepare(job.request.clone()).await?;
        let [assignment] = prepared.plan.assignments.as_slice() else {
            return Err(AskError::material(format!("{id} is more than one question")));
        };
        Ok(engine.planner().preview(&prepared, assignment, None).await?)
    }

    fn wanted<'s>(&self, state: &'s State, ids: &[String]) -> Result<Vec<&'s Item>, AskError> {
        let is_open = |item: &Item| item.status != Status::Pass && !item.accepted;
        if ids.is_empty() {
            let threshold = self.qr.policy.threshold(state.iteration);
            let blocks = |item: &&Item| is_open(item) && item.severity >= threshold;
            return Ok(state.items.iter().filter(blocks).collect());
        }
        let mut items: Vec<&Item> = vec![];
        for id in ids {
            let item = state.find(id).map_err(Refused::UnknownItem).map_err(QrError::from)?;
            if is_open(item) && items.iter().all(|known| known.id != *id) {
                items.push(item);
            }
        }
        Ok(items)
    }

    /// What is handed in about items. Nobody is asked about any while one of them is about nothing.
    fn jobs(&self, items: &[&Item]) -> Result<Vec<Job>, AskError> {
        let nowhere = self.materials.nowhere(items, &|path| self.exists(path));
        if !nowhere.is_empty() {
            return Err(AskError::Material(nowhere));
        }
        let modules = self.used();
        items.iter().map(|item| self.job(item, &modules)).collect()
    }

    fn job(&self, item: &Item, modules: &[&Module]) -> Result<Job, AskError> {
        let shows =
            self.materials.shows(&item.scope, &|path| self.exists(path)).map_err(AskError::material)?;
        let (files, given) = self.looked_at(shows);
        let dir = self.qr.dir.path().canonicalize().unwrap_or_else(|_| self.qr.dir.path().to_owned());
        let parts = [&*dir.to_string_lossy(), self.qr.phase.name(), item.id.as_str()];
        let request = Request {
            subject: Subject::new(crate::qr::DOOR, parts),
            rules: vec![prompts::verify(self.qr.phase, item, shows, modules)],
            policy: policy(self.policy),
            outputs: vec![Output { name: prompts::OUTPUT.to_owned(), kind: OutputKind::Files }],
            files: files.into_iter().map(|path| (path, 0)).collect(),
            change: None,
            notes: None,
            fresh: false,
        };
        Ok(Job { item: item.clone(), request, given })
    }

    /// The files of a question, and the texts of those that are none of the project.
    fn looked_at(&self, shows: Shows<'_>) -> (Vec<String>, BTreeMap<String, String>) {
        let outside = |path: &str| path.starts_with(OUTSIDE);
        let artifacts = self.materials.artifacts.iter();
        match shows {
            Shows::Part(part) => (vec![part.name()], BTreeMap::from([(part.name(), part.text.clone())])),
            Shows::Everything => {
                let files = artifacts.clone().map(|artifact| artifact.path.clone()).collect();
                let given = artifacts.filter(|artifact| outside(&artifact.path));
                (files, given.map(|artifact| (artifact.path.clone(), artifact.text.clone())).collect())
            }
            Shows::File(path) => {
                let mut given = artifacts.filter(|artifact| artifact.is_called(path));
                match given.find(|artifact| outside(&artifact.path)) {
                    Some(artifact) => {
                        let name = artifact.path.clone();
                        (vec![name.clone()], BTreeMap::from([(name, artifact.text.clone())]))
                    }
                    None => (vec![self.project_path(path)], BTreeMap::new()),
                }
            }
        }
    }

    fn project_path(&self, path: &str) -> String {
        let root = &self.engine.planner().root;
        root.relative(root.path(), path.as_ref()).unwrap_or_else(|_| path.to_owned())
    }

    /// The engine with everything these reviews look at. What is given is in the question, however many files that
    /// are: nobody could read it elsewhere.
    fn engine_for(&self, jobs: &[Job]) -> Engine {
        let given = jobs.iter().flat_map(|job| job.given.clone()).collect();
        let mut planner = self.engine.planner().clone();
        planner.root = planner.root.with_given(given);
        planner.bounds.max_inline_files = None;
        self.engine.replanned(planner)
    }

    /// Whether texts that were given are still what their files say. Files of the project the engine looks at again.
    fn is_still(&self, job: &Job) -> bool {
        if job.given.is_empty() {
            return true;
        }
        let paths: Vec<PathBuf> =
            self.materials.artifacts.iter().map(|artifact| artifact.from.clone()).collect();
        let Ok(now) = read(&self.engine.planner().root, &paths) else { return false };
        if now == self.materials.artifacts {
            return true;
        }
        let Ok(now) = Materials::new(now) else { return false };
        let scope: &Scope = &job.item.scope;
        let asking = Asking { materials: &now, ..*self };
        let shows = now.shows(scope, &|path| self.exists(path));
        shows.is_ok_and(|shows| asking.looked_at(shows).1 == job.given)
    }
}

/// What the names of artifacts begin with that are none of the project.
const OUTSIDE: &str = "outside/";

/// One round, whatever comes of it: rounds and attempts are the file's. Everything blocks here, so that a failure
/// is one; what it weighs is the gate's business.
fn policy(of_project: &Policy) -> Policy {
    Policy {
        attempts: Attempts::Once,
        blocking: vec![Blocking { from_round: 1, severity: Severity::May }],
        ..of_project.clone()
    }
}

async fn judge(
    engine: &Engine,
    job: &Job,
    cancel: &CancellationToken,
) -> Result<Result<Ruled, Unruled>, EngineError> {
    let unruled = |outcome, detail| Unruled { id: job.item.id.clone(), outcome, detail };
    let bytes: usize = job.given.values().map(String::len).sum();
    let most = engine.planner().bounds.prompt_bytes;
    if bytes as u64 > most {
        let detail = format!("it is about {bytes} bytes, and a question holds {most}: raise `prompt_bytes`");
        return Ok(Err(unruled(Outcome::NoVerdict(NoVerdict::TooLong), detail)));
    }
    let prepared = engine.planner().prepare(job.request.clone()).await?;
    let digest = judged(&job.item.scope, &prepared);
    let ticket = match engine.submit(prepared).await {
        Ok(ticket) => ticket,
        Err(error @ EngineError::Refused(_)) => return Ok(Err(unruled(error.outcome(), error.to_string()))),
        Err(error) => return Err(error),
    };
    let stored = engine.wait(&ticket, cancel).await?;
    engine.delivered(&ticket).await?;
    Ok(match ticket.outcome(&stored) {
        Outcome::Passed => Ok(Ruled { ruling: Ruling::Pass, by: by(&stored.review), digest }),
        Outcome::NeedsWork => {
            Ok(Ruled { ruling: Ruling::Fail(finding(&stored.review)), by: by(&stored.review), digest })
        }
        outcome => Err(unruled(outcome, why(&stored.review))),
    })
}

/// The digest of the file an item is about, exactly as it is handed in. Looking at the disk for it would find what
/// is there before or after.
fn judged(scope: &Scope, prepared: &Prepared) -> Option<Digest> {
    match (scope.file(), prepared.submission.files.as_slice()) {
        (Some(_), [only]) => Some(only.digest.clone()),
        _ => None,
    }
}

/// What the reviewer says is wrong.
fn finding(review: &Review) -> String {
    let said: Vec<String> = review.findings().iter().map(Finding::words).collect();
    let said = said.join("\n");
    let said = match said.trim() {
        "" => NO_WORDS,
        said => said,
    };
    text::cut(said, FINDING_BYTES_MAX).to_owned()
}

/// Who ruled: the reviewer, also where the ruling stood from before.
fn by(review: &Review) -> Actor {
    let given = review.round().and_then(|round| round.answers.values().next());
    let name = match given.map(|given| &given.by) {
        Some(By::Call { reviewer, .. }) => reviewer.clone(),
        Some(By::Reused { reviewer, .. } | By::Disputed { reviewer, .. }) => reviewer.clone(),
        _ => "reviewer".to_owned(),
    };
    Actor::new(format!("{name} ({})", review.id), ActorKind::Program, Channel::Gate)
}

/// Why nobody ruled.
fn why(review: &Review) -> String {
    let Some(round) = review.round() else { return String::new() };
    let failures = round.assignments.iter().flat_map(|assignment| round.failures_of(assignment));
    let words: Vec<String> =
        failures.map(|(candidate, failure)| format!("{}: {}", candidate.reviewer, failure.detail)).collect();
    words.join("; ")
}
