//! `cargo xtask test`: everything CI checks, in the order in which it fails fastest.

use crate::args::Amount;
use crate::cargo::{self, Workspace};
use crate::failure::Failure;
use crate::libtest::{PACKAGE_MARK, Tally};
use crate::{agents, browser, python, setup, watch};
use std::time::Instant;

const SLOWEST_SHOWN: usize = 10;

/// Runs the steps; the first failure ends it.
pub fn run(workspace: &Workspace, amount: Amount) -> Result<(), Failure> {
    let started = Instant::now();
    setup::run(workspace, amount)?;
    cargo::run("cargo fmt --all --check", workspace.cargo(["fmt", "--all", "--check"]))?;
    cargo::run(
        "cargo clippy --workspace --all-targets --locked -- -D warnings",
        workspace.cargo(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    )?;
    let tally = tests(workspace, amount)?;
    if amount == Amount::Full {
        // After the others: the program under test is built again for it.
        let otlp = ["test", "--locked", "--package", "countersign", "--features", "otlp", "--test", "otlp"];
        cargo::run(
            "cargo test --locked --package countersign --features otlp --test otlp",
            workspace.cargo(otlp),
        )?;
        documentation(workspace)?;
    }
    print!("{}", summary(&tally));
    let left_out = match amount {
        Amount::Full => "",
        Amount::Quick => " (quick: no slow tests, no real agent programs, no documentation)",
    };
    println!("\n{} tests passed, {:.1} s in all{left_out}", tally.passed, started.elapsed().as_secs_f64());
    Ok(())
}

/// Unit and integration tests.
///
/// They are built first, on their own, so that compiler messages keep their colours. `--tests` leaves out
/// benchmarks and examples, which would refuse the options that make tests report their time.
fn tests(workspace: &Workspace, amount: Amount) -> Result<Tally, Failure> {
    cargo::run(
        "cargo test --workspace --locked --tests --no-run",
        workspace.cargo(["test", "--workspace", "--locked", "--tests", "--no-run"]),
    )?;
    let mut command = workspace.cargo(["test", "--workspace", "--locked", "--tests", "--no-fail-fast"]);
    if amount == Amount::Full {
        command.env(agents::FOLDER_VARIABLE, agents::run(workspace)?);
        command.env(browser::FOLDER_VARIABLE, browser::run(workspace)?);
        command.env(python::SCHEMATHESIS_VARIABLE, python::schemathesis(workspace)?);
        command.env(python::CI_TOOLS_VARIABLE, python::ci_tools(workspace)?);
    }
    // The reader knows cargo's lines without colour codes only, whatever CARGO_TERM_COLOR says.
    command.args(["--color", "never", "--config", &runner()]);
    command.args(["--", "-Zunstable-options", "--report-time"]);
    let mut step = "cargo test --workspace --locked --tests".to_owned();
    if amount == Amount::Quick {
        command.args(["--skip", "slow_", "--skip", "real_"]);
        step.push_str(" -- --skip slow_ --skip real_");
    }
    watch::run(&step, command)
}

/// How cargo starts a test program: it learns its package's name and may report times.
///
/// Reporting times is unstable. RUSTC_BOOTSTRAP allows it, and set here, for the finished program alone, it
/// does not reach the compiler, so nothing is built again.
fn runner() -> String {
    let script = format!("echo \"{PACKAGE_MARK}$CARGO_PKG_NAME\"; RUSTC_BOOTSTRAP=1 exec \"$@\"");
    format!(r#"target."cfg(all())".runner=["sh","-c",'{script}',"runner"]"#)
}

fn documentation(workspace: &Workspace) -> Result<(), Failure> {
    let mut flags = std::env::var_os("RUSTDOCFLAGS").unwrap_or_default();
    flags.push(" -D warnings");
    let mut command = workspace.cargo(["doc", "--workspace", "--locked", "--no-deps"]);
    command.env("RUSTDOCFLAGS", flags);
    cargo::run("cargo doc --workspace --locked --no-deps", command)
}

fn summary(tally: &Tally) -> String {
    let mut text = "\n==> slowest tests\n".to_owned();
    for timed in tally.slowest(SLOWEST_SHOWN) {
        text.push_str(&format!("    {:>8.3} s  {}  {}\n", timed.seconds, timed.binary, timed.name));
    }
    // A test that lets a child print on the same line hides its own time; say so rather than rank without it.
    let untimed = tally.passed.saturating_sub(tally.timed.len() as u64);
    if untimed > 0 {
        text.push_str(&format!("    ({untimed} tests reported no time)\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_ranks_ten_and_counts_the_untimed() {
        let mut tally = Tally::default();
        tally.line("     Running tests/it/main.rs (deps/it-81a1)");
        tally.line("     Package p");
        (1..=11).for_each(|n| tally.line(&format!("test t{n} ... ok <{n}.000s>")));
        tally.line("test result: ok. 13 passed; 0 failed; 0 ignored");
        let text = summary(&tally);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[0], "      11.000 s  p::it  t11");
        assert_eq!(lines[9], "       2.000 s  p::it  t2");
        assert_eq!(lines[10], "    (2 tests reported no time)");
    }
}
