//! The `countersign` command: shows what the engine does.

mod ask;
mod cli;
mod formats;
mod logging;
mod loopback;
#[cfg(test)]
mod made_up;
mod mcp;
mod output;
mod serve;
mod terminal;
mod tui;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The guard of an outside program is this binary again; it must stay small and start at once.
    if std::env::args_os().nth(1).is_some_and(|word| word == countersign_engine::process::GUARD_ARG) {
        return countersign_engine::process::guard_main();
    }
    cli::main()
}
