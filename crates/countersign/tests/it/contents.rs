//! Judged contents: kept beside the ledger, shown beside findings, and never an input of judging (issue 18, item 5).

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Repository};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const CONFIG: &str = "version: 1\nrules: [{name: docs, for: ['*.md'], each: file, criteria: [{name: Finished, check: no_placeholders}]}]\n";
const BAD: &str = "# Title\n\nintro\nTODO write this\nend\nmore\nlast\n";
const KEPT: &str = "contents";

fn secret() -> String {
    ["sk-", "proj-", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1x"].concat()
}

/// A project with one file that has a placeholder, judged once.
fn judged(config: &str) -> Project {
    let project = project();
    project.write("countersign.yml", config).write("a.md", BAD);
    project.run(&["review", "a.md", "--subject", "x"]).exits(1);
    project
}

/// The files that are kept.
fn kept(project: &Project) -> Vec<PathBuf> {
    let Ok(folders) = fs::read_dir(project.ledger_path(KEPT)) else { return vec![] };
    let folders = folders.map(|folder| folder.unwrap().path()).filter(|path| path.is_dir());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path())).collect()
}

fn excerpt(project: &Project) -> Value {
    let shown = project.run(&["show", "--json"]).exits(0).json();
    shown["findings"][0]["findings"][0]["excerpt"].clone()
}

#[test]
fn issue_18_show_has_the_judged_lines_also_after_the_file_changed_or_is_gone() {
    let project = judged(CONFIG);
    let lines = ["", "intro", "TODO write this", "end", "more"];
    assert_eq!(excerpt(&project), json!({ "first_line": 2, "lines": lines, "is_current": true }));
    let text = project.run(&["show"]).exits(0).stdout;
    let drawn = "\
         \x20 --> a.md:4:1
           |
         2 |
         3 | intro
         4 | TODO write this
           | ^^^^^^^^^^^^^^^
         5 | end
         6 | more
";
    assert!(text.contains(drawn), "{text}");
    for (change, now) in [(true, "the file has changed since"), (false, "the file is gone")] {
        match change {
            true => drop(project.write("a.md", "other\n")),
            false => fs::remove_file(project.path("a.md")).unwrap(),
        }
        assert_eq!(excerpt(&project), json!({ "first_line": 2, "lines": lines, "is_current": false }));
        let text = project.run(&["show"]).exits(0).stdout;
        assert!(text.contains(drawn.trim_end()), "{text}");
        assert!(text.contains("           = note: as judged on 20") && text.contains(now), "{text}");
        let file = project.run(&["show", "--file", "a.md"]).exits(0);
        assert_eq!(file.stdout, BAD);
        let file = project.run(&["show", "x", "--file", "./a.md", "--json"]).exits(0).json();
        let said = ["text", "is_exact", "is_current", "round"].map(|key| file[key].clone());
        assert_eq!(said, [json!(BAD), json!(true), json!(false), json!(1)]);
    }
}

#[test]
fn issue_18_all_lines_of_a_finding_are_marked_and_nothing_steers_the_terminal() {
    let project = project();
    let text = "one\n  two \u{1b}[2J\u{202e}three\n  four\tfive\nsix\nseven\n";
    let flaw = json!([{ "message": "wrong", "line": 2, "end_line": 3 }]);
    let reply = json!({ "passed": false, "feedback": "f", "criteria_results": [
        { "criterion": "Complete", "passed": false, "feedback": "f", "findings": flaw }] });
    let judge = Judge::replying(&project, &reply.to_string());
    project.write("a.md", text);
    project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()]).exits(1);
    let shown = project.run(&["show"]).exits(0).stdout;
    assert!(shown.contains(r"two \u{1b}[2J\u{202e}three"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    assert!(shown.contains("4 |") && shown.contains("1 |") && shown.contains("|_"), "{shown}");
    let file = project.run(&["show", "--file", "a.md"]).exits(0).stdout;
    assert!(file.contains(r"two \u{1b}[2J\u{202e}three") && !file.contains('\u{1b}'), "{file}");
    let exact = project.run(&["show", "--file", "a.md", "--json"]).exits(0).json();
    assert_eq!(exact["text"], text);
}

#[test]
fn issue_18_a_secret_is_neither_kept_nor_shown() {
    let project = project();
    let line = format!("TODO key = {}\n", secret());
    project.write("countersign.yml", CONFIG).write("a.md", &line);
    project.run(&["review", "a.md"]).exits(1);
    let mut shown = vec![project.run(&["show"]).exits(0).stdout];
    project.write("a.md", "other\n");
    shown.push(project.run(&["show"]).exits(0).stdout);
    shown.push(project.run(&["show", "--json"]).exits(0).stdout);
    shown.push(project.run(&["show", "--file", "a.md"]).exits(0).stdout);
    let file = project.run(&["show", "--file", "a.md", "--json"]).exits(0);
    assert_eq!(file.json()["is_exact"], false);
    shown.push(file.stdout);
    for shown in shown {
        assert!(shown.contains("TODO key = [redacted: openai-key]"), "{shown}");
        assert!(!shown.contains(&secret()[8..]), "{shown}");
    }
    let files = kept(&project);
    assert_eq!(files.len(), 1);
    // Compressed, a secret would not be found as it is: unpacked, it must not be there either.
    let bytes = fs::read(&files[0]).unwrap();
    let body = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let text = miniz_oxide::inflate::decompress_to_vec(&bytes[body..]).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "TODO key = [redacted: openai-key]\n");
    // A pattern that is added later holds for what was kept before.
    let own = "redaction: {patterns: [{name: mine, pattern: 'TODO key'}]}\n";
    project.write("countersign.yml", format!("{CONFIG}{own}"));
    let shown = project.run(&["show", "--file", "a.md"]).exits(0).stdout;
    assert_eq!(shown, "[redacted: mine] = [redacted: openai-key]\n");
}

#[test]
fn issue_18_switched_off_keeps_nothing_and_removes_what_is_there() {
    let off = format!("{CONFIG}limits: {{keep_contents_days: 0}}\n");
    let project = judged(&off);
    assert!(!project.ledger_path(KEPT).exists());
    assert_eq!(excerpt(&project)["is_current"], true, "the file itself is still there");
    project.write("a.md", "other\n");
    assert_eq!(excerpt(&project), Value::Null);
    let text = project.run(&["show"]).exits(0).stdout;
    assert!(text.contains("\n         contents no longer kept, and the file has changed since\n"), "{text}");

    let project = judged(CONFIG);
    assert_eq!(kept(&project).len(), 1);
    project.write("countersign.yml", &off);
    // The answer is recorded, and is given again.
    project.run(&["review", "a.md", "--subject", "x"]);
    assert!(!project.ledger_path(KEPT).exists());
}

#[test]
fn issue_18_what_is_not_kept_says_so_and_has_an_exit_code() {
    let project = judged(CONFIG);
    fs::remove_dir_all(project.ledger_path(KEPT)).unwrap();
    let json =
        |args: &[&str], code| project.run(&[args, &["--json"]].concat()).exits(code).json()["error"].clone();
    assert_eq!(project.run(&["show", "--file", "a.md"]).exits(0).stdout, BAD, "it is what was judged");
    project.write("a.md", "other\n");
    assert_eq!(json(&["show", "--file", "a.md"], 2)["code"], "not_kept");
    assert_eq!(json(&["show", "--file", "b.md"], 2)["code"], "not_found");
    assert_eq!(json(&["show", "--file", "/etc/passwd"], 2)["code"], "not_found");
    let only_file = json(&["show", "--file", "a.md", "--diff"], 2);
    assert_eq!(only_file["code"], "not_found");
    assert_eq!(only_file["message"], "`a.md` was judged as a file, without a diff");
    let most = 1024 * 1024;
    project.write("b.md", format!("TODO {}", "x\n".repeat(most / 2)));
    project.run(&["review", "b.md"]).exits(1);
    assert!(kept(&project).is_empty(), "one byte too many");
    let long = json(&["show", "--file", "b.md"], 2);
    assert_eq!(
        (&long["code"], &long["message"]),
        (&json!("not_kept"), &json!("`b.md` is not kept: it is longer than what is kept (1 MiB)"))
    );
}

#[test]
fn issue_18_expired_contents_are_removed_by_the_next_review() {
    let project = judged(CONFIG);
    let [file] = <[PathBuf; 1]>::try_from(kept(&project)).unwrap();
    let old = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    File::options().append(true).open(&file).unwrap().set_modified(old).unwrap();
    project.write("a.md", "fine\n");
    assert_eq!(excerpt(&project), Value::Null, "not shown, also before it is removed");
    project.run(&["review", "a.md", "--subject", "x"]).exits(0);
    assert!(!file.exists());
    assert_eq!(kept(&project).len(), 1, "the new contents");
}

/// Whatever becomes of the contents, a verdict is what it was.
#[test]
fn issue_18_no_verdict_depends_on_what_is_kept() {
    let verdict = |project: &Project| {
        let ran = project.run(&["review", "a.md", "--subject", "y", "--json"]);
        let json = ran.json();
        let reused = json["cost"]["rulings_reused"].clone();
        (json["outcome"].clone(), json["findings"][0]["feedback"].clone(), reused)
    };
    let expected = verdict(&judged(CONFIG));
    assert_eq!(expected.2, 1, "the ruling is reused");
    let project = judged(CONFIG);
    fs::remove_dir_all(project.ledger_path(KEPT)).unwrap();
    assert_eq!(verdict(&project), expected);
    // Something else in its place: the review goes on, and says it once.
    let project = judged(CONFIG);
    fs::remove_dir_all(project.ledger_path(KEPT)).unwrap();
    fs::write(project.ledger_path(KEPT), "not a folder").unwrap();
    assert_eq!(verdict(&project), expected);
    project.write("a.md", "TODO\n").write("b.md", "TODO\n");
    let ran = project.run(&["review", "a.md", "b.md", "--subject", "x"]).exits(1);
    let said = "warning: judged files are not kept for `show`: there is something else in its place. No verdict depends on it\n";
    assert_eq!(ran.stderr.matches("not kept").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(project.read_own(KEPT), "not a folder");
}

#[test]
fn issue_18_a_folder_that_cannot_be_written_does_not_fail_a_review() {
    let project = judged(CONFIG);
    let folder = project.ledger_path(KEPT);
    fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
    project.write("a.md", "fine\n").write("b.md", "also fine\n");
    project.run(&["review", "a.md", "b.md", "--subject", "x"]).exits(0);
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn issue_18_the_lines_and_the_diff_of_a_change_are_shown_after_it_went_on() {
    let project = project();
    let repository = Repository::at(project.root());
    let flaw = json!([{ "message": "wrong", "file": "a.md", "line": 31 }]);
    let reply = json!({ "passed": false, "feedback": "f", "criteria_results": [
        { "criterion": "Complete", "passed": false, "feedback": "f", "findings": flaw }] });
    let judge = Judge::replying(&project, &reply.to_string());
    let program = judge.name().trim_start_matches("command:");
    let lines = |last: &str| (1..=30).map(|n| format!("line {n}\n")).collect::<String>() + last;
    project.write("a.md", lines("")).write("gone.md", "old\n").write("other.txt", "one\n");
    project.write(".gitignore", ".asked*\n.reply\n");
    project.write(
        "countersign.yml",
        format!(
            "version: 1\nreviewers: [{{name: judge, use: command, command: ['{program}']}}]\n\
             rules: [{{name: r, for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n"
        ),
    );
    repository.commit("first");
    project.write("a.md", lines("wrong\n")).write("other.txt", "two\n");
    fs::remove_file(project.path("gone.md")).unwrap();
    project.run(&["review", "--change", "--subject", "x"]).exits(1);
    project.write("a.md", "other\n");
    let expected = json!({ "first_line": 29, "lines": ["line 29", "line 30", "wrong"], "is_current": false });
    assert_eq!(excerpt(&project), expected);
    assert_eq!(project.run(&["show", "--file", "a.md"]).exits(0).stdout, lines("wrong\n"));
    let diff = project.run(&["show", "--file", "a.md", "--diff"]).exits(0).stdout;
    assert!(diff.contains("@@") && diff.contains("+wrong"), "{diff}");
    let gone = project.run(&["show", "--file", "gone.md"]).exits(2).stderr;
    assert!(gone.contains("of `gone.md` only the diff was judged") && gone.contains("--diff"), "{gone}");
    let diff = project.run(&["show", "--file", "gone.md", "--diff"]).exits(0).stdout;
    assert!(diff.contains("-old"), "{diff}");
    let unasked = project.run(&["show", "--file", "other.txt"]).exits(2).stderr;
    assert!(unasked.contains("no question was about `other.txt`, so it was not judged"), "{unasked}");
}

/// An agent edits what is kept, so that a finding seems to be about other lines.
#[test]
fn attack_18_contents_that_were_edited_are_not_shown() {
    let project = judged(CONFIG);
    let [file] = <[PathBuf; 1]>::try_from(kept(&project)).unwrap();
    let written = fs::read(&file).unwrap();
    let body = written.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let harmless = miniz_oxide::deflate::compress_to_vec(b"harmless\n", 1);
    project.write("a.md", "harmless\n");
    for edited in
        [[&written[..body], &harmless].concat(), written[..body + 4].to_vec(), b"harmless\n".to_vec()]
    {
        fs::write(&file, edited).unwrap();
        assert_eq!(excerpt(&project), Value::Null);
        let text = project.run(&["show"]).exits(0).stdout;
        assert!(text.contains("not shown: what was kept of the file was edited or damaged"), "{text}");
        assert!(!text.contains("harmless"), "{text}");
        let ran = project.run(&["show", "--file", "a.md"]).exits(7);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("is not shown"), "{}", ran.stderr);
    }
    // A kept file under the name of another one.
    project.write("b.md", "TODO other\n");
    project.run(&["review", "b.md"]).exits(1);
    let other = kept(&project).into_iter().find(|path| *path != file).unwrap();
    fs::copy(other, &file).unwrap();
    project.run(&["show", "x", "--file", "a.md"]).exits(7);
    // The same bytes are judged again: they are kept again.
    project.write("a.md", BAD);
    project.run(&["review", "a.md"]).exits(1);
    project.write("a.md", "harmless\n");
    assert_eq!(project.run(&["show", "x", "--file", "a.md"]).exits(0).stdout, BAD);
}
