//! Progress and verdicts in a terminal: one line that changes, findings wrapped at words, the verdict last.

use crate::project;
use countersign_testkit::{Judge, Project, Terminal};

/// Waits for a file before it answers; fails with a long sentence.
const HELD: &str = "\
while [ ! -e 'GO' ]; do sleep 0.05; done
printf '{\"passed\": false, \"feedback\": \"f\", \"criteria_results\": [{\"criterion\": \"Complete\", \"passed\": false, \
\"feedback\": \"the third step is missing and the reader cannot know which of the two valves has to be opened first\"}]}'";

fn held() -> (Project, Judge) {
    let project = project();
    for n in 0..6 {
        project.write(&format!("docs/{n}.md"), format!("text {n}"));
    }
    let judge = Judge::scripted(&project, "held", &HELD.replace("GO", project.path("go").to_str().unwrap()));
    let config = format!(
        "version: 1\nreviewers: [{{name: main, use: command, command: ['{}'], concurrency: 2}}]\nrules: [{{name: r, for: \
         ['docs/*.md'], each: file, criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n",
        judge.name().trim_start_matches("command:")
    );
    project.write("countersign.yml", config);
    (project, judge)
}

#[test]
fn issue_16_3_progress_is_one_line_and_the_verdict_the_last() {
    let (project, _judge) = held();
    let mut terminal = Terminal::start(&project.command(&["review"]), 60, 60);
    terminal.until("0/6 done, 2 running");
    project.write("go", "");
    assert_eq!(terminal.ends(), 1);
    let screen = terminal.contents();
    let last = screen.lines().rfind(|line| !line.trim().is_empty()).unwrap();
    assert_eq!(last.trim(), "needs work: 6 findings in 6 files, 6 must", "{screen}");
    assert!(
        screen.contains("         the third step is missing and the reader cannot\n         know which"),
        "{screen}"
    );
    assert!(!screen.contains("running") && !screen.contains("[main]"), "{screen}");
}

#[test]
fn issue_16_3_verbose_lists_each_answer() {
    let (project, _judge) = held();
    project.write("go", "");
    let quiet = project.run(&["review", "docs/0.md"]).exits(1).stderr;
    assert!(quiet.contains("round 1: 1 question\n") && !quiet.contains("[main]"), "{quiet}");
    let listed = project.run(&["review", "-v", "docs/1.md"]).exits(1).stderr;
    assert!(listed.contains("r: docs/1.md [main]  1 finding\n"), "{listed}");
}
