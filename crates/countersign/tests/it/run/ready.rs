//! What is looked at before the first agent is paid, and what keeps an agent from being paid at all.

use super::kit::{Kit, ONE, attempt};

fn agents(kit: &Kit) -> usize {
    kit.log().iter().filter(|line| line.starts_with("agent")).count()
}

/// A run that ends with this code and these words before anything is changed.
#[track_caller]
fn refused(kit: &Kit, args: &[&str], code: i32, words: &str) {
    let ran = kit.run(args).exits(code);
    assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    assert_eq!((kit.log().len(), kit.tasks().as_str()), (0, ONE), "{words}");
    assert!(kit.attempts("TASK-001").is_empty(), "{words}");
    kit.nothing_merged();
}

/// A project whose files were edited before its first commit.
fn edited(edit: impl Fn(&Kit)) -> Kit {
    let kit = Kit::uncommitted(ONE, "");
    edit(&kit);
    kit.repository.commit("first");
    kit
}

#[test]
fn issue_19_what_is_missing_is_said_before_the_first_agent_is_paid() {
    let run = ["run", "--all"];
    // The agent, in both places where it may be looked for.
    for program in ["/nowhere/agent", "no-such-agent"] {
        let kit = edited(|kit| {
            kit.project.write("spec-runner.config.yaml", format!("claude_command: {program} -p\n"));
        });
        refused(&kit, &run, 4, &format!("the agent `{program}` is not installed"));
    }
    // The reviewer: not configured, and not there.
    let without = |kit: &Kit, reviewers: &str| {
        let yml = kit.project.read("countersign.yml");
        let rules = yml.lines().filter(|line| !line.starts_with("reviewers:")).collect::<Vec<_>>().join("\n");
        kit.project.write("countersign.yml", format!("{rules}\n{reviewers}"));
    };
    let kit = edited(|kit| without(kit, ""));
    refused(&kit, &run, 2, "no reviewer can judge the work: ");
    let missing = "reviewers: [{name: judge, use: command, command: [/nowhere/judge]}]\n";
    let kit = edited(|kit| without(kit, missing));
    refused(&kit, &run, 4, "/nowhere/judge");
    let kit = edited(|kit| {
        without(kit, "");
        let settings = kit.project.read("spec-runner.config.yaml");
        kit.project
            .write("spec-runner.config.yaml", format!("{settings}review_command: /nowhere/reviewer\n"));
    });
    refused(&kit, &run, 4, "/nowhere/reviewer");
    let service = "reviewers: [{name: judge, use: anthropic, model: m}]\n";
    let kit = edited(|kit| without(kit, service));
    refused(&kit, &run, 4, "ANTHROPIC_API_KEY");
    // One reviewer that is there is enough, and without a review none is needed.
    let home = |kit: &Kit| kit.project.home().display().to_string();
    let kit = edited(|kit| {
        let both = format!(
            "reviewers: [{{name: gone, use: command, command: [/nowhere/judge]}}, {{name: judge, use: command, command: [{}/judge.sh]}}]\n",
            home(kit)
        );
        without(kit, &both);
    });
    kit.run(&run).exits(0);
    let kit = edited(|kit| without(kit, missing));
    kit.run(&["run", "--all", "--no-review"]).exits(0);
    // In whose name commits are made.
    let kit = Kit::new(ONE, "");
    kit.git("config user.useConfigOnly true");
    kit.git("config --unset user.email");
    refused(&kit, &run, 2, "git does not know in whose name it commits");
    kit.run(&["run", "--all", "--no-commit"]).exits(0);
}

#[test]
fn issue_19_only_max_retries_stops_a_task_and_then_no_agent_is_paid() {
    let kit = Kit::new(ONE, "max_retries: 6\n");
    // The same finding six times: nothing else ends the task.
    kit.agent("echo BAD $n >a.txt; echo TASK_COMPLETE");
    let ran = kit.run(&["run", "TASK-001"]).exits(1);
    assert_eq!(kit.attempts("TASK-001"), vec![attempt(false, "REVIEW_FAILED", "failed"); 6]);
    assert!(ran.stderr.contains("(attempt 6 of 6)"), "{}", ran.stderr);
    assert_eq!(kit.log().iter().filter(|line| *line == "judge").count(), 6);
    // By name it is not paid for again, whoever asks.
    for args in [&["run", "TASK-001"][..], &["run", "--task", "TASK-001"], &["run", "-t", "TASK-001"]] {
        let ran = kit.run(args).exits(6);
        assert!(
            ran.stdout.contains("6 attempts are used up; `countersign retry TASK-001` runs it again"),
            "{ran:?}"
        );
        assert!(!ran.stderr.contains("(attempt"), "{}", ran.stderr);
    }
    assert_eq!((agents(&kit), kit.attempts("TASK-001").len()), (6, 6));
    kit.nothing_merged();
    // More attempts can be given for one run, and a retry gives all of them, with what was found.
    kit.run(&["run", "TASK-001", "--max-retries", "7"]).exits(1);
    assert_eq!(agents(&kit), 7);
    kit.agent("echo good >a.txt; echo TASK_COMPLETE");
    let said = kit.said(&["retry", "TASK-001"]);
    assert!(said.contains("(attempt 8 of 13)") && said.contains("done"), "{said}");
    let prompt = kit.prompt("TASK-001", 8);
    assert!(prompt.contains("## Previous Errors\n") && prompt.contains("a BAD word"), "{prompt}");
    assert_eq!(kit.git("show main:a.txt"), "good");
}

#[test]
fn issue_19_a_retry_from_the_beginning_has_the_findings_too() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("echo BAD >a.txt; echo TASK_COMPLETE");
    kit.run(&["run", "--all"]).exits(1);
    kit.agent("echo good >a.txt; echo TASK_COMPLETE");
    kit.run(&["retry", "TASK-001", "--fresh"]).exits(0);
    let prompt = kit.prompt("TASK-001", 2);
    assert!(prompt.contains("## Previous Errors\n") && prompt.contains("a BAD word"), "{prompt}");
}

/// An attempt that a person grants counts among those that there are.
#[test]
fn issue_19_no_attempt_is_more_than_there_are() {
    let kit = Kit::new(ONE, "max_retries: 1\n");
    kit.agent("echo BAD $n >a.txt; echo TASK_COMPLETE");
    for n in 1..=3 {
        let ran = kit.run(&["run", "--all", "--hitl-review"]).exits(3);
        assert!(ran.stderr.contains(&format!("(attempt {n} of {n})")) || n > 1, "{}", ran.stderr);
        kit.said(&["fix", "TASK-001", "--reason", "again"]);
    }
    let ran = kit.run(&["run", "--all", "--hitl-review"]).exits(3);
    assert!(ran.stderr.contains("(attempt 4 of 4)"), "{}", ran.stderr);
    assert_eq!(agents(&kit), 4);
}
