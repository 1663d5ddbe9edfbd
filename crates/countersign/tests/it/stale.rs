//! A verdict belongs to exact bytes.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, eventually};
use std::sync::atomic::{AtomicBool, Ordering};

const PASS: &str = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;

#[test]
fn a_file_that_changes_under_review_makes_the_verdict_stale() {
    let project = project();
    project.write("a.md", "before");
    let body = format!("echo after >'{}'; {PASS}", project.path("a.md").display());
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let json = project.run(&args).exits(4).json();
    assert_eq!((json["outcome"].as_str(), json["reason"].as_str()), (Some("no_verdict"), Some("stale")));
    assert_eq!(json["review"]["attempts"], 0);
    // The bytes it left are judged on their own, and pass.
    project.run(&args).exits(0);
    assert_eq!(judge.asked().len(), 2);
}

#[test]
fn a_file_that_vanishes_under_review_is_never_a_pass() {
    let project = project();
    project.write("a.md", "x").write("b.md", "y");
    let body = format!("rm -f '{}'; {PASS}", project.path("b.md").display());
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let args = ["review", "a.md", "b.md", "--criterion", COMPLETE, "--reviewer", judge.name()];
    project.run(&args).exits(4);
}

/// A project whose files are judged by a command.
fn run_check(command: &str) -> Project {
    let project = project();
    let criterion = format!("{{name: C, check: {{run: {}}}}}", serde_json::json!(command));
    let rule = format!("{{name: r, for: ['docs/*.md'], criteria: [{criterion}]}}");
    project.write("countersign.yml", format!("version: 1\nrules: [{rule}]\n"));
    project.write("docs/a.md", "bad").write("other/a.md", "good");
    project
}

#[test]
fn swap_a_run_check_that_read_other_bytes_than_were_handed_in_is_stale() {
    let commands = [
        // In place, and back.
        "cp other/a.md docs/a.md; cat docs/a.md >seen; printf bad >docs/a.md",
        // Another file under its name, and the first one back: the same bytes, the same inode.
        "mv docs/a.md aside; cp other/a.md docs/a.md; cat docs/a.md >seen; mv aside docs/a.md",
        // Its folder: neither the file nor its times change.
        "mv docs aside; mv other docs; cat docs/a.md >seen; mv docs other; mv aside docs",
        // A failure is about the other bytes too.
        "cp other/a.md docs/a.md; cat docs/a.md >seen; printf bad >docs/a.md; false",
    ];
    for command in commands {
        let project = run_check(&format!("{command}; test $(cat seen) = good"));
        let json = project.run(&["review", "--json"]).exits(4).json();
        assert_eq!(project.read("seen").trim(), "good", "{command}");
        assert_eq!((json["reason"].as_str(), project.read("docs/a.md").as_str()), (Some("stale"), "bad"));
    }
}

#[test]
fn swap_a_file_that_is_exchanged_all_the_time_never_passes_by_a_run_check() {
    // The file is exchanged at least once while the check runs, however busy the machine is.
    let project = run_check(
        "a=$(stat -c %i docs/a.md); while [ \"$(stat -c %i docs/a.md)\" = \"$a\" ]; do :; done; grep -q good docs/a.md",
    );
    let stop = AtomicBool::new(false);
    let codes = std::thread::scope(|scope| {
        scope.spawn(|| {
            for text in ["good", "bad"].iter().cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                project.write("new", text);
                std::fs::rename(project.path("new"), project.path("docs/a.md")).unwrap();
            }
        });
        let once = |_| project.run(&["review", "--json", "--no-cache"]).code;
        let codes: Vec<i32> = (0..10).map(once).collect();
        stop.store(true, Ordering::Relaxed);
        codes
    });
    // No verdict: neither a pass nor a failure of bytes that were not read.
    assert_eq!(codes, [4; 10]);
}

#[test]
fn a_run_check_may_write_beside_the_files_it_reads() {
    let project = run_check(
        "mkdir -p docs/__pycache__ target; for i in 1 2 3; do echo $i >>docs/log; done; touch docs/b.txt; grep -q bad docs/a.md",
    );
    project.run(&["review"]).exits(0);
}

/// A reviewer that reads its files itself, and does something to them first.
fn reading(project: &Project, deed: &str) -> Judge {
    Judge::scripted(project, "judge.sh", &format!("{deed}; {PASS}"))
}

#[test]
fn swap_copies_that_are_not_what_was_copied_are_no_verdict() {
    let deeds = [
        ("true", 0, None),
        ("cat docs/*.md >/dev/null; echo note >notes.txt", 0, None),
        ("echo other >docs/1.md", 4, Some("stale")),
        ("mv docs/1.md x; echo other >docs/1.md; mv x docs/1.md", 4, Some("stale")),
        ("mv docs x; mkdir docs; rmdir docs; mv x docs", 4, Some("stale")),
        ("rm docs/2.md", 4, Some("stale")),
    ];
    for (deed, code, reason) in deeds {
        let project = project();
        // More files than a question is to carry: it only lists them.
        for i in 0..30 {
            project.write(&format!("docs/{i}.md"), format!("page {i}"));
        }
        let judge = reading(&project, deed);
        let args = ["review", "docs", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
        let args = [&args[..], &["--max-inline-files", "5"]].concat();
        let json = project.run(&args).exits(code).json();
        assert_eq!(json["reason"].as_str(), reason, "{deed}");
    }
}

#[test]
fn swap_a_reviewer_that_sees_the_project_is_held_to_the_same_bytes() {
    let deeds = [
        ("true", 0),
        ("echo beside >docs/log", 0),
        ("mv docs aside; mv other docs; cat docs/a.md; mv docs other; mv aside docs", 4),
        ("mv docs/a.md x; cp other/a.md docs/a.md; mv x docs/a.md", 4),
    ];
    for (deed, code) in deeds {
        let project = project();
        let deed = format!("cd '{}'; {deed} >/dev/null", project.root().display());
        reading(&project, &deed);
        let config = "version: 1\nreviewers: [{name: main, use: command, command: [./judge.sh], sees: project}]\nrules: [{name: r, for: ['docs/*.md'], criteria: [{name: Complete, ask: 'Complete?'}]}]\n";
        project.write("countersign.yml", config).write("docs/a.md", "bad").write("other/a.md", "good");
        project.run(&["review"]).exits(code);
    }
}

#[test]
fn issue_19_who_interrupts_a_review_to_fix_the_work_is_not_locked_out() {
    let project = project();
    let body = format!(
        "[ -e '{0}/.go' ] || {{ touch '{0}/.asked'; sleep 1000; }}; {PASS}",
        project.root().display()
    );
    let judge = Judge::scripted(&project, "judge.sh", &body);
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x"];
    for n in 0..4 {
        project.write("a.md", format!("draft {n}"));
        let mut interrupted = project.start(&args);
        eventually("the reviewer is asked", || project.path(".asked").exists());
        interrupted.kill();
        interrupted.wait();
        std::fs::remove_file(project.path(".asked")).unwrap();
    }
    project.write("a.md", "done").write(".go", "");
    project.run(&args).exits(0);
}
