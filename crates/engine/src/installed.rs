//! Which programs are installed, and which of them are trusted by their place. Programs are never started here.

use countersign_core::digest::Digest;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Folders whose programs are trusted without a person's word: the system's own.
pub const TRUSTED_FOLDERS: [&str; 6] = ["/usr", "/bin", "/sbin", "/opt", "/nix/store", "/run/current-system"];
/// Where a program is looked for beside the `PATH`, which may have been changed.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin";
const FIRST_LINE_BYTES: u64 = 256;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Where a program is: a path with a `/` from `base`, a bare name on the `PATH`.
pub fn find(program: &str, base: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    all(program, base, path).into_iter().next()
}

/// Every place where a program is, the first one on the `PATH` first.
fn all(program: &str, base: &Path, path: Option<&OsStr>) -> Vec<PathBuf> {
    if program.contains('/') {
        return Some(join(base, program)).filter(|file| is_executable(file)).into_iter().collect();
    }
    let folders = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    let files = folders.into_iter().map(|folder| base.join(folder).join(program));
    files.filter(|file| is_executable(file)).collect()
}

/// A path below another, without the `./` people write in front of programs.
pub fn join(base: &Path, path: &str) -> PathBuf {
    base.join(path).components().collect()
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The interpreter in the first line of a script; with `env` the program that `env` looks for.
pub fn interpreter(script: &Path) -> Option<OsString> {
    let mut line = vec![];
    std::fs::File::open(script).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let program = words.next()?;
    let by_env = program.ends_with(b"/env");
    let named = |word: &&[u8]| !word.starts_with(b"-") && !word.contains(&b'=');
    let program = if by_env { words.find(named)? } else { program };
    Some(OsStr::from_bytes(program).to_owned())
}

/// The digest of a file's bytes; none for what is no regular file, as a device or a pipe may never end, and for a longer
/// one.
pub fn digest_of(path: &Path, max_bytes: u64) -> Option<Digest> {
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= max_bytes) {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path).ok()?).ok()?;
    Some(Digest::from_hash(hasher.finalize()))
}

/// The places whose programs may judge: outside of the judged work, not writable by other accounts, and below a folder of
/// the system or one that a person recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedPlaces {
    judged: PathBuf,
    recorded: Vec<PathBuf>,
    /// Folders in which it does not count who may write.
    shared: Vec<PathBuf>,
}

impl TrustedPlaces {
    /// The places for work in `judged`, with the folders that a person recorded.
    pub fn new(judged: &Path, recorded: impl IntoIterator<Item = PathBuf>) -> Self {
        let recorded = recorded.into_iter().map(real).collect();
        Self { judged: real(judged.to_owned()), recorded, shared: vec![] }
    }

    /// The same where the environment is trusted, as in a job of CI: its folders may be open to all accounts.
    pub fn shared(self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { shared: folders.into_iter().map(real).collect(), ..self }
    }

    /// The folder with the work that is judged.
    pub fn judged(&self) -> &Path {
        &self.judged
    }

    /// Why a program is not trusted; none where it is. Both count: the place where it was found, and the file that a link
    /// there leads to.
    pub fn problem(&self, program: &Path) -> Option<String> {
        let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else {
            return Some("it has no folder".to_owned());
        };
        let (Ok(folder), Ok(file)) = (folder.canonicalize(), program.canonicalize()) else {
            return Some("it cannot be found".to_owned());
        };
        let found = folder.join(name);
        let of_target = || {
            let problem = self.problem_of(&file)?;
            Some(format!("it is a link to `{}`: {problem}", file.display()))
        };
        self.problem_of(&found).or_else(of_target)
    }

    fn problem_of(&self, file: &Path) -> Option<String> {
        if file.starts_with(&self.judged) {
            return Some("it lies in the project that is judged".to_owned());
        }
        let trusted = TRUSTED_FOLDERS.iter().map(Path::new).chain(self.recorded.iter().map(PathBuf::as_path));
        if !trusted.into_iter().any(|folder| file.starts_with(folder)) {
            return Some("its folder is not one of the trusted ones".to_owned());
        }
        if self.shared.iter().any(|folder| file.starts_with(folder)) {
            return None;
        }
        let others = [Some(file), file.parent()].into_iter().flatten().find(|path| {
            // A link has no permissions of its own; the file it leads to is looked at too.
            std::fs::metadata(path).is_ok_and(|found| is_writable_by_others(&found))
        });
        others.map(|path| format!("other accounts may write `{}`", path.display()))
    }

    /// The first trusted place of a program, and the earlier ones that are not trusted, each with the reason.
    pub fn find(
        &self,
        program: &str,
        base: &Path,
        path: Option<&OsStr>,
    ) -> (Option<PathBuf>, Vec<(PathBuf, String)>) {
        let mut refused = vec![];
        for file in all(program, base, path).into_iter().chain(all(program, base, Some(OsStr::new(USUAL)))) {
            match self.problem(&file) {
                None => return (Some(file), refused),
                Some(problem) if !refused.iter().any(|(known, _)| *known == file) => {
                    refused.push((file, problem));
                }
                Some(_) => {}
            }
        }
        (None, refused)
    }

    /// Whether a folder is not there, and would be in a trusted one: whoever makes it could as well write into that one.
    fn is_missing_below_trusted(&self, folder: &Path) -> bool {
        let is_missing = |path: &&Path| path.symlink_metadata().is_err();
        let has_parent = folder.components().any(|part| part == std::path::Component::ParentDir);
        let there = folder.ancestors().find(|path| !is_missing(path));
        is_missing(&folder)
            && !has_parent
            && there.is_some_and(|there| self.problem(&there.join(".")).is_none())
    }

    /// The folders of a `PATH` that are trusted themselves: what scripts call by name is found there or nowhere.
    pub fn path(&self, path: Option<&OsStr>) -> OsString {
        let given = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
        let mut folders: Vec<PathBuf> = vec![];
        for folder in given.into_iter().chain(std::env::split_paths(USUAL)) {
            let is_trusted = folder.is_absolute()
                && (self.problem(&folder.join(".")).is_none() || self.is_missing_below_trusted(&folder));
            if is_trusted && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        std::env::join_paths(folders).unwrap_or_default()
    }
}

fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

/// Whether another account than ours and root may write it. Group-writable folders of the system and of our own group
/// are how some systems are installed.
fn is_writable_by_others(found: &Metadata) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let foreign_owner = found.uid() != 0 && found.uid() != own;
    let mode = found.permissions().mode();
    if found.is_dir() && mode & STICKY != 0 && !foreign_owner {
        // Like the folder for temporary files: others cannot replace what is not theirs.
        return false;
    }
    let group = mode & WRITABLE_BY_GROUP != 0
        && found.uid() != 0
        && found.gid() != rustix::process::getegid().as_raw();
    foreign_owner || mode & WRITABLE_BY_ALL != 0 || group
}

/// The folder to record for a program outside of the system's folders, wide enough that an update of the program stays
/// inside: a version manager's or package manager's folder in the home, else the folder of the program.
pub fn folder_to_record(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let folder = program.parent()?;
    let home = home.filter(|home| home.is_absolute() && *home != Path::new("/"));
    if Some(folder) == home {
        // Not the whole home.
        return Some(program.to_owned());
    }
    let Some(below) = home.and_then(|home| folder.strip_prefix(home).ok()) else {
        return Some(folder.to_owned());
    };
    let parts: Vec<_> = below.components().collect();
    let name = |n: usize| parts.get(n).map(|part| part.as_os_str().to_string_lossy().into_owned());
    // `~/.local/share/mise`, `~/.local/share/claude`, but `~/.local/bin`.
    let depth = match (name(0).as_deref(), name(1).as_deref()) {
        (Some(".local"), Some("share" | "lib")) => 3,
        (Some(".local" | ".claude" | ".config" | ".cache"), _) => 2,
        (Some(hidden), _) if hidden.starts_with('.') => 1,
        _ => parts.len(),
    };
    home.map(|home| parts.iter().take(depth).fold(home.to_owned(), |path, part| path.join(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(file: &Path, mode: u32) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "x").unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn attack_17_programs_are_trusted_by_their_place() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let (judged, tools, other) = (outer.join("project"), outer.join("tools"), outer.join("other"));
        for folder in [&judged, &tools, &other] {
            executable(&folder.join("judge"), 0o755);
        }
        executable(&tools.join("open"), 0o777);
        std::os::unix::fs::symlink(other.join("judge"), tools.join("leads-out")).unwrap();
        std::os::unix::fs::symlink(tools.join("judge"), other.join("leads-in")).unwrap();
        std::os::unix::fs::symlink(judged.join("judge"), tools.join("leads-to-work")).unwrap();
        let places = TrustedPlaces::new(&judged, [tools.clone()]);
        for (file, trusted) in [
            (tools.join("judge"), true),
            (PathBuf::from("/usr/bin/env"), true),
            (PathBuf::from("/bin/sh"), true),
            (tools.join("open"), false),
            (tools.join("leads-out"), false),
            (tools.join("leads-to-work"), false),
            (other.join("leads-in"), false),
            (other.join("judge"), false),
            (judged.join("judge"), false),
            (tools.join("missing"), false),
        ] {
            assert_eq!(places.problem(&file).is_none(), trusted, "{}", file.display());
        }
        let problem = places.problem(&tools.join("leads-out")).unwrap();
        assert!(problem.contains(&other.join("judge").display().to_string()), "{problem}");
        // A recorded folder does not make the work inside it trusted.
        // In a job of CI tools may be open to all accounts; the work itself is never trusted.
        let job = TrustedPlaces::new(&judged, [tools.clone()]).shared([tools.clone(), judged.clone()]);
        assert_eq!(job.problem(&tools.join("open")), None);
        assert!(job.problem(&judged.join("judge")).is_some());
        let wide = TrustedPlaces::new(&judged, [outer.clone()]);
        assert!(wide.problem(&judged.join("judge")).is_some());
        assert!(wide.problem(&other.join("judge")).is_none());
    }

    #[test]
    fn attack_17_a_changed_path_finds_no_other_program() {
        let outer = tempfile::tempdir().unwrap();
        let fake = outer.path().join("fake");
        executable(&fake.join("env"), 0o755);
        let places = TrustedPlaces::new(&outer.path().join("project"), []);
        for path in
            [fake.as_os_str().to_owned(), std::env::join_paths([&fake, Path::new("/usr/bin")]).unwrap()]
        {
            let (found, refused) = places.find("env", Path::new("/"), Some(&path));
            assert!(found.is_some_and(|found| found.starts_with("/usr") || found.starts_with("/bin")));
            assert_eq!(refused.len(), 1, "{refused:?}");
            let folders: Vec<_> = std::env::split_paths(&places.path(Some(&path))).collect();
            assert!(!folders.contains(&fake), "{folders:?}");
        }
        assert_eq!(places.find("no-such-program", Path::new("/"), None).0, None);
    }

    #[test]
    fn an_update_of_a_program_stays_in_the_recorded_folder() {
        let home = Some(Path::new("/home/ann"));
        for (program, folder) in [
            ("/home/ann/.npm-global/bin/claude", "/home/ann/.npm-global"),
            ("/home/ann/.npm-global/lib/node_modules/x/cli.js", "/home/ann/.npm-global"),
            ("/home/ann/.nvm/versions/node/v22.1.0/bin/node", "/home/ann/.nvm"),
            ("/home/ann/.asdf/shims/claude", "/home/ann/.asdf"),
            ("/home/ann/.local/share/mise/installs/node/22/bin/node", "/home/ann/.local/share/mise"),
            ("/home/ann/.local/bin/claude", "/home/ann/.local/bin"),
            ("/home/ann/.local/share/claude/versions/2.0.1", "/home/ann/.local/share/claude"),
            ("/home/ann/.claude/local/claude", "/home/ann/.claude/local"),
            ("/home/ann/bin/judge", "/home/ann/bin"),
            ("/home/ann/judge.sh", "/home/ann/judge.sh"),
            ("/srv/tools/judge", "/srv/tools"),
        ] {
            assert_eq!(folder_to_record(Path::new(program), home), Some(folder.into()), "{program}");
        }
        assert_eq!(folder_to_record(Path::new("/root/x/judge"), None), Some("/root/x".into()));
    }
}
