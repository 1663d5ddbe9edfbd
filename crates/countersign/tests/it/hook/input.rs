//! What is wrong with the command that a person installed, and a place where there is nothing to look at, hold nobody: exit
//! code 1, nothing on standard output.

use super::Bench;
use countersign_testkit::Running;

#[test]
fn a_mistake_in_the_installed_command_is_said_and_holds_nobody() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    let root = bench.project.root().canonicalize().unwrap();
    let whole =
        format!(r#"{{"session_id":"s","cwd":{root:?},"hook_event_name":"Stop","stop_hook_active":false}}"#);
    let table: [(&[&str], &str); 4] = [
        (&["hook", "gemini"], "is for the event AfterAgent"),
        (&["hook", "opencode"], "invalid value"),
        (&["hook"], "required"),
        (&["--json", "hook", "claude", "--no-such-flag"], "unexpected argument"),
    ];
    for (args, expected) in table {
        let ran = Running::fed(&mut bench.project.command(args), whole.as_bytes()).wait().exits(1);
        assert_eq!(ran.stdout, "", "{args:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(bench.judge.asked().len(), 0);
}

#[test]
fn where_there_is_nothing_to_look_at_nobody_is_held() {
    let bench = Bench::new("");
    let home = bench.project.home().canonicalize().unwrap();
    let whole =
        format!(r#"{{"session_id":"s","cwd":{home:?},"hook_event_name":"Stop","stop_hook_active":false}}"#);
    for (input, expected) in
        [(whole.as_str(), "not a git repository"), ("not JSON", "is not the input of a hook")]
    {
        let mut command = bench.project.command(&["hook", "claude"]);
        let ran = Running::fed(command.current_dir(&home), input.as_bytes()).wait().exits(1);
        assert_eq!(ran.stdout, "", "{input}");
        assert!(ran.stderr.contains(expected), "{input}: {}", ran.stderr);
    }
}

#[test]
fn an_agent_that_went_elsewhere_is_judged_where_its_session_belongs() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    let elsewhere = bench.project.home().canonicalize().unwrap();
    let input = format!(
        r#"{{"session_id":"s","cwd":{elsewhere:?},"hook_event_name":"Stop","stop_hook_active":false}}"#
    );
    let mut command = bench.project.command(&["hook", "claude"]);
    command.env("CLAUDE_PROJECT_DIR", bench.project.root().canonicalize().unwrap());
    let ran = Running::fed(&mut command, input.as_bytes()).wait().exits(0);
    assert_eq!(ran.json()["decision"], "block");
}
