//! Paths: what cannot be judged is refused before anybody is asked.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Running};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn what_cannot_be_judged_is_refused_and_nothing_is_written() {
    let project = project();
    let judge = Judge::by_word(&project, "Complete");
    project.write("a.md", "x").write("empty/.hidden", "h");
    symlink("/etc/passwd", project.path("out")).unwrap();
    assert!(Command::new("mkfifo").arg(project.path("pipe")).status().unwrap().success());
    let said = |path: &str| {
        let ran =
            project.run(&["review", path, "--criterion", COMPLETE, "--reviewer", judge.name()]).exits(2);
        assert_eq!(ran.stdout, "");
        ran.stderr.lines().next().unwrap().to_owned()
    };
    assert_eq!(said("nowhere.md"), "error: `nowhere.md` does not exist");
    assert_eq!(said("pipe"), "error: `pipe` is a FIFO, not a file");
    assert!(said("out").starts_with("error: `out` is outside the project root"));
    assert!(said("../x").starts_with("error: `../x` is outside the project root"));
    assert!(said("/dev/null").starts_with("error: `/dev/null` is outside the project root"));
    assert_eq!(said("empty"), "error: there is no file to judge");
    assert!(judge.asked().is_empty());
    assert!(!project.ledger_dir().exists());
}

#[test]
fn absolute_and_relative_paths_are_one_file() {
    let project = project();
    project.write("docs/a.md", "x");
    let judge = Judge::by_word(&project, "Complete");
    let absolute = project.root().canonicalize().unwrap().join("docs/a.md");
    for path in ["docs/a.md", "./docs/../docs/a.md", absolute.to_str().unwrap()] {
        project.run(&["review", path, "--criterion", COMPLETE, "--reviewer", judge.name()]).exits(0);
    }
    let mut inside =
        project.command(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", "command:../judge.sh"]);
    let ran = countersign_testkit::Running::start(inside.current_dir(project.path("docs"))).wait();
    ran.exits(0);
    assert_eq!(judge.asked(), ["docs/a.md"], "one question, however it was typed");
}

#[test]
fn a_file_no_rule_is_for_is_not_passed_by_silence() {
    let project = project();
    let config =
        "version: 1\nrules: [{name: docs, for: ['docs/*.md'], criteria: [{name: E, check: not_empty}]}]\n";
    project.write("countersign.yml", config).write("docs/a.md", "x").write("other.txt", "y");
    let ran = project.run(&["review", "docs/a.md", "other.txt"]).exits(2);
    assert!(ran.stderr.contains("no rule matches `other.txt`"), "{}", ran.stderr);
    let ran = project.run(&["review", "other.txt"]).exits(2);
    assert!(ran.stderr.contains("no rule matches these files"), "{}", ran.stderr);
    // However it was typed: from another folder, in a roundabout way.
    project.write("docs/b.txt", "y");
    let mut inside = project.command(&["review", "a.md", "b.txt"]);
    let ran = countersign_testkit::Running::start(inside.current_dir(project.path("docs"))).wait().exits(2);
    assert!(ran.stderr.contains("no rule matches `docs/b.txt`"), "{}", ran.stderr);
    project.run(&["review", "docs/a.md", "docs/../other.txt"]).exits(2);
    // A folder may hold more than the rules are for; that is said.
    let ran = project.run(&["review", "."]).exits(0);
    assert!(ran.stderr.contains("not judged"), "{}", ran.stderr);
    let json = project.run(&["review", ".", "--json"]).exits(0).json();
    assert!(json["warnings"][0].as_str().unwrap().contains("not judged"), "{json}");
}

/// A huge file is listed, never loaded: the file is sparse, and the program may not have the memory for it.
#[test]
fn slow_a_huge_file_is_listed_and_never_loaded() {
    let project = project();
    let judge = Judge::scripted(
        &project,
        "judge.sh",
        r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#,
    );
    std::fs::File::create(project.path("huge.bin")).unwrap().set_len(2 << 30).unwrap();
    let config = "version: 1\nreviewers: [{name: j, use: command, command: [./judge.sh], sees: project}]\nrules: [{name: r, for: ['huge.bin'], criteria: [{name: Complete, ask: 'ok?'}]}]\n";
    project.write("countersign.yml", config);
    let program = env!("CARGO_BIN_EXE_countersign");
    let script = format!("ulimit -v 1000000; exec '{program}' review --json");
    let mut limited = project.command(&[]);
    let environment: Vec<_> =
        limited.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(project.root());
    for (name, value) in environment {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let _ = &mut limited;
    countersign_testkit::Running::start(&mut shell).wait().exits(0);
    assert_eq!(judge.asked().len(), 1);
}

#[test]
fn a_project_whose_path_is_not_utf_8_is_shown() {
    let project = project();
    let folder = project.root().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(
        folder.join("countersign.yml"),
        "version: 1\nrules: [{name: r, for: [a], criteria: [{name: A, ask: q}]}]\n",
    )
    .unwrap();
    std::fs::write(folder.join("a"), "x").unwrap();
    for args in [&["config"][..], &["config", "--json"], &["validate"]] {
        let mut command = project.command(args);
        Running::start(command.current_dir(&folder)).wait().exits(0);
    }
}
