//! What a review reads and keeps in memory is bounded by the work it is asked about.

use crate::project;
use countersign_testkit::{Judge, Project, Repository, eventually, peak_memory_kib};
use std::fs;

/// Enough that what each takes is more than what differs from run to run.
const FILES: usize = 8000;
/// In a debug build, with everything that a question about all of them needs.
const KIB_PER_FILE: u64 = 4;

fn rules(each: &str) -> String {
    format!(
        "rules: [{{name: r, for: ['**/*.md'], each: {each}, criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n"
    )
}

fn configured(project: &Project, judge: &Judge, each: &str) {
    let command = judge.name().trim_start_matches("command:");
    let reviewers = format!("reviewers: [{{name: judge, use: command, command: [{command}]}}]\n");
    project.write("countersign.yml", format!("version: 1\n{reviewers}{}", rules(each)));
}

#[test]
fn issue_19_a_gate_on_a_named_file_looks_at_no_other() {
    let project = project().judged_from_outside();
    let repository = Repository::at(project.root());
    let judge = Judge::by_word(&project, "Complete");
    configured(&project, &judge, "file");
    project.write("docs/a.md", "fine").write("other/b.md", "fine");
    repository.commit("first");
    project.trust();
    // Who looks at the files of this folder cannot find out what they were.
    let tree = repository.git(["rev-parse", "HEAD:other"]).trim().to_owned();
    fs::remove_file(project.path(&format!(".git/objects/{}/{}", &tree[..2], &tree[2..]))).unwrap();
    let whole = project.run(&["review", "--gate"]);
    assert_ne!(whole.code, 0, "the folder is looked at: {whole:?}");
    project.run(&["review", "--gate", "docs/a.md"]).exits(0);
    // A file that no rule matches is an error all the same.
    project.write("docs/a.txt", "fine");
    project.run(&["review", "--gate", "docs/a.txt"]).exits(2);
}

/// The most memory of a review of this many files as one question, when it is asked.
fn peak_kib(files: usize) -> u64 {
    let project = project();
    let body = format!(
        "touch '{0}/.asked'; while [ ! -e '{0}/.go' ]; do sleep 0.01; done\n\
         printf '{{\"passed\": true, \"feedback\": \"\", \"criteria_results\": [{{\"criterion\": \"Complete\", \"passed\": true}}]}}'",
        project.root().display()
    );
    let judge = Judge::scripted(&project, "judge.sh", &body);
    configured(&project, &judge, "all");
    fs::create_dir(project.path("docs")).unwrap();
    for n in 0..files {
        fs::write(project.path(&format!("docs/{n}.md")), "a text").unwrap();
    }
    let running = project.start(&["review"]);
    eventually("the reviewer is asked", || project.path(".asked").exists());
    let peak = peak_memory_kib(running.id());
    project.write(".go", "");
    running.wait().exits(0);
    peak
}

#[test]
fn slow_issue_19_many_files_as_one_question_take_a_bounded_share_of_memory() {
    let (one, all) = (peak_kib(1), peak_kib(FILES));
    let share = all.saturating_sub(one) as f64 / FILES as f64;
    assert!(share < KIB_PER_FILE as f64, "{share:.1} KiB for each of {FILES} files");
}
