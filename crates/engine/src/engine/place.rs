//! Where a reviewer is asked: the programs as they are found on the `PATH`, the address of its service, and the
//! variables of the environment that steer it.

use super::panel::Judge;
use crate::installed;
use crate::programs::{Facts, PROGRAMS};
use crate::worker::Worker;
use countersign_core::digest::Digest;
use countersign_core::endpoint::Endpoint;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Variables that choose what a program loads or talks to, beside those of agent programs.
const STEERING: &[&str] = &["CLASSPATH", "ENV", "HOME", "SSL_CERT_DIR", "SSL_CERT_FILE", "VIRTUAL_ENV"];
/// Endings of such variables.
const STEERING_ENDS: &[&str] =
    &["_API_BASE", "_BASE_URL", "_CONFIG_DIR", "_CONFIG_HOME", "_ENDPOINT", "_PROXY", "_proxy"];
/// Beginnings of such variables.
const STEERING_BEGINS: &str =
    "BASH_ BUN_ DENO_ DYLD_ GEM_ JAVA_ LD_ LUA_ NODE_ NPM_CONFIG_ PERL PHP PYTHON RUBY";
const PATH: &str = "PATH";
const ADDRESS_END: &str = "_BASE_URL";

/// How many interpreters of interpreters are looked at.
const INTERPRETERS_MAX: usize = 4;
const FIRST_LINE_BYTES: u64 = 256;

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
            Endpoint { programs, services, variables: steering(&agent.environment) }
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
    variables.extend(path.map(|(_, value)| (PATH.to_owned(), Digest::of(value.as_bytes()))));
    Endpoint { programs, services: addresses(environment), variables }
}

/// A program as it is found, with the interpreters that run it. Empty where it is not found.
fn found(program: &OsStr, root: &Path, environment: &Variables) -> Vec<String> {
    let path = environment.iter().find(|(name, _)| name == PATH).map(|(_, value)| value.as_os_str());
    let find = |program: &OsStr| installed::find(program.to_str()?, root, path);
    let mut all: Vec<PathBuf> = find(program).into_iter().collect();
    while let Some(last) = all.last()
        && all.len() <= INTERPRETERS_MAX
    {
        let Some(interpreter) = interpreter(last).and_then(|interpreter| find(&interpreter)) else { break };
        all.push(interpreter);
    }
    all.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// The interpreter in the first line of a script; with `env` the program that `env` looks for.
fn interpreter(script: &Path) -> Option<OsString> {
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

fn steering(environment: &Variables) -> BTreeMap<String, Digest> {
    let of_program = |facts: &Facts, name: &str| {
        facts.steering.iter().any(|known| *known == name || known.ends_with('_') && name.starts_with(known))
    };
    let steers = |name: &str| {
        STEERING.contains(&name)
            || PROGRAMS.reviewers().any(|facts| of_program(facts, name))
            || STEERING_ENDS.iter().any(|end| name.ends_with(end))
            || STEERING_BEGINS.split_whitespace().any(|begin| name.starts_with(begin))
    };
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
}
