//! The loop: perform what is due until the round has ended. How results are recorded is in `record`. `Engine::wait` is the
//! only place that performs reviews: all callers wait there.

use super::ask::{Asking, Streaks, report_of};
use super::budget::{Admitted, Ask, Worst};
use super::{Engine, EngineError, ProgressEvent, Result, Ticket};
use crate::fresh::{now_ms, random};
use crate::ledger::Stored;
use crate::reviewer::{Failed, ReviewerReply};
use countersign_core::digest::Key;
use countersign_core::endpoint::Endpoint;
use countersign_core::ids::CallId;
use countersign_core::review::{By, Confirmation, Effect, Event, Input, State, due};
use countersign_core::rule::Rule;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

pub(super) struct Question {
    pub key: Key,
    pub call: CallId,
    pub assignment: usize,
    pub reviewer: String,
    pub place: Endpoint,
}

impl Question {
    pub fn asking(&self) -> Input {
        let Self { key, call, reviewer, place, .. } = self;
        let (key, call) = (key.clone(), call.clone());
        Input::Asking { call, key, reviewer: reviewer.clone(), place: place.clone() }
    }
}

/// One round that this process performs.
struct Driver<'a> {
    engine: &'a Engine,
    ticket: &'a Ticket,
    tasks: JoinSet<(Question, ReviewerReply)>,
    waiting: HashMap<Key, Waiting>,
    /// Whether other questions wait until these leave room in the budget.
    held: bool,
    worst: Worst,
    streaks: Streaks,
    cancel: CancellationToken,
}

struct Waiting {
    call: CallId,
    /// Whether it was put to its reviewer, and does not wait for a slot.
    put: Arc<AtomicBool>,
}

impl Engine {
    /// Waits for the end of the round, performing it where no other process does. Returns the review as that round left it.
    pub async fn wait(&self, ticket: &Ticket, cancel: &CancellationToken) -> Result<Stored> {
        let keeping = self.begin_keeping(ticket);
        let stored = self.until_ended(ticket, cancel).await?;
        self.end_keeping(keeping, ticket, &stored, cancel).await;
        Ok(stored)
    }

    async fn until_ended(&self, ticket: &Ticket, cancel: &CancellationToken) -> Result<Stored> {
        let mut changes = self.0.ledger.watch().await?;
        let mut patience = self.patience(ticket);
        loop {
            let stored = self.get(&ticket.review).await?;
            if has_ended(&stored, ticket) {
                return self.as_of_round(ticket, stored).await;
            }
            if let Some(_performing) = self.perform(&stored).await? {
                self.drive(ticket, stored, cancel).await?;
                continue;
            }
            self.say(ProgressEvent::Waiting { review: ticket.review.clone() });
            tokio::select! {
                () = changes.changed() => {}
                // A killed process writes nothing, so no change reports its end.
                gone = self.until_gone(&stored, &mut patience) => gone?,
                () = cancel.cancelled() => return Err(EngineError::Interrupted),
            }
        }
    }

    /// The review as the ticket's round left it: work that was handed in since then has its own verdict.
    async fn as_of_round(&self, ticket: &Ticket, stored: Stored) -> Result<Stored> {
        if stored.review.round().is_none_or(|last| last.n <= ticket.round) {
            return Ok(stored);
        }
        let mut before = Stored::unopened(ticket.review.clone());
        for entry in self.0.ledger.events(&ticket.review, 0, u32::MAX).await? {
            if matches!(entry.event, Event::Submitted { round, .. } if round > ticket.round) {
                break;
            }
            before.record(&entry.event, entry.at_ms);
        }
        Ok(Stored { holder: stored.holder, ..before })
    }

    async fn drive(&self, ticket: &Ticket, stored: Stored, cancel: &CancellationToken) -> Result<()> {
        let mut driver = Driver {
            engine: self,
            ticket,
            tasks: JoinSet::new(),
            waiting: HashMap::new(),
            held: false,
            worst: HashMap::new(),
            streaks: Streaks::default(),
            cancel: cancel.child_token(),
        };
        let _cancels_questions = driver.cancel.clone().drop_guard();
        self.say(round_of(&stored));
        let span = info_span!("review", id = %ticket.review, round = ticket.round);
        let driven = driver.run(stored, cancel).instrument(span).await;
        let released = self.release(driver.end().await).await;
        driven.and(released)
    }
}

impl Driver<'_> {
    async fn run(&mut self, mut stored: Stored, cancel: &CancellationToken) -> Result<()> {
        let mut changes = self.engine.0.ledger.watch().await?;
        let mut look = true;
        loop {
            if look {
                let Some(next) = self.perform_due(stored).await? else { return Ok(()) };
                stored = next;
            }
            (stored, look) = tokio::select! {
                Some(first) = self.tasks.join_next() => self.take_answers(stored, first).await?,
                () = changes.changed() => self.look_again(stored).await?,
                () = cancel.cancelled() => return Err(EngineError::Interrupted),
            };
        }
    }

    /// Cancels all questions, and returns those that were never put to their reviewer.
    async fn end(&mut self) -> Vec<CallId> {
        self.cancel.cancel();
        self.tasks.shutdown().await;
        let unput = self.waiting.drain().filter(|(_, waiting)| !waiting.put.load(Ordering::Relaxed));
        unput.map(|(_, waiting)| waiting.call).collect()
    }

    /// Begins everything that is due and not under way; none where the round has ended for this process.
    async fn perform_due(&mut self, mut stored: Stored) -> Result<Option<Stored>> {
        let (engine, ticket) = (self.engine, self.ticket);
        if has_ended(&stored, ticket) || !engine.holds(&stored) {
            return Ok(None);
        }
        loop {
            let effects = due(&stored.review);
            if effects == [Effect::Confirm] && self.tasks.is_empty() {
                let found = match stored.review.round() {
                    Some(round) => engine.look_at_files(&round.submission).await?,
                    None => Confirmation::Changed,
                };
                let confirmed = Input::Confirmed { round: ticket.round, found, now_ms: now_ms() };
                engine.feed(stored, vec![confirmed]).await?;
                return Ok(None);
            }
            if effects == [Effect::AskSelf] && self.tasks.is_empty() {
                engine.ask_self(ticket, stored).await?;
                return Ok(None);
            }
            let before = stored.n;
            stored = self.ask_all(stored, effects).await?;
            // Where no question is asked and something was recorded all the same, something else is due now.
            if stored.n == before || !self.tasks.is_empty() || has_ended(&stored, ticket) {
                return Ok(Some(stored));
            }
        }
    }

    async fn ask_all(&mut self, stored: Stored, effects: Vec<Effect>) -> Result<Stored> {
        let mut asks = vec![];
        for effect in effects {
            let Effect::Ask { assignment, key, reviewer, repair } = effect else { continue };
            if self.waiting.contains_key(&key) {
                continue;
            }
            let call = CallId::new(random()?);
            let planner = &self.engine.0.planner;
            let mut place = planner.panel.place(&reviewer).await;
            let round = stored.review.round();
            place.listed = round.is_some_and(|round| {
                let asked = round.assignments.get(assignment);
                asked.is_some_and(|asked| planner.lists(asked, &round.submission, &reviewer))
            });
            asks.push((Question { key, call, assignment, reviewer, place }, repair));
        }
        if asks.is_empty() {
            return Ok(stored);
        }
        // On record before anything is asked, so that a crash shows what was under way.
        let (stored, asks) = self.put_on_record(stored, asks).await?;
        // Other work may have been submitted just now: then the assignments are those of another round.
        if has_ended(&stored, self.ticket) {
            return Ok(stored);
        }
        let rules = Arc::new(stored.review.rules.clone());
        for (question, repair) in asks {
            self.ask_one(&stored, &rules, question, repair);
        }
        Ok(stored)
    }

    async fn put_on_record(&mut self, stored: Stored, asks: Vec<Ask>) -> Result<(Stored, Vec<Ask>)> {
        let engine = self.engine;
        if stored.review.policy.budget.is_unlimited() && engine.0.planner.day_budget.is_unlimited() {
            let inputs = asks.iter().map(|(question, _)| question.asking()).collect();
            return Ok((engine.feed(stored, inputs).await?, asks));
        }
        let admitted = engine.admit(self.ticket, stored, asks, &mut self.worst).await?;
        let Admitted { mut stored, asks, held } = admitted;
        self.held = !held.is_empty();
        if asks.is_empty() && self.tasks.is_empty() && self.held {
            self.held = false;
            stored = engine.refuse_held(stored, held).await?;
        }
        Ok((stored, asks))
    }

    fn ask_one(
        &mut self,
        stored: &Stored,
        rules: &Arc<Vec<Rule>>,
        question: Question,
        repair: Option<String>,
    ) {
        let (review, put) = (&stored.review, Arc::new(AtomicBool::new(false)));
        let assignment = review.round().and_then(|round| round.assignments.get(question.assignment));
        let Some(assignment) = assignment.cloned() else { return };
        let waiting = Waiting { call: question.call.clone(), put: put.clone() };
        self.waiting.insert(question.key.clone(), waiting);
        let (engine, cancel) = (self.engine.clone(), self.cancel.clone());
        let asking = Asking {
            put,
            streaks: self.streaks.clone(),
            rules: rules.clone(),
            assignment,
            prepared: self.ticket.prepared.clone(),
            call: question.call.clone(),
            reviewer: question.reviewer.clone(),
            repair,
            accept_bare: review.policy.accept_bare_verdicts,
            index: question.assignment,
            review: review.id.clone(),
            counts_money: review.policy.budget.microusd.or(engine.0.planner.day_budget.microusd).is_some(),
            redacted: Default::default(),
        };
        let span = info_span!("call", id = %question.call, reviewer = question.reviewer);
        let asked = async move { (question, engine.ask_redacted(asking, &cancel).await) };
        self.tasks.spawn(asked.instrument(span));
    }

    /// The review after a change in the ledger, and whether it differs. Mostly the change is our own write, and reading
    /// a large review again after each answer would cost more than the answer.
    async fn look_again(&self, stored: Stored) -> Result<(Stored, bool)> {
        match self.engine.0.ledger.is_current(&stored).await? {
            true => Ok((stored, false)),
            false => Ok((self.engine.get(&stored.review.id).await?, true)),
        }
    }

    /// Records an answer and all others that have arrived in one transaction; and whether something else may be due.
    async fn take_answers(
        &mut self,
        stored: Stored,
        first: Result<(Question, ReviewerReply), JoinError>,
    ) -> Result<(Stored, bool)> {
        let (mut inputs, mut reports, mut events) = (vec![], vec![], vec![]);
        let mut first = Some(first);
        while let Some(joined) = first.take().or_else(|| self.tasks.try_join_next()) {
            let (question, told) = joined
                .map_err(|error| EngineError::Internal(format!("a question ended unexpectedly: {error}")))?;
            // A question that was cut short because we stop has no answer, and no failure either: it is asked again.
            if told.result.is_err() && self.cancel.is_cancelled() {
                continue;
            }
            self.waiting.remove(&question.key);
            events.push(happening_of(self.ticket, &question, &told));
            reports.push((question.call.clone(), report_of(&told)));
            inputs.push(input_of(question, told));
        }
        if inputs.is_empty() {
            return Ok((stored, false));
        }
        let all_answered = inputs.iter().all(|input| matches!(input, Input::Answered { .. }));
        let expected = stored.n + inputs.len() as u64;
        let stored = self.engine.feed_with(stored, inputs, reports).await?;
        // Shown only now: what is shown is on record.
        events.into_iter().for_each(|happening| self.engine.say(happening));
        // An answer that adds no event was recorded by another process. With as many events as answers nothing but
        // answers was recorded, and those make nothing due while other questions are open.
        let look = !all_answered || stored.n != expected || self.tasks.is_empty() || self.held;
        Ok((stored, look))
    }
}

/// Whether the ticket's round has ended, or waits for a self-review.
fn has_ended(stored: &Stored, ticket: &Ticket) -> bool {
    let review = &stored.review;
    let ended = review.rounds.iter().any(|round| round.n == ticket.round && round.end.is_some());
    let waits = ticket.offer.is_none() && review.waits_for_self_review();
    // Nothing is due outside of a round that is under way, so there is nothing to wait for.
    let over = review.state != State::Judging;
    ended || over || waits || review.round().is_none_or(|round| round.n > ticket.round)
}

fn round_of(stored: &Stored) -> ProgressEvent {
    let review = stored.review.id.clone();
    let (round, assignments, answered) = stored.review.round().map_or((0, 0, 0), |round| {
        let answered = round.assignments.iter().filter(|assignment| round.answer_to(assignment).is_some());
        (round.n, round.assignments.len(), answered.count())
    });
    ProgressEvent::Round { review, round, assignments, answered }
}

fn happening_of(ticket: &Ticket, question: &Question, told: &ReviewerReply) -> ProgressEvent {
    let (review, assignment) = (ticket.review.clone(), question.assignment);
    match &told.result {
        Ok(answer) => {
            let failed = answer.rulings.iter().filter(|ruling| !ruling.passed).count();
            let failed = if answer.bare == Some(false) { 1 } else { failed };
            ProgressEvent::Answered { review, assignment, failed }
        }
        Err(failed) => {
            ProgressEvent::AskFailed { review, assignment, why: failed.why, detail: failed.detail.clone() }
        }
    }
}

fn input_of(question: Question, told: ReviewerReply) -> Input {
    let Question { key, call, reviewer, .. } = question;
    match told.result {
        Ok(answer) => Input::Answered { key, answer, by: By::Call { call, reviewer } },
        Err(Failed { why, detail, fixed, not_put }) => {
            Input::AskFailed { call, key, why, detail, fixed, budget: None, not_put }
        }
    }
}
