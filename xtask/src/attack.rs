//! `cargo xtask attack`: plays every attack against the gate, and prints a table of what came of each.

use crate::cargo::{self, Workspace, cannot_start, succeeded};
use crate::failure::Failure;

/// How the tests begin a row of the table.
const MARK: &str = "attack | ";
const HEAD: [&str; 4] = ["attack", "door", "outcome", "where it is visible"];

pub fn run(workspace: &Workspace) -> Result<(), Failure> {
    let title = "cargo test --locked --package countersign --test attacks";
    let said = cargo::step(title, || {
        let mut command = workspace.cargo(["test", "--locked", "--package", "countersign"]);
        command.args(["--test", "attacks", "--", "--show-output"]);
        let ended = command.output().map_err(|error| cannot_start(title, &error))?;
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        if !ended.status.success() {
            print!("{said}{}", String::from_utf8_lossy(&ended.stderr));
        }
        succeeded(title, ended.status).map(|()| said)
    })?;
    let rows = rows(&said);
    print!("\n{}", table(&rows));
    println!("\n{} attacks played", rows.len());
    Ok(())
}

/// The rows that the tests noted, in order of their doors and names.
fn rows(said: &str) -> Vec<[String; 4]> {
    let row = |line: &str| -> Option<[String; 4]> {
        let mut cells = line.strip_prefix(MARK)?.splitn(4, " | ").map(|cell| cell.trim().to_owned());
        Some([cells.next()?, cells.next()?, cells.next()?, cells.next()?])
    };
    let mut rows: Vec<_> = said.lines().filter_map(row).collect();
    rows.sort_by(|one, other| (&one[1], &one[0]).cmp(&(&other[1], &other[0])));
    rows.dedup();
    rows
}

fn table(rows: &[[String; 4]]) -> String {
    let head = HEAD.map(str::to_owned);
    let all = || std::iter::once(&head).chain(rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let line = |row: &[String; 4]| {
        let [attack, door, outcome, visible] = row;
        let [a, d, o] = widths;
        format!("{attack:a$}  {door:d$}  {outcome:o$}  {visible}\n")
    };
    all().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_the_output_of_tests() {
        let said = "test x ... ok\nattack | b | run | refused | the message\nnoise\nattack | a | hook | no verdict | show\n\
                    attack | a | hook | no verdict | show\nattack | cut\n";
        let rows = rows(said);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0][0], "a");
        let text = table(&rows);
        assert_eq!(text.lines().nth(1), Some("a       hook  no verdict  show"));
    }
}
