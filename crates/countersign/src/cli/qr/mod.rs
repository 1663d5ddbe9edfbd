//! `countersign qr`: a decomposed review in a state file, command by command.

pub mod arguments;
mod change;
mod failure;
mod json;
mod look;
mod place;
pub mod validate;

use super::{Failure, Global};
use crate::output::Answer;
use arguments::{QrCommand, QrOptions};
use place::Place;

/// Runs one of the commands.
pub async fn run(global: &Global, options: QrOptions) -> Result<Answer, Failure> {
    let QrOptions { state_dir, phase, command } = options;
    let place = Place::find(global, state_dir, phase)?;
    match command {
        QrCommand::Init => look::init(&place),
        QrCommand::Execute(options) => look::execute(&place, options.qr_fail),
        QrCommand::Gate => look::gate(&place),
        QrCommand::Fix => look::fix(&place),
        QrCommand::Status => look::status(&place),
        QrCommand::Decompose(options) => change::decompose(&place, &options).await,
        QrCommand::Record(options) => change::record(&place, &options).await,
        QrCommand::Fixed(options) => change::fixed(&place, &options).await,
        QrCommand::Accept(options) => change::accept(&place, &options).await,
        QrCommand::Reset => change::reset(&place).await,
    }
}
