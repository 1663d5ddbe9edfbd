//! Where a reviewer is asked: the programs as they are found on the `PATH`, the address of its service, and the
//! variables of the environment that steer it.

use super::panel::Judge;
use crate::installed::{self, TRUSTED_FOLDERS};
use crate::programs::steers;
use crate::reviewer::Marked;
use crate::worker::Worker;
use countersign_core::digest::{Digest, Parts};
use countersign_core::endpoint::{Endpoint, ProgramFile};
use countersign_core::text;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const PATH: &str = "PATH";
/// The largest program whose digest is recorded.
const PROGRAM_MAX_BYTES: u64 = 512 * 1024 * 1024;
/// How far above a program the description of its package may be, and how large.
const PACKAGE_LEVELS: usize = 3;
const PACKAGE_MAX_BYTES: u64 = 1024 * 1024;
const VERSION_MAX_LETTERS: usize = 64;
const ADDRESS_END: &str = "_BASE_URL";

/// How many interpreters of interpreters are looked at.
const INTERPRETERS_MAX: usize = 4;

type Variables = [(OsString, OsString)];

/// Where a reviewer would be asked by a process with these variables.
pub(super) fn place(judge: &Judge, root: &Path, environment: &Variables) -> Endpoint {
    match judge {
        Judge::Command(command) => of_command(&command.argv, root, environment),
        Judge::Marked(marked) => match &marked.worker {
            Worker::Command { argv, .. } => of_command(argv, root, &marked.environment),
            Worker::Program { path, .. } => of_command(std::slice::from_ref(path), root, &marked.environment),
        },
        Judge::Agent(agent) => {
            let programs = found(OsStr::new(agent.program.name), root, &agent.environment);
            let services = match &agent.base_url {
                Some(url) => vec![url.clone()],
                None => addresses(&agent.environment),
            };
            Endpoint { programs, services, variables: steering(&agent.environment), ..Endpoint::default() }
        }
        Judge::Service(service) => {
            Endpoint { services: vec![service.base_url.clone()], ..Endpoint::default() }
        }
        Judge::TwoCall(two) => {
            place(&two.reviewer.judge, root, environment).and(place(&two.parser.judge, root, environment))
        }
        Judge::Replay { .. } | Judge::Library(_) | Judge::SelfReview => Endpoint::default(),
    }
}

/// The program of a command, and every other word of it that names a program: `env python3 judge.py` runs two.
fn of_command(argv: &[String], root: &Path, environment: &Variables) -> Endpoint {
    let programs = argv.iter().enumerate().flat_map(|(i, word)| match i {
        0 => found(OsStr::new(word), root, environment),
        _ if word.contains('/') || word.starts_with('-') => vec![],
        _ => found(OsStr::new(word), root, environment),
    });
    let programs = programs.collect();
    let mut variables = steering(environment);
    // What a script calls by name is found by this.
    let path = environment.iter().find(|(name, _)| name == PATH);
    variables.extend(path.map(|(_, value)| (PATH.to_owned(), of_path(value))));
    Endpoint { programs, services: addresses(environment), variables, ..Endpoint::default() }
}

/// Names the folders of a `PATH` in their order. Folders of the system at its end, and those that it has twice, choose no
/// other program.
fn of_path(path: &OsStr) -> Digest {
    let mut folders: Vec<PathBuf> = vec![];
    for folder in std::env::split_paths(path) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let is_of_system = |folder: &PathBuf| TRUSTED_FOLDERS.iter().any(|known| folder.starts_with(known));
    while folders.last().is_some_and(is_of_system) {
        folders.pop();
    }
    let mut parts = Parts::new("path/1");
    parts.count(folders.len());
    for folder in folders {
        parts.bytes(folder.as_os_str().as_bytes());
    }
    parts.digest()
}

/// The commands of the user's own that take part in a reviewer.
pub(super) fn commands(judge: &Judge) -> Vec<&[String]> {
    match judge {
        Judge::Command(command) => vec![&command.argv],
        Judge::Marked(Marked { worker: Worker::Command { argv, .. }, .. }) => vec![argv],
        Judge::TwoCall(two) => {
            [&two.reviewer.judge, &two.parser.judge].into_iter().flat_map(commands).collect()
        }
        _ => vec![],
    }
}

/// A program as it is found, with the interpreters that run it. Empty where it is not found.
fn found(program: &OsStr, root: &Path, environment: &Variables) -> Vec<String> {
    let path = environment.iter().find(|(name, _)| name == PATH).map(|(_, value)| value.as_os_str());
    let find = |program: &OsStr| installed::find(program.to_str()?, root, path);
    let mut all: Vec<PathBuf> = find(program).into_iter().collect();
    while let Some(last) = all.last()
        && all.len() <= INTERPRETERS_MAX
    {
        let Some(interpreter) = installed::interpreter(last).and_then(|interpreter| find(&interpreter))
        else {
            break;
        };
        all.push(interpreter);
    }
    all.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// What the files of the programs are now.
pub(super) fn files(programs: &[String]) -> Vec<ProgramFile> {
    let file = |program: &String| {
        let path = Path::new(program).canonicalize().unwrap_or_else(|_| program.into());
        let digest = installed::digest_of(&path, PROGRAM_MAX_BYTES);
        ProgramFile { version: version(&path), digest, path: path.to_string_lossy().into_owned() }
    };
    programs.iter().map(file).collect()
}

/// The version in the package that a file belongs to, without starting anything.
fn version(file: &Path) -> Option<String> {
    let package = file.ancestors().skip(1).take(PACKAGE_LEVELS).map(|folder| folder.join("package.json"));
    let short = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= PACKAGE_MAX_BYTES)
    };
    let text = std::fs::read(package.into_iter().find(short)?).ok()?;
    let package: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let version = text::visible_line(package.get("version")?.as_str()?).into_owned();
    Some(version.chars().take(VERSION_MAX_LETTERS).collect())
}

fn steering(environment: &Variables) -> BTreeMap<String, Digest> {
    let named = |(name, value): &(OsString, OsString)| {
        let name = name.to_str().filter(|name| steers(name) && !value.is_empty())?;
        Some((name.to_owned(), Digest::of(value.as_bytes())))
    };
    environment.iter().filter_map(named).collect()
}

/// The addresses of services that variables choose, without passwords.
fn addresses(environment: &Variables) -> Vec<String> {
    let address = |(name, value): &(OsString, OsString)| {
        let chosen = name.to_str()?.ends_with(ADDRESS_END).then_some(value.to_str()?)?;
        let mut url = url::Url::parse(chosen).ok()?;
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        Some(url.to_string())
    };
    let mut all: Vec<String> = environment.iter().filter_map(address).collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::claude;
    use crate::reviewer::{Agent, Command};
    use std::os::unix::fs::PermissionsExt;

    fn executable(folder: &Path, name: &str, text: &str) -> String {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn every_program_that_takes_part_is_named_as_found() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let python = executable(&bin, "python3", "binary");
        let env = executable(&bin, "env", "binary");
        let script = executable(&bin, "judge", "#!/usr/bin/env -S python3 -u\n");
        let direct = executable(&bin, "direct", &format!("#!{python}\n"));
        std::os::unix::fs::symlink(&python, bin.join("python")).unwrap();
        let link = bin.join("python").to_string_lossy().into_owned();
        let path = bin.to_string_lossy().into_owned();
        let table: [(&[&str], &[&str]); 6] = [
            (&["python3", "judge.py"], &[&python]),
            (&["python", "judge.py"], &[&link]),
            (&["env", "python3", "judge.py"], &[&env, &python]),
            (&["judge"], &[&script, &python]),
            (&["direct"], &[&direct, &python]),
            (&["missing"], &[]),
        ];
        for (argv, expected) in table {
            let argv = argv.iter().map(|word| (*word).to_owned()).collect();
            let judge = Judge::Command(Command { argv, model: None });
            let place = place(&judge, folder.path(), &variables(&[("PATH", &path)]));
            assert_eq!(place.programs, expected);
        }
    }

    #[test]
    fn variables_that_steer_are_told_apart_and_no_secret_is_kept() {
        let agent = |pairs: &[(&str, &str)]| {
            let judge = Judge::Agent(Agent::new(&claude::FACTS, None, variables(pairs)));
            place(&judge, Path::new("/"), &[])
        };
        let plain = agent(&[("HOME", "/home/ann"), ("TERM", "xterm")]);
        assert_eq!(plain, agent(&[("HOME", "/home/ann"), ("TERM", "dumb"), ("ANTHROPIC_API_KEY", "k")]));
        for other in [
            ("ANTHROPIC_BASE_URL", "http://own:secret@127.0.0.1:1/"),
            ("HTTPS_PROXY", "http://127.0.0.1:1"),
            ("CLAUDE_CONFIG_DIR", "/tmp/x"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ] {
            let steered = agent(&[("HOME", "/home/ann"), other]);
            assert_ne!(steered.mark(), plain.mark(), "{other:?}");
            assert!(!format!("{steered:?}").contains("secret"), "{steered:?}");
        }
        assert_eq!(agent(&[("ANTHROPIC_BASE_URL", "http://u:p@h/v1")]).services, ["http://h/v1"]);
    }

    #[test]
    fn the_files_of_programs_are_recorded_without_starting_them() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().canonicalize().unwrap().join("lib/judge");
        std::fs::create_dir_all(package.join("bin")).unwrap();
        std::fs::write(package.join("package.json"), r#"{"name": "judge", "version": "2.0.1"}"#).unwrap();
        let file = executable(&package, "bin/judge", "exit 1\n");
        let link = folder.path().join("judge");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let found = files(&[link.to_string_lossy().into_owned(), "/no/such".to_owned()]);
        assert_eq!((found[0].path.as_str(), found[0].version.as_deref()), (file.as_str(), Some("2.0.1")));
        assert_eq!(found[0].digest, Some(Digest::of(b"exit 1\n")));
        assert_eq!((found[1].path.as_str(), &found[1].digest), ("/no/such", &None));
    }
}
