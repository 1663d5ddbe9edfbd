//! The files to copy, held against the schemas of their services, zizmor, and the real pre-commit. `cargo xtask test`
//! installs them.

use crate::formats::real_tools::{python, run, tools};
use countersign_testkit::Repository;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

const CHECK: &str = "import sys; from check_jsonschema import main; main(sys.argv[1:])";

/// The complete files of docs/ci.md, by the name that stands before each.
fn examples(folder: &Path) -> Vec<PathBuf> {
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let (mut files, mut name, mut open) = (vec![], None::<String>, None::<(PathBuf, String)>);
    for line in page.lines() {
        match &mut open {
            Some((path, text)) if line == "```" => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &text).unwrap();
                files.push(path.clone());
                open = None;
            }
            Some((_, text)) => *text += &format!("{line}\n"),
            None if line.starts_with("```yaml") => {
                let named = name.take().unwrap_or_else(|| panic!("a file without a name: {line}"));
                open = Some((folder.join(named), String::new()));
            }
            None if line.starts_with('`') && line.ends_with("`:") => {
                name = Some(line.trim_matches(|c| "`:".contains(c)).to_owned());
            }
            None => {}
        }
    }
    files
}

#[test]
fn issue_20_the_files_to_copy_fit_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let files = examples(folder.path());
    let (mut workflows, mut gitlab) = (0, 0);
    for file in &files {
        let name = file.to_str().unwrap();
        let schema = match name {
            _ if name.contains("/workflows/") => {
                workflows += 1;
                "vendor.github-workflows"
            }
            _ if name.ends_with(".gitlab-ci.yml") => {
                gitlab += 1;
                "vendor.gitlab-ci"
            }
            _ => continue,
        };
        python(CHECK, &["--builtin-schema", schema, name]);
    }
    assert!(workflows >= 1 && gitlab >= 1, "{files:?}");
    python(
        CHECK,
        &["--builtin-schema", "vendor.github-actions", root().join("action.yml").to_str().unwrap()],
    );
    python(
        CHECK,
        &["--builtin-schema", "vendor.gitlab-ci", root().join("ci/gitlab/countersign.yml").to_str().unwrap()],
    );
    // Its audit needs no connection, and no finding is left.
    let mut zizmor = Command::new(tools().join("bin/zizmor"));
    zizmor
        .args(["--offline", "--no-progress", "--pedantic", "--min-severity", "medium"])
        .arg(root().join("action.yml"));
    zizmor.args(files.iter().filter(|file| file.to_str().unwrap().contains("/workflows/")));
    run(&mut zizmor);
}

#[test]
fn issue_20_the_real_pre_commit_takes_the_hook() {
    let repository = Repository::new();
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hook = Repository::new();
    hook.write(".pre-commit-hooks.yaml", hooks);
    let commit = hook.commit("hook");
    let config = format!(
        "repos:\n- repo: {}\n  rev: {commit}\n  hooks:\n  - id: countersign\n",
        hook.root().display()
    );
    repository.write(".pre-commit-config.yaml", config).write("a.md", "x\n");
    repository.git(["add", "-A"]);
    // A program of this name that says how it was called.
    let programs = tempfile::tempdir().unwrap();
    let (program, called) = (programs.path().join("countersign"), programs.path().join("called"));
    fs::write(&program, format!("#!/bin/sh\necho \"$@\" >'{}'\nexit 1\n", called.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let lines = "import sys; from pre_commit.main import main; sys.exit(main(sys.argv[1:]))";
    let mut pre_commit = Command::new(tools().join("bin/python"));
    pre_commit.args(["-c", lines, "run", "--all-files"]).current_dir(repository.root());
    pre_commit.env("PATH", path).env("PRE_COMMIT_HOME", programs.path().join("home"));
    let ran = pre_commit.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert_eq!(fs::read_to_string(called).unwrap_or_else(|_| panic!("{said}")), "review --staged --gate\n");
}
