//! Which rows of the table a text needs, and their expressions, each compiled when first needed: compiling all takes
//! milliseconds and megabytes, and most texts need none.

use super::table::{self, TABLE};
use super::{Problem, compile};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::Regex;
use std::sync::{LazyLock, OnceLock};

const ROWS: usize = TABLE.len();

/// The rows that may find something in a text, in order.
pub(super) fn needed(text: &str) -> Vec<usize> {
    let Some((searcher, rows)) = &*HINTS else { return (0..ROWS).collect() };
    let mut is_due = [false; ROWS];
    let mut left = ROWS;
    for hint in searcher.find_overlapping_iter(text) {
        for row in &rows[hint.pattern().as_usize()] {
            left -= usize::from(!std::mem::replace(&mut is_due[*row], true));
        }
        if left == 0 {
            break;
        }
    }
    (0..ROWS).filter(|row| is_due[*row]).collect()
}

/// Every hint once, and the rows it is of. None where they cannot be searched for, and then every row is due.
static HINTS: LazyLock<Option<(AhoCorasick, Vec<Vec<usize>>)>> = LazyLock::new(|| {
    let (mut hints, mut rows): (Vec<&str>, Vec<Vec<usize>>) = (vec![], vec![]);
    for (row, hint) in
        TABLE.iter().enumerate().flat_map(|(row, of)| of.hints.iter().map(move |hint| (row, hint)))
    {
        match hints.iter().position(|known| known == hint) {
            Some(known) => rows[known].push(row),
            None => {
                hints.push(hint);
                rows.push(vec![row]);
            }
        }
    }
    let searcher = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(hints).ok()?;
    Some((searcher, rows))
});

pub(super) fn regex(row: usize) -> Result<&'static Regex, Problem> {
    static MADE: [OnceLock<Result<Regex, Problem>>; ROWS] = [const { OnceLock::new() }; ROWS];
    let made = MADE[row].get_or_init(|| compile(&table::expanded(TABLE[row].expression)));
    made.as_ref().map_err(Clone::clone)
}
