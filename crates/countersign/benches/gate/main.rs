//! What the gate itself costs: start-up, planning, one question, looking at a large ledger.
//!
//! Everything is measured on the binary that gets installed, as its users start it, in projects of its own below the
//! temporary folder. Nothing here asserts a time: a slow machine is no defect. `docs/benchmarks.md` has the
//! figures of one machine and says what is not measured.

mod client;
mod figures;
mod hook;
mod measure;
mod project;
mod runs;
mod table;

use figures::Sizes;
use std::process::ExitCode;
use table::Table;

const HELP: &str = "\
Measures what the gate itself costs and prints a table.

Usage: cargo xtask bench [--quick]

Options:
  --quick    Smaller projects and a smaller ledger: seconds instead of minutes.
  --help     Print this help (cargo xtask bench -- --help).
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    let unknown = words.iter().find(|word| !["--bench", "--quick", "--help"].contains(&word.as_str()));
    if let Some(word) = unknown {
        eprintln!("unknown option `{word}`, expected --quick");
        return ExitCode::from(2);
    }
    // Without cargo's own mark somebody runs all targets as tests; a benchmark is none.
    if has("--help") || !has("--bench") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let sizes = if has("--quick") { Sizes::QUICK } else { Sizes::FULL };
    match measure_all(sizes) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(sizes: Sizes) -> anyhow::Result<Table> {
    let mut table = Table::default();
    figures::start_up(&sizes, &mut table)?;
    figures::server(&sizes, &mut table)?;
    figures::workflows(&sizes, &mut table)?;
    for assignments in sizes.replayed {
        figures::many_files(assignments, &mut table)?;
    }
    figures::command(&sizes, &mut table)?;
    figures::service(&mut table)?;
    figures::large_ledger(&sizes, &mut table)?;
    figures::items(&sizes, &mut table)?;
    runs::tasks(&sizes, &mut table)?;
    runs::status(&sizes, &mut table)?;
    for files in sizes.hooked {
        hook::unchanged(files, &sizes, &mut table)?;
    }
    Ok(table)
}
