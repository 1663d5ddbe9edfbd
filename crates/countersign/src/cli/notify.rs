//! `countersign notify --test`: tells a test message by every way that is switched on, and says what worked.

use super::doctor::{Line, answer};
use super::{Failure, Global};
use crate::output::Answer;
use clap::Args;
use countersign_app::notify::{Came, Message, State, by};
use countersign_app::project::Project;
use countersign_core::notify::Way;

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
    let switches = &project.config.notify.switches;
    let on: Vec<Way> = Way::ALL.into_iter().filter(|way| switches.has(*way)).collect();
    let came = by(&on, &project, &Message::test(&project)?).await;
    let line = |way: Way| match came.iter().find(|(taken, _)| *taken == way) {
        Some((_, came)) => line(way, came),
        None => Line::ok(way.word(), "off"),
    };
    let mut lines: Vec<Line> = Way::ALL.into_iter().map(line).collect();
    if !switches.enabled {
        lines.push(Line::warn("notify", "everything is off (`notify.enabled`)"));
    }
    Ok(answer(&lines))
}

fn line(way: Way, came: &Came) -> Line {
    match came.state {
        State::Done if came.why.is_empty() => Line::ok(way.word(), "told"),
        State::Done => Line::ok(way.word(), &came.why),
        State::NotThere => Line::warn(way.word(), format!("not here: {}", came.why)),
        State::Failed => Line::unavailable(way.word(), &came.why).hint(hint(way)),
    }
}

fn hint(way: Way) -> &'static str {
    match way {
        Way::Desktop => "`notify.desktop: false` switches it off",
        Way::Bell => "`notify.bell: false` switches it off",
        Way::Sound => "`notify.sound_enabled: false` switches it off",
        Way::Webhook => "look at `notify.webhook`, the network and the proxy",
        Way::Command => "look at `notify.command`; it has 8 seconds and gets JSON on standard input",
    }
}
