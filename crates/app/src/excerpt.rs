//! Puts beside every finding the lines it is about, as they were judged, and finds a whole judged file.

use crate::answer::v1::{Answer, Excerpt, Finding, JudgedFile, ShownFlaw, Verdict};
use crate::ledger_place::project_path;
use crate::project::Project;
use crate::time::local_date;
use crate::{Code, Failure, find};
use countersign_core::answer::Location;
use countersign_core::digest::Digest;
use countersign_core::outcome::Outcome;
use countersign_core::submission::{Form, Material};
use countersign_core::text::{cut_noted, visible_line};
use countersign_engine::engine::{FileNow, JudgedFiles, JudgedText, NotShown};
use countersign_engine::ledger::{Ledger, Stored};
use std::collections::HashMap;
use std::path::Path;

/// How many lines are shown before and after those of a finding.
const AROUND_LINES: u64 = 2;
/// How many lines of a finding are shown.
const LINES_MAX: u64 = 8;
const LINE_BYTES_MAX: usize = 400;
/// How many findings of an answer have their lines beside them.
const EXCERPTS_MAX: usize = 100;
/// From this length on further files of a whole diff are left out.
const DIFF_BYTES_MAX: usize = 256 * 1024;

type Texts = HashMap<Digest, Result<JudgedText, NotShown>>;

/// The verdict with the lines of its findings.
pub async fn with_excerpts(
    project: &Project,
    ledger: &Ledger,
    stored: &Stored,
    mut verdict: Verdict,
) -> Result<Verdict, Failure> {
    verdict.folder = project_path(project.root.path());
    let findings = verdict.findings.iter().chain(&verdict.waived);
    let shown = findings.flat_map(|finding| finding.findings.iter().map(move |shown| (finding, shown)));
    let file = |(finding, shown): (&Finding, &ShownFlaw)| {
        let place = shown.flaw.location.clone().filter(|place| place.line.is_some())?;
        let file = stored.review.judged_file(&finding.id, finding.criterion.as_deref(), &place.file)?;
        Some((file.clone(), place))
    };
    let wanted: Vec<Option<(Material, Location)>> = shown.map(file).collect();
    if wanted.iter().all(Option::is_none) {
        return Ok(verdict);
    }
    let files = judged_files(project, ledger)?;
    let show = move || {
        let (mut texts, mut count) = (Texts::new(), 0);
        let findings = verdict.findings.iter_mut().chain(&mut verdict.waived);
        for (shown, wanted) in findings.flat_map(|finding| &mut finding.findings).zip(wanted) {
            let Some((file, place)) = wanted else { continue };
            if count == EXCERPTS_MAX {
                shown.note = Some("the lines of this and of further findings are not shown".to_owned());
                break;
            }
            let text = texts.entry(file.digest.clone()).or_insert_with(|| files.text(&file));
            (shown.excerpt, shown.note) = (excerpt(text, &place), note(text));
            count += 1;
        }
        verdict
    };
    tokio::task::spawn_blocking(show).await.map_err(|error| Failure::internal(error.to_string()))
}

pub(crate) fn judged_files(project: &Project, ledger: &Ledger) -> Result<JudgedFiles, Failure> {
    let days = project.config.limits.keep_contents_days;
    Ok(JudgedFiles::new(project.root.clone(), ledger, days, project.redaction()?))
}

fn excerpt(text: &Result<JudgedText, NotShown>, place: &Location) -> Option<Excerpt> {
    let (text, line) = (text.as_ref().ok()?, place.line?);
    let last = place.end_line.unwrap_or(line).clamp(line, line.saturating_add(LINES_MAX - 1));
    let first_line = line.saturating_sub(AROUND_LINES).max(1);
    let count = last.saturating_add(AROUND_LINES).checked_sub(first_line)?.checked_add(1)?;
    let lines = text.text.lines().skip(usize::try_from(first_line - 1).ok()?);
    let lines = lines.take(usize::try_from(count).ok()?);
    let lines: Vec<String> = lines.map(|line| cut_noted(line, LINE_BYTES_MAX).into_owned()).collect();
    let is_there = (lines.len() as u64) > line.saturating_sub(first_line);
    is_there.then(|| Excerpt { first_line, lines, is_current: text.now == FileNow::Same })
}

fn note(text: &Result<JudgedText, NotShown>) -> Option<String> {
    match text {
        Ok(text) => since(text).map(|since| format!("as judged{since}")),
        Err(NotShown::NotText) => None,
        Err(why) => Some(words(*why).to_owned()),
    }
}

/// When a text was judged and what became of the file; none while it is the same.
fn since(text: &JudgedText) -> Option<String> {
    let date = text.at.map(|at| format!(" on {}", local_date(at))).unwrap_or_default();
    match text.now {
        FileNow::Same => None,
        FileNow::Changed => Some(format!("{date}; the file has changed since")),
        FileNow::Gone => Some(format!("{date}; the file is gone")),
    }
}

pub(crate) fn words(why: NotShown) -> &'static str {
    match why {
        NotShown::NotText => "it is not text",
        NotShown::TooLong => "it is longer than what is kept (1 MiB)",
        NotShown::NotKept => "contents no longer kept, and the file has changed since",
        NotShown::Edited => "not shown: what was kept of the file was edited or damaged",
    }
}

/// A file of a review as it was judged, or its diff.
pub async fn judged_file(
    project: &Project,
    typed: Option<&str>,
    path: &str,
    diff: bool,
) -> Result<Answer<JudgedFile>, Failure> {
    let Some(ledger) = project.existing_ledger().await? else { return Err(find::no_ledger()) };
    let id = match typed {
        Some(typed) => find::meant(project, &ledger, typed).await?,
        None => find::latest(&ledger).await?,
    };
    let Some(stored) = ledger.review(&id).await? else { return Err(find::not_found(id.as_str())) };
    let (round, file) = named(project, &stored, path, diff)?;
    let (files, wanted) = (judged_files(project, &ledger)?, file.clone());
    ledger.close().await;
    let text = tokio::task::spawn_blocking(move || files.text(&wanted)).await;
    let text =
        text.map_err(|error| Failure::internal(error.to_string()))?.map_err(|why| not_shown(&file, why))?;
    let is_current = (!diff).then_some(text.now == FileNow::Same);
    let (Material { path, digest, .. }, text) = (file, text.text);
    let is_exact = Digest::of(text.as_bytes()) == digest;
    Ok(Answer::passed(JudgedFile { review: id, round, path, digest, text, is_exact, is_current }))
}

/// The diffs of the last round of a review, as they were judged, one after the other.
pub async fn judged_diff(project: &Project, ledger: &Ledger, stored: &Stored) -> Result<String, Failure> {
    let files = judged_files(project, ledger)?;
    let shown = stored.review.round().map(|round| round.submission.files.clone()).unwrap_or_default();
    let read = move || {
        let mut text = String::new();
        for file in shown.iter().filter(|file| file.form == Form::Patch) {
            if text.len() > DIFF_BYTES_MAX {
                text.push_str("[cut: `countersign show --file PATH --diff` shows each file]\n");
                break;
            }
            match files.text(file) {
                Ok(judged) => text.push_str(&judged.text),
                Err(why) => text.push_str(&format!("{}: {}\n", visible_line(&file.path), words(why))),
            }
        }
        text
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| Failure::internal(error.to_string()))
}

/// The file that a text names, in the last round that had it.
fn named(project: &Project, stored: &Stored, typed: &str, diff: bool) -> Result<(u32, Material), Failure> {
    let relative = project.root.relative(&project.here, Path::new(typed)).ok();
    let wanted = if diff { Form::Patch } else { Form::File };
    let is_named = |path: &str| path == typed || relative.as_deref() == Some(path);
    let rounds = || stored.review.rounds.iter().rev();
    let all = || rounds().flat_map(|round| round.submission.files.iter().map(move |file| (round, file)));
    let (id, path) = (&stored.review.id, visible_line(typed));
    let mut named = all().filter(|(_, file)| is_named(&file.path));
    if let Some((round, file)) = named.find(|(_, file)| file.form == wanted) {
        let mut asked = round.assignments.iter().flat_map(|assignment| &assignment.files);
        let is_about =
            |index: &usize| round.submission.files.get(*index).is_some_and(|asked| asked.path == file.path);
        if !asked.any(is_about) {
            return Err(Failure::not_found(format!("no question was about `{path}`, so it was not judged")));
        }
        return Ok((round.n, file.clone()));
    }
    let there_as = all().find(|(_, file)| is_named(&file.path)).map(|(_, file)| file.form);
    Err(match there_as {
        Some(Form::Patch) => Failure::not_found(format!("of `{path}` only the diff was judged"))
            .hint(format!("countersign show {id} --file {path} --diff")),
        Some(_) => Failure::not_found(format!("`{path}` was judged as a file, without a diff"))
            .hint(format!("countersign show {id} --file {path}")),
        None => Failure::not_found(format!("review {id} is not about a file `{path}`"))
            .hint(format!("`countersign show {id} --json` names its files")),
    })
}

fn not_shown(file: &Material, why: NotShown) -> Failure {
    let path = visible_line(&file.path);
    match why {
        NotShown::Edited => Failure::new(
            Outcome::Integrity,
            Code::Edited,
            format!("what was kept of `{path}` was edited or damaged, and is not shown"),
        )
        .hint("no verdict depends on it; when the same file is judged again, it is kept anew"),
        NotShown::NotKept => Failure {
            code: Code::NotKept,
            ..Failure::usage(format!(
                "the contents of `{path}` are no longer kept, and the file has changed since"
            ))
        }
        .hint("`limits.keep_contents_days` says for how long they are kept"),
        why => {
            Failure { code: Code::NotKept, ..Failure::usage(format!("`{path}` is not kept: {}", words(why))) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: usize, line: u64, end_line: Option<u64>) -> Option<(u64, usize)> {
        let text = (1..=lines).map(|n| format!("line {n}\n")).collect();
        let text = Ok(JudgedText { text, now: FileNow::Same, at: None });
        let place = Location { file: "a".into(), line: Some(line), end_line };
        excerpt(&text, &place).map(|excerpt| (excerpt.first_line, excerpt.lines.len()))
    }

    #[test]
    fn issue_18_an_excerpt_has_a_few_lines_around_and_an_end() {
        let table = [
            (of(40, 20, None), Some((18, 5))),
            (of(40, 20, Some(22)), Some((18, 7))),
            (of(40, 1, None), Some((1, 3))),
            (of(40, 40, None), Some((38, 3))),
            (of(40, 3, Some(39)), Some((1, 12))),
            (of(2, 3, None), None),
            (of(0, 1, None), None),
            (of(1, u64::MAX, None), None),
            (of(1, 1, Some(u64::MAX)), Some((1, 1))),
            (of(1, 0, None), Some((1, 1))),
        ];
        for (got, expected) in table {
            assert_eq!(got, expected);
        }
        let long = Ok(JudgedText { text: "x".repeat(1000), now: FileNow::Gone, at: None });
        let place = Location { file: "a".into(), line: Some(1), end_line: None };
        let Excerpt { lines, is_current, .. } = excerpt(&long, &place).unwrap();
        assert!(lines[0].ends_with(" [cut: 400 of 1000 bytes shown]") && !is_current, "{lines:?}");
    }
}
