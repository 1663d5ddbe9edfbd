//! What can be typed after `countersign watch`.

use clap::Args;

const WATCH_HELP: &str = "\
Examples:
  countersign watch                       a line for everything that happens from now on, in whichever process
  countersign watch --json --after 1042   an object a line, beginning after event 1042
  countersign watch --subject service/    the reviews of tasks only

It runs until it is stopped (exit code 0) or nobody reads what it prints. Where nothing was ever judged it waits.";

#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchOptions {
    /// Begin after the event with this id, instead of with what happens from now on
    #[arg(long, value_name = "ID")]
    pub after: Option<u64>,
    /// Only what is about this subject; with a `/` at its end, about all that begin like this
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
}
