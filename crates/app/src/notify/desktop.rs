//! A message of the desktop, by the program the system has for it.

use super::message::Message;
use super::{Came, ways};
use countersign_engine::installed;
use countersign_engine::process::{Call, GuardProgram};
use std::ffi::OsStr;
use std::path::Path;

const IS_MAC: bool = cfg!(target_os = "macos");
/// Arguments are values there, never part of the script.
const SCRIPT: [&str; 6] = [
    "-e",
    "on run texts",
    "-e",
    "display notification (item 2 of texts) with title (item 1 of texts)",
    "-e",
    "end run",
];

/// Shows a message, where there is a desktop.
pub async fn show(guard: &GuardProgram, message: &Message) -> Came {
    let (program, call) = match IS_MAC {
        true => ("osascript", mac(message)),
        false if !has_session() => return Came::not_there("no desktop session"),
        false => ("notify-send", freedesktop(message)),
    };
    let path = std::env::var_os("PATH");
    match installed::find(program, Path::new("/"), path.as_deref()) {
        Some(found) => ways::run(guard, program, Call { program: found.into(), ..call }).await,
        None => Came::not_there(format!("`{program}` is not installed")),
    }
}

/// Whether there is a desktop: a screen, and a bus to reach it by. Over SSH there often is a bus alone.
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

/// A text as a body in which nothing is markup and nothing an escape.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' => out.push_str("\\\\"),
            other => out.push(other),
        }
    }
    out
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
