//! What is wrong with the hook itself holds nobody: exit code 1, nothing on standard output.

use super::Bench;
use countersign_testkit::Running;

#[test]
fn what_is_no_input_of_a_hook_is_said_and_holds_nobody() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    let root = bench.project.root().canonicalize().unwrap();
    let whole =
        format!(r#"{{"session_id":"s","cwd":{root:?},"hook_event_name":"Stop","stop_hook_active":false}}"#);
    let outside = whole.replace(root.to_str().unwrap(), bench.project.home().to_str().unwrap());
    let table: [(&[&str], &str, &str); 8] = [
        (&["hook", "claude"], "", "is not the input of a hook"),
        (&["hook", "claude"], "not JSON", "is not the input of a hook"),
        (&["hook", "claude", "--json"], "{}", "`session_id` is missing"),
        (&["hook", "gemini"], &whole, "is for the event AfterAgent"),
        (&["hook", "claude"], &outside, "not a git repository"),
        (&["hook", "opencode"], &whole, "invalid value"),
        (&["hook"], &whole, "required"),
        (&["--json", "hook", "claude", "--no-such-flag"], &whole, "unexpected argument"),
    ];
    for (args, input, expected) in table {
        let ran = Running::fed(&mut bench.project.command(args), input.as_bytes()).wait().exits(1);
        assert_eq!(ran.stdout, "", "{args:?} {input}");
        assert!(ran.stderr.contains(expected), "{args:?} {input}: {}", ran.stderr);
    }
    assert_eq!(bench.judge.asked().len(), 0);
}

#[test]
fn a_broken_configuration_is_said_and_holds_nobody() {
    let bench = Bench::new("");
    bench.project.write("countersign.yml", "version: 7\n");
    bench.repository.commit("broken");
    bench.project.write("a.md", "BAD\n");
    let root = bench.project.root().canonicalize().unwrap();
    let input =
        format!(r#"{{"session_id":"s","cwd":{root:?},"hook_event_name":"Stop","stop_hook_active":false}}"#);
    let ran = Running::fed(&mut bench.project.command(&["hook", "claude"]), input.as_bytes()).wait().exits(1);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("countersign.yml"), "{ran:?}");
}

/// A reviewer of ours that has the hook installed must not be reviewed for reviewing.
#[test]
fn below_a_call_of_ours_the_hook_yields_at_once() {
    let bench = Bench::new("");
    bench.project.write("a.md", "BAD\n");
    for input in ["", "not JSON"] {
        let mut command = bench.project.command(&["hook", "claude"]);
        let ran = Running::fed(command.env("COUNTERSIGN_CALL", "ca-1"), input.as_bytes()).wait().exits(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    }
    assert_eq!(bench.judge.asked().len(), 0);
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
