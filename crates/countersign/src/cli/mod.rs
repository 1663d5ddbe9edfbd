//! The command line: one file per command, one way out.

mod arguments;
#[cfg(debug_assertions)]
mod ask_fixture;
mod complete;
mod config;
mod costs;
mod decide;
mod demo;
mod dispute;
mod doctor;
mod help;
mod hook;
mod init;
mod last_resort;
mod log;
mod mcp;
mod notify;
mod qr;
mod review;
mod review_preview;
mod rule;
mod run;
mod serve;
mod show;
mod status;
pub mod task;
mod tui;
mod validate;
mod watch;

pub use arguments::{Arguments, Command, Global};
pub use countersign_app::Failure;

use crate::logging::{self, Log};
use crate::output::{Answer, Printer};
use countersign_app::decide::Action;
use countersign_engine::{process, scratch};
use last_resort::Ends;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// Runs a command and says how it ended.
pub fn main() -> ExitCode {
    let arguments = match help::parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let is_hook = matches!(arguments.command, Command::Hook(_));
    last_resort::on_panic(match arguments.command {
        Command::Hook(_) => Ends::Work,
        Command::Mcp(_) | Command::Serve(_) => Ends::Call,
        _ => Ends::Process,
    });
    let printer = match is_hook {
        true => hook::printer(),
        false => Printer::new(arguments.global.json, arguments.global.quiet, arguments.command.name()),
    };
    // A log would write across the screen of a run.
    let log = match arguments.command {
        Command::Tui(_) => Log::default(),
        _ => logging::start(arguments.global.verbose),
    };
    // All our children are started by the engine, so whatever else comes to us was left by a program of theirs.
    process::adopt_orphans();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return printer.finish(Err(Failure::internal(format!("could not start: {error}")))),
    };
    let ended = runtime.block_on(async {
        let cancel = CancellationToken::new();
        stop_on_signals(cancel.clone());
        dispatch(arguments, &printer, &cancel).await
    });
    let failed = ended.is_err();
    let code = printer.finish(ended);
    let code = if is_hook && failed { ExitCode::from(hook::FAILED) } else { code };
    // As long as we are there, a program that turns on its guards is ended all the same.
    runtime.block_on(process::all_ended());
    // A blocking read of a slow file must not keep a finished command from ending.
    runtime.shutdown_background();
    scratch::clear();
    log.end();
    code
}

async fn dispatch(
    arguments: Arguments,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let Arguments { global, command } = arguments;
    match command {
        Command::Review(options) => review::run(&global, *options, printer, cancel).await,
        Command::Show(options) => show::run(&global, options).await,
        Command::Log(options) => log::run(&global, options).await,
        Command::Status => status::run(&global).await,
        Command::Rule(options) => rule::run(&global, options, printer, cancel).await,
        Command::Approve(options) => decide::run(&global, options, Action::Approve).await,
        Command::Reject(options) => decide::run(&global, options, Action::Reject).await,
        Command::Skip(options) => decide::run(&global, options, Action::Skip).await,
        Command::Fix(options) => decide::run(&global, options, Action::Fix).await,
        Command::Dispute(options) => dispute::run(&global, options, printer, cancel).await,
        Command::Unblock(options) => decide::run(&global, options, Action::Unblock).await,
        Command::Withdraw(options) => decide::withdraw(&global, options).await,
        Command::Init(options) => init::run(&global, &options, printer).await,
        Command::Doctor(options) => doctor::run(&global, options, printer, cancel).await,
        Command::Run(options) => run::run(&global, *options, printer, cancel).await,
        Command::Retry(options) => run::retry(&global, *options, printer, cancel).await,
        Command::Output(options) => run::output(&global, &options),
        Command::Stop(options) => run::stop(&global, &options),
        Command::Hook(options) => hook::run(&global, &options, cancel).await,
        Command::Costs(options) => costs::run(&global, options).await,
        Command::Tui(options) => tui::run(&global, &options, cancel).await,
        Command::Notify(options) => notify::run(&global, options).await,
        Command::Watch(options) => watch::run(&global, options, printer, cancel).await,
        Command::Validate(options) => validate::run(&global, &options),
        Command::Task(options) => task::run(&global, *options, printer, cancel).await,
        Command::Qr(options) => qr::run(&global, *options, printer, cancel).await,
        Command::Config(options) => config::run(&global, &options),
        Command::Mcp(options) => mcp::run(global, options, cancel).await,
        Command::Serve(options) => serve::run(global, options, cancel).await,
        Command::Demo(options) => demo::run(options, printer, cancel).await,
        #[cfg(debug_assertions)]
        Command::AskFixture(options) => ask_fixture::run(&options, cancel).await,
        Command::Completions(options) => Ok(complete::run(&options)),
    }
}

/// Help and version are answers; anything else is a usage error, in JSON where that was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let is_hook = hook_is_meant();
    let json = std::env::args_os().any(|word| word == "--json") && !is_hook;
    if json && error.kind() != DisplayHelpOnMissingArgumentOrSubcommand {
        let message = error.to_string();
        let message = message.trim().trim_start_matches("error: ");
        return Printer::json("").finish(Err(Failure::usage(message)));
    }
    let _ = error.print();
    match is_hook {
        true => ExitCode::from(hook::FAILED),
        false => ExitCode::from(countersign_core::outcome::Outcome::Usage.exit_code()),
    }
}

/// Whether a hook was meant by what was typed, whatever is wrong with it.
fn hook_is_meant() -> bool {
    let meant = help::command().ignore_errors(true).try_get_matches();
    meant.is_ok_and(|found| found.subcommand_name() == Some("hook"))
}

/// The first signal stops cleanly, the second at once. A terminal that is closed is such a signal too; without one,
/// whoever started us decides what a hang-up means.
fn stop_on_signals(cancel: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = || Some((signal(SignalKind::interrupt()).ok()?, signal(SignalKind::terminate()).ok()?));
    let Some((mut interrupt, mut terminate)) = listen() else { return };
    let mut hang_up = crate::terminal::is_there().then(|| signal(SignalKind::hangup()).ok()).flatten();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                // Shells say it twice; it never means to stop at once.
                () = received(hang_up.as_mut()) => {
                    cancel.cancel();
                    last_resort::end_after_grace();
                    continue;
                }
            }
            if cancel.is_cancelled() {
                last_resort::end(countersign_core::outcome::Outcome::Interrupted);
            }
            cancel.cancel();
            last_resort::end_after_grace();
        }
    });
}

/// A signal that may not be listened to.
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
