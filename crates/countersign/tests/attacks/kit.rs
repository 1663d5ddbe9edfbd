//! A repository whose reviewer is a script of the project, as in the README, and an agent that stops with bad work in it.

pub use countersign_testkit::attack_row as row;
use countersign_testkit::{Project, Ran, Repository, Running};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

/// The finding of the trusted judge: whoever sees it was judged by it.
pub const FINDING: &str = "there is a BAD word";

const JUDGE: &str = r#"import json, sys
import words

brief = json.load(sys.stdin)
passed = words.BAD not in brief["payload"]
ruling = {"criterion": "Complete", "passed": passed, "feedback": "there is a BAD word"}
print(json.dumps({"passed": passed, "feedback": "f", "criteria_results": [ruling]}))
"#;

/// A judge that lets everything pass.
pub const TAME: &str = r#"import json
ruling = {"criterion": "Complete", "passed": True, "feedback": "fine"}
print(json.dumps({"passed": True, "feedback": "f", "criteria_results": [ruling]}))
"#;

pub struct Case {
    pub project: Project,
    pub repository: Repository,
}

impl Case {
    /// A project that a person trusts, with bad work that is not committed.
    pub fn new() -> Self {
        let case = Self::untrusted();
        case.project.trust();
        // On a branch: what is committed on the default branch is no change any more.
        case.repository.git(["checkout", "-q", "-b", "topic"]);
        case.project.write("a.md", "BAD\n");
        case
    }

    /// The same before any person has trusted it, and without bad work.
    pub fn untrusted() -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
        let repository = Repository::at(project.root());
        project
            .write("a.md", "one\n")
            .write("judge.py", JUDGE)
            .write("words.py", "BAD = 'BAD'\n")
            .write(".gitignore", "__pycache__/\n")
            .write("countersign.yml", config("[python3, judge.py]"));
        repository.commit("first");
        Self { project, repository }
    }

    /// A command of the agent.
    pub fn agent(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.env("CLAUDECODE", "1");
        command
    }

    /// The agent has its change judged by the gate.
    pub fn gate(&self) -> Ran {
        self.gate_with(&[], |_| {})
    }

    /// The same with more words, and whatever is done to the command.
    pub fn gate_with(&self, more: &[&str], change: impl FnOnce(&mut Command)) -> Ran {
        let mut command = self.agent(&[&["review", "--change", "--gate"], more].concat());
        change(&mut command);
        Running::start(&mut command).wait()
    }

    /// The agent stops, and its program calls the hook.
    pub fn hook(&self) -> Ran {
        self.hook_with(|_| {})
    }

    pub fn hook_with(&self, change: impl FnOnce(&mut Command)) -> Ran {
        let input = json!({
            "session_id": "s-1", "transcript_path": null, "cwd": self.root(), "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": "I am done.",
        });
        // The program of the agent calls it, not a shell of the agent.
        let mut command = self.project.command(&["hook", "claude"]);
        change(&mut command);
        Running::fed(&mut command, input.to_string().as_bytes()).wait()
    }

    pub fn root(&self) -> PathBuf {
        self.project.root().canonicalize().unwrap()
    }
}

pub fn config(command: &str) -> String {
    format!(
        "version: 1\nreviewers: [{{name: judge, use: command, command: {command}}}]\n\
         rules: [{{name: r, for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n"
    )
}

/// The trusted judge saw the bad work: exit code 1 and its finding.
#[track_caller]
pub fn judged(ran: &Ran) {
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains(FINDING), "{ran:?}");
}

/// The hook holds the agent with the finding of the trusted judge.
#[track_caller]
pub fn held(ran: &Ran) {
    assert!(ran.stdout.contains(r#""decision":"block""#) && ran.stdout.contains(FINDING), "{ran:?}");
}
