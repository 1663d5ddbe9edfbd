//! The command line: one file per command, one way out.

#[cfg(debug_assertions)]
mod ask_fixture;
mod baseline;
mod ci;
mod command;
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
mod ledger;
mod log;
mod mcp;
mod notify;
mod qr;
mod reconcile;
mod review;
mod review_preview;
mod rule;
mod run;
mod serve;
mod show;
mod signing;
mod start;
mod status;
mod task;
mod trust;
mod tui;
mod validate;
mod watch;

pub use command::Global;
pub use countersign_app::Failure;

use crate::formats::{self, Format, Outputs, Target};
use crate::logging::{self, Log};
use crate::output::{Answer, Printer};
use command::{Color, Command};
use countersign_app::Code;
use countersign_app::author::actor;
use countersign_app::decide::Action;
use countersign_engine::{process, scratch};
use last_resort::Ends;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

pub fn main() -> ExitCode {
    let (arguments, name) = match help::parse() {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    match arguments.global.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let is_hook = matches!(arguments.command, Some(Command::Hook(_)));
    last_resort::on_panic(match arguments.command {
        Some(Command::Hook(_)) => Ends::Work,
        Some(Command::Mcp(_) | Command::Serve(_) | Command::Open(_)) => Ends::Call,
        _ => Ends::Process,
    });
    let printer = match is_hook {
        true => hook::printer(),
        false => {
            let Global { quiet, verbose, .. } = arguments.global;
            match outputs(&arguments, name) {
                Ok(outputs) => Printer { outputs, quiet, verbose: verbose > 0, command: name },
                Err(failure) => {
                    let mut outputs = typed_outputs();
                    outputs.files.retain(Target::is_writable);
                    return Printer { outputs, quiet, verbose: false, command: name }.finish(Err(failure));
                }
            }
        }
    };
    // A log would write across the screen of a run.
    let log = match arguments.command {
        Some(Command::Tui(_)) => Log::default(),
        _ => logging::start(arguments.global.verbose),
    };
    // The engine starts all our children, so any other child was left behind by one of their programs.
    process::adopt_orphans();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return printer.finish(Err(Failure::internal(format!("could not start: {error}")))),
    };
    let ended = runtime.block_on(async {
        let cancel = CancellationToken::new();
        stop_on_signals(cancel.clone());
        let ended = command::dispatch(arguments, &printer, &cancel).await;
        again_if_trusted(ended, &printer, &cancel).await
    });
    let failed = ended.is_err();
    let code = printer.finish(ended);
    let code = if is_hook && failed { ExitCode::from(hook::FAILED) } else { code };
    // While this process lives, a program that kills its guards is still ended.
    runtime.block_on(process::all_ended());
    // A blocking read of a slow file must not keep a finished command from ending.
    runtime.shutdown_background();
    scratch::clear();
    log.end();
    code
}

/// The first use of a gate at a terminal asks once whether to trust the project, and then does what was asked.
async fn again_if_trusted(
    ended: Result<Answer, Failure>,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let why = match ended {
        Err(failure) if failure.code == Code::NotTrusted => failure,
        ended => return ended,
    };
    if printer.json() || !crate::terminal::is_there() || !actor().is_person() {
        return Err(why);
    }
    match (trust::at_first_use(&why, printer).await?, help::parse()) {
        (true, Ok((arguments, _))) => command::dispatch(arguments, printer, cancel).await,
        _ => Err(why),
    }
}

/// Help and version are answers; anything else is a usage error, as JSON with --json.
fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let is_hook = hook_is_meant();
    let outputs = typed_outputs();
    let is_text = outputs == Outputs::to_stdout(Format::Text);
    if !is_text && !is_hook && error.kind() != DisplayHelpOnMissingArgumentOrSubcommand {
        let message = error.to_string();
        let message = message.trim().trim_start_matches("error: ");
        let printer = Printer { outputs, quiet: true, verbose: false, command: "" };
        return printer.finish(Err(Failure::usage(message)));
    }
    let _ = error.print();
    match is_hook {
        true => ExitCode::from(hook::FAILED),
        false => ExitCode::from(countersign_core::outcome::Outcome::Usage.exit_code()),
    }
}

/// What can be read of a command line that is wrong.
fn typed_outputs() -> Outputs {
    formats::typed(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()))
}

/// Where the answer goes. Files say from now on that there is none yet.
fn outputs(arguments: &command::Arguments, name: &str) -> Result<Outputs, Failure> {
    let Global { json, format, .. } = &arguments.global;
    let mut outputs = Outputs::of(*json, format, name)?;
    if let Some(Command::Ci(options)) = &arguments.command {
        options.add_outputs(&mut outputs);
    }
    outputs.begin()?;
    Ok(outputs)
}

/// Whether the arguments, also invalid ones, are those of a hook.
fn hook_is_meant() -> bool {
    let meant = help::command().ignore_errors(true).try_get_matches();
    meant.is_ok_and(|found| found.subcommand_name() == Some("hook"))
}

/// The first signal stops cleanly, the second at once. A terminal that is closed is such a signal too; without one,
/// the process that started us decides what a hang-up means.
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
                // Shells send it twice; it never means to stop at once.
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

/// Waits for a signal; for ever where it cannot be received.
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
