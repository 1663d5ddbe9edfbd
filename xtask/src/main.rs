//! What contributors run: the tests as CI runs them, the benchmarks, the generated files.
//!
//! Standard library only, so that `cargo xtask` starts within seconds on a fresh clone. One file per command;
//! [`args`] reads the command line, [`cargo`] runs cargo, [`watch`] follows test output and [`libtest`]
//! understands it.

mod agents;
mod args;
mod attack;
mod bench;
mod browser;
mod cargo;
mod compare;
mod failure;
mod libtest;
mod python;
mod real_model;
mod schema;
mod setup;
mod test;
mod watch;

use args::Request;
use cargo::Workspace;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run() -> Result<(), Failure> {
    let request = args::parse(std::env::args_os().skip(1)).map_err(Failure::Usage)?;
    if let Request::Help = request {
        print!("{}", args::HELP);
        return Ok(());
    }
    let workspace = Workspace::find()?;
    match request {
        Request::Help => Ok(()),
        Request::Test(amount) => test::run(&workspace, amount),
        Request::RealModel => real_model::run(&workspace),
        Request::Bench(extra) => bench::run(&workspace, &extra),
        Request::Compare(extra) => compare::run(&workspace, &extra),
        Request::Agents => agents::run(&workspace).map(|folder| println!("{}", folder.display())),
        Request::Schemathesis => {
            python::schemathesis(&workspace).map(|folder| println!("{}", folder.display()))
        }
        Request::CiTools => python::ci_tools(&workspace).map(|folder| println!("{}", folder.display())),
        Request::Attack => attack::run(&workspace),
        Request::Schema => schema::run(&workspace),
    }
}
