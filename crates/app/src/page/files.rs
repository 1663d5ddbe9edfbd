//! The files of a review as they were judged, with the findings beside their lines.

use super::diff::{DiffRow, Sign, hunks};
use crate::Failure;
use crate::answer::v1::{Finding, Verdict};
use crate::excerpt::{judged_files, words};
use crate::project::Project;
use countersign_core::submission::{Form, Material};
use countersign_engine::engine::{FileNow, JudgedFiles};
use countersign_engine::ledger::{Ledger, Stored};
use std::collections::BTreeSet;

/// How many lines stand before and after those of a finding.
const AROUND_LINES: u64 = 3;
/// How many files are read for one page.
const FILES_READ: usize = 40;
/// How many lines of one file are on a page.
const ROWS_MAX: usize = 2000;

/// A finding of a file, with one of the things that are wrong.
#[derive(Clone, Debug)]
pub struct PlacedFlaw {
    pub finding: Finding,
    /// The index of it in `finding.findings`.
    pub flaw: Option<usize>,
    pub blocks: bool,
    /// Its lines; none where it is about the file as a whole.
    pub lines: Option<(u64, u64)>,
}

/// What is shown of a file.
#[derive(Clone, Debug)]
pub enum Lines {
    /// Groups of lines; lines between them are left out.
    Groups(Vec<Vec<DiffRow>>),
    /// Why nothing is shown.
    NotShown(String),
}

#[derive(Clone, Debug)]
pub struct FileView {
    pub path: String,
    pub digest: String,
    /// Whether what was judged is a change of the file.
    pub is_diff: bool,
    pub added: usize,
    pub removed: usize,
    pub flaws: Vec<PlacedFlaw>,
    pub lines: Lines,
    /// How many lines are left out at the end, because there are too many.
    pub cut: usize,
    /// What became of the file since, in words.
    pub since: Option<&'static str>,
}

/// The files with findings, and those of `wanted`, in the order in which they were handed in. Also how many others there are.
pub async fn files(
    project: &Project,
    ledger: &Ledger,
    stored: &Stored,
    verdict: &Verdict,
    wanted: Option<&str>,
) -> Result<(Vec<FileView>, usize), Failure> {
    let Some(round) = stored.review.round() else { return Ok((vec![], 0)) };
    let flaws = placed(verdict);
    let named: BTreeSet<&str> = flaws.iter().filter_map(|placed| file_of(placed)).chain(wanted).collect();
    let mut shown: Vec<&Material> = vec![];
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for material in &round.submission.files {
        paths.insert(&material.path);
        let is_shown = material.form != Form::Summary && named.contains(material.path.as_str());
        // A change of a file is shown in place of the file.
        match shown.iter_mut().find(|known| known.path == material.path) {
            Some(known) if material.form == Form::Patch => *known = material,
            Some(_) => {}
            None if is_shown => shown.push(material),
            None => {}
        }
    }
    let others = paths.len().saturating_sub(shown.len().min(FILES_READ));
    let shown: Vec<Material> = shown.into_iter().take(FILES_READ).cloned().collect();
    let files = judged_files(project, ledger)?;
    let wanted = wanted.map(str::to_owned);
    let read = move || -> Vec<FileView> {
        shown.iter().map(|material| view(&files, material, &flaws, wanted.as_deref())).collect()
    };
    let read =
        tokio::task::spawn_blocking(read).await.map_err(|error| Failure::internal(error.to_string()))?;
    Ok((read, others))
}

/// Every flaw of every finding, with its place.
pub fn placed(verdict: &Verdict) -> Vec<PlacedFlaw> {
    let blocking = verdict.findings.iter().map(|finding| (finding, true));
    let all = blocking.chain(verdict.waived.iter().map(|finding| (finding, false)));
    let mut placed = vec![];
    for (finding, blocks) in all {
        if finding.findings.is_empty() {
            placed.push(PlacedFlaw { finding: finding.clone(), flaw: None, blocks, lines: None });
        }
        for (index, shown) in finding.findings.iter().enumerate() {
            let place = shown.flaw.location.as_ref();
            let lines = place.and_then(|place| {
                let line = place.line?;
                Some((line, place.end_line.unwrap_or(line).max(line)))
            });
            placed.push(PlacedFlaw { finding: finding.clone(), flaw: Some(index), blocks, lines });
        }
    }
    placed
}

/// The file that a flaw is in, or that its finding is about.
pub fn file_of(placed: &PlacedFlaw) -> Option<&str> {
    let flaw = placed.flaw.and_then(|index| placed.finding.findings.get(index));
    let located = flaw.and_then(|shown| shown.flaw.location.as_ref()).map(|place| place.file.as_str());
    located.or(placed.finding.file.as_deref())
}

fn view(files: &JudgedFiles, material: &Material, flaws: &[PlacedFlaw], wanted: Option<&str>) -> FileView {
    let path = material.path.clone();
    let flaws: Vec<PlacedFlaw> =
        flaws.iter().filter(|placed| file_of(placed) == Some(path.as_str())).cloned().collect();
    let is_diff = material.form == Form::Patch;
    let (mut added, mut removed, mut cut, mut since) = (0, 0, 0, None);
    let lines = match files.text(material) {
        Err(why) => Lines::NotShown(words(why).to_owned()),
        Ok(text) => {
            since = match text.now {
                _ if is_diff => None,
                FileNow::Same => None,
                FileNow::Changed => Some("the file has changed since"),
                FileNow::Gone => Some("the file is gone"),
            };
            let mut groups = match is_diff {
                true => hunks(&text.text),
                false => groups(&text.text, &flaws, wanted == Some(path.as_str())),
            };
            let count = |sign| groups.iter().flatten().filter(|row| row.sign == sign).count();
            (added, removed) = (count(Sign::Added), count(Sign::Removed));
            cut = limit(&mut groups);
            Lines::Groups(groups)
        }
    };
    FileView { path, digest: material.digest.to_string(), is_diff, added, removed, flaws, lines, cut, since }
}

/// The lines of a file around its findings, or all of them.
fn groups(text: &str, flaws: &[PlacedFlaw], whole: bool) -> Vec<Vec<DiffRow>> {
    let mut groups: Vec<Vec<DiffRow>> = vec![];
    let mut last = 0;
    for (line, text) in (1u64..).zip(text.lines()) {
        let near = flaws.iter().filter_map(|placed| placed.lines).any(|(first, end)| {
            (first.saturating_sub(AROUND_LINES)..=end.saturating_add(AROUND_LINES)).contains(&line)
        });
        if !whole && !near {
            continue;
        }
        if groups.is_empty() || last + 1 != line {
            groups.push(vec![]);
        }
        last = line;
        let row = DiffRow { old: None, new: Some(line), sign: Sign::Same, text: text.to_owned() };
        if let Some(group) = groups.last_mut() {
            group.push(row);
        }
    }
    groups
}

/// Cuts what is more than a page shows; returns how many lines that is.
fn limit(groups: &mut Vec<Vec<DiffRow>>) -> usize {
    let (mut left, mut cut) = (ROWS_MAX, 0);
    for group in groups.iter_mut() {
        let keep = group.len().min(left);
        cut += group.len() - keep;
        group.truncate(keep);
        left -= keep;
    }
    groups.retain(|group| !group.is_empty());
    cut
}
