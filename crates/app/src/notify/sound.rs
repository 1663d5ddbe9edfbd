//! A sound by its name, through a player of the system. What cannot be played is the bell.

use super::{Came, State, bell, ways};
use countersign_core::notify::is_sound_name;
use countersign_engine::installed;
use countersign_engine::process::{Call, GuardProgram};
use std::path::{Path, PathBuf};

const IS_MAC: bool = cfg!(target_os = "macos");
/// Players, the first that is installed is taken. Each takes the path of a file, which begins with `/`.
const PLAYERS: &[&str] = if IS_MAC { &["afplay"] } else { &["pw-play", "paplay", "ogg123"] };
/// Where the sounds of a folder are, and how their files end.
const SOUNDS: &str = if IS_MAC { "Sounds" } else { "sounds/freedesktop/stereo" };
const ENDINGS: &[&str] = if IS_MAC { &["aiff"] } else { &["oga", "ogg", "wav"] };

/// Plays a sound; otherwise the bell rings, unless it rings anyway.
pub async fn play(guard: &GuardProgram, name: &str, rings: bool) -> Came {
    let why = match found(name) {
        Ok((player, file)) => {
            let mut call = Call::new(&player);
            call.args = vec![file.into()];
            let player = player.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let came = ways::run(guard, &player, call).await;
            if came.state == State::Done {
                return came;
            }
            came.why
        }
        Err(why) => why,
    };
    let bell = if rings { Came::done() } else { bell::ring() };
    Came { why: format!("the bell instead: {why}"), ..bell }
}

/// The player and the file, or why there is none.
fn found(name: &str) -> Result<(PathBuf, PathBuf), String> {
    let file = is_sound_name(name).then(|| file(&folders(), name)).flatten();
    let file = file.ok_or_else(|| format!("the system has no sound `{name}`"))?;
    let path = std::env::var_os("PATH");
    let player = |name: &&str| installed::find(name, Path::new("/"), path.as_deref());
    let player = PLAYERS
        .iter()
        .find_map(player)
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

/// The folders of the user and the system that have sounds.
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
