//! Insights: what questions cost, how reviews ended, and what waits.

use crate::Failure;
use crate::answer::v1::Costs;
use crate::costs::costs_of;
use countersign_core::outcome::Outcome;
use countersign_engine::ledger::Ledger;
use std::collections::BTreeMap;

/// The costs of a day, by reviewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The day in UTC, `YYYY-MM-DD`.
    pub day: String,
    /// Reviewer and micro-dollars, in the order of the reviewers.
    pub parts: Vec<(String, u64)>,
    pub questions: u64,
    /// How many questions have no known cost.
    pub unknown: u64,
}

/// How many reviews ended in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub words: String,
    pub count: u64,
}

#[derive(Clone, Debug)]
pub struct Insights {
    pub days: u32,
    pub costs: Costs,
    /// Oldest day first; days without questions are there too.
    pub bars: Vec<Bar>,
    pub reviewers: Vec<String>,
    /// How reviews ended, of all time, most first.
    pub ends: Vec<Share>,
    pub passed: u64,
    pub overridden: u64,
    pub settled: u64,
}

/// What happened in the last days; without a ledger nothing.
pub async fn insights(ledger: Option<&Ledger>, days: u32) -> Result<Insights, Failure> {
    let costs = costs_of(ledger, days).await?;
    let counts = match ledger {
        Some(ledger) => ledger.counts().await?,
        None => vec![],
    };
    let mut reviewers: Vec<String> = costs.rows.iter().filter_map(|row| row.reviewer.clone()).collect();
    reviewers.sort();
    reviewers.dedup();
    let (mut passed, mut overridden, mut settled) = (0, 0, 0);
    // Open and settled reviews may have the same outcome.
    let mut by_words: BTreeMap<String, u64> = BTreeMap::new();
    for count in &counts {
        let Some(standing) = count.standing else { continue };
        settled += count.reviews;
        match standing {
            Outcome::Passed => passed += count.reviews,
            Outcome::Overridden => overridden += count.reviews,
            _ => {}
        }
        *by_words.entry(standing.to_string()).or_default() += count.reviews;
    }
    let mut ends: Vec<Share> = by_words.into_iter().map(|(words, count)| Share { words, count }).collect();
    ends.sort_by_key(|share| std::cmp::Reverse(share.count));
    let bars = bars(&costs, &reviewers);
    Ok(Insights { days, costs, bars, reviewers, ends, passed, overridden, settled })
}

fn bars(costs: &Costs, reviewers: &[String]) -> Vec<Bar> {
    let mut found: BTreeMap<&str, Bar> = BTreeMap::new();
    for row in &costs.rows {
        let (Some(day), Some(reviewer)) = (row.day.as_deref(), row.reviewer.as_deref()) else { continue };
        let bar = found.entry(day).or_insert_with(|| Bar {
            day: day.to_owned(),
            parts: reviewers.iter().map(|name| (name.clone(), 0)).collect(),
            questions: 0,
            unknown: 0,
        });
        bar.questions += row.questions;
        bar.unknown += row.spent.unknown;
        if let Some((_, micro)) = bar.parts.iter_mut().find(|(name, _)| name == reviewer) {
            *micro = micro.saturating_add(row.spent.microusd.unwrap_or(0));
        }
    }
    found.into_values().collect()
}
