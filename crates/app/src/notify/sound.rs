//! A sound by its name, through a player of the system, else the bell.

use super::bell;
use super::ways::{self, Sent, State};
use crate::init::agents::on_path;
use countersign_core::notify::is_sound_name;
use countersign_engine::process::{Call, GuardProgram};
use std::path::PathBuf;

const IS_MAC: bool = cfg!(target_os = "macos");
/// The first one that is installed is used. Each takes an absolute path.
const PLAYERS: &[&str] = if IS_MAC { &["afplay"] } else { &["pw-play", "paplay", "ogg123"] };
const SOUNDS: &str = if IS_MAC { "Sounds" } else { "sounds/freedesktop/stereo" };
const ENDINGS: &[&str] = if IS_MAC { &["aiff"] } else { &["oga", "ogg", "wav"] };

/// Plays a sound, else rings the bell, unless it rings anyway (`rings`).
pub async fn play(guard: &GuardProgram, name: &str, rings: bool) -> Sent {
    let why = match found(name) {
        Ok((player, file)) => {
            let mut call = Call::new(&player);
            call.args = vec![file.into()];
            let player = player.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let sent = ways::run(guard, &player, call).await;
            if sent.state == State::Done {
                return sent;
            }
            sent.why
        }
        Err(why) => why,
    };
    let bell = if rings { Sent::done() } else { bell::ring() };
    Sent { why: format!("the bell instead: {why}"), ..bell }
}

fn found(name: &str) -> Result<(PathBuf, PathBuf), String> {
    let file = is_sound_name(name).then(|| file(&folders(), name)).flatten();
    let file = file.ok_or_else(|| format!("the system has no sound `{name}`"))?;
    let player = PLAYERS
        .iter()
        .find_map(|name| on_path(name))
        .ok_or_else(|| format!("no player is installed ({})", PLAYERS.join(", ")))?;
    Ok((player, file))
}

fn file(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let of_folder = |folder: &PathBuf| {
        let file = |ending: &&str| folder.join(SOUNDS).join(format!("{name}.{ending}"));
        ENDINGS.iter().map(file).find(|file| file.is_file())
    };
    folders.iter().find_map(of_folder)
}

fn folders() -> Vec<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = given("HOME").map(PathBuf::from);
    let all: Vec<PathBuf> = if IS_MAC {
        let own = home.map(|home| home.join("Library"));
        own.into_iter().chain(["/Library".into(), "/System/Library".into()]).collect()
    } else {
        let own = given("XDG_DATA_HOME").map(PathBuf::from);
        let own = own.or_else(|| home.map(|home| home.join(".local/share")));
        let shared = given("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
        own.into_iter().chain(std::env::split_paths(&shared)).collect()
    };
    all.into_iter().filter(|folder| folder.is_absolute()).collect()
}
