//! A project with a list of tasks in a real repository, an agent and a reviewer that are shell scripts. The scripts and
//! what they note down are in the user's home, outside the repository.

use crate::project;
use countersign_doors::run::layout::Layout;
use countersign_doors::run::state::{Attempt, State, Summary};
use countersign_testkit::{Project, Ran, Repository, Running};
use rexpect::session::{PtySession, spawn_command};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

pub const ONE: &str =
    "# Tasks\n\n### TASK-001: Write one\n🔴 P0 | ⬜ TODO\n\n**Checklist:**\n- [ ] Write it\n- [x] Think\n";

pub const THREE: &str = "\
---
title: Tasks
---
# Tasks

## Milestone 1: Begin

### TASK-001: Write one
🔴 P0 | ⬜ TODO   Est: 1d

**Checklist:**
- [ ] Write it
- [x] Think

**Traces to:** [REQ-001]

### TASK-002: Write two
* 🟠 P1 | ⬜ TODO
**Depends on:** [TASK-001]

## Milestone 2: End

### TASK-003: Write three
P2 | TODO
**Depends on:** —
";

/// What an agent does that does its task: a file named after it.
pub const WORKS: &str = "echo \"work of $task\" >\"$task.txt\"\necho TASK_COMPLETE";

/// What a reviewer says that is content unless it reads the word BAD in the change.
pub const BY_WORD: &str = "case \"$payload\" in *+BAD*) fails 'a BAD word';; *) passes;; esac";

pub struct Kit {
    pub project: Project,
    pub repository: Repository,
}

impl Kit {
    /// A project in its first commit.
    pub fn new(tasks: &str, settings: &str) -> Self {
        let kit = Self::uncommitted(tasks, settings);
        kit.repository.commit("first");
        kit
    }

    pub fn uncommitted(tasks: &str, settings: &str) -> Self {
        let project = project();
        let repository = Repository::at(project.root());
        let kit = Self { project, repository };
        kit.agent(WORKS);
        kit.judge(BY_WORD);
        let home = kit.project.home().display();
        kit.project.write("spec/tasks.md", tasks).write("README.md", "a project\n");
        kit.project.write(
            "countersign.yml",
            format!(
                "version: 1\nreviewers: [{{name: judge, use: command, command: [{home}/judge.sh]}}]\n\
             rules: [{{name: work, for: ['**'], criteria: [{{name: Works, ask: 'Does it work?'}}]}}]\n"
            ),
        );
        let settings = format!("claude_command: {home}/agent.sh\nretry_delay_seconds: 0\n{settings}");
        kit.project.write("spec-runner.config.yaml", settings);
        kit
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.project.home().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the agent does, with `$task`, `$n` (which call for this task it is) and its prompt in `$prompt`.
    pub fn agent(&self, body: &str) -> &Self {
        self.script(
            "agent.sh",
            &format!(
                "#!/bin/sh\nprompt=\"$HOME/.prompt-$$\"\ncat >\"$prompt\"\n\
                 task=$(sed -n 's/^# \\([A-Z]*-[0-9]*\\):.*/\\1/p;1q' \"$prompt\")\n\
                 n=1\nwhile [ -e \"$HOME/prompt-$task-$n\" ]; do n=$((n+1)); done\n\
                 mv \"$prompt\" \"$HOME/prompt-$task-$n\"\nprompt=\"$HOME/prompt-$task-$n\"\n\
                 echo \"agent $task\" >>\"$HOME/log\"\n{body}\n"
            ),
        );
        self
    }

    /// What the reviewer does, with `$payload` (the brief) and `$n`, and `passes` and `fails TEXT` to say so.
    pub fn judge(&self, body: &str) -> &Self {
        self.script(
            "judge.sh",
            &format!(
                "#!/bin/sh\nn=1\nwhile ! mkdir \"$HOME/claimed-$n\" 2>/dev/null; do n=$((n+1)); done\n\
                 cat >\"$HOME/brief-$n\"\npayload=$(cat \"$HOME/brief-$n\")\necho judge >>\"$HOME/log\"\n\
                 passes() {{ printf '{{\"passed\": true, \"feedback\": \"good\", \"criteria_results\": [{{\"criterion\": \"Works\", \"passed\": true}}]}}'; }}\n\
                 fails() {{ printf '{{\"passed\": false, \"feedback\": \"bad\", \"criteria_results\": [{{\"criterion\": \"Works\", \"passed\": false, \"feedback\": \"%s\"}}]}}' \"$1\"; }}\n\
                 {body}\n"
            ),
        );
        self
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.project.run(args)
    }

    pub fn start(&self, args: &[&str]) -> Running {
        self.project.start(args)
    }

    /// A command as a person types it: at a terminal.
    pub fn typed(&self, args: &[&str]) -> PtySession {
        let mut command = self.project.command(args);
        command.env("USER", "ann").env("NO_COLOR", "1");
        spawn_command(command, Some(60_000)).unwrap()
    }

    /// The same to its end.
    pub fn said(&self, args: &[&str]) -> String {
        self.typed(args).exp_eof().unwrap()
    }

    pub fn home(&self, name: &str) -> String {
        let path = self.project.home().join(name);
        String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_else(|_| panic!("{name} is not there")))
            .into_owned()
    }

    pub fn at_home(&self, name: &str) -> bool {
        self.project.home().join(name).exists()
    }

    /// Who was asked, in order.
    pub fn log(&self) -> Vec<String> {
        std::fs::read_to_string(self.project.home().join("log"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// The payload of a reviewer's question.
    pub fn payload(&self, n: usize) -> String {
        let brief: serde_json::Value = serde_json::from_str(&self.home(&format!("brief-{n}"))).unwrap();
        brief["payload"].as_str().unwrap().to_owned()
    }

    pub fn prompt(&self, task: &str, n: usize) -> String {
        self.home(&format!("prompt-{task}-{n}"))
    }

    pub fn git(&self, line: &str) -> String {
        self.repository.git(line.split(' '))
    }

    /// The subjects on the main branch, newest first, merges only by themselves.
    pub fn merges(&self) -> Vec<String> {
        self.git("log --first-parent --format=%s main").lines().map(str::to_owned).collect()
    }

    /// The last subject on the main branch, whatever was done to the settings of the repository.
    pub fn merged(&self) -> String {
        self.git("-c core.bare=false -c core.commitGraph=false --no-replace-objects log -1 --format=%s main")
    }

    pub fn tasks(&self) -> String {
        self.project.read("spec/tasks.md")
    }

    /// The state database: each task, and every attempt at it, oldest first.
    pub fn state(&self) -> (BTreeMap<String, Summary>, BTreeMap<String, Vec<Attempt>>) {
        let layout = Layout::new(self.project.root(), "").unwrap();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let state = State::open(&layout).await.unwrap();
            let mut attempts = BTreeMap::new();
            let summaries = state.summaries().await.unwrap();
            for summary in &summaries {
                let mut all: Vec<Attempt> = state
                    .attempts(&summary.task_id, 100)
                    .await
                    .unwrap()
                    .into_iter()
                    .map(|(_, one)| one)
                    .collect();
                all.reverse();
                attempts.insert(summary.task_id.clone(), all);
            }
            state.close().await.unwrap();
            (summaries.into_iter().map(|summary| (summary.task_id.clone(), summary)).collect(), attempts)
        })
    }

    /// Each attempt at a task in three words: success, code, review.
    pub fn attempts(&self, task: &str) -> Vec<(bool, String, String)> {
        let words = |attempt: &Attempt| {
            let code = attempt.error_code.as_ref().map(|code| code.word().to_owned()).unwrap_or_default();
            let review =
                attempt.review_status.as_ref().map(|review| review.word().to_owned()).unwrap_or_default();
            (attempt.success, code, review)
        };
        self.state().1.get(task).map(|all| all.iter().map(words).collect()).unwrap_or_default()
    }

    /// Nothing was merged, and nothing of a task is in the files of the main branch.
    #[track_caller]
    pub fn nothing_merged(&self) {
        assert_eq!(self.merges(), ["first"]);
        assert_eq!(self.git("rev-parse --abbrev-ref HEAD"), "main");
        let status = self.git("status --porcelain");
        let own = |line: &str| {
            line.contains("spec/.") || line.ends_with("spec/tasks.md") || line.contains(".countersign")
        };
        assert!(status.lines().all(own), "{status}");
    }
}

pub fn attempt(success: bool, code: &str, review: &str) -> (bool, String, String) {
    (success, code.to_owned(), review.to_owned())
}
