//! `countersign notify --test`: sends a test message by every way that is switched on, and says what worked.

use super::doctor::answer;
use super::{Failure, Global};
use crate::output::Answer;
use clap::Args;
use countersign_app::notify::test;
use countersign_app::project::Project;

const NOTIFY_HELP: &str = "\
Examples:
  countersign notify --test    desktop, bell, sound, webhook and command, as `notify:` of countersign.yml has them

The test ignores quiet hours and the settings per event, and is not recorded.
Exit codes: 0 every available channel works, 4 a channel that is switched on does not.";

#[derive(Debug, Args)]
#[command(after_help = NOTIFY_HELP)]
pub struct NotifyOptions {
    /// Send a test message
    #[arg(long, required = true)]
    pub test: bool,
}

pub async fn run(global: &Global, _options: NotifyOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    Ok(answer(test(&project).await?))
}
