//! The `countersign` command: shows what the engine does.

mod ask;
mod author;
mod change;
mod cli;
mod feed;
mod given;
mod handing_in;
mod loopback;
mod mcp;
mod notify;
mod output;
mod panel;
mod project;
mod resident;
mod run_project;
mod serve;
mod terminal;
mod tui;
mod wanted;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The guard of an outside program is this binary again; it must stay small and start at once.
    if std::env::args_os().nth(1).is_some_and(|word| word == countersign_engine::process::GUARD_ARG) {
        return countersign_engine::process::guard_main();
    }
    cli::main()
}
