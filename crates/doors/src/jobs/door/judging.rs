//! `finished_step` after its arguments are checked: the step is judged, overridden or self-reviewed.

use super::*;

/// What is known of a submission before it is judged.
struct HandedIn {
    /// What its files held.
    contents: Digest,
    not_applicable: Vec<String>,
}

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
                let contents = self.contents(&work.outputs).await?;
                return self.advance(work, contents, Gate::NotApplicable(names), feedback, None).await;
            }
            Err(error) => return Err(error.into()),
        };
        let handed = HandedIn {
            contents: session::contents(prepared.submission.files.iter()),
            not_applicable: self.not_applicable(work, &prepared),
        };
        let reason = call.quality_review_override_reason.as_deref();
        let reason =
            reason.map(|reason| hand_in::words("quality_review_override_reason", reason, MAX_TEXT_BYTES));
        let ticket = match (call.self_review, reason.transpose()?) {
            (Some(results), _) => self.self_reviewed(work.step, prepared, results.into()).await?,
            (None, Some(reason)) => return self.overridden(work, prepared, reason, handed).await,
            (None, None) => self.submit(work.step, prepared).await?,
        };
        match waiting.wait(&self.engine, &ticket).await? {
            Some(stored) => self.conclude(work, ticket, &stored, handed).await,
            None => Ok(self.needs_work(work, feedback::RUNNING.to_owned(), vec![], None)),
        }
    }

    async fn submit(&self, step: &Step, prepared: Prepared) -> Result<Ticket, Refusal> {
        let subject = prepared.request.subject.clone();
        match self.engine.submit(prepared).await {
            Err(EngineError::Refused(Refused::CoolingOff { until_ms })) => {
                let latest = self.engine.ledger().latest_for(&subject).await?;
                let latest = latest.ok_or_else(|| EngineError::NotFound(subject.to_string()))?;
                let words = feedback::cooling_off(&latest.review, step);
                Err(Refusal::CoolingOff { words, until_ms })
            }
            submitted => Ok(submitted?),
        }
    }

    async fn conclude(
        &self,
        work: &Work<'_>,
        ticket: Ticket,
        stored: &Stored,
        HandedIn { contents, not_applicable }: HandedIn,
    ) -> Result<Answered, Refusal> {
        let review = &stored.review;
        match ticket.outcome(stored) {
            Outcome::Passed | Outcome::Overridden | Outcome::Skipped => {
                let feedback = feedback::passed(review, &not_applicable);
                let gate = Gate::Review { review: review.id.clone(), not_applicable };
                self.advance(work, contents, gate, feedback, Some(ticket)).await
            }
            Outcome::NeedsWork => {
                let round = review.round();
                let shown = |path: &str| self.shown(path);
                let failed = round.map(|round| answer::failed_reviews(review, round, work.step, &shown));
                let feedback = feedback::needs_work(review, work.step, &not_applicable);
                Ok(self.needs_work(work, feedback, failed.unwrap_or_default(), Some(ticket)))
            }
            Outcome::AwaitingPerson => {
                let file = self.write_instructions(work, stored).await?;
                let feedback = feedback::self_review(&file.display().to_string());
                Ok(self.needs_work(work, feedback, vec![], None))
            }
            Outcome::Stopped(Stop::Withdrawn) => Err(Refusal::NoVerdict(format!(
                "NO VERDICT: review {} was withdrawn in the meantime: call finished_step again, which begins a new one",
                review.id
            ))),
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
        HandedIn { contents, not_applicable }: HandedIn,
    ) -> Result<Answered, Refusal> {
        let latest = self.engine.ledger().latest_for(&prepared.request.subject).await?;
        let latest = latest.as_ref().map(|stored| &stored.review);
        refuse_stopped(latest, work.step)?;
        let open = latest.filter(|review| !matches!(review.standing(), Some(Outcome::Stopped(_))));
        let policy = open.map_or(&self.options.policy, |review| &review.policy);
        if policy.overrides != Overrides::Allow {
            return Err(Refusal::not_taken(feedback::overrides_not_allowed(latest)));
        }
        let by = Actor::new(AGENT, ActorKind::Agent, Channel::Mcp);
        let ticket = self.engine.submit_approved(prepared, by, &reason).await?;
        let stored = self.engine.get(&ticket.review).await?;
        // The decision may be about other work that was handed in just now.
        if !matches!(ticket.outcome(&stored), Outcome::Passed | Outcome::Overridden | Outcome::Skipped) {
            return Err(Refusal::not_taken("other files were submitted in the meantime: call again"));
        }
        let gate = Gate::Review { review: ticket.review.clone(), not_applicable };
        self.advance(work, contents, gate, Some(feedback::OVERRIDDEN.to_owned()), Some(ticket)).await
    }

    /// Records that a step has passed, unless that is recorded already, and answers with the next step.
    pub(super) async fn advance(
        &self,
        work: &Work<'_>,
        contents: Digest,
        gate: Gate,
        feedback: Option<String>,
        ticket: Option<Ticket>,
    ) -> Result<Answered, Refusal> {
        let (number, step) = (work.frame.number, work.step.id.as_str());
        let (session, _) = self
            .record(work.session_id, |session| {
                let call = (work.arguments.clone(), contents.clone());
                Ok(session.finish(number, step, work.outputs.clone(), call, gate.clone()))
            })
            .await?;
        let frame = session
            .frame(number)
            .ok_or_else(|| Refusal::not_taken("the workflow does not exist any more: call start_workflow"))?;
        if frame.aborted.is_some() || !frame.done.contains_key(step) {
            let words = "the workflow changed meanwhile: call go_to_step to see its current step";
            return Err(Refusal::not_taken(words));
        }
        let answer = answer::after(work.session_id, &session, frame, feedback, &|path| self.shown(path));
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
        let feedback = Some(feedback::again(&step));
        let answer = answer::after(&session_id, session, found, feedback, &|path| self.shown(path));
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

    /// A path of the project from the folder in which the paths of outputs begin.
    fn shown(&self, path: &str) -> String {
        let base = self.memory.library.base();
        let inside = base.strip_prefix(self.root.path()).unwrap_or(Path::new(""));
        match Path::new(path).strip_prefix(inside) {
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => "../".repeat(inside.components().count()) + path,
        }
    }

    fn request(&self, work: &Work<'_>) -> Request {
        let outputs = &work.step.outputs;
        let output = |output: &StepOutput| Output { name: output.name.clone(), kind: output.kind };
        // In the order of the job's file, not of the call.
        let files = outputs.iter().enumerate().flat_map(|(index, output)| {
            let files = work.outputs.get(&output.name).into_iter().flatten();
            files.map(move |file| (file.clone(), index))
        });
        Request {
            subject: subject(work.session_id, work.frame.number, &work.step.id),
            rules: work.step.rules(),
            policy: self.options.policy.clone(),
            outputs: outputs.iter().map(output).collect(),
            files: files.collect(),
            guidance_files: self.guidance_files(work),
            change: None,
            notes: work.notes.clone(),
            fresh: false,
        }
    }

    /// What the guidance of each review names.
    fn guidance_files(&self, work: &Work<'_>) -> Vec<(usize, String)> {
        let (root, base, job) = (&self.root, self.memory.library.base(), work.frame.job.dir.as_path());
        let finder = Finder { root, base, job };
        let of_review = |(rule, review): (usize, &StepReview)| {
            let files = review.guidance.as_deref().map(|text| finder.files(text)).unwrap_or_default();
            files.into_iter().map(move |file| (rule, file))
        };
        work.step.reviews.iter().enumerate().flat_map(of_review).collect()
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
        let folder = instructions::folder(&self.root, self.memory.library.base()).map_err(failed)?;
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
