//! The baseline: findings of a project that are accepted as they are, in a file that people review. A gate reads it from the
//! trusted commit only.

use crate::Failure;
use crate::answer::v1::baseline::Baseline;
use crate::project::Project;
use countersign_core::accepting::Debt;
use countersign_core::answer::{Fingerprint, Flaw, MAX_FLAWS};
use countersign_core::digest::Digest;
use countersign_core::judge::{Finding, RoundEnd};
use countersign_core::outcome::NoVerdict;
use countersign_core::review::Review;
use countersign_core::submission::Material;
use countersign_core::text::{counted, decode, visible_line};
use countersign_engine::git::Git;
use countersign_engine::workspace::{BASELINE, write_atomically};
use countersign_engine::yaml::read_at_most;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

const BYTES_MAX: usize = 16 * 1024 * 1024;
const MESSAGE_CHARACTERS: usize = 200;
/// The fewest letters and digits of a line that is known again by its text.
const TELLING_CHARACTERS: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    version: u32,
    findings: Vec<Entry>,
}

/// A finding of the baseline, as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub rule: String,
    pub criterion: String,
    /// For people: only the fingerprint counts.
    pub message: String,
    pub fingerprint: String,
    /// Of the file, where no line tells the finding from others: then it is accepted only while the file stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

impl Entry {
    fn debt(&self) -> Debt {
        let Self { file, rule, criterion, fingerprint, digest, .. } = self.clone();
        Debt { rule, criterion, file, fingerprint: Fingerprint::new(&fingerprint), digest }
    }

    /// Whether it is about the same, whatever the words are.
    fn is_same(&self, other: &Self) -> bool {
        self.debt() == other.debt()
    }
}

/// What the file in the working tree accepts.
pub fn in_files(root: &Path) -> Result<Arc<[Debt]>, Failure> {
    Ok(read(root)?.iter().flatten().map(Entry::debt).collect())
}

/// What the file accepts as of a commit.
pub async fn of_commit(git: &Git, commit: &str) -> Result<Arc<[Debt]>, Failure> {
    let bytes = git.file_at(commit, BASELINE).await.map_err(|error| Failure::usage(error.to_string()))?;
    let short = commit.get(..12).unwrap_or(commit);
    let entries = bytes.map(|bytes| parse(&bytes, &format!("{BASELINE} (as of {short})"))).transpose()?;
    Ok(entries.iter().flatten().map(Entry::debt).collect())
}

/// What a gate says where it is not known which baseline a person trusts.
pub fn not_used(root: &Path, commit: Option<&str>) -> Option<String> {
    let is_there = root.join(BASELINE).symlink_metadata().is_ok();
    (is_there && commit.is_none()).then(|| {
        format!("{BASELINE} is not used: gates take it from a commit that is trusted, and there is none")
    })
}

fn read(root: &Path) -> Result<Option<Vec<Entry>>, Failure> {
    let path = root.join(BASELINE);
    match read_at_most(&path, BYTES_MAX) {
        Ok(bytes) => Ok(Some(parse(&bytes, &path.display().to_string())?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("{} cannot be read: {error}", path.display()))),
    }
}

fn parse(bytes: &[u8], shown: &str) -> Result<Vec<Entry>, Failure> {
    let wrong = |words: String| {
        Failure::usage(format!("{shown} cannot be used: {words}")).hint(
            "take the last version of it that worked, or remove it and write it again: countersign baseline",
        )
    };
    let file: BaselineFile = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    if file.version != 1 {
        return Err(wrong(format!("`version` is {}, and this program knows 1", file.version)));
    }
    if file.findings.iter().any(|entry| entry.fingerprint.trim().is_empty()) {
        return Err(wrong("a `fingerprint` is empty".to_owned()));
    }
    Ok(file.findings)
}

fn write(root: &Path, entries: &[Entry]) -> Result<(), Failure> {
    let line = |entry: &Entry| serde_json::to_string(entry).map(|line| format!("    {line}"));
    let lines: Result<Vec<String>, _> = entries.iter().map(line).collect();
    let lines = lines.map_err(|error| Failure::internal(error.to_string()))?.join(",\n");
    let list = if entries.is_empty() { "[]".to_owned() } else { format!("[\n{lines}\n  ]") };
    let text = format!("{{\n  \"version\": 1,\n  \"findings\": {list}\n}}\n");
    let path = root.join(BASELINE);
    write_atomically(&path, &text)
        .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))
}

/// Writes the findings of a review of the whole project down. With `prune` none is added.
pub fn record(project: &Project, review: &Review, prune: bool) -> Result<(Baseline, Vec<String>), Failure> {
    let root = project.root.path();
    let before = read(root)?.unwrap_or_default();
    if prune && before.is_empty() {
        return Err(Failure::usage(format!("there is nothing in {BASELINE} to be taken out")));
    }
    let round = review.round().ok_or_else(|| Failure::internal("nothing was judged"))?;
    if round.end.is_some_and(|end| end == RoundEnd::Stale) {
        let words = "the files changed during the review, so nothing is recorded";
        return Err(Failure::new(NoVerdict::Stale.outcome(), crate::Code::NoVerdict, words));
    }
    let mut warnings = vec![];
    let found = Recorder { root, files: &round.submission.files, lines: HashMap::new() }
        .entries(&review.all_findings(), &mut warnings);
    let unanswered = round.judgement.unanswered.len();
    if unanswered > 0 {
        warnings.push(format!(
            "{} without an answer: their findings are not known, and what the baseline has of them stays",
            counted(unanswered, "question is", "questions are")
        ));
    }
    let is_found = |entry: &Entry| found.iter().any(|other| other.is_same(entry));
    let stays = |entry: &&Entry| is_found(entry) || review.is_open_question(&entry.debt());
    let (kept, fixed): (Vec<&Entry>, Vec<&Entry>) = before.iter().partition(|entry| stays(entry));
    let is_new = |entry: &&Entry| !before.iter().any(|other| other.is_same(entry));
    let new: Vec<&Entry> = found.iter().filter(is_new).collect();
    let added: &[&Entry] = if prune { &[] } else { &new };
    let all: BTreeSet<Entry> = kept.iter().chain(added).map(|entry| (*entry).clone()).collect();
    let all: Vec<Entry> = all.into_iter().collect();
    write(root, &all)?;
    let shown = |entries: &[&Entry]| entries.iter().map(|entry| (*entry).clone().into()).collect();
    let baseline = Baseline {
        file: BASELINE.to_owned(),
        findings: all.len(),
        added: shown(added),
        fixed: shown(&fixed),
        left: if prune { shown(&new) } else { vec![] },
        next: vec![format!(
            "look at {BASELINE} and commit it: gates use it from the commit that a person trusts (countersign trust)"
        )],
    };
    Ok((baseline, warnings))
}

/// Writes findings down, each with what tells it from others.
struct Recorder<'a> {
    root: &'a Path,
    files: &'a [Material],
    /// The lines of files that were read.
    lines: HashMap<String, Vec<String>>,
}

impl Recorder<'_> {
    fn entries(&mut self, findings: &[Finding], warnings: &mut Vec<String>) -> Vec<Entry> {
        let mut all = vec![];
        for finding in findings {
            let rule = visible_line(&finding.rule);
            let Some(criterion) = &finding.criterion else {
                warnings.push(format!(
                    "rule '{rule}' failed as a whole, without a criterion: that is not recorded"
                ));
                continue;
            };
            let shown = visible_line(criterion);
            if finding.flaws.len() > MAX_FLAWS {
                warnings.push(format!(
                    "{shown} ({rule}) has more than {MAX_FLAWS} findings in one answer: those beyond are not recorded"
                ));
            }
            for flaw in finding.flaws.iter().take(MAX_FLAWS) {
                match self.entry(finding, criterion, flaw) {
                    Some(entry) => all.push(entry),
                    None => warnings
                        .push(format!("a finding of {shown} ({rule}) names no file: it is not recorded")),
                }
            }
        }
        all
    }

    fn entry(&mut self, finding: &Finding, criterion: &str, flaw: &Flaw) -> Option<Entry> {
        let place = flaw.location.as_ref();
        let file = place.map(|place| place.file.clone()).or_else(|| finding.file.clone())?;
        let is_told = place.and_then(|place| place.line).is_some_and(|line| self.is_telling(&file, line));
        let material = self.files.iter().find(|material| material.form.is_file() && material.path == file);
        let digest = if is_told { None } else { Some(material?.digest.clone()) };
        Some(Entry {
            rule: finding.rule.clone(),
            criterion: criterion.to_owned(),
            message: visible_line(&flaw.message).chars().take(MESSAGE_CHARACTERS).collect(),
            fingerprint: flaw.fingerprint.to_string(),
            file: Some(file),
            digest,
        })
    }

    /// Whether a line says enough to be known again: many lines are a bracket and nothing else.
    fn is_telling(&mut self, file: &str, line: u64) -> bool {
        let root = self.root;
        let lines = self.lines.entry(file.to_owned()).or_insert_with(|| {
            let text = read_at_most(&root.join(file), BYTES_MAX).ok().and_then(decode).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let text = at.and_then(|at| lines.get(at)).map_or("", String::as_str);
        text.chars().filter(|c| c.is_alphanumeric()).count() >= TELLING_CHARACTERS
    }
}
