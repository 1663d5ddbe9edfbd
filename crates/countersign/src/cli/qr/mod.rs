//! `countersign qr`: a decomposed review in a state file, command by command.

pub mod arguments;
mod ask;
mod change;
mod decompose;
mod guidance;
mod json;
mod look;
mod place;
mod reconcile;
mod verify;
mod whole_loop;

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use arguments::{QrCommand, QrOptions};
use place::Place;
use tokio_util::sync::CancellationToken;

/// Runs one of the commands.
pub async fn run(
    global: &Global,
    options: QrOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let QrOptions { state_dir, phase, command } = options;
    let place = Place::find(global, state_dir, command.phase(phase), &command)?;
    match command {
        QrCommand::Init => look::init(&place),
        QrCommand::Execute(options) => look::execute(&place, options.qr_fail),
        QrCommand::Gate => look::gate(&place).await,
        QrCommand::Status => look::status(&place).await,
        QrCommand::Record(options) => change::record(&place, &options).await,
        QrCommand::Fixed(options) => change::fixed(&place, &options).await,
        QrCommand::Accept(options) => change::accept(&place, &options).await,
        QrCommand::Reset => change::reset(&place).await,
        QrCommand::Decompose(options) => decompose::run(&place, &options, printer, cancel).await,
        QrCommand::Verify(options) => verify::run(&place, &options, printer, cancel).await,
        QrCommand::Fix(options) => guidance::run(&place, &options, printer, cancel).await,
        QrCommand::Reconcile(options) => reconcile::run(&place, &options, printer, cancel).await,
        QrCommand::Loop(options) => whole_loop::run(&place, &options, printer, cancel).await,
    }
}
