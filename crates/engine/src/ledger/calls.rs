//! Calls: one row per question to a reviewer, with its state, its reply and what it cost.

use super::store::Session;
use super::{LedgerError, Result};
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::plan::CHECKS;
use countersign_core::review::{By, Event, Review};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Longer replies are cut.
pub const MAX_REPLY_BYTES: usize = 64 * 1024;

/// What a reviewer reported about a call. Redact the reply before it comes here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub model: Option<String>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost_microusd: Option<u64>,
    /// The reply; cut at [`MAX_REPLY_BYTES`].
    pub reply: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// No answer yet; after a crash also: never.
    Asked,
    Answered,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub id: CallId,
    pub round: u32,
    pub assignment: Option<u32>,
    pub reviewer: String,
    pub state: CallState,
    pub report: Report,
}

/// A call with everything that its row has.
#[derive(Clone)]
pub(super) struct CallRow {
    pub call: Call,
    /// The review it belongs to, or the stream of a door.
    pub stream: String,
    pub asked_ms: i64,
    pub reserved: Spending,
}

pub(super) struct StartedCall<'a> {
    pub id: &'a CallId,
    /// The review it belongs to, or the stream of a door.
    pub stream: &'a str,
    pub round: u32,
    pub assignment: Option<u32>,
    pub reviewer: &'a str,
    pub asked_ms: i64,
}

/// Writes the calls of new events: a question begins a call, an answer or a failure ends it.
pub(super) async fn follow(
    session: &mut Session,
    review: &Review,
    events: &[Event],
    at_ms: i64,
) -> Result<()> {
    let begun = |event| match event {
        &Event::Asked { round, ref call, ref key, ref reviewer, .. } => {
            let round_asked = review.rounds.iter().find(|known| known.n == round);
            let asks = round_asked.and_then(|round| round.asking(key).next());
            let assignment = asks.and_then(|(index, _)| u32::try_from(index).ok());
            let stream = review.id.as_str();
            Some(StartedCall { id: call, stream, round, assignment, reviewer, asked_ms: at_ms })
        }
        _ => None,
    };
    // All at once: a round asks everything at once, and the first answer waits for this.
    let begun: Vec<_> = events.iter().filter_map(begun).collect();
    session.begin_calls(&begun).await?;
    for event in events {
        let (call, state) = match event {
            Event::Answered { by: By::Call { call, .. }, .. } => (call, CallState::Answered),
            Event::AskFailed { call, .. } => (call, CallState::Failed),
            _ => continue,
        };
        session.set_call(call, state).await?;
    }
    Ok(())
}

pub(super) async fn report(session: &mut Session, call: &CallId, report: &Report) -> Result<()> {
    let report = Report {
        model: report.model.clone(),
        tokens_in: report.tokens_in.map(kept),
        tokens_out: report.tokens_out.map(kept),
        cost_microusd: report.cost_microusd.map(kept),
        reply: report.reply.as_deref().map(cut).map(str::to_owned),
    };
    match session.report(call, &report).await? {
        false => Err(LedgerError::Missing(format!("call {call}"))),
        true => Ok(()),
    }
}

/// A count as databases keep it: a reported number that became negative would give back what others have spent.
pub(super) fn kept(count: u64) -> u64 {
    count.min(i64::MAX.cast_unsigned())
}

/// Which questions are added up.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// Those of a review, from a round on.
    Review(&'a ReviewId, u32),
    /// Those asked at this time or later.
    Since(i64),
}

/// What the questions to one reviewer and model cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The day they were asked on, in UTC, as `YYYY-MM-DD`.
    pub day: String,
    pub reviewer: String,
    pub model: Option<String>,
    pub questions: u64,
    /// Tokens of questions that said so.
    pub tokens_in: u64,
    /// Tokens of replies that said so.
    pub tokens_out: u64,
    /// How many did not say how many tokens they needed.
    pub tokens_unknown: u64,
    /// What those cost that said so.
    pub microusd: u64,
    /// How many did not say what they cost.
    pub cost_unknown: u64,
}

/// What questions cost, by day, reviewer and model. Our own checks are not asked and cost nothing.
pub(super) async fn costs(session: &mut Session, since_ms: i64) -> Result<Vec<Cost>> {
    let mut by_day: BTreeMap<(i64, String, Option<String>), Cost> = BTreeMap::new();
    let calls = session.asked_since(since_ms).await?;
    for (asked_ms, Call { reviewer, report, .. }) in
        calls.into_iter().filter(|(_, call)| call.reviewer != CHECKS)
    {
        let cost = by_day.entry((asked_ms / DAY_MS, reviewer, report.model)).or_default();
        cost.questions += 1;
        cost.tokens_in = sum(cost.tokens_in, report.tokens_in);
        cost.tokens_out = sum(cost.tokens_out, report.tokens_out);
        cost.tokens_unknown += u64::from(report.tokens_in.is_none() || report.tokens_out.is_none());
        cost.microusd = sum(cost.microusd, report.cost_microusd);
        cost.cost_unknown += u64::from(report.cost_microusd.is_none());
    }
    let named = |((day, reviewer, model), cost)| Cost { day: date(day), reviewer, model, ..cost };
    let mut all: Vec<Cost> = by_day.into_iter().map(named).collect();
    // The newest day first, then the dearest; what is left is sorted by name already.
    all.sort_by_key(|cost| Reverse((cost.day.clone(), cost.microusd, cost.tokens_in)));
    Ok(all)
}

/// A sum that every reader of the JSON can hold; what is unknown adds nothing.
fn sum(sum: u64, more: Option<u64>) -> u64 {
    sum.saturating_add(more.unwrap_or(0)).min(i64::MAX.cast_unsigned())
}

/// A day since 1970, as `YYYY-MM-DD`.
pub(super) fn date(day: i64) -> String {
    // Counted from March of the year 0 in spans of 400 years, so that the day a leap year adds is the last one.
    let (span, of_span) = ((day + 719_468).div_euclid(146_097), (day + 719_468).rem_euclid(146_097));
    let year = (of_span - of_span / 1_460 + of_span / 36_524 - of_span / 146_096) / 365;
    let of_year = of_span - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", span * 400 + year + next)
}

fn cut(reply: &str) -> &str {
    &reply[..reply.floor_char_boundary(MAX_REPLY_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_a_date() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_088, "2024-12-31"),
            (20_089, "2025-01-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), expected);
        }
    }
}
