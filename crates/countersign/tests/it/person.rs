//! Who is a person: the terminal of a command, the processes above it, and what imitates neither.

use crate::people::{account, stopped};
use countersign_testkit::Project;
use rexpect::session::spawn_command;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// The command line of a decision, with what `env -i` must keep so that the test is not taken for its own agent.
struct Attempt {
    kept: String,
    unblock: String,
}

impl Attempt {
    fn on(project: &Project, id: &str) -> Self {
        let own = env!("CARGO_BIN_EXE_countersign");
        let (test, home) = (std::process::id(), project.home().display());
        Self {
            kept: format!("PATH=/usr/bin:/bin HOME={home} COUNTERSIGN_TEST_PROCESS={test}"),
            unblock: format!("{own} unblock {id} --reason mine"),
        }
    }
}

/// What a shell says that runs this text on a terminal of its own. `agent` names the program above the shell.
fn on_terminal(project: &Project, agent: Option<&str>, text: &str) -> String {
    let mut command = project.command(&[]);
    let variables: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    command = match agent {
        None => Command::new("sh"),
        Some(name) => {
            let file = project.home().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            // It stays above what it runs.
            std::fs::write(&file, "#!/bin/sh\nsh -c \"$2\"\ntrue\n").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
            Command::new(file)
        }
    };
    command.args(["-c", &format!("{text}\ntrue")]).current_dir(project.root());
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    spawn_command(command, Some(60_000)).unwrap().exp_eof().unwrap()
}

fn is_lifted(project: &Project, id: &str) -> bool {
    project.run(&["log", id, "-n", "100"]).exits(0).stdout.contains("lifted")
}

/// Issue 17: `env -i … script -qec 'countersign approve …'` counted as a person.
#[test]
fn attack_17_an_agent_is_seen_behind_an_empty_environment_and_a_terminal_of_its_own() {
    let (project, _, id) = stopped();
    let Attempt { kept, unblock } = Attempt::on(&project, &id);
    for (line, refusal) in [
        (unblock.clone(), "an ancestor of this one, is claude"),
        (format!("env -i {kept} {unblock}"), "an ancestor of this one, is claude"),
        (format!("env -i {kept} script -qec '{unblock}' /dev/null"), "an ancestor of this one, is claude"),
        (format!("env -i {kept} setsid -w {unblock}"), "an ancestor of this one, is claude"),
        (format!("nohup {unblock} </dev/tty 2>&1 | cat"), "an ancestor of this one, is claude"),
        (format!("sh -c 'sh -c \"{unblock}; true\"; true'"), "an ancestor of this one, is claude"),
    ] {
        let said = on_terminal(&project, Some("bin/claude"), &line);
        assert!(said.contains("only a person may do this, not an agent"), "{line}: {said}");
        assert!(
            said.contains(refusal) && said.contains("a terminal that was not opened by an agent"),
            "{line}: {said}"
        );
        assert!(!said.contains("countersign unblock"), "{line}: {said}");
    }
    assert!(!is_lifted(&project, &id));
    countersign_testkit::attack_row(
        "env -i, script, setsid, nohup below an agent program",
        "unblock",
        "refused",
        "the message names the process",
    );
}

/// A variable that was there when an ancestor began stays in what the kernel shows of it.
#[test]
fn attack_17_a_mark_that_was_taken_away_is_found_in_the_processes_above() {
    let (project, _, id) = stopped();
    let Attempt { kept, unblock } = Attempt::on(&project, &id);
    for mark in
        ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "COPILOT_CLI", "AI_AGENT"]
    {
        let line = format!("{mark}=1 sh -c 'env -i {kept} script -qec \"{unblock}\" /dev/null; true'");
        let said = on_terminal(&project, None, &line);
        assert!(said.contains(mark) && said.contains("is set in process "), "{mark}: {said}");
    }
    assert!(!is_lifted(&project, &id));
    countersign_testkit::attack_row(
        "a mark taken away by env -i",
        "unblock",
        "refused",
        "the message names the variable",
    );
}

/// The file by which a program is known, whatever its process is called.
#[test]
fn attack_17_the_packages_of_agent_programs_are_known() {
    let (project, _, id) = stopped();
    let Attempt { unblock, .. } = Attempt::on(&project, &id);
    for (file, program) in [
        ("lib/node_modules/@anthropic-ai/claude-code/cli.js", "claude"),
        ("lib/node_modules/@openai/codex/bin/start", "codex"),
        ("lib/node_modules/@google/gemini-cli/bundle/index.js", "gemini"),
        ("lib/node_modules/@qwen-code/qwen-code/cli.js", "qwen"),
        ("lib/node_modules/opencode-ai/bin/start", "opencode"),
        ("lib/node_modules/@github/copilot/index.js", "copilot"),
    ] {
        let said = on_terminal(&project, Some(file), &unblock);
        assert!(said.contains(&format!("an ancestor of this one, is {program} (")), "{file}: {said}");
    }
    assert!(!is_lifted(&project, &id));
    countersign_testkit::attack_row(
        "an agent program under another name",
        "unblock",
        "refused",
        "the message names the process",
    );
}

/// A terminal that is merely there is not enough: it must be the one that controls the process.
#[test]
fn attack_17_a_terminal_without_control_is_none() {
    let (project, _, id) = stopped();
    let Attempt { unblock, .. } = Attempt::on(&project, &id);
    let said = on_terminal(&project, None, &format!("setsid -w {unblock}"));
    assert!(said.contains("standard input is a terminal, but it does not control this process"), "{said}");
    let said = on_terminal(&project, None, &format!("{unblock} </dev/null"));
    assert!(said.contains("standard input is not a terminal"), "{said}");
    assert!(!is_lifted(&project, &id));
    countersign_testkit::attack_row("a terminal of another session", "unblock", "refused", "the message");
}

/// Terminals of people: a shell in a shell, a recorded one, and those of tmux, ssh, editors and containers, whose processes
/// are imitated by their names.
#[test]
fn attack_17_terminals_of_people_work() {
    for above in
        ["", "tmux: server", "sshd: ann@pts/0", "/usr/share/code/code", "zed-editor", "docker-init", "script"]
    {
        let (project, _, id) = stopped();
        let Attempt { kept, unblock } = Attempt::on(&project, &id);
        let line = match above {
            "" => format!("sh -c '{unblock}; true'"),
            "script" => format!("env -i {kept} script -qec '{unblock}' /dev/null"),
            name => format!(
                "bash -c 'exec -a \"{name}\" bash -c \"TERM_PROGRAM=vscode CLAUDE_CODE_SSE_PORT=1 {unblock}; true\"'"
            ),
        };
        let said = on_terminal(&project, None, &line);
        assert!(said.contains("needs work"), "{above}: {said}");
        let json = project.run(&["show", &id, "--json"]).exits(0).json();
        let lift = &json["review"]["lifts"][0];
        // `USER` says who a person claims to be; the account is what is known.
        assert_eq!(
            (&lift["by"], &lift["channel"]),
            (&account().into(), &"terminal".into()),
            "{above}: {lift}"
        );
        assert!(lift["terminal"].as_str().unwrap().starts_with("/dev/"), "{above}: {lift}");
    }
    countersign_testkit::attack_row(
        "$USER set to another name",
        "unblock",
        "the account is recorded",
        "show, log",
    );
}
