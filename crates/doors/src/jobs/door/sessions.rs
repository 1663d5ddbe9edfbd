//! Finds the job and the session of a call, and records events in the session.

use super::*;

impl Jobs {
    pub(super) fn find(&self, job_name: &str, workflow_name: &str) -> Result<(Box<Job>, String), Refusal> {
        let listing = self.memory.library.look();
        let Some(job) = listing.jobs.iter().find(|job| job.name == job_name) else {
            let broken = listing.errors.iter().find(|error| error.job_name == job_name);
            let shown = hand_in::shown(job_name);
            let words = match broken {
                Some(broken) => format!("job '{shown}' cannot be read:\n{}", broken.problems),
                None if listing.jobs.is_empty() => {
                    format!("there is no job '{shown}': {}", feedback::no_jobs(&self.memory.library))
                }
                None => {
                    let known: Vec<_> = listing.jobs.iter().map(|job| job.name.as_str()).collect();
                    format!("there is no job '{shown}'; jobs: {}", listed(&known))
                }
            };
            return Err(Refusal::not_taken(words));
        };
        let lost = listing.errors.iter().find(|error| error.job_dir == job.dir);
        let named = job.workflows.iter().find(|workflow| workflow.name == workflow_name);
        let workflow = match (named, job.workflows.as_slice()) {
            (None, _) if lost.is_some_and(|lost| lost.workflows.iter().any(|name| name == workflow_name)) => {
                let why = lost.map(feedback::unreadable).unwrap_or_default();
                return Err(Refusal::not_taken(format!(
                    "this workflow of job '{job_name}' cannot be started:\n{why}"
                )));
            }
            // The only one there is, not the only one that is left.
            (None, [workflow]) if lost.is_none_or(|lost| lost.workflows.is_empty()) => workflow.name.clone(),
            (Some(workflow), _) => workflow.name.clone(),
            (None, several) => {
                let known: Vec<_> = several.iter().map(|workflow| workflow.name.as_str()).collect();
                return Err(Refusal::not_taken(format!(
                    "job '{job_name}' has no workflow '{}'; its workflows: {}",
                    hand_in::shown(workflow_name),
                    listed(&known)
                )));
            }
        };
        Ok((Box::new((**job).clone()), workflow))
    }

    /// The session of a call, and its state. Without an id it is the latest that `could` be.
    pub(super) async fn session(
        &self,
        given: Option<&str>,
        could: Could<'_>,
    ) -> Result<(String, Session), Refusal> {
        let id = match given {
            Some(given) => hand_in::id("session_id", given)?,
            None => self.meant(could).await?,
        };
        let session = fold(&self.engine.ledger().notes(&stream(&id)).await?)?;
        if session.n == 0 {
            let words = format!("there is no session '{id}': call start_workflow first");
            return Err(Refusal::not_taken(words));
        }
        Ok((id, session))
    }

    async fn meant(&self, could: Could<'_>) -> Result<String, Refusal> {
        let begun = if self.options.one_client { self.begun().clone() } else { vec![] };
        for id in begun.iter().rev() {
            if could(&fold(&self.engine.ledger().notes(&stream(id)).await?)?) {
                return Ok(id.clone());
            }
        }
        if let Some(latest) = begun.last() {
            return Ok(latest.clone());
        }
        let ledger = self.engine.ledger();
        let mut active = vec![];
        for stream in ledger.streams(STREAM, MAX_SESSIONS).await? {
            if fold(&ledger.notes(&stream).await?)?.is_active() {
                active.push(stream[STREAM.len()..].to_owned());
            }
        }
        match active.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(Refusal::not_taken("no workflow is under way: call start_workflow first")),
            several => Err(Refusal::not_taken(format!(
                "several sessions are under way: name one with session_id ({})",
                several.join(", ")
            ))),
        }
    }

    /// Appends the event that `decide` makes of the session, in one transaction.
    pub(super) async fn record(
        &self,
        session_id: &str,
        decide: impl Fn(&Session) -> Result<Option<Happened>, NotTaken>,
    ) -> Result<(Session, Option<Happened>), Refusal> {
        let stream = stream(session_id);
        let mut transaction = self.engine.ledger().transaction().await?;
        let mut session = fold(&transaction.notes(&stream).await?)?;
        let Some(event) = decide(&session)? else { return Ok((session, None)) };
        let body = serde_json::to_string(&event).map_err(|error| EngineError::Internal(error.to_string()))?;
        transaction.note(&stream, session.n, &[(event.kind(), body)], now_ms()).await?;
        transaction.commit().await?;
        session.apply(&event);
        Ok((session, Some(event)))
    }

    pub(super) fn remember(&self, session_id: &str) {
        let mut begun = self.begun();
        begun.retain(|known| known != session_id);
        begun.push(session_id.to_owned());
        let before = begun.len().saturating_sub(MAX_BEGUN);
        begun.drain(..before);
    }

    fn begun(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.memory.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
