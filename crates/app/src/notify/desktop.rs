//! A desktop notification, by the program of the system.

use super::message::Message;
use super::ways::{self, Sent};
use crate::init::agents::on_path;
use countersign_engine::process::{Call, GuardProgram};
use std::ffi::OsStr;
use std::path::Path;

const IS_MAC: bool = cfg!(target_os = "macos");
/// The texts are arguments, never part of the script.
const SCRIPT: [&str; 6] = [
    "-e",
    "on run texts",
    "-e",
    "display notification (item 2 of texts) with title (item 1 of texts)",
    "-e",
    "end run",
];

pub async fn show(guard: &GuardProgram, message: &Message) -> Sent {
    let (program, call) = match IS_MAC {
        true => ("osascript", mac(message)),
        false if !has_session() => return Sent::not_there("no desktop session"),
        false => ("notify-send", freedesktop(message)),
    };
    match on_path(program) {
        Some(found) => ways::run(guard, program, Call { program: found.into(), ..call }).await,
        None => Sent::not_there(format!("`{program}` is not installed")),
    }
}

/// Whether there is a screen and a session bus. Over SSH there often is only a bus.
fn has_session() -> bool {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let bus = || given("XDG_RUNTIME_DIR").is_some_and(|folder| Path::new(&folder).join("bus").exists());
    let screen = given("DISPLAY").or(given("WAYLAND_DISPLAY")).is_some();
    screen && (given("DBUS_SESSION_BUS_ADDRESS").is_some() || bus())
}

fn freedesktop(message: &Message) -> Call {
    let mut call = Call::new("notify-send");
    // A title is plain text; a body has markup and escapes.
    call.args = ["--app-name=countersign", "--", &message.title, &plain(&message.message)]
        .map(|word| OsStr::new(word).to_owned())
        .to_vec();
    call
}

fn mac(message: &Message) -> Call {
    let mut call = Call::new("osascript");
    let words = SCRIPT.into_iter().chain(["--", &message.title, &message.message]);
    call.args = words.map(Into::into).collect();
    call
}

/// A text as a body without markup and escapes.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\\', "\\\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_body_is_markup_or_an_escape() {
        assert_eq!(
            plain(r#"<a href="x">y</a> & \n <b>"#),
            r#"&lt;a href="x"&gt;y&lt;/a&gt; &amp; \\n &lt;b&gt;"#
        );
    }
}
