//! `countersign ci`: the gate of a CI service. The event says what is judged and against what, the trusted branch says how.
//!
//! ```text
//! event (which commits) ──► base (are they here, is that checked out) ──► the change ──► the same review as at any gate
//! ```

mod base;
mod event;
mod gate_files;

pub use event::default_branch;

use crate::answer::v1::ci::{Ci, CiEvent};
use crate::answer::v1::{Answer, Verdict};
use crate::authority::{self, FlagsFrom};
use crate::change::{gate_words, note_seen};
use crate::ledger_place;
use crate::project::{Project, current_folder};
use crate::{Code, Failure};
use base::Commits;
use countersign_core::outcome::Outcome;
use countersign_core::policy::GateFiles;
use countersign_core::prompt::Sections;
use countersign_core::text::{counted, visible_line};
use countersign_engine::config::Flags;
use countersign_engine::engine::SubmittedChange;
use countersign_engine::git::Git;
use countersign_engine::workspace::{self, ChangeError, ChangeWanted};
use event::{Event, Service};
use gate_files::ToSign;
use std::path::PathBuf;

/// How many names a sentence has.
const NAMED_MAX: usize = 3;

/// What is to be judged in this job.
pub struct Job {
    pub project: Project,
    pub change: SubmittedChange,
    pub warnings: Vec<String>,
    event: Event,
    commits: Commits,
    seen_by: Option<String>,
}

/// What the caller of the gate says.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub flags: Flags,
    /// The commit to compare with, in place of the event's.
    pub base: Option<String>,
    /// Files that the command writes: no part of the work.
    pub written: Vec<PathBuf>,
}

/// Finds out what is to be judged.
pub async fn job(wanted: &Wanted) -> Result<Job, Failure> {
    let event = Event::of_job()?;
    let project = Project::for_gate(current_folder()?, &wanted.flags, FlagsFrom::Caller).await?;
    let commits = Commits::of(&event, &Git::at(project.root.path())).await?;
    let mut warnings = project.notices();
    let base = match (&wanted.base, &commits.base) {
        (None, Some(base)) => Some(base.clone()),
        (named, _) => {
            let (base, ignored) = authority::base(&project, FlagsFrom::Caller, named.as_deref()).await?;
            warnings.extend(ignored);
            base
        }
    };
    ledger_place::hide_own_folder(project.root.path())?;
    let left_out = left_out(&project, &wanted.written, &commits.head).await?;
    require_checked_out(&project, &commits.head, &left_out).await?;
    let change = ChangeWanted { base: base.clone(), left_out: left_out.clone(), ..ChangeWanted::default() };
    let mut change = workspace::change(&project.root, &change).await?;
    note_seen(&project, &mut change).await?;
    let mut seen_by = None;
    if project.config.policy.gate_files == GateFiles::Tell {
        warnings.extend(gate_words(&change));
    } else if let Some(to_sign) = ToSign::of(&project, &change, base.as_deref(), &commits.head).await? {
        let Some(by) = to_sign.signer(&project).await? else { return Err(to_sign.waits()) };
        let words = by.words();
        warnings.push(format!("{words} agreed to the change of {}", to_sign.files.join(", ")));
        change.seen.extend(to_sign.files);
        seen_by = Some(words);
    }
    let is_named = wanted.base.is_some();
    let commits = Commits { base: if is_named { None } else { commits.base }, ..commits };
    let change = SubmittedChange::new(change, left_out, Sections::bare());
    Ok(Job { project, change, warnings, event, commits, seen_by })
}

impl Job {
    /// The answer where no rule is about any of the changed files: a pass only where the event says what changed.
    pub fn without_rule(self, failure: Failure) -> Result<Answer<Ci>, Failure> {
        if failure.code != Code::NoRule || self.commits.base.is_none() {
            return Err(failure);
        }
        let files: Vec<String> = self.change.change().files.iter().map(|file| file.path.clone()).collect();
        let words = format!("no rule covers {}", counted(files.len(), "changed file", "changed files"));
        let named: Vec<_> = files.iter().take(NAMED_MAX).map(|file| visible_line(file)).collect();
        let more = files.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let words = format!("{words}: {}{more}", named.join(", "));
        let warnings = self.warnings.clone();
        let ci = Ci { nothing_to_judge: Some(words), not_covered: files, ..self.ci(None) };
        Ok(Answer::new(Some(Outcome::NothingToJudge), ci).warned(warnings))
    }

    /// The answer with a verdict.
    pub fn judged(&self, answer: Answer<Verdict>) -> Answer<Ci> {
        answer.map(|verdict| self.ci(Some(verdict)))
    }

    fn ci(&self, verdict: Option<Verdict>) -> Ci {
        let service = match self.event.service {
            Service::Github => "github",
            Service::Gitlab => "gitlab",
            Service::Git => "git",
        };
        Ci {
            event: CiEvent {
                service,
                name: self.event.name.clone(),
                base: self.change.change().base.clone(),
                base_from_event: self.commits.base.is_some(),
                head: self.commits.head.clone(),
            },
            nothing_to_judge: None,
            not_covered: vec![],
            gate_files_seen_by: self.seen_by.clone(),
            verdict,
        }
    }
}

/// The files that the command writes, as patterns. One that the commit has is work, and is not left out.
async fn left_out(project: &Project, written: &[PathBuf], head: &str) -> Result<Vec<String>, Failure> {
    let git = Git::at(project.root.path());
    let mut patterns = vec![];
    for path in written {
        let Ok(relative) = project.root.relative(&project.here, path) else { continue };
        let found = git.id_at(head, &relative).await;
        if found.map_err(|error| Failure::internal(error.to_string()))?.is_some() {
            return Err(Failure::usage(format!(
                "`{relative}` is a file of the work, so it cannot get the answer"
            ))
            .hint("name a file that is not committed"));
        }
        patterns.push(
            relative.chars().flat_map(|c| if "*?[]\\".contains(c) { vec!['?'] } else { vec![c] }).collect(),
        );
    }
    Ok(patterns)
}

/// What is merged is the commit, so the files have to be those of the commit.
async fn require_checked_out(project: &Project, head: &str, left_out: &[String]) -> Result<(), Failure> {
    let wanted =
        ChangeWanted { base: Some(head.to_owned()), left_out: left_out.to_vec(), ..ChangeWanted::default() };
    let change = match workspace::change(&project.root, &wanted).await {
        Err(ChangeError::Empty { .. }) => return Ok(()),
        found => found?,
    };
    let named: Vec<_> = change.files.iter().take(NAMED_MAX).map(|file| visible_line(&file.path)).collect();
    let count = counted(change.files.len(), "file differs", "files differ");
    let message = format!("{count} from the commit that is checked out: {}", named.join(", "));
    Err(Failure::new(Outcome::Usage, Code::Dirty, message)
        .hint("run countersign ci before steps that write files, or have `.gitignore` name what they write"))
}
