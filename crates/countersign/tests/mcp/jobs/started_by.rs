//! Whose flags a server obeys: those in the settings of an agent program, and not those that an agent types.

use super::*;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A project whose plan fails, and a program that says yes to everything.
fn bad() -> (Project, Judge) {
    let (project, _judge) = guide();
    configure(&project, "");
    project.write("plan.md", "BAD").trust();
    let body = r#"printf '{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    let yes = Judge::scripted(&project, "yes.sh", body);
    (project, yes)
}

/// The status of the first step, and what the server said beside the protocol.
fn first_step(mut client: Client) -> (Value, String) {
    client.initialize("2025-11-25");
    let session = start(&mut client);
    let answer = client.good("finished_step", plan(&session));
    (answer["status"].clone(), client.hang_up().1)
}

/// The same command as a child of a shell that is named like an agent program.
fn of_program(command: &Command, more: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg0("claude").args(["-c", &format!("{more}\"$0\" \"$@\"; exit $?")]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap()).env("CLAUDECODE", "1");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None if name == "CLAUDECODE" => &mut shell,
            None => shell.env_remove(name),
        };
    }
    shell
}

#[test]
fn attack_17_a_server_that_an_agent_starts_obeys_none_of_its_flags() {
    let (project, yes) = bad();
    let flags: [&[&str]; 4] =
        [&["--external-runner", yes.name()], &["--no-quality-gate"], &["--max-quality-attempts", "9"], &[]];
    for flags in flags {
        let command = project.command(&[&["mcp"], flags].concat());
        let mut by_variable = project.command(&[&["mcp"], flags].concat());
        by_variable.env("CLAUDECODE", "1");
        // Below the shell of a program, and where only the variable is left of it.
        for mut command in [of_program(&command, "/bin/sh -c '\"$0\" \"$@\"; exit $?' "), by_variable] {
            let (status, said) = first_step(Client::of(&mut command));
            assert_eq!(status, "needs_work", "{flags:?}: {said}");
            for flag in flags.iter().filter(|flag| flag.starts_with("--")) {
                assert!(said.contains(&format!("{flag} is ignored")), "{said}");
            }
            assert!(said.contains("the configured reviewers judge steps"), "{said}");
        }
    }
    assert_eq!(yes.asked().len(), 0);
    countersign_testkit::attack_row(
        "countersign mcp --external-runner or --no-quality-gate, started by the agent",
        "jobs",
        "ignored: the configured reviewers judge",
        "standard error",
    );
}

/// Agent programs start servers themselves, and some set their marks for them.
#[test]
fn a_server_that_the_agent_program_starts_obeys_its_settings() {
    let (project, yes) = bad();
    let command = project.command(&["mcp", "--external-runner", yes.name()]);
    let (status, said) = first_step(Client::of(&mut of_program(&command, "")));
    assert_eq!((status, said.as_str()), (json!("next_step"), ""));
    assert_eq!(yes.asked().len(), 1);
}
