//! The cost of agents, and whether the budget allows another one.

use super::attempt::{Failure, Halt};
use super::run::RunError;
use super::state::ErrorCode;
use super::task::TaskRun;
use countersign_core::outcome::Outcome;
use countersign_engine::process::ProcessEnd;
use countersign_engine::worker::WorkResult;
use std::sync::atomic::Ordering;

const UNKNOWN_COST: u64 = u64::MAX;

impl TaskRun<'_> {
    /// Adds the cost of an agent. An unreported cost is not zero: with a budget, no agent begins after it.
    pub(super) fn add_cost(&mut self, worked: &WorkResult) {
        let usage = worked.usage.clone().unwrap_or_default();
        (self.checkpoint.tokens_in, self.checkpoint.tokens_out) = (usage.tokens_in, usage.tokens_out);
        let began = !matches!(worked.ended.how, ProcessEnd::NotStarted { .. });
        let add = |spent: u64| match usage.cost_microusd {
            Some(cost) => Some(spent.saturating_add(cost)),
            None => began.then_some(UNKNOWN_COST),
        };
        if let Some(cost) = usage.cost_microusd {
            self.checkpoint.cost_microusd =
                Some(self.checkpoint.cost_microusd.unwrap_or(0).saturating_add(cost));
        }
        // Fails where nothing was spent.
        let _ = self.spent_microusd.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    pub(super) async fn check_budget(&self) -> Result<(), Halt> {
        let (of_run, of_task) = (self.settings.budget_microusd, self.settings.task_budget_microusd);
        let spent = self.spent_microusd.load(Ordering::Relaxed);
        let words = if spent == UNKNOWN_COST && of_run.or(of_task).is_some() {
            "an agent did not report its cost, so the budget cannot be checked"
        } else if of_run.is_some_and(|most| spent >= most) {
            "the budget of the run is used up"
        } else if of_task.is_some() && of_task <= Some(self.spent_on_task().await?) {
            "the budget of the task is used up"
        } else {
            return Ok(());
        };
        Err(Failure::for_good(ErrorCode::BudgetExceeded, words, Outcome::BudgetReached).into())
    }

    async fn spent_on_task(&self) -> Result<u64, RunError> {
        let known = self.summaries().await?;
        let before = known.get(&self.task.id).and_then(|known| known.cost_usd).unwrap_or(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` stays within bounds"
        )]
        let before = (before * 1e6).round() as u64;
        Ok(before.saturating_add(self.checkpoint.cost_microusd.unwrap_or(0)))
    }
}
