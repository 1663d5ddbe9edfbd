//! Budgets: before a question is asked, the most it may cost is put aside. What does not fit waits for what is
//! out, and is not asked where nothing is out any more.

use super::drive::Question;
use super::verbs::step_on;
use super::{Engine, Result, Ticket};
use crate::fresh::now_ms;
use crate::ledger::{Report, Scope, Stored, Transaction};
use crate::programs::Usage;
use countersign_core::cost::{Budget, BudgetOf, Spending};
use countersign_core::digest::Key;
use countersign_core::ids::CallId;
use countersign_core::outcome::NoVerdict;
use countersign_core::prompt;
use countersign_core::review::Input;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A question, and the defect of the first reply where it is asked again.
pub(super) type Ask = (Question, Option<String>);

/// The most a question may cost, by key and by whether it is the second try. It is kept because finding out means to
/// write the prompt, and a held question is looked at after every answer.
pub(super) type Worst = HashMap<(Key, bool), Spending>;

fn today_ms() -> i64 {
    let now_ms = now_ms();
    now_ms - now_ms.rem_euclid(DAY_MS)
}

/// Questions that are due, sorted by whether the budgets cover them.
pub(super) struct Admitted {
    pub stored: Stored,
    pub asks: Vec<Ask>,
    /// Those that no budget covers now.
    pub held: Vec<(Question, NotCovered)>,
}

struct Account {
    budget: Budget,
    spent: Spending,
    of: BudgetOf,
}

pub(super) struct NotCovered {
    of: BudgetOf,
    words: String,
}

impl Account {
    fn allow(&self, worst: Spending) -> Result<(), NotCovered> {
        let of = self.of;
        let words = |why| format!("the budget of the {}: {why}", of.name());
        self.budget.allow(self.spent, worst).map_err(|why| NotCovered { of, words: words(why) })
    }
}

impl Engine {
    /// Records questions with the most each may cost, as far as the budgets allow, in one transaction: two processes must
    /// not spend the same money.
    pub(super) async fn admit(
        &self,
        ticket: &Ticket,
        stored: Stored,
        asks: Vec<Ask>,
        known: &mut Worst,
    ) -> Result<Admitted> {
        let mut worst = vec![];
        for (question, repair) in &asks {
            worst.push(match known.entry((question.key.clone(), repair.is_some())) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    *unknown.insert(self.worst(ticket, &stored, question, repair.as_deref()).await)
                }
            });
        }
        let mut transaction = self.0.ledger.transaction().await?;
        let mut draft = self.draft(&mut transaction, stored).await?;
        let review = draft.review();
        let scope = Scope::Review(&review.id, review.budget_from_round);
        let (spent, budget) = (transaction.spent(scope).await?, review.policy.budget);
        let today = transaction.spent(Scope::Since(today_ms())).await?;
        let mut accounts = [
            Account { budget, spent, of: BudgetOf::Review },
            Account { budget: self.0.planner.day_budget, spent: today, of: BudgetOf::Day },
        ];
        let (mut admitted, mut held, mut reserved) = (vec![], vec![], vec![]);
        for ((question, repair), worst) in asks.into_iter().zip(worst) {
            if let Err(not_covered) = accounts.iter().try_for_each(|account| account.allow(worst)) {
                held.push((question, not_covered));
                continue;
            }
            accounts.iter_mut().for_each(|account| account.spent = account.spent.and(worst));
            step_on(&mut draft, question.asking())?;
            reserved.push((question.call.clone(), worst));
            admitted.push((question, repair));
        }
        let stored = transaction.write(draft).await?;
        for (call, worst) in reserved {
            transaction.reserve(&call, worst).await?;
        }
        transaction.commit().await?;
        Ok(Admitted { stored, asks: admitted, held })
    }

    /// Why the budget of the day does not cover a question that belongs to no review.
    pub(super) async fn allowed_today(
        &self,
        transaction: &mut Transaction,
        worst: Spending,
    ) -> Result<Result<(), String>> {
        let budget = self.0.planner.day_budget;
        if budget.is_unlimited() {
            return Ok(Ok(()));
        }
        let spent = transaction.spent(Scope::Since(today_ms())).await?;
        let allowed = Account { budget, spent, of: BudgetOf::Day }.allow(worst);
        Ok(allowed.map_err(|not_covered| not_covered.words))
    }

    /// Records that these questions are not asked: no open question could leave room in the budget.
    pub(super) async fn refuse_held(
        &self,
        stored: Stored,
        held: Vec<(Question, NotCovered)>,
    ) -> Result<Stored> {
        let refused = |(question, NotCovered { of, words }): (Question, NotCovered)| {
            let Question { key, call, .. } = question;
            Input::AskFailed {
                call,
                key,
                why: NoVerdict::Budget,
                detail: format!("not asked: {words}"),
                fixed: None,
                not_put: false,
                budget: Some(of),
            }
        };
        self.feed(stored, held.into_iter().map(refused).collect()).await
    }

    /// Records that these questions were never asked, and cost nothing.
    pub(super) async fn release(&self, calls: Vec<CallId>) -> Result<()> {
        if calls.is_empty() {
            return Ok(());
        }
        let Usage { model, tokens_in, tokens_out, cost_microusd } = Usage::nothing();
        let nothing = Report { model, tokens_in, tokens_out, cost_microusd, reply: None };
        let mut transaction = self.0.ledger.transaction().await?;
        for call in calls {
            transaction.record_call(&call, &nothing).await?;
        }
        Ok(transaction.commit().await?)
    }

    async fn worst(
        &self,
        ticket: &Ticket,
        stored: &Stored,
        question: &Question,
        repair: Option<&str>,
    ) -> Spending {
        let planner = &self.0.planner;
        let assignment = stored.review.round().and_then(|round| round.assignments.get(question.assignment));
        let (Some(assignment), Some((panelist, _))) = (assignment, planner.panel.find(&question.reviewer))
        else {
            return Spending::default();
        };
        let Some(bytes) =
            planner.bytes(&stored.review.rules, assignment, &ticket.prepared, &question.reviewer).await
        else {
            // The files changed meanwhile, so no reviewer will be asked about them.
            return Spending::default();
        };
        let added = repair.map_or(0, |defect| prompt::repair_prompt("", defect).len() as u64);
        panelist.worst(bytes + added)
    }
}
