//! `cargo xtask attack`: plays every attack against the gate and every honest flow, and prints a table
//! of what came of each.

use crate::agents;
use crate::cargo::{self, Workspace, cannot_start, succeeded};
use crate::failure::Failure;

/// A table that tests note row by row.
struct Table<const COLUMNS: usize> {
    /// How the tests begin a row of it.
    mark: &'static str,
    head: [&'static str; COLUMNS],
}

const ATTACKS: Table<4> =
    Table { mark: "attack | ", head: ["attack", "door", "outcome", "where it is visible"] };
const HONEST: Table<3> =
    Table { mark: "honest | ", head: ["honest flow", "questions to the person", "asked again"] };

pub fn run(workspace: &Workspace) -> Result<(), Failure> {
    let agents = agents::run(workspace)?;
    let title = "cargo test --locked --package countersign --tests -- attack_ honest_";
    let said = cargo::step(title, || {
        let mut command = workspace.cargo(["test", "--locked", "--package", "countersign", "--tests"]);
        command.args(["--no-fail-fast", "--", "--show-output", "attack_", "honest_"]);
        command.env(agents::FOLDER_VARIABLE, &agents);
        let ended = command.output().map_err(|error| cannot_start(title, &error))?;
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        if !ended.status.success() {
            print!("{said}{}", String::from_utf8_lossy(&ended.stderr));
        }
        succeeded(title, ended.status).map(|()| said)
    })?;
    let (attacks, flows) = (ATTACKS.rows(&said), HONEST.rows(&said));
    print!("\n{}\n{}", ATTACKS.text(&attacks), HONEST.text(&flows));
    println!("\n{} attacks and {} honest flows played", attacks.len(), flows.len());
    Ok(())
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// The rows that the tests noted, in order of their second and first columns.
    fn rows(&self, said: &str) -> Vec<Vec<String>> {
        let row = |line: &str| -> Option<Vec<String>> {
            let cells = line.strip_prefix(self.mark)?.splitn(COLUMNS, " | ");
            let cells: Vec<String> = cells.map(|cell| cell.trim().to_owned()).collect();
            (cells.len() == COLUMNS).then_some(cells)
        };
        let mut rows: Vec<_> = said.lines().filter_map(row).collect();
        rows.sort_by(|one, other| (&one[1], &one[0]).cmp(&(&other[1], &other[0])));
        rows.dedup();
        rows
    }

    fn text(&self, rows: &[Vec<String>]) -> String {
        let head = self.head.map(str::to_owned).to_vec();
        let all: Vec<&Vec<String>> = std::iter::once(&head).chain(rows).collect();
        let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
        let line = |row: &&Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        all.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_the_output_of_tests() {
        let said = "test x ... ok\nattack | b | run | refused | the message\nnoise\nattack | a | hook | no verdict | show\n\
                    attack | a | hook | no verdict | show\nattack | cut\n";
        let rows = ATTACKS.rows(said);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0][0], "a");
        let text = ATTACKS.text(&rows);
        assert_eq!(text.lines().nth(1), Some("a       hook  no verdict  show"));
    }
}
