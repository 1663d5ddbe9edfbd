//! Reads the content of the screen from the disk alone: the same during a run of this or another process, and after one.

use super::Source;
use super::board::{Board, Detail, Known, Reviewed};
use crate::output::outcome_words;
use countersign_app::Failure;
use countersign_app::author::actor;
use countersign_app::decide::{Decide, decide};
use countersign_app::excerpt::judged_diff;
use countersign_app::run::now;
use countersign_app::spent::Spent;
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::review::{Decision, Review, Round, State as ReviewState, Verb};
use countersign_core::text::cut_front;
use countersign_doors::run::checkpoint::Checkpoint;
use countersign_doors::run::state::{State, StateError, Summary, TaskState};
use countersign_doors::run::task_file::TaskFile;
use countersign_doors::run::tasks::TaskList;
use countersign_doors::run::{judging, lock, log};
use countersign_engine::engine::Engine;
use countersign_engine::ledger::{Call, Filter, Ledger, Stored};
use std::collections::HashMap;
use std::fs::{File, metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

/// How much of an output is read, from its end.
const OUTPUT_BYTES: u64 = 64 * 1024;
const OPEN_REVIEWS: u32 = 1000;
const CHECKPOINTS_MAX: usize = 200;

/// Reads, and keeps what need not be read again.
pub struct Gatherer<'s> {
    source: &'s Source<'s>,
    list: TaskList,
    /// When the list was changed last, and how long it is.
    list_of: Option<(SystemTime, u64)>,
    state: Option<State>,
    ledger: Option<Ledger>,
    engine: Option<Engine>,
    review: Option<(Stored, Vec<Call>, String)>,
}

impl<'s> Gatherer<'s> {
    pub fn new(source: &'s Source<'s>) -> Self {
        let engine = source.engine.clone();
        let ledger = engine.as_ref().map(|engine| engine.ledger().clone());
        Self { source, list: TaskList::default(), list_of: None, state: None, ledger, engine, review: None }
    }

    /// The board of this moment. An error of reading is shown on it, and the values read before stay.
    pub async fn board(&mut self, selected: Option<&str>) -> Board {
        let mut trouble = self.read_list().err();
        let (summaries, checkpoints) = match self.read_state().await {
            Ok(read) => read,
            Err(error) => {
                self.state = None;
                trouble = trouble.or(Some(error.to_string()));
                Default::default()
            }
        };
        let reviews = or_default(self.open_reviews().await, &mut trouble);
        let layout = self.source.layout;
        let under_way = lock::holder(&layout.lock()).is_ok_and(|holder| holder.is_some());
        let (list, summaries, reviews, checkpoints) = (&self.list, &summaries, &reviews, &checkpoints);
        let known = Known { list, summaries, reviews, checkpoints, under_way, now: now() };
        let (tasks, cost) = (known.rows(), known.cost());
        // Without a selection the first task is shown, as on the screen.
        let selected = selected.filter(|id| self.list.get(id).is_some());
        let selected = selected.or(tasks.first().map(|row| row.id.as_str())).map(str::to_owned);
        let detail = match selected {
            None => None,
            Some(id) => {
                let review = or_default(self.reviewed(&id).await, &mut trouble);
                let (output_from, output) = output(&layout.logs(), &id);
                Some(Detail { task: id, review, output_from, output })
            }
        };
        Board { title: layout.tasks_name(), under_way, tasks, cost, detail, trouble }
    }

    fn read_list(&mut self) -> Result<(), String> {
        let path = self.source.layout.tasks();
        let now = metadata(&path).and_then(|found| Ok((found.modified()?, found.len())));
        let now = now.map_err(|error| format!("{}: {error}", self.source.layout.tasks_name()))?;
        if self.list_of == Some(now) {
            return Ok(());
        }
        self.list = TaskFile::new(self.source.layout)
            .read()
            .map_err(|error| format!("{error}; `countersign validate` says which"))?;
        self.list_of = Some(now);
        Ok(())
    }

    async fn read_state(&mut self) -> Result<(Vec<Summary>, HashMap<String, Checkpoint>), StateError> {
        if self.state.is_none() {
            self.state = State::open_existing(self.source.layout).await?;
        }
        let Some(state) = &self.state else { return Ok(Default::default()) };
        let summaries = state.summaries().await?;
        let mut checkpoints = HashMap::new();
        let running = summaries.iter().filter(|summary| summary.state == TaskState::Running);
        for summary in running.take(CHECKPOINTS_MAX) {
            if let Some(checkpoint) = Checkpoint::load(state, &summary.task_id).await? {
                checkpoints.insert(summary.task_id.clone(), checkpoint);
            }
        }
        Ok((summaries, checkpoints))
    }

    async fn ledger(&mut self) -> Result<Option<Ledger>, Failure> {
        if self.ledger.is_none() {
            self.ledger = self.source.project.existing_ledger().await?;
        }
        Ok(self.ledger.clone())
    }

    async fn open_reviews(&mut self) -> Result<HashMap<String, ReviewState>, Failure> {
        let Some(ledger) = self.ledger().await? else { return Ok(HashMap::new()) };
        let rows = ledger.list(Filter { open_only: true, before: None, limit: OPEN_REVIEWS }).await?;
        let by_subject: HashMap<Subject, ReviewState> =
            rows.into_iter().map(|row| (row.subject, row.state)).collect();
        if by_subject.is_empty() {
            return Ok(HashMap::new());
        }
        let own = |id: &String| ledger.own(&self.source.layout.subject(id));
        let of = |id: &String| Some((id.clone(), *by_subject.get(&own(id))?));
        Ok(self.list.tasks().iter().filter_map(|task| of(&task.id)).collect())
    }

    async fn reviewed(&mut self, task: &str) -> Result<Option<Reviewed>, Failure> {
        let Some(ledger) = self.ledger().await? else { return Ok(None) };
        let subject = ledger.own(&self.source.layout.subject(task));
        let current = match &self.review {
            Some((stored, ..)) if stored.review.subject == subject => {
                // A settled review may have a successor.
                !matches!(stored.review.state, ReviewState::Settled(_)) && ledger.is_current(stored).await?
            }
            _ => false,
        };
        if !current {
            self.review = None;
            let Some(stored) = ledger.latest_for(&subject).await? else { return Ok(None) };
            let calls = ledger.calls(&stored.review.id).await?;
            let diff = match stored.review.state {
                ReviewState::AwaitingPerson => judged_diff(self.source.project, &ledger, &stored).await?,
                _ => String::new(),
            };
            self.review = Some((stored, calls, diff));
        }
        Ok(self.review.as_ref().map(|(stored, calls, diff)| reviewed(&stored.review, calls, diff)))
    }

    /// Records a decision about the work that the screen showed.
    pub async fn decide(&mut self, review: &ReviewId, digest: Digest, verb: Verb) -> Result<(), Failure> {
        let engine = match &self.engine {
            Some(engine) => engine.clone(),
            None => {
                let project = self.source.project;
                self.engine.insert(project.engine(project.planner(None)?).await?).clone()
            }
        };
        let reason = Some(crate::ask::REASON.to_owned());
        let decided = Decide { action: verb.into(), by: actor(), reason, about: Some(digest) };
        decide(self.source.project, &engine, review, decided).await?;
        self.review = None;
        Ok(())
    }
}

/// The value, or its default and the error noted as trouble, unless another is.
fn or_default<T: Default>(read: Result<T, Failure>, trouble: &mut Option<String>) -> T {
    read.unwrap_or_else(|error| {
        trouble.get_or_insert(error.message);
        T::default()
    })
}

fn reviewed(review: &Review, calls: &[Call], diff: &str) -> Reviewed {
    let round = |round: &Round| {
        let verdict = round.end.map_or_else(|| "under way".to_owned(), |end| end.words());
        let found = match round.judgement.blocking.len() + round.judgement.waived.len() {
            0 => String::new(),
            1 => ", 1 finding".to_owned(),
            several => format!(", {several} findings"),
        };
        let spent = Spent::sum(calls.iter().filter(|call| call.round == round.n));
        format!("round {}: {verdict}{found}, {}", round.n, spent.words())
    };
    Reviewed {
        id: review.id.clone(),
        digest: review.digest().cloned(),
        waits: review.state == ReviewState::AwaitingPerson,
        standing: outcome_words(review.standing()),
        rounds: review.rounds.iter().map(round).collect(),
        issues: judging::issues(review, true),
        decisions: review.decisions.iter().map(Decision::words).collect(),
        cost: Spent::sum(calls.iter()).words(),
        diff: diff.to_owned(),
    }
}

/// The name of the log of the last attempt at a task, and its end.
fn output(logs: &Path, task: &str) -> (Option<String>, String) {
    let Some(path) = log::all(logs, task).pop() else { return (None, String::new()) };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let read = || -> std::io::Result<String> {
        let mut file = File::open(&path)?;
        let bytes = file.metadata()?.len();
        file.seek(SeekFrom::Start(bytes.saturating_sub(OUTPUT_BYTES)))?;
        let mut end = vec![];
        file.take(OUTPUT_BYTES).read_to_end(&mut end)?;
        let text = String::from_utf8_lossy(&end);
        // The first line may be cut.
        let from = if bytes > OUTPUT_BYTES { text.find('\n').map_or(0, |end| end + 1) } else { 0 };
        Ok(cut_front(&text[from..], usize::try_from(OUTPUT_BYTES).unwrap_or(usize::MAX)).to_owned())
    };
    let text = read().unwrap_or_else(|error| format!("{}: {error}", path.display()));
    (name, text)
}
