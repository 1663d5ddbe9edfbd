//! A client of the MCP server, as far as a benchmark needs one.

use crate::measure::{cpu, peak_bytes};
use anyhow::{Context, ensure};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#;

/// What a server took.
pub struct Client {
    /// From starting it to its first answer.
    pub first: Duration,
    /// From starting it to the list of its tools.
    pub listed: Duration,
    pub peak_bytes: u64,
}

impl Client {
    /// Starts a server, asks it what there is, and hangs up.
    pub fn start(command: Command) -> anyhow::Result<Self> {
        let started = Instant::now();
        let mut line = Line::start(command)?;
        line.ask(INITIALIZE)?;
        let first = started.elapsed();
        line.ask(LIST)?;
        let listed = started.elapsed();
        let peak_bytes = line.peak_bytes()?;
        line.hang_up()?;
        Ok(Self { first, listed, peak_bytes })
    }

    /// Goes through a workflow of so many steps that nobody reviews: CPU time of the server for all.
    pub fn steps(command: Command, steps: usize) -> anyhow::Result<Duration> {
        let mut line = Line::start(command)?;
        line.ask(INITIALIZE)?;
        line.start_workflow("job_0")?;
        let before = cpu(line.child.id())?.0;
        for _ in 0..steps {
            let answer = line.ask(&call("finished_step", r#"{"outputs":{"page":"reply.json"}}"#))?;
            ensure!(answer.contains(r#""status":"next_step""#), "it did not go on: {answer}");
        }
        let spent = cpu(line.child.id())?.0 - before;
        line.hang_up()?;
        Ok(spent)
    }

    /// Hands in a step whose files are reviewed one by one: how long it takes.
    pub fn pages(command: Command, files: &[String]) -> anyhow::Result<Duration> {
        let mut line = Line::start(command)?;
        line.ask(INITIALIZE)?;
        line.start_workflow("pages")?;
        let started = Instant::now();
        let arguments = format!(r#"{{"outputs":{{"pages":["{}"]}}}}"#, files.join("\",\""));
        let answer = line.ask(&call("finished_step", &arguments))?;
        let took = started.elapsed();
        ensure!(answer.contains(r#""status":"workflow_complete""#), "it did not pass: {answer}");
        line.hang_up()?;
        Ok(took)
    }

    /// Has a server judge everything there is: the most memory it had.
    pub fn judging(command: Command) -> anyhow::Result<u64> {
        let mut line = Line::start(command)?;
        line.ask(INITIALIZE)?;
        let submitted = line.ask(&call("review_submit", "{}"))?;
        let at = submitted.find("rv-").context("no handle")?;
        let review = submitted.get(at..at + 15).context("no whole handle")?;
        let verdict = line.ask(&call("review_wait", &format!(r#"{{"review":"{review}"}}"#)))?;
        ensure!(verdict.contains(r#""state":"done""#), "no verdict: {verdict}");
        let peak = line.peak_bytes()?;
        line.hang_up()?;
        Ok(peak)
    }
}

fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// A server and the pipes to it.
struct Line {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Line {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().context("no pipe")?;
        let stdout = BufReader::new(child.stdout.take().context("no pipe")?);
        Ok(Self { child, stdin, stdout })
    }

    fn ask(&mut self, message: &str) -> anyhow::Result<String> {
        writeln!(self.stdin, "{message}")?;
        let mut answer = String::new();
        self.stdout.read_line(&mut answer)?;
        ensure!(answer.contains(r#""result""#), "no result: {answer}");
        Ok(answer)
    }

    fn start_workflow(&mut self, job: &str) -> anyhow::Result<()> {
        let arguments = format!(r#"{{"goal":"g","job_name":"{job}","workflow_name":"w"}}"#);
        let answer = self.ask(&call("start_workflow", &arguments))?;
        ensure!(answer.contains("begin_step"), "it did not start: {answer}");
        Ok(())
    }

    fn peak_bytes(&self) -> anyhow::Result<u64> {
        peak_bytes(self.child.id()).context("it has ended")
    }

    fn hang_up(self) -> anyhow::Result<()> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        let status = child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}
