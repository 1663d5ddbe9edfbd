//! `countersign demo`: a small project with planted defects, judged by the real engine until it passes.
//!
//! The reviewer is `checks`, so there is no model and no network. The author is scripted: between the rounds
//! it fixes what the last verdict named, some of it at first.

mod work;

use super::Failure;
use super::review::ReviewOptions;
use super::review::wanted;
use crate::output::{Answer, Printer, Reader, bold, dim, verdict_text, write_out};
use clap::Args;
use countersign_app::answer::v1::{self, Demo, Verdict};
use countersign_app::next;
use countersign_app::project::Project;
use countersign_app::spent::Spent;
use countersign_core::outcome::Outcome;
use countersign_engine::config::Environment;
use countersign_engine::engine::Engine;
use countersign_engine::ledger::Stored;
use countersign_engine::private;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub struct DemoOptions {
    /// Keep the demo's project in this new folder and look around in it afterwards
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

pub async fn run(
    options: DemoOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let temporary = tempfile::Builder::new()
        .prefix("countersign-demo-")
        .permissions(private::folder_permissions())
        .tempdir();
    let temporary = temporary
        .map_err(|error| Failure::internal(format!("a temporary folder cannot be created: {error}")))?;
    let folder = match &options.keep {
        None => temporary.path().to_owned(),
        Some(keep) => new_folder(keep)?,
    };
    work::write_project(&folder)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", folder.display())))?;
    let stage = Stage::open(&folder, printer).await?;
    stage.say(&format!("{}\n\n", work::PROLOGUE));
    let mut rounds = vec![];
    let mut acts = work::acts();
    let stored = loop {
        let stored = stage.round(cancel).await?;
        rounds.push(Verdict::of(&stored, Spent::default(), vec![]));
        match (stored.review.standing(), acts.next()) {
            (Some(Outcome::NeedsWork), Some(act)) => stage.author(&folder, &act)?,
            _ => break stored,
        }
    };
    Ok(stage.close(&stored, rounds, options.keep.as_deref()))
}

/// A folder that does not exist yet: the demo never writes over files.
fn new_folder(keep: &Path) -> Result<std::path::PathBuf, Failure> {
    let made = std::fs::create_dir(keep).and_then(|()| keep.canonicalize());
    made.map_err(|error| {
        Failure::usage(format!("--keep `{}`: {error}", keep.display()))
            .hint("name a folder that does not exist")
    })
}

struct Stage<'a> {
    project: Project,
    engine: Engine,
    printer: &'a Printer,
}

impl<'a> Stage<'a> {
    async fn open(folder: &Path, printer: &'a Printer) -> Result<Self, Failure> {
        // The demo ignores the configuration of the user.
        let environment = Environment { root: Some(folder.to_owned()), ..Environment::default() };
        let project = Project::find_at(folder.to_owned(), None, None, &environment)?;
        let engine = project.engine(project.planner(None)?).await?;
        Ok(Self { project, engine, printer })
    }

    fn say(&self, text: &str) {
        if !self.printer.json() {
            write_out(text);
        }
    }

    async fn round(&self, cancel: &CancellationToken) -> Result<Stored, Failure> {
        let options = ReviewOptions { subject: Some("demo".to_owned()), ..ReviewOptions::default() };
        let wanted = wanted(&self.project, &options).await?;
        let prepared = wanted.prepare(&self.project, self.engine.planner(), &mut vec![]).await?;
        let ticket = self.engine.submit(prepared).await?;
        let stored = self.engine.wait(&ticket, cancel).await?;
        self.say(&format!("{}\n", bold(&format!("── round {} ──", ticket.round))));
        self.say(&format!("{}\n", verdict_text(&Verdict::of(&stored, Spent::default(), vec![]), &[], false)));
        self.engine.delivered(&ticket).await?;
        Ok(stored)
    }

    fn author(&self, folder: &Path, act: &work::Act) -> Result<(), Failure> {
        self.say(&format!("{}\n", dim("the author:")));
        for edit in act {
            self.say(&format!("  {}: {}\n", edit.file, edit.words));
            let written = std::fs::write(folder.join(edit.file), edit.content);
            written.map_err(|error| Failure::internal(format!("`{}`: {error}", edit.file)))?;
        }
        self.say("\n");
        Ok(())
    }

    fn close(&self, stored: &Stored, rounds: Vec<Verdict>, kept: Option<&Path>) -> Answer {
        let outcome = stored.review.standing().unwrap_or(Outcome::Internal);
        let mut text = String::from(
            "Unchanged work was not judged twice: each round asked only about what had changed.\n\n",
        );
        text.push_str(&match kept {
            Some(folder) => format!(
                "{} cd {} && countersign log && countersign show\n",
                bold("look around:"),
                folder.display()
            ),
            None => {
                format!("{} countersign demo --keep DIR, and look around in DIR\n", bold("see it again:"))
            }
        });
        text.push_str(&format!(
            "{} countersign help, countersign review --help\n",
            bold("where to look next:")
        ));
        let next = next::steps(&stored.review, "countersign review", Reader::of_command());
        Answer::of(v1::Answer::new(Some(outcome), Demo { rounds, next }), text)
    }
}
