//! `finished_step` after its arguments are checked: the step is judged, overridden or self-reviewed.

use super::*;

impl Jobs {
    pub(super) async fn judge(
        &self,
        work: &Work<'_>,
        call: FinishedCall,
        waiting: &dyn Waiting,
    ) -> Result<Answered, Refusal> {
        let prepared = match self.engine.planner().prepare(self.request(work)).await {
            Ok(prepared) => prepared,
            // Every review is for an optional output that was not handed in.
            Err(EngineError::Plan(PlanError::NothingToJudge)) => {
                let names: Vec<_> =
                    work.step.reviews.iter().map(|one| one.run_each.text().to_owned()).collect();
                let feedback = feedback::not_applicable(&names);
                return self.advance(work, Gate::NotApplicable(names), feedback, None).await;
            }
            Err(error) => return Err(error.into()),
        };
        let not_applicable = self.not_applicable(work, &prepared);
        let reason = call.quality_review_override_reason.as_deref();
        let reason =
            reason.map(|reason| hand_in::words("quality_review_override_reason", reason, MAX_TEXT_BYTES));
        let ticket = match (call.self_review, reason.transpose()?) {
            (Some(results), _) => self.self_reviewed(work.step, prepared, results.into()).await?,
            (None, Some(reason)) => return self.overridden(work, prepared, reason, not_applicable).await,
            (None, None) => self.engine.submit(prepared).await?,
        };
        match waiting.wait(&self.engine, &ticket).await? {
            Some(stored) => self.conclude(work, ticket, &stored, not_applicable).await,
            None => Ok(self.needs_work(work, feedback::RUNNING.to_owned(), vec![], None)),
        }
    }

    async fn conclude(
        &self,
        work: &Work<'_>,
        ticket: Ticket,
        stored: &Stored,
        not_applicable: Vec<String>,
    ) -> Result<Answered, Refusal> {
        let review = &stored.review;
        match ticket.outcome(stored) {
            Outcome::Passed | Outcome::Overridden | Outcome::Skipped => {
                let feedback = feedback::passed(review, &not_applicable);
                let gate = Gate::Review { review: review.id.clone(), not_applicable };
                self.advance(work, gate, feedback, Some(ticket)).await
            }
            Outcome::NeedsWork => {
                let round = review.round();
                let failed = round.map(|round| answer::failed_reviews(review, round, work.step));
                let feedback = feedback::needs_work(review, work.step, &not_applicable);
                Ok(self.needs_work(work, feedback, failed.unwrap_or_default(), Some(ticket)))
            }
            Outcome::AwaitingPerson => {
                let file = self.write_instructions(work, stored).await?;
                let feedback = feedback::self_review(&file.display().to_string());
                Ok(self.needs_work(work, feedback, vec![], None))
            }
            Outcome::Stopped(Stop::Withdrawn) => {
                Err(Refusal::NoVerdict("the review was withdrawn meanwhile: call again".to_owned()))
            }
            Outcome::BudgetReached => Err(Refusal::NoVerdict(feedback::budget_reached(review, work.step))),
            Outcome::Stopped(why) => Err(Refusal::Blocked(feedback::blocked(review, work.step, why))),
            _ => Err(Refusal::NoVerdict(feedback::no_verdict(review, work.step))),
        }
    }

    async fn self_reviewed(
        &self,
        step: &Step,
        prepared: Prepared,
        results: SelfReviewResults,
    ) -> Result<Ticket, Refusal> {
        let latest = self.engine.ledger().latest_for(&prepared.request.subject).await?;
        let latest = latest.ok_or_else(|| {
            Refusal::not_taken(
                "no self-review was asked for yet: call finished_step without self_review first",
            )
        })?;
        match self.engine.self_reviewed_as(&latest.review.id, prepared, results).await {
            Err(EngineError::Refused(Refused::WrongToken)) => Err(Refusal::not_taken(feedback::WRONG_TOKEN)),
            Err(EngineError::Refused(Refused::Settled(Outcome::Stopped(why)))) if why != Stop::Withdrawn => {
                Err(Refusal::Blocked(feedback::blocked(&latest.review, step, why)))
            }
            Err(EngineError::Refused(Refused::Settled(_) | Refused::NotNow(_))) => {
                Err(Refusal::not_taken(feedback::TOKEN_IS_USED))
            }
            taken => Ok(taken?),
        }
    }

    /// An override by the agent, where the policy allows it. It is recorded as one.
    async fn overridden(
        &self,
        work: &Work<'_>,
        prepared: Prepared,
        reason: String,
        not_applicable: Vec<String>,
    ) -> Result<Answered, Refusal> {
        let latest = self.engine.ledger().latest_for(&prepared.request.subject).await?;
        let latest = latest.as_ref().map(|stored| &stored.review);
        refuse_stopped(latest, work.step)?;
        let open = latest.filter(|review| !matches!(review.standing(), Some(Outcome::Stopped(_))));
        let policy = open.map_or(&self.options.policy, |review| &review.policy);
        if policy.overrides != Overrides::Allow {
            return Err(Refusal::not_taken(feedback::OVERRIDES_NOT_ALLOWED));
        }
        let ticket = self.engine.submit(prepared).await?;
        let by = Actor::new(AGENT, ActorKind::Agent, Channel::Mcp);
        let stored = match self.engine.decide(&ticket.review, Verb::Approve, by, reason).await {
            Ok(stored) => stored,
            // A review that passed needs no override.
            Err(EngineError::Refused(Refused::Settled(
                Outcome::Passed | Outcome::Overridden | Outcome::Skipped,
            ))) => self.engine.get(&ticket.review).await?,
            Err(error) => return Err(error.into()),
        };
        // The decision may be about other work that was handed in just now.
        if !matches!(ticket.outcome(&stored), Outcome::Passed | Outcome::Overridden | Outcome::Skipped) {
            return Err(Refusal::not_taken("other files were submitted in the meantime: call again"));
        }
        let gate = Gate::Review { review: ticket.review.clone(), not_applicable };
        self.advance(work, gate, Some(feedback::OVERRIDDEN.to_owned()), Some(ticket)).await
    }

    /// Records that a step has passed, unless that is recorded already, and answers with the next step.
    pub(super) async fn advance(
        &self,
        work: &Work<'_>,
        gate: Gate,
        feedback: Option<String>,
        ticket: Option<Ticket>,
    ) -> Result<Answered, Refusal> {
        let (number, step) = (work.frame.number, work.step.id.as_str());
        let (session, _) = self
            .record(work.session_id, |session| {
                let (outputs, arguments) = (work.outputs.clone(), work.arguments.clone());
                Ok(session.finish(number, step, outputs, arguments, gate.clone()))
            })
            .await?;
        let frame = session
            .frame(number)
            .ok_or_else(|| Refusal::not_taken("the workflow does not exist any more: call start_workflow"))?;
        if frame.aborted.is_some() || !frame.done.contains_key(step) {
            let words = "the workflow changed meanwhile: call go_to_step to see its current step";
            return Err(Refusal::not_taken(words));
        }
        let answer = answer::after(work.session_id, &session, frame, feedback);
        let (session_id, passed) = (work.session_id.to_owned(), Some((number, step.to_owned())));
        Ok(Answered { answer, session_id, passed, ticket })
    }

    pub(super) fn again(
        &self,
        session_id: String,
        session: &Session,
        About { frame, step, .. }: About,
    ) -> Result<Answered, Refusal> {
        let found = session
            .frame(frame)
            .ok_or_else(|| Refusal::not_taken("the workflow does not exist any more: call start_workflow"))?;
        let answer = answer::after(&session_id, session, found, Some(feedback::again(&step)));
        Ok(Answered { answer, session_id, passed: Some((frame, step)), ticket: None })
    }

    fn needs_work(
        &self,
        work: &Work<'_>,
        feedback: String,
        failed: Vec<answer::FailedReview>,
        ticket: Option<Ticket>,
    ) -> Answered {
        let answer = Finished {
            status: "needs_work",
            feedback: Some(feedback),
            failed_reviews: Some(failed),
            stack: answer::stack(work.session, &work.frame.agent),
            ..Finished::default()
        };
        Answered { answer, session_id: work.session_id.to_owned(), passed: None, ticket }
    }

    fn request(&self, work: &Work<'_>) -> Request {
        let outputs = &work.step.outputs;
        let index = |name: &str| outputs.iter().position(|known| known.name == name).unwrap_or_default();
        let output = |output: &StepOutput| Output { name: output.name.clone(), kind: output.kind };
        let files = work.outputs.iter().flat_map(|(name, files)| {
            let output = index(name);
            files.iter().map(move |file| (file.clone(), output))
        });
        Request {
            subject: subject(work.session_id, work.frame.number, &work.step.id),
            rules: work.step.rules(),
            policy: self.options.policy.clone(),
            outputs: outputs.iter().map(output).collect(),
            files: files.collect(),
            change: None,
            notes: work.notes.clone(),
            fresh: false,
        }
    }

    /// The reviews of a step without a file, by their outputs.
    fn not_applicable(&self, work: &Work<'_>, prepared: &Prepared) -> Vec<String> {
        let rules = work.step.rules().into_iter().zip(&work.step.reviews);
        let absent = rules.filter(|(rule, _)| prepared.plan.not_applicable.contains(&rule.name));
        absent.map(|(_, review)| review.run_each.text().to_owned()).collect()
    }

    async fn write_instructions(&self, work: &Work<'_>, stored: &Stored) -> Result<PathBuf, Refusal> {
        let document = self.engine.self_review_document(&stored.review, work.notes.as_deref());
        let (mut document, token) = document.ok_or_else(|| Refusal::not_taken("no self-review is open"))?;
        document.submit = Some(feedback::submit(&stored.review, &token));
        let text = self_review_instructions(&document);
        let failed = |error| EngineError::Io {
            what: format!("could not write the instructions of step '{}'", work.step.id),
            error,
        };
        let folder = instructions::folder(&self.root).map_err(failed)?;
        let (session, step, review) = (work.session_id, &work.step.id, &stored.review.id);
        let mut path = folder.join(instructions::name(session, step, None));
        if self.is_still_read(&path, work, review).await? {
            path = folder.join(instructions::name(session, step, Some(review)));
        }
        instructions::write(&path, &text, review).map_err(failed)?;
        Ok(path)
    }

    /// Whether the instructions in a file are for another review that waits for its self-review.
    async fn is_still_read(&self, path: &Path, work: &Work<'_>, own: &ReviewId) -> Result<bool, Refusal> {
        let Some(other) = instructions::review_at(path).filter(|other| other != own) else {
            return Ok(false);
        };
        let other = match self.engine.ledger().review(&other).await {
            Err(LedgerError::Pruned { .. }) => None,
            read => read?,
        };
        let Some(other) = other else { return Ok(false) };
        let over = |frame: &Frame| {
            !frame.is_active()
                && subject(work.session_id, frame.number, &work.step.id) == other.review.subject
        };
        Ok(other.review.waits_for_self_review() && !work.session.frames.iter().any(over))
    }
}
