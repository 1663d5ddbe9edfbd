//! Where the project and its files are found.

use super::check_problem;
use countersign_engine::config::{Config, Environment, Flags, Problems, load};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const GOOD: &str = "version: 1\nrules: [{name: NAME, for: [a], criteria: [{name: A, ask: q}]}]\n";

/// A folder with these files; a name that ends in `/` is a folder.
fn tree(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        match file.ends_with('/') {
            true => fs::create_dir_all(path).unwrap(),
            false => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, GOOD.replace("NAME", file)).unwrap();
            }
        }
    }
    folder
}

fn found(start: &Path, flags: &Flags, environment: &Environment) -> Result<Config, Problems> {
    load(start, flags, environment, &check_problem)
}

fn rule(config: &Config) -> Option<&str> {
    config.rules.first().map(|rule| rule.name.as_str())
}

#[test]
fn the_root_is_the_nearest_configuration_then_git_then_here() {
    for (files, root, first_rule) in [
        (&["countersign.yml", "a/b/c/"][..], "", Some("countersign.yml")),
        (&["countersign.yml", "a/countersign.yml", "a/b/c/"], "a", Some("a/countersign.yml")),
        (&["countersign.yml", "a/.git/", "a/b/c/"], "", Some("countersign.yml")),
        (&["a/.git/", "a/b/c/"], "a", None),
        (&["a/.git", "a/b/c/"], "a", None),
    ] {
        let folder = tree(files);
        let config = found(&folder.path().join("a/b/c"), &Flags::default(), &Environment::default()).unwrap();
        assert_eq!(config.root, folder.path().join(root).components().collect::<PathBuf>(), "{files:?}");
        assert_eq!(rule(&config), first_rule, "{files:?}");
    }
}

#[test]
fn without_a_configuration_there_are_no_rules_and_a_way_to_say_so() {
    let folder = tree(&[".git/"]);
    let config = found(folder.path(), &Flags::default(), &Environment::default()).unwrap();
    assert_eq!((config.file.as_ref(), config.rules.len()), (None, 0));
    let said = config.require_file().unwrap_err().to_string();
    let file = folder.path().join("countersign.yml");
    assert_eq!(
        said,
        format!(
            "{}: there is no configuration here or in a folder above\n  `countersign init` writes one",
            file.display()
        )
    );
}

#[test]
fn a_flag_names_the_file_before_the_environment_does() {
    let folder = tree(&["countersign.yml", "one.yml", "two.yml", "sub/"]);
    let one = Flags { config: Some("one.yml".into()), ..Flags::default() };
    let two = Environment { config: Some("two.yml".into()), ..Environment::default() };
    let root = Environment { root: Some("sub".into()), ..Environment::default() };
    let name = |flags: &Flags, environment: &Environment| {
        rule(&found(folder.path(), flags, environment).unwrap()).map(str::to_owned)
    };
    assert_eq!(name(&one, &two).as_deref(), Some("one.yml"));
    assert_eq!(name(&Flags::default(), &two).as_deref(), Some("two.yml"));
    assert_eq!(name(&Flags::default(), &Environment::default()).as_deref(), Some("countersign.yml"));
    assert_eq!(name(&Flags::default(), &root), None);
    let empty = Environment { root: Some("".into()), config: Some("".into()), ..Environment::default() };
    assert_eq!(name(&Flags::default(), &empty).as_deref(), Some("countersign.yml"));
}

#[test]
fn the_users_file_is_found_by_xdg_then_home() {
    let folder = tree(&[".git/", "xdg/countersign/", "home/.config/countersign/"]);
    let home = folder.path().join("home");
    fs::write(home.join(".config/countersign/config.yml"), "policy: {max_attempts: 8}\n").unwrap();
    let xdg = folder.path().join("xdg");
    fs::write(xdg.join("countersign/config.yml"), "policy: {max_attempts: 9}\n").unwrap();
    let attempts = |xdg: Option<PathBuf>| {
        let environment =
            Environment { xdg_config_home: xdg, home: Some(home.clone()), ..Environment::default() };
        found(folder.path(), &Flags::default(), &environment).unwrap().policy.attempts_left(0)
    };
    assert_eq!(attempts(Some(xdg)), Some(9));
    assert_eq!(attempts(None), Some(8));
    assert_eq!(attempts(Some("relative".into())), Some(8));
}

#[test]
fn what_is_named_and_not_readable_is_an_error() {
    let folder = tree(&["sub/countersign.yml/"]);
    let said = |start: &str, flags: &Flags, environment: &Environment| {
        let problems = found(&folder.path().join(start), flags, environment).unwrap_err().to_string();
        problems.replace(&format!("{}/", folder.path().display()), "")
    };
    let flags = Flags { config: Some("gone.yml".into()), ..Flags::default() };
    let none = (Flags::default(), Environment::default());
    assert!(
        said("", &flags, &none.1)
            .starts_with("the configuration file `gone.yml` cannot be read: No such file or directory\n")
    );
    let is_folder = "the configuration file `sub/countersign.yml` cannot be read: it is not a file\n";
    assert!(said("sub", &none.0, &none.1).starts_with(is_folder));
    let root = Environment { root: Some("gone".into()), ..Environment::default() };
    assert!(
        said("", &none.0, &root).starts_with("`gone` cannot be read: COUNTERSIGN_ROOT must name a folder\n")
    );
    std::os::unix::fs::symlink("nowhere", folder.path().join("countersign.yml")).unwrap();
    assert!(
        said("", &none.0, &none.1)
            .starts_with("the configuration file `countersign.yml` cannot be read: No such file")
    );
}
