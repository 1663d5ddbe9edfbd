//! Honest people at the terminals they really use: tmux, ssh, a container, an editor that hosts agents too. The one question
//! of `trust` and a decision are typed there, and count as those of a person; the gates of agents elsewhere ask nothing again.

use crate::honest::{Flow, PYTHON, executable};
use countersign_testkit::{Running, Terminal, honest_row};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// How a command of a person is started in such a terminal.
struct Place<'f> {
    flow: &'f Flow,
    variables: &'static [(&'static str, &'static str)],
    /// What is above the command, the outermost first.
    above: Vec<PathBuf>,
    words: Vec<String>,
}

impl<'f> Place<'f> {
    /// Processes with these names are above: scripts in such files that stay while they run the rest of their words.
    fn below(flow: &'f Flow, files: &[&str], variables: &'static [(&'static str, &'static str)]) -> Self {
        let above = files.iter().map(|file| flow.project.home().join(file));
        let above: Vec<PathBuf> = above.collect();
        for file in &above {
            executable(file, "#!/bin/sh\n\"$@\"\nexit $?\n");
        }
        Self { flow, variables, above, words: vec![] }
    }

    /// Types a command, says yes where it asks, and it succeeds.
    fn types(&self, args: &[&str]) {
        let template = self.flow.command(args);
        let mut line = self.words.clone();
        line.extend(self.above.iter().map(|file| file.display().to_string()));
        line.push(template.get_program().to_string_lossy().into_owned());
        line.extend(args.iter().map(|word| (*word).to_owned()));
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(self.flow.project.root());
        for (name, value) in template.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(self.variables.iter().copied());
        let mut terminal = Terminal::start(&command, 200, 60);
        if args == ["trust"] {
            terminal.until("[y/N]");
            terminal.send("y\n");
        }
        assert_eq!(terminal.ends(), 0, "{line:?}: {}", terminal.contents());
    }
}

/// A person trusts and decides in a terminal, and an agent works elsewhere.
fn played(name: &str, flow: &Flow, types: &dyn Fn(&[&str])) {
    types(&["trust"]);
    flow.topic().project.write("a.md", "BAD\n");
    let mut agent = flow.command(&["review", "--change", "--gate", "--subject", "x", "--json"]);
    let failed = Running::start(agent.env("CLAUDECODE", "1")).wait().exits(1).json();
    let id = failed["review"]["id"].as_str().unwrap().to_owned();
    types(&["approve", &id, "--reason", "seen"]);
    let shown = flow.project.run(&["show", &id, "--json"]).exits(0).json();
    let decision = &shown["review"]["decisions"][0];
    assert_eq!(decision["channel"], "terminal", "{name}: {shown}");
    flow.project.write("a.md", "better\n");
    let ran = flow.gate();
    assert_eq!(ran.code, 0, "{name}: {ran:?}");
    let asked = flow.asked();
    let ran = flow.gate();
    assert_eq!(ran.code, 0, "{name}: {ran:?}");
    assert!(!ran.stderr.contains("not used"), "{name}: {ran:?}");
    honest_row(name, 1, flow.asked() - asked);
}

/// The real tmux, with a server of its own.
#[test]
fn honest_17_a_person_in_tmux() {
    let flow = Flow::new(PYTHON);
    let types = |args: &[&str]| {
        let template = flow.command(args);
        let ended = flow.project.home().join("ended");
        let _ = fs::remove_file(&ended);
        let program = template.get_program().to_string_lossy().into_owned();
        let line = format!("'{program}' {}; echo $? >'{}'", args.join(" "), ended.display());
        let mut command = Command::new("tmux");
        command.args(["-L", "test", "-f", "/dev/null", "new-session", &line]);
        command.current_dir(flow.project.root());
        for (name, value) in template.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("TMUX_TMPDIR", flow.project.home()).env("TERM", "xterm").env("SHELL", "/bin/sh");
        command.env_remove("TMUX");
        let mut terminal = Terminal::start(&command, 200, 60);
        if args == ["trust"] {
            terminal.until("[y/N]");
            terminal.send("y\n");
        }
        terminal.ends();
        assert_eq!(fs::read_to_string(&ended).unwrap().trim(), "0", "{}", terminal.contents());
    };
    played("a person in tmux", &flow, &types);
}

/// No server of ssh is needed here: its process, its variables and a terminal of its own are imitated.
#[test]
fn honest_17_a_person_over_ssh() {
    const VARIABLES: &[(&str, &str)] = &[
        ("SSH_CONNECTION", "192.0.2.7 52110 192.0.2.8 22"),
        ("SSH_CLIENT", "192.0.2.7 52110 22"),
        ("SSH_TTY", "/dev/pts/3"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXX/agent.7"),
    ];
    let flow = Flow::new(PYTHON);
    let place = Place::below(&flow, &["sbin/sshd", "sbin/sshd-session", "bin/bash"], VARIABLES);
    played("a person over ssh (its process and variables imitated)", &flow, &|args| place.types(args));
}

/// A container is process ids of its own, which are real here where the machine allows them. Its first process, the server of
/// the editor in it and its variables are imitated; a file such as `/.dockerenv` is not, because nothing looks at one.
#[test]
fn honest_17_a_person_in_a_dev_container() {
    const VARIABLES: &[(&str, &str)] = &[
        ("REMOTE_CONTAINERS", "true"),
        ("REMOTE_CONTAINERS_IPC", "/tmp/vscode-remote-containers-ipc-7.sock"),
        ("REMOTE_CONTAINERS_SOCKETS", "[\"/tmp/vscode-ssh-auth-7.sock\"]"),
        ("DEVCONTAINER", "true"),
        ("HOSTNAME", "0123456789ab"),
        ("TERM_PROGRAM", "vscode"),
        ("VSCODE_IPC_HOOK_CLI", "/tmp/vscode-ipc-7.sock"),
    ];
    let flow = Flow::new(PYTHON);
    let files = ["sbin/docker-init", ".vscode-server/bin/7f/bin/code-server", ".vscode-server/bin/7f/node"];
    let mut place = Place::below(&flow, &files, VARIABLES);
    let own = ["--pid", "--fork", "--mount-proc"];
    for words in [&["unshare"][..], &["unshare", "--user", "--map-root-user"]] {
        let words = [words, &own[..]].concat();
        let tried = Command::new(words[0]).args(&words[1..]).arg("true").output();
        if place.words.is_empty() && tried.is_ok_and(|ran| ran.status.success()) {
            place.words = words.iter().map(|word| (*word).to_owned()).collect();
        }
    }
    let name = match place.words.is_empty() {
        true => "a person in a dev container (all of it imitated)",
        false => "a person in a dev container (process ids of its own, the rest imitated)",
    };
    played(name, &flow, &|args| place.types(args));
}

/// The processes and variables of an editor whose extensions host agents: these run beside its terminal, not above it, but
/// leave the ports of their integrations in its variables.
#[test]
fn honest_17_a_person_in_the_terminal_of_an_editor_that_hosts_agents() {
    const VARIABLES: &[(&str, &str)] = &[
        ("TERM_PROGRAM", "vscode"),
        ("TERM_PROGRAM_VERSION", "1.120.0"),
        ("VSCODE_PID", "4711"),
        ("VSCODE_INJECTION", "1"),
        ("VSCODE_GIT_ASKPASS_NODE", "/usr/share/code/code"),
        ("VSCODE_GIT_IPC_HANDLE", "/run/user/1000/vscode-git-7.sock"),
        ("GIT_ASKPASS", "/usr/share/code/resources/app/extensions/git/dist/askpass.sh"),
        ("CLAUDE_CODE_SSE_PORT", "40007"),
        ("ENABLE_IDE_INTEGRATION", "true"),
        ("GEMINI_CLI_IDE_SERVER_PORT", "40008"),
        ("GEMINI_CLI_IDE_WORKSPACE_PATH", "/home/ann/weather"),
        ("QWEN_CODE_IDE_SERVER_PORT", "40009"),
    ];
    for files in
        [["share/code/code", "share/code/node", "bin/zsh"], ["bin/cursor", "share/cursor/node", "bin/fish"]]
    {
        let flow = Flow::new(PYTHON);
        let place = Place::below(&flow, &files, VARIABLES);
        let editor = files[0].rsplit('/').next().unwrap();
        let name = format!("a person in the terminal of {editor}, which hosts agents (imitated)");
        played(&name, &flow, &|args| place.types(args));
    }
}
