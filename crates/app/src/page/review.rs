//! A review: its verdict, its rounds, who ruled, what was covered, and its files with their findings.

use super::files::{FileView, PlacedFlaw, file_of, files, placed};
use super::matrix::Matrix;
use super::possible;
use crate::Failure;
use crate::answer::v1::{State, Verdict};
use crate::decide::Action;
use crate::gates;
use crate::project::Project;
use crate::server_state::ReviewState;
use crate::show::shown;
use crate::spent::Spent;
use countersign_core::judge::RoundEnd;
use countersign_core::outcome::Outcome;
use countersign_core::plan::CHECKS;
use countersign_core::review::Actor;
use countersign_engine::ledger::{Call, Ledger};
use std::collections::{BTreeMap, BTreeSet};

/// How many rows of the matrix are on a page.
const MATRIX_ROWS: usize = 100;

/// What of a review is wanted.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// A file to show whole.
    pub file: Option<String>,
    /// All rows of the matrix.
    pub all_rows: bool,
}

#[derive(Clone, Debug)]
pub struct RoundLine {
    pub n: u32,
    /// How it ended; none while it runs.
    pub end: Option<RoundEnd>,
    pub findings: usize,
    pub asked: usize,
    pub reused: usize,
    pub spent: Spent,
}

/// What a reviewer did in the last round.
#[derive(Clone, Debug, Default)]
pub struct Ruler {
    pub name: String,
    pub models: BTreeSet<String>,
    pub questions: usize,
    pub spent: Spent,
}

#[derive(Clone, Debug)]
pub struct ReviewView {
    pub state: State,
    pub standing: Option<Outcome>,
    pub verdict: Verdict,
    pub opened_ms: i64,
    pub changed_ms: i64,
    pub events: u64,
    pub rounds: Vec<RoundLine>,
    pub matrix: Matrix,
    pub files: Vec<FileView>,
    /// How many files of the round are not shown.
    pub other_files: usize,
    /// Findings that belong to none of the files that are shown.
    pub elsewhere: Vec<PlacedFlaw>,
    pub rulers: Vec<Ruler>,
    /// What a person can do now.
    pub actions: Vec<Action>,
    /// Why this person cannot decide here, in words; none if that is possible.
    pub refused: Option<String>,
}

pub async fn review(
    project: &Project,
    ledger: &Ledger,
    followed: &ReviewState,
    scope: &Scope,
    by: &Actor,
) -> Result<ReviewView, Failure> {
    let (stored, review) = (&followed.stored, &followed.stored.review);
    let mut verdict = shown(project, ledger, stored).await?.own;
    verdict.gates = gates::of(project, ledger, review)?;
    let calls = ledger.calls(&review.id).await?;
    let rounds = review.rounds.iter().map(|round| {
        let (asked, reused) = round.asked_and_reused();
        let findings = round.judgement.blocking.len();
        let spent = Spent::sum(calls.iter().filter(|call| call.round == round.n));
        RoundLine { n: round.n, end: round.end, findings, asked, reused, spent }
    });
    let (files, other_files) = files(project, ledger, stored, &verdict, scope.file.as_deref()).await?;
    let shown: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let is_elsewhere = |flaw: &PlacedFlaw| file_of(flaw).is_none_or(|path| !shown.contains(path));
    let elsewhere = placed(&verdict).into_iter().filter(is_elsewhere).collect();
    let rows = if scope.all_rows { usize::MAX } else { MATRIX_ROWS };
    Ok(ReviewView {
        state: followed.state,
        standing: review.standing(),
        opened_ms: stored.opened_ms,
        changed_ms: stored.changed_ms,
        events: stored.n,
        rounds: rounds.collect(),
        matrix: Matrix::of(&verdict.assignments, rows),
        files,
        other_files,
        elsewhere,
        rulers: rulers(&calls, review.round().map_or(0, |round| round.n)),
        actions: possible(review),
        refused: review.permits(by).err().map(|refused| refused.to_string()),
        verdict,
    })
}

fn rulers(calls: &[Call], round: u32) -> Vec<Ruler> {
    let mut found: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.round == round) {
        found.entry(&call.reviewer).or_default().push(call);
    }
    let ruler = |(name, calls): (&str, Vec<&Call>)| Ruler {
        name: name.to_owned(),
        models: calls.iter().filter_map(|call| call.report.model.clone()).collect(),
        questions: calls.len(),
        spent: if name == CHECKS { Spent::default() } else { Spent::sum(calls.into_iter()) },
    };
    found.into_iter().map(ruler).collect()
}
