//! `countersign qr`: a decomposed review in a state file, command by command.

pub mod arguments;

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use arguments::{QrCommand, QrOptions};
use countersign_app::qr::{self, Answered, Compared, Items, Loop, Place, Preview, Verify, Watch, Where};
use countersign_engine::engine::Engine;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// How large a list of items may be.
const ITEMS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs one of the commands.
pub async fn run(
    global: &Global,
    options: QrOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let QrOptions { state_dir, phase, command } = options;
    let given = Where {
        state_dir,
        phase: command.phase(phase),
        reviewer: command.reviewer().cloned(),
        own: command.has_own_state_dir().then(|| command.artifacts().to_vec()),
    };
    let place = Place::find(global.config.as_deref(), given)?;
    Ok(match command {
        QrCommand::Init => answer(qr::init(&place)?),
        QrCommand::Execute(options) if options.qr_fail => answer(qr::execute_failed(&place)?),
        QrCommand::Execute(_) => answer(qr::execute(&place)?),
        QrCommand::Gate => answer(qr::gate(&place).await?),
        QrCommand::Status => answer(qr::status(&place).await?),
        QrCommand::Record(options) => {
            answer(qr::record(&place, &options.id, &options.ruling, options.finding.as_deref()).await?)
        }
        QrCommand::Fixed(options) => answer(qr::fixed(&place, &options.files).await?),
        QrCommand::Accept(options) => answer(qr::accept(&place, &options.id, &options.reason).await?),
        QrCommand::Reset => answer(qr::reset(&place).await?),
        QrCommand::Decompose(options) => {
            place.phase()?;
            let given = options.items.as_deref().map(|items| read_items(&place, items)).transpose()?;
            let (artifacts, again) = (options.ask.artifact, options.again);
            let wanted = Items { artifacts, given, again, prompt: options.print_prompt };
            previewed(qr::items(&place, &wanted, printer, cancel).await?)
        }
        QrCommand::Verify(options) => {
            let (artifacts, items) = (options.ask.artifact, options.item);
            let wanted = Verify { artifacts, items, prompt: options.print_prompt };
            previewed(qr::verify(&place, &wanted, printer, cancel).await?)
        }
        QrCommand::Fix(options) => {
            let artifacts = &options.ask.artifact;
            previewed(qr::fix(&place, artifacts, options.print_prompt, printer, cancel).await?)
        }
        QrCommand::Reconcile(options) => {
            let compared = Compared { plan: options.plan, files: options.files };
            match options.print_prompt {
                true => answer(qr::reconcile_prompts(&place, &compared).await?),
                false => answer(qr::reconcile(&place, &compared, printer, cancel).await?),
            }
        }
        QrCommand::Loop(options) => {
            let wanted = Loop {
                artifacts: options.ask.artifact,
                fixer: options.fixer,
                fixer_timeout_seconds: options.fixer_timeout_seconds,
            };
            answer(qr::until_passed(&place, &wanted, printer, cancel).await?)
        }
    })
}

fn answer(answered: Answered<impl Serialize>) -> Answer {
    let Answered { outcome, text, answer, warnings } = answered;
    Answer { warnings, ..Answer::new(outcome, text, answer) }
}

fn previewed(preview: Preview<impl Serialize>) -> Answer {
    match preview {
        Preview::Answer(answered) => answer(answered),
        Preview::Prompt(prompt) => answer(prompt),
    }
}

impl Watch for Printer {
    async fn during<T>(&self, engine: &Engine, work: impl Future<Output = T>) -> T {
        self.progress().during(engine, work).await
    }

    fn note(&self, words: &str) {
        Self::note(self, words);
    }

    fn warn(&self, warnings: &[String]) {
        Self::warn(self, warnings);
    }
}

fn read_items(place: &Place, typed: &Path) -> Result<(PathBuf, String), Failure> {
    let mut bytes = vec![];
    let limited =
        |from: Box<dyn Read>, bytes: &mut Vec<u8>| from.take(ITEMS_BYTES_MAX + 1).read_to_end(bytes);
    let (path, read) = match typed == Path::new("-") {
        true => ("standard input".into(), limited(Box::new(std::io::stdin().lock()), &mut bytes)),
        false => {
            let path = place.project.here.join(typed);
            let read = File::open(&path).and_then(|file| limited(Box::new(file), &mut bytes));
            (path, read)
        }
    };
    let shown = path.display();
    read.map_err(|error| Failure::usage(format!("the items in `{shown}` cannot be read: {error}")))?;
    if bytes.len() as u64 > ITEMS_BYTES_MAX {
        return Err(Failure::usage(format!("the items in `{shown}` are more than {ITEMS_BYTES_MAX} bytes")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((path, text)),
        Err(_) => Err(Failure::usage(format!("the items in `{shown}` are not UTF-8"))),
    }
}
