//! `countersign notify --test`: tells a test message by every way that is switched on, and says what worked.

use super::doctor::answer;
use super::{Failure, Global};
use crate::output::Answer;
use clap::Args;
use countersign_app::notify::test;
use countersign_app::project::Project;

const NOTIFY_HELP: &str = "\
Examples:
  countersign notify --test    desktop, bell, sound, webhook and command, as `notify:` of countersign.yml has them

Quiet hours and switches of events do not matter to a test, and it is not recorded.
Exit codes: 0 whatever is there works, 4 a way that is switched on does not.";

#[derive(Debug, Args)]
#[command(after_help = NOTIFY_HELP)]
pub struct NotifyOptions {
    /// Tell a test message
    #[arg(long, required = true)]
    pub test: bool,
}

/// Tells it now, whatever the hour; nothing is put on record.
pub async fn run(global: &Global, _options: NotifyOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    Ok(answer(test(&project).await?))
}
