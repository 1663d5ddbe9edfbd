//! The figures, each in the units its target has.

use crate::client::Client;
use crate::measure::{Cost, median_wall, peak_of_quick, run};
use crate::project::Project;
use crate::table::{Table, cpu_time, megabytes, time};
use anyhow::{Context, ensure};
use countersign_testkit::{Act, Chat};
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How large everything is.
pub struct Sizes {
    /// How often a quick command is run for its median.
    pub runs: usize,
    /// Projects by their number of files, each asked about by a replay reviewer.
    pub replayed: [usize; 2],
    /// Files asked about by a program.
    pub commanded: usize,
    /// Reviews in the large ledger.
    pub reviews: u32,
    /// Tasks that are run.
    pub tasks: usize,
    /// Repositories whose agent stops, by their number of files.
    pub hooked: [usize; 2],
}

impl Sizes {
    pub const FULL: Self = Self {
        runs: 200,
        replayed: [1_000, 10_000],
        commanded: 200,
        reviews: 100_000,
        tasks: 100,
        hooked: [1_000, 50_000],
    };
    pub const QUICK: Self = Self {
        runs: 20,
        replayed: [100, 1_000],
        commanded: 20,
        reviews: 2_000,
        tasks: 10,
        hooked: [1_000, 5_000],
    };
}

/// How long it takes to say something simple.
pub fn start_up(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let project = Project::empty()?;
    for word in ["--version", "status"] {
        let wall = median_wall(sizes.runs, || project.countersign(&[word]))?;
        let how = format!("median of {} runs, from starting the process to its end", sizes.runs);
        table.add(format!("`{word}` in an empty project, wall"), time(wall), "< 10 ms", how);
        let peak = peak_of_quick(&mut project.countersign(&[word]))?;
        let how = "resident memory at its peak, read when the answer is about to be written";
        table.add(format!("`{word}` in an empty project, memory"), megabytes(peak), "< 10 MB", how);
    }
    Ok(())
}

/// How long a server takes to answer a client for the first time, and what it needs to be there.
pub fn server(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let project = Project::with_files(10)?;
    let runs = sizes.runs.div_ceil(4);
    let (mut firsts, mut lists) = (vec![], vec![]);
    let mut peak = 0;
    for _ in 0..=runs {
        let client = Client::start(project.countersign(&["mcp"]))?;
        firsts.push(client.first);
        lists.push(client.listed);
        peak = client.peak_bytes;
    }
    let median = |times: &mut Vec<Duration>| {
        let counted = &mut times[1..];
        counted.sort();
        counted[counted.len() / 2]
    };
    let how = format!("median of {runs} runs, from starting the process to the answer to `initialize`");
    table.add("MCP server, start to first answer", time(median(&mut firsts)), "< 20 ms", how);
    let how = "the same, to the answer to `tools/list` that follows";
    table.add("MCP server, start to the list of tools", time(median(&mut lists)), "", how);
    let how = "resident memory at its peak, after both and before anything was judged";
    table.add("MCP server, memory", megabytes(peak), "< 25 MB", how);
    let judged = Client::judging(project.countersign(&["mcp"]))?;
    let how = "the same after `review_submit` and `review_wait` on 10 files";
    table.add("MCP server, memory after a review", megabytes(judged), "< 25 MB", how);
    Ok(())
}

/// How many jobs a project has, and how large each is.
const JOBS: usize = 24;
const JOB_BYTES: usize = 16 * 1024;
/// How many pages a step hands in that is reviewed page by page.
const PAGES: usize = 50;

/// What a step of a workflow costs where nobody reviews it, and where every page of it is reviewed.
pub fn workflows(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let steps = sizes.runs;
    let project = Project::with_files(PAGES)?;
    project.add_jobs(JOBS, JOB_BYTES, steps + 1)?;
    let spent = Client::steps(project.countersign(&["mcp"]), steps)?;
    let how = format!(
        "CPU time of the server, over {steps} steps in a row, {JOBS} jobs of {} KB in the project",
        JOB_BYTES / 1024
    );
    table.add("`finished_step` without reviews, CPU of ours for each", each(spent, steps), "< 3 ms", how);
    let pages: Vec<String> = (0..PAGES).map(|i| format!("docs/000/page-{i:05}.md")).collect();
    let took = Client::pages(project.countersign(&["mcp", "--external-runner", "program"]), &pages)?;
    let how =
        "wall time of the call with the command reviewer `cat`, 4 at once: bounded by starting processes";
    table.add(format!("`finished_step` with {PAGES} pages reviewed one by one"), time(took), "", how);
    Ok(())
}

/// How many items the state file of a phase has.
const ITEMS: usize = 10_000;

/// What it takes to look at a large state file.
pub fn items(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let project = Project::empty()?;
    let item = |n: usize| {
        json!({
            "id": format!("plan-{n:03}"),
            "scope": format!("file:src/file-{n}.rs:{n}-{}", n + 20),
            "check": format!("The error in part {n} names the line and what was expected"),
            "status": "PASS",
            "finding": null,
        })
    };
    let items: Vec<_> = (1..=ITEMS).map(item).collect();
    let state = json!({ "schema_version": "1.0", "phase": "plan-code", "items": items });
    project.write("state/qr-plan-code.json", &serde_json::to_string_pretty(&state)?)?;
    let runs = sizes.runs.div_ceil(10);
    for word in ["gate", "status"] {
        let words = ["qr", word, "--quiet", "--state-dir", "state", "--phase", "plan-code"];
        let wall = median_wall(runs, || project.countersign(&words))?;
        let how =
            format!("the whole command, median of {runs} runs; every item passed, none of them on record");
        table.add(format!("`qr {word}` on {ITEMS} items, wall"), time(wall), "< 50 ms", how);
    }
    Ok(())
}

/// One project, planned, then judged with recorded rulings, then judged again.
pub fn many_files(files: usize, table: &mut Table) -> anyhow::Result<()> {
    let project = Project::with_files(files)?;
    let judge = |extra: &[&str]| {
        let words = ["review", "--quiet", "--json", "--reviewer", "recorded"];
        run(&mut project.countersign(&[&words, extra].concat()))
    };
    let planned = judge(&["--dry-run"])?;
    let how = "`review --dry-run --json`: walk, hash, plan, word every prompt";
    table.add(format!("plan of {files} files"), in_full(planned), "", how);
    let judged = judge(&[])?;
    let how = "`review --json` with the replay reviewer; the CPU time of the whole command, divided";
    let figure = format!("review of {files} assignments, CPU of ours for each");
    table.add(figure, each(judged.own, files), "< 2 ms", how);
    let how = "the same command as a whole, hashing before and after and the answer in JSON included";
    table.add(format!("review of {files} assignments"), in_full(judged), "", how);
    let again = judge(&[])?;
    let how = "the same command again: every ruling is cached, no reviewer is asked";
    table.add(format!("review of {files} assignments again"), in_full(again), "", how);
    Ok(())
}

/// How many questions a service gets, how many of them at once, and how long it takes for each.
const ASKED: usize = 50;
const AT_ONCE: usize = 8;
const ANSWER: Duration = Duration::from_millis(200);

/// Questions to a program that answers at once.
pub fn command(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let assignments = sizes.commanded;
    let project = Project::with_files(assignments)?;
    let words = ["review", "--quiet", "--json", "--reviewer", "program"];
    let cost = run(&mut project.countersign(&words))?;
    let figure = |part: &str| format!("{assignments} assignments asked of a program, CPU of {part} for each");
    let how = "`review --json` with a command reviewer that is `cat` with a canned reply";
    table.add(figure("ours"), each(cost.own, assignments), "< 2 ms", how);
    let how = "the guard process and the program itself, starting them included";
    table.add(figure("children"), each(cost.children, assignments), "", how);
    let figure = format!("{assignments} assignments asked of a program");
    table.add(figure, in_full(cost), "", "the command as a whole");
    Ok(())
}

/// Questions to a service whose answers take their time: how much of it is ours.
pub fn service(table: &mut Table) -> anyhow::Result<()> {
    let passed = |name: &str| json!({ "criterion": name, "passed": true, "feedback": null });
    let results = json!([passed("Complete"), passed("Clear")]);
    let reply = json!({ "passed": true, "feedback": "", "criteria_results": results });
    let service = Chat::slow(ANSWER, Act::answer(reply));
    let project = Project::with_files(ASKED)?;
    project.add_reviewer(&format!(
        "{{name: service, use: openai, model: m, base_url: '{}/v1', concurrency: {AT_ONCE}}}",
        service.url()
    ))?;
    let words = ["review", "--quiet", "--json", "--reviewer", "service"];
    let cost = run(&mut project.countersign(&words))?;
    ensure!(service.asked().len() == ASKED, "asked {} times", service.asked().len());
    let ideal = ANSWER * u32::try_from(ASKED.div_ceil(AT_ONCE))?;
    let target = format!("< {}", time(ideal.mul_f64(1.15)));
    let how = format!(
        "`review --json` with a service that takes {} for each answer; {} if all else took no time",
        time(ANSWER),
        time(ideal)
    );
    let figure = format!("{ASKED} assignments asked of a service, {AT_ONCE} at once");
    table.add(figure, in_full(cost), &target, how);
    Ok(())
}

/// Looking at a ledger that has seen much.
pub fn large_ledger(sizes: &Sizes, table: &mut Table) -> anyhow::Result<()> {
    let project = Project::empty()?;
    eprintln!("filling a ledger with {} reviews", sizes.reviews);
    let cargo = std::env::var_os("CARGO").context("start this with cargo")?;
    let mut fill = Command::new(cargo);
    fill.args(["run", "--quiet", "--profile", "dist", "--locked", "--package", "countersign-engine"]);
    fill.args(["--example", "fill_ledger", "--"]).arg(project.ledger()).arg(sizes.reviews.to_string());
    let status = fill.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "the ledger could not be filled: {status}");
    let runs = sizes.runs.div_ceil(10);
    let wall = median_wall(runs, || project.countersign(&["status"]))?;
    let how = format!("the whole command, median of {runs} runs");
    table.add(format!("`status` on {} reviews, wall", sizes.reviews), time(wall), "< 50 ms", how);
    let peak = peak_of_quick(&mut project.countersign(&["status"]))?;
    let how = "resident memory at its peak";
    table.add(format!("`status` on {} reviews, memory", sizes.reviews), megabytes(peak), "", how);
    Ok(())
}

pub fn each(total: Duration, count: usize) -> String {
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    time(total / count)
}

fn in_full(cost: Cost) -> String {
    format!("{} wall, {} CPU, {}", time(cost.wall), cpu_time(cost.own), megabytes(cost.peak_bytes))
}
