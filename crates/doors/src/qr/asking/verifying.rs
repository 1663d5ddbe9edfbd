//! Verifying: each item is a review of its own, in parallel unless it is about everything. Rulings are saved at once.

use super::artifacts::OUTSIDE;
use super::{AskError, Asking, read};
use crate::qr::door::QrError;
use crate::qr::item::{Item, Status};
use crate::qr::material::{Artifact, Materials, Shows, content_of};
use crate::qr::modules::Module;
use crate::qr::prompts;
use crate::qr::state::State;
use crate::qr::transition::{FINDING_BYTES_MAX, Refused, Ruling};
use countersign_core::criterion::Severity;
use countersign_core::digest::Digest;
use countersign_core::judge::Finding;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::policy::{Attempts, Blocking, Policy};
use countersign_core::review::{Actor, ActorKind, By, Channel, Review};
use countersign_core::submission::{Output, OutputKind};
use countersign_core::text;
use countersign_engine::engine::{Engine, EngineError, Preview, Request};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The reviewers' own slots are fewer.
const PARALLEL_MAX: usize = 64;
const NO_WORDS: &str = "It failed, and the reviewer did not say why.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unruled {
    pub id: String,
    pub outcome: Outcome,
    pub detail: String,
}

#[derive(Clone, Debug)]
pub struct Verified {
    pub state: State,
    pub items: usize,
    pub unruled: Vec<Unruled>,
}

#[derive(Clone)]
struct Job {
    item: Item,
    /// The round in which it was begun.
    round: u32,
    request: Request,
    /// Texts outside the project, which the engine does not read again.
    given: BTreeMap<String, String>,
}

struct Ruled {
    ruling: Ruling,
    by: Actor,
    /// The digest of the judged file: later it tells whether a fix changed it.
    digest: Option<Digest>,
}

impl Asking<'_> {
    /// Verifies the named items, or all open and failed ones that block in this round.
    pub async fn verify(&self, ids: &[String], cancel: &CancellationToken) -> Result<Verified, AskError> {
        let state = self.qr.dir.require(self.qr.phase).map_err(QrError::from)?.state;
        let items = self.wanted(&state, ids)?;
        let jobs = self.jobs(&items, state.iteration)?;
        let engine = self.engine_for(&jobs);
        let mut verified = Verified { items: jobs.len(), state, unruled: vec![] };
        let (whole, parts): (Vec<Job>, Vec<Job>) =
            jobs.into_iter().partition(|job| job.item.scope.is_macro());
        for job in whole {
            let ended = judge(&engine, &job, cancel).await;
            self.take(&mut verified, &job, ended).await?;
        }
        self.verify_at_once(&engine, parts, &mut verified, cancel).await?;
        // Other processes may have recorded rulings meanwhile.
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
        let mut waiting = jobs.into_iter();
        let mut running = JoinSet::new();
        loop {
            while running.len() < PARALLEL_MAX
                && let Some(job) = waiting.next()
            {
                let (engine, cancel) = (engine.clone(), cancel.clone());
                running.spawn(async move {
                    let ended = judge(&engine, &job, &cancel).await;
                    (job, ended)
                });
            }
            let Some(joined) = running.join_next().await else { return Ok(()) };
            let (job, ended) = joined
                .map_err(|error| EngineError::Internal(format!("a review ended unexpectedly: {error}")))?;
            self.take(verified, &job, ended).await?;
        }
    }

    async fn take(
        &self,
        verified: &mut Verified,
        job: &Job,
        ended: Result<Result<Ruled, Unruled>, EngineError>,
    ) -> Result<(), AskError> {
        let stale = |detail: String| Unruled {
            id: job.item.id.clone(),
            outcome: Outcome::NoVerdict(NoVerdict::Stale),
            detail,
        };
        let unruled = match ended? {
            Ok(_) if !self.is_still(job) => stale("its content changed while it was verified".to_owned()),
            Ok(Ruled { ruling, by, digest }) => {
                match self.qr.record_reviewed(&job.item.id, &ruling, (job.round, digest), &by).await {
                    // Another process was faster, or has replaced the items: the file counts.
                    Err(QrError::Refused(Refused::AlreadyPassed(_) | Refused::AlreadyAccepted(_)))
                    | Ok(_) => {
                        return Ok(());
                    }
                    Err(QrError::Refused(
                        refused @ (Refused::UnknownItem(_) | Refused::OtherRound { .. }),
                    )) => stale(refused.to_string()),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(unruled) => unruled,
        };
        verified.unruled.push(unruled);
        Ok(())
    }

    pub async fn verifier_prompt(&self, id: &str) -> Result<Preview, AskError> {
        let state = self.qr.dir.require(self.qr.phase).map_err(QrError::from)?.state;
        let item = state.find(id).map_err(QrError::from)?;
        let jobs = self.jobs(&[item], state.iteration)?;
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
            let item = state.find(id).map_err(QrError::from)?;
            if is_open(item) && items.iter().all(|known| known.id != *id) {
                items.push(item);
            }
        }
        Ok(items)
    }

    /// The requests for items. No reviewer is asked about any of them while a scope shows nothing.
    fn jobs(&self, items: &[&Item], round: u32) -> Result<Vec<Job>, AskError> {
        let nowhere = self.materials.nowhere(items, &|path| self.exists(path));
        if !nowhere.is_empty() {
            return Err(AskError::Material(nowhere));
        }
        let modules = self.used();
        items.iter().map(|item| self.job(item, round, &modules)).collect()
    }

    fn job(&self, item: &Item, round: u32, modules: &[&Module]) -> Result<Job, AskError> {
        let shows =
            self.materials.shows(&item.scope, &|path| self.exists(path)).map_err(AskError::material)?;
        let (files, given) = self.looked_at(shows);
        let request = Request {
            subject: self.qr.subject([&item.id]),
            rules: vec![prompts::verify(self.qr.phase, item, shows, modules)],
            policy: policy(self.policy),
            outputs: vec![Output { name: prompts::OUTPUT.to_owned(), kind: OutputKind::Files }],
            files: files.into_iter().map(|path| (path, 0)).collect(),
            guidance_files: vec![],
            change: None,
            notes: None,
            fresh: false,
        };
        Ok(Job { item: item.clone(), round, request, given })
    }

    fn looked_at(&self, shows: Shows<'_>) -> (Vec<String>, BTreeMap<String, String>) {
        let outside = |artifact: &&Artifact| artifact.path.starts_with(OUTSIDE);
        let artifacts = self.materials.artifacts.iter();
        match shows {
            Shows::Part(part) => (vec![part.name()], BTreeMap::from([(part.name(), part.text.clone())])),
            Shows::Everything => {
                let files = artifacts.clone().map(|artifact| artifact.path.clone()).collect();
                let given = artifacts.filter(outside);
                (files, given.map(|artifact| (artifact.path.clone(), artifact.text.clone())).collect())
            }
            Shows::File(path) => {
                if let Some(artifact) = artifacts.filter(|artifact| artifact.is_called(path)).find(outside) {
                    let name = artifact.path.clone();
                    return (vec![name.clone()], BTreeMap::from([(name, artifact.text.clone())]));
                }
                let root = &self.engine.planner().root;
                let path = root.relative(root.path(), path.as_ref()).unwrap_or_else(|_| path.to_owned());
                (vec![path], BTreeMap::new())
            }
        }
    }

    /// The engine with all texts outside the project, which a reviewer could not read elsewhere: no file is left out.
    fn engine_for(&self, jobs: &[Job]) -> Engine {
        let given = jobs.iter().flat_map(|job| job.given.clone()).collect();
        let mut planner = self.engine.planner().clone();
        planner.root = planner.root.with_given(given);
        planner.bounds.max_inline_files = None;
        self.engine.replanned(planner)
    }

    /// Whether the texts outside the project are unchanged. The engine itself checks files of the project.
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
        let asking = Asking { materials: &now, ..*self };
        let shows = now.shows(&job.item.scope, &|path| self.exists(path));
        shows.is_ok_and(|shows| asking.looked_at(shows).1 == job.given)
    }
}

/// One round: the state file counts rounds and attempts. Everything blocks here; the gate weighs severities.
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
        let detail = format!("it has {bytes} bytes, but a question may have {most}: raise `prompt_bytes`");
        return Ok(Err(unruled(Outcome::NoVerdict(NoVerdict::TooLong), detail)));
    }
    let prepared = engine.planner().prepare(job.request.clone()).await?;
    // The digest of exactly what is handed in: the disk may have another content before or after.
    let digest = match (job.item.scope.file(), prepared.submission.files.as_slice()) {
        (Some(_), [only]) => Some(only.digest.clone()),
        (None, files) if !files.is_empty() => {
            Some(content_of(files.iter().map(|file| (file.path.clone(), file.digest.clone()))))
        }
        _ => None,
    };
    let ticket = match engine.submit(prepared).await {
        Ok(ticket) => ticket,
        Err(error @ EngineError::Refused(_)) => return Ok(Err(unruled(error.outcome(), error.to_string()))),
        Err(error) => return Err(error),
    };
    let stored = engine.wait(&ticket, cancel).await?;
    engine.delivered(&ticket).await?;
    let ruling = match ticket.outcome(&stored) {
        Outcome::Passed => Ruling::Pass,
        Outcome::NeedsWork => Ruling::Fail(finding(&stored.review)),
        outcome => return Ok(Err(unruled(outcome, failures(&stored.review)))),
    };
    Ok(Ok(Ruled { ruling, by: ruled_by(&stored.review), digest }))
}

fn finding(review: &Review) -> String {
    let words = review.findings().iter().map(Finding::words).collect::<Vec<_>>().join("\n");
    let words = if words.trim().is_empty() { NO_WORDS } else { words.trim() };
    text::cut(words, FINDING_BYTES_MAX).to_owned()
}

/// The reviewer that ruled, also where an earlier ruling was reused.
fn ruled_by(review: &Review) -> Actor {
    let given = review.round().and_then(|round| round.answers.values().next());
    let name = match given.map(|given| &given.by) {
        Some(By::Call { reviewer, .. } | By::Reused { reviewer, .. } | By::Disputed { reviewer, .. }) => {
            reviewer
        }
        _ => "reviewer",
    };
    Actor::new(format!("{name} ({})", review.id), ActorKind::Program, Channel::Gate)
}

fn failures(review: &Review) -> String {
    let Some(round) = review.round() else { return String::new() };
    let failures = round.assignments.iter().flat_map(|assignment| round.failures_of(assignment));
    let words: Vec<String> =
        failures.map(|(candidate, failure)| format!("{}: {}", candidate.reviewer, failure.detail)).collect();
    words.join("; ")
}
