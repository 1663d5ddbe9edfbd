//! A failure stands on its bytes, rule and criterion, whatever else is submitted with them; and leaving something out is
//! no way to pass.

use crate::project;
use countersign_testkit::{Judge, Project, Ran, Repository, Running};
use serde_json::Value;

const COMPLETE: &str = "Complete=Is it complete?";

/// Fails the first question about a bad word, and passes every later one: a model whose answers differ.
fn moody(project: &Project) -> Judge {
    let reply = r#"case "$brief" in *BAD*) if [ -e .failed-once ]; then p=true; else p=false; : >.failed-once; fi;; *) p=true;; esac
printf '{"passed": %s, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": %s, "feedback": "there is a BAD word"}]}' $p $p"#;
    let reply = reply.replace(".failed-once", &project.path(".failed-once").display().to_string());
    Judge::scripted(project, "moody.sh", &reply)
}

/// Passes everything.
fn lenient(project: &Project, name: &str) -> Judge {
    let reply = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    Judge::scripted(project, name, reply)
}

struct Case {
    project: Project,
    moody: Judge,
    lenient: Judge,
}

impl Case {
    /// A file that failed once, for the subject `x` and with the notes `n0`.
    fn new() -> Self {
        let project = project();
        project.write("a.md", "BAD\n").write("n0", "as asked").write("n1", "as asked.").write("n2", "please");
        let (moody, lenient) = (moody(&project), lenient(&project, "lenient.sh"));
        let case = Self { project, moody, lenient };
        case.review(&["--subject", "x", "--notes", "n0"]).exits(1);
        case
    }

    fn review(&self, more: &[&str]) -> Ran {
        let mut args = vec!["review", "a.md", "--criterion", COMPLETE, "--json"];
        args.extend(more);
        if !more.contains(&"--reviewer") {
            args.extend(["--reviewer", self.moody.name()]);
        }
        self.project.run(&args)
    }

    fn asked(&self) -> usize {
        self.moody.asked().len() + self.lenient.asked().len()
    }
}

fn words(ran: &Value) -> String {
    ran["next"].to_string()
}

#[test]
fn attack_17_a_failure_is_not_replaced_by_another_question_about_the_same_bytes() {
    let lenient = "command:./lenient.sh";
    let tries: [&[&str]; 9] = [
        &["--subject", "y", "--notes", "n0"],
        &["--subject", "z"],
        &[],
        &["--no-cache"],
        &["--guidance", "Be kind."],
        &["--reviewer", lenient],
        &["--reviewer", lenient, "--subject", "w", "--no-cache"],
        &["--reviewer", lenient, "--guidance", "Pass it.", "--each-file"],
        &["--subject", "x", "--notes", "n0", "--no-cache"],
    ];
    for more in tries {
        let case = Case::new();
        let ran = case.review(more).exits(1).json();
        assert_eq!(ran["findings"][0]["feedback"], "there is a BAD word", "{more:?}");
        assert_eq!(case.asked(), 1, "{more:?}: no reviewer is asked again");
        // Other bytes are other work.
        case.project.write("a.md", "BAD in other words\n");
        case.review(more).exits(0);
    }
    countersign_testkit::attack_row(
        "other subject, guidance or reviewer, --no-cache",
        "review",
        "the failure stands",
        "the findings",
    );
}

#[test]
fn attack_17_a_pass_before_the_failure_does_not_win_either() {
    let project = project();
    project.write("a.md", "BAD\n");
    let (moody, lenient) = (moody(&project), lenient(&project, "lenient.sh"));
    let review = |judge: &Judge, subject: &str| {
        let args =
            ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", subject];
        project.run(&args)
    };
    review(&lenient, "x").exits(0);
    review(&moody, "y").exits(1);
    // The recorded pass of `x` is contradicted by now, and so is the ruling that could be reused.
    review(&lenient, "x").exits(1);
    review(&lenient, "z").exits(1);
    assert_eq!(lenient.asked().len(), 1);
    countersign_testkit::attack_row(
        "an older pass of another reviewer",
        "review",
        "the worst holds",
        "the findings",
    );
}

#[test]
fn attack_17_a_failure_stands_beside_questions_it_does_not_answer() {
    let case = Case::new();
    let both = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}, {"criterion": "Short", "passed": true}]}'"#;
    let both = Judge::scripted(&case.project, "both.sh", both);
    let ran = case.review(&["--criterion", "Short=Is it short?", "--reviewer", both.name()]).exits(1).json();
    assert_eq!(both.asked().len(), 1, "the new question is asked");
    let findings = ran["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["criterion"], "Complete");
    assert_eq!(findings[0]["feedback"], "there is a BAD word");
    countersign_testkit::attack_row(
        "another criterion beside the failed one",
        "review",
        "the failure stands",
        "the findings",
    );
}

#[test]
fn attack_17_new_notes_are_judged_once_and_are_seen() {
    let case = Case::new();
    let ran = case.review(&["--subject", "x", "--notes", "n1"]).exits(0).json();
    assert_eq!(case.asked(), 2, "notes belong to the question");
    assert_eq!(ran["passed_after_notes"][0]["criterion"], "Complete");
    assert_eq!(ran["review"]["attempts"], 2, "it costs an attempt");
    let id = ran["review"]["id"].as_str().unwrap();
    let shown = case.project.run(&["show", id]).stdout;
    assert!(shown.contains("passed after new notes on unchanged files: Complete"), "{shown}");
    assert!(shown.trim_end().ends_with("passed after new notes on unchanged files"), "{shown}");
    // The same notes again get the same answer; other ones, or none, get the failure.
    case.review(&["--subject", "x", "--notes", "n1"]).exits(0);
    let other = case.review(&["--subject", "y", "--notes", "n1"]).exits(0).json();
    assert_eq!(other["passed_after_notes"][0]["criterion"], "Complete");
    for more in [&["--notes", "n2"][..], &["--notes", "n2", "--subject", "y"], &[], &["--notes", "n0"]] {
        let ran = case.review(more).exits(1).json();
        assert!(words(&ran).contains("countersign dispute FINDING --evidence TEXT"), "{ran}");
    }
    assert_eq!(case.asked(), 2);
    countersign_testkit::attack_row(
        "a note changed by one character",
        "review",
        "judged once, costs an attempt",
        "passed after new notes",
    );
}

#[test]
fn attack_17_new_notes_that_fail_use_the_one_time_up() {
    let project = project();
    project.write("a.md", "BAD\n").write("n1", "one").write("n2", "two");
    let (strict, lenient) = (Judge::by_word(&project, "Complete"), lenient(&project, "lenient.sh"));
    let review = |judge: &Judge, more: &[&str]| {
        let mut args = vec!["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()];
        args.extend(more);
        project.run(&args)
    };
    review(&strict, &[]).exits(1);
    review(&strict, &["--notes", "n1"]).exits(1);
    review(&lenient, &["--notes", "n2"]).exits(1);
    review(&lenient, &["--notes", "n1"]).exits(1);
    assert_eq!((strict.asked().len(), lenient.asked().len()), (2, 0));
    countersign_testkit::attack_row(
        "notes changed again and again",
        "review",
        "the failure stands",
        "the findings",
    );
}

const TWO: &str = "version: 1
reviewers: [{name: j, use: command, command: [./judge.sh]}]
rules:
  - name: docs
    for: ['*.md']
    each: file
    criteria: [{name: Complete, ask: Is it complete?, severity: must}]
policy: {max_attempts: 9, max_stalled_rounds: 9}
";

fn two() -> Project {
    let project = project();
    project.write("a.md", "BAD\n").write("b.md", "fine\n").write("countersign.yml", TWO);
    Judge::by_word(&project, "Complete");
    project
}

#[test]
fn attack_17_files_that_are_left_out_are_carried() {
    let project = two();
    let review = |paths: &[&str]| {
        let mut args = vec!["review", "--subject", "x", "--json"];
        args.extend(paths);
        project.run(&args)
    };
    let failed = review(&["a.md", "b.md"]).exits(1).json();
    let finding = &failed["findings"][0]["id"];
    for content in ["BAD\n", "BAD as well\n", "fine, but not looked at\n"] {
        project.write("a.md", content);
        let ran = review(&["b.md"]).exits(1).json();
        assert_eq!(ran["left_out"][0]["finding"], *finding);
        assert_eq!(ran["left_out"][0]["files"][0], "a.md");
        assert_eq!(ran["findings"][0]["id"], *finding, "the old finding is carried");
    }
    let text = project.run(&["review", "b.md", "--subject", "x"]).exits(1).stdout;
    assert!(text.contains("left out: ") && text.contains("a.md"), "{text}");
    // Judged again, it passes; or it is gone.
    review(&["a.md", "b.md"]).exits(0);
    let project = two();
    project.run(&["review", "a.md", "b.md", "--subject", "x"]).exits(1);
    std::fs::remove_file(project.path("a.md")).unwrap();
    project.run(&["review", "b.md", "--subject", "x"]).exits(0);
    // Work that is looked at once is no loop.
    let project = two();
    project.run(&["review", "a.md", "b.md"]).exits(1);
    project.run(&["review", "b.md"]).exits(0);
    countersign_testkit::attack_row(
        "the subject again with fewer files",
        "review",
        "does not pass",
        "the answer names them",
    );
}

#[test]
fn attack_17_weaker_rules_do_not_remove_a_finding() {
    let weaker = [
        ("rule", TWO.replace("name: docs", "name: other")),
        ("criterion", TWO.replace("name: Complete", "name: Finished")),
        ("severity", TWO.replace("must", "may")),
        ("files", TWO.replace("'*.md'", "'b.md'")),
    ];
    for (by, config) in weaker {
        let project = two();
        let all = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "%s", "passed": true}]}' "$(printf '%s' "$brief" | grep -o 'Complete\|Finished' | head -n 1)""#;
        project.run(&["review", "--subject", "x"]).exits(1);
        if by != "severity" {
            Judge::scripted(&project, "judge.sh", all);
        }
        project.write("countersign.yml", &config);
        let ran = project.run(&["review", "--subject", "x", "--json"]).exits(1).json();
        assert_eq!(ran["left_out"][0]["by"], by, "{ran}");
        // Other bytes are judged by the rules there are.
        project.write("a.md", "other\n");
        project.run(&["review", "--subject", "x"]).exits(0);
    }
    // Rules that change where nothing had failed are no reason to hold anything.
    let project = two();
    project.write("a.md", "good\n");
    project.run(&["review", "--subject", "x"]).exits(0);
    project.write("countersign.yml", TWO.replace("'*.md'", "'b.md'"));
    project.run(&["review", "--subject", "x"]).exits(0);
    countersign_testkit::attack_row(
        "the subject again with weaker rules",
        "review",
        "does not pass",
        "the answer names them",
    );
}

#[test]
fn attack_17_a_change_that_was_committed_is_still_left_out() {
    let project = two();
    let repo = Repository::at(project.root());
    repo.git(["init", "-q", "-b", "main"]);
    repo.write(".gitignore", ".asked*\n.countersign\n");
    project.write("a.md", "fine\n");
    repo.commit("begin");
    project.write("a.md", "BAD\n").write("b.md", "better\n");
    let review = ["review", "--change", "--base", "HEAD", "--subject", "x", "--json"];
    project.run(&review).exits(1);
    repo.git(["commit", "-q", "-m", "hide it", "a.md"]);
    let ran = project.run(&review).exits(1).json();
    assert_eq!(ran["left_out"][0]["files"][0], "a.md");
    // Put back to what it was, it is no part of the work any more.
    project.write("a.md", "fine\n");
    project.run(&["review", "--change", "--base", "HEAD~1", "--subject", "x"]).exits(0);
    countersign_testkit::attack_row(
        "failed work committed and left out",
        "review --change",
        "does not pass",
        "the answer names it",
    );
}

#[test]
fn attack_17_another_worktree_is_no_other_work() {
    let project = two();
    let repo = Repository::at(project.root());
    repo.git(["init", "-q", "-b", "main"]);
    repo.write(".gitignore", ".asked*\n.countersign\nelsewhere\n");
    project.write("a.md", "fine\n");
    repo.commit("begin");
    project.write("a.md", "BAD\n");
    project.run(&["review", "--change", "--base", "HEAD", "--subject", "x"]).exits(1);
    repo.git(["worktree", "add", "-q", "elsewhere"]);
    project.write("elsewhere/a.md", "BAD\n");
    let elsewhere = project.path("elsewhere");
    lenient(&project, "kind.sh");
    std::fs::rename(project.path("kind.sh"), elsewhere.join("kind.sh")).unwrap();
    let review =
        ["review", "--change", "--base", "HEAD", "--subject", "y", "--reviewer", "command:./kind.sh"];
    Running::start(project.command(&review).current_dir(&elsewhere)).wait().exits(1);
    std::fs::write(elsewhere.join("a.md"), "BAD in other words\n").unwrap();
    Running::start(project.command(&review).current_dir(&elsewhere)).wait().exits(0);
    countersign_testkit::attack_row(
        "another worktree",
        "review --change",
        "the failure stands",
        "the findings",
    );
}
