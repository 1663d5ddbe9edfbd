//! `notify --test`: a test message by every way that is switched on, with the results.

use super::message::Message;
use super::ways::{Sent, State, by};
use crate::Failure;
use crate::answer::v1::{Answer, Check, Checks};
use crate::doctor::answer;
use crate::project::Project;
use countersign_core::notify::Way;

/// Sends it now, also in quiet hours, without recording it.
pub async fn test(project: &Project) -> Result<Answer<Checks>, Failure> {
    let switches = &project.config.notify.switches;
    let on: Vec<Way> = Way::ALL.into_iter().filter(|way| switches.has(*way)).collect();
    let sent = by(&on, project, &Message::test(project)?).await;
    let line = |way: Way| match sent.iter().find(|(taken, _)| *taken == way) {
        Some((_, sent)) => line(way, sent),
        None => Check::ok(way.word(), "off"),
    };
    let mut lines: Vec<Check> = Way::ALL.into_iter().map(line).collect();
    if !switches.enabled {
        lines.push(Check::warn("notify", "all notifications are off (`notify.enabled`)"));
    }
    Ok(answer(lines))
}

fn line(way: Way, sent: &Sent) -> Check {
    match sent.state {
        State::Done if sent.why.is_empty() => Check::ok(way.word(), "told"),
        State::Done => Check::ok(way.word(), &sent.why),
        State::NotThere => Check::warn(way.word(), format!("not available: {}", sent.why)),
        State::Failed => Check::unavailable(way.word(), &sent.why).hint(hint(way)),
    }
}

fn hint(way: Way) -> &'static str {
    match way {
        Way::Desktop => "`notify.desktop: false` switches it off",
        Way::Bell => "`notify.bell: false` switches it off",
        Way::Sound => "`notify.sound_enabled: false` switches it off",
        Way::Webhook => "check `notify.webhook`, the network and the proxy",
        Way::Command => "check `notify.command`; it has 8 seconds and gets JSON on standard input",
    }
}
