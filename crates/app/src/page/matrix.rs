//! The coverage of a round: every file beside every criterion.

use crate::answer::v1::{Assignment, AssignmentState};
use std::collections::{BTreeMap, HashMap};

/// What came of a criterion on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Cached,
    Passed,
    Open,
    NotSeen,
    NoVerdict,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// The file, or what was judged in words.
    pub name: String,
    /// One for each column; none where the criterion is not for this row.
    pub cells: Vec<Option<Cell>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Rule and criterion.
    pub columns: Vec<(String, String)>,
    pub rows: Vec<MatrixRow>,
    /// How many rows are left out, because everything in them passed.
    pub left_out: usize,
    /// How many cells have each state.
    pub counts: BTreeMap<Cell, usize>,
}

impl Matrix {
    /// The matrix with at most this many rows; those where something did not pass come first.
    pub fn of(assignments: &[Assignment], rows_max: usize) -> Self {
        let mut columns: Vec<(String, String)> = vec![];
        let mut places: HashMap<(String, String), usize> = HashMap::new();
        let mut found: Vec<(String, BTreeMap<usize, Cell>)> = vec![];
        let mut rows: HashMap<String, usize> = HashMap::new();
        for assignment in assignments {
            let planned = &assignment.planned;
            let rule = planned.rule.clone().unwrap_or_default();
            let names: Vec<String> = match planned.files.as_slice() {
                [only] => vec![only.path.clone()],
                _ => vec![planned.target.clone()],
            };
            for criterion in &planned.criteria {
                let key = (rule.clone(), criterion.clone());
                let column = *places.entry(key.clone()).or_insert_with(|| {
                    columns.push(key);
                    columns.len() - 1
                });
                for name in &names {
                    let row = *rows.entry(name.clone()).or_insert_with(|| {
                        found.push((name.clone(), BTreeMap::new()));
                        found.len() - 1
                    });
                    let cell = cell(assignment, criterion);
                    if let Some((_, cells)) = found.get_mut(row) {
                        cells.entry(column).and_modify(|known| *known = cell.max(*known)).or_insert(cell);
                    }
                }
            }
        }
        let mut counts = BTreeMap::new();
        found
            .iter()
            .flat_map(|(_, cells)| cells.values())
            .for_each(|cell| *counts.entry(*cell).or_insert(0) += 1);
        let passed = |cells: &BTreeMap<usize, Cell>| cells.values().all(|cell| *cell <= Cell::Passed);
        if found.len() > rows_max {
            found.sort_by_key(|(_, cells)| passed(cells));
        }
        let left_out = found.len().saturating_sub(rows_max);
        let width = columns.len();
        let rows = found.into_iter().take(rows_max).map(|(name, cells)| {
            let cells = (0..width).map(|column| cells.get(&column).copied()).collect();
            MatrixRow { name, cells }
        });
        Self { columns, rows: rows.collect(), left_out, counts }
    }
}

fn cell(assignment: &Assignment, criterion: &str) -> Cell {
    let ruling = assignment.rulings.iter().flatten().find(|ruling| ruling.criterion == criterion);
    match (assignment.state, ruling) {
        (AssignmentState::Open, _) => Cell::Open,
        (AssignmentState::NoVerdict, _) if assignment.why == Some("not_seen") => Cell::NotSeen,
        (AssignmentState::NoVerdict, _) => Cell::NoVerdict,
        (_, Some(ruling)) if !ruling.passed => Cell::Failed,
        (AssignmentState::Failed, None) => Cell::Failed,
        _ if assignment.reused => Cell::Cached,
        _ => Cell::Passed,
    }
}
