//! `countersign.yml`: what it means, what is wrong with it, where it is found, what editors know of it.

mod arbitrary;
mod bounds;
mod find;
mod meaning;
mod messages;
mod notify;
mod published;
mod rule_messages;

use countersign_core::check::Check;
use countersign_engine::config::{
    Config, Environment, FileBytes, Flags, Gathered, Origin, Problems, resolve,
};

/// Stands in for the checks reviewer, which belongs to another room.
pub fn check_problem(check: &Check) -> Option<String> {
    match check {
        Check::RequiredPattern(pattern) | Check::ForbiddenPattern(pattern) => {
            regex::Regex::new(pattern).err().map(|_| "the regular expression cannot be read".into())
        }
        _ => None,
    }
}

/// A project with this file, and nothing else.
pub fn gathered(project: impl Into<Vec<u8>>) -> Gathered {
    Gathered {
        project_problem: None,
        root: "/p".into(),
        root_origin: Origin::Default,
        project: Some(FileBytes { path: "countersign.yml".into(), bytes: project.into() }),
        project_origin: Origin::Default,
        user: None,
    }
}

pub fn read(project: impl Into<Vec<u8>>) -> Result<Config, Problems> {
    resolve(&gathered(project), &Flags::default(), &Environment::default(), &check_problem)
}

/// The file, and everything that is said about it.
pub fn check(yaml: &str, expected: &str) {
    let said = match read(yaml) {
        Ok(_) => panic!("nothing is said about:\n{yaml}"),
        Err(problems) => problems.to_string().replace("countersign.yml:", ""),
    };
    assert_eq!(said, expected.trim_matches('\n'), "about:\n{yaml}");
}
