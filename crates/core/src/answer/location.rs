//! Locations of flaws: the reviewer's claim is checked against the files, and the fingerprint survives moved lines.

use super::flaw::Flaw;
use super::{Answer, Ruling};
use crate::criterion::fold_name;
use crate::digest::Parts;
use crate::ids::text_type;
use crate::plan::{Assignment, Target};
use crate::submission::{Form, Material};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// A place in a file that was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The file, as it was handed in.
    pub file: String,
    /// The line, from 1; none where it is about the file as a whole.
    #[serde(default)]
    pub line: Option<u64>,
    /// The last line, where there are several.
    #[serde(default)]
    pub end_line: Option<u64>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&claimed_words(Some(&self.file), self.line, self.end_line))
    }
}

/// The place a reviewer names, not yet checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The file; none where the question is about one file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The last line, where there are several.
    pub end_line: Option<u64>,
}

impl Claim {
    /// `api.py:45`, `api.py:45-50` or `api.py`.
    pub(super) fn of_words(words: &str) -> Self {
        let with_line = words.rsplit_once(':').and_then(|(file, lines)| {
            let (line, end) = lines.split_once('-').unwrap_or((lines, ""));
            let line = line.trim().parse().ok()?;
            Some(Self { file: Some(file.to_owned()), line: Some(line), end_line: end.trim().parse().ok() })
        });
        with_line.unwrap_or_else(|| Self { file: Some(words.to_owned()), ..Self::default() })
    }

    fn words(&self) -> String {
        claimed_words(self.file.as_deref(), self.line, self.end_line)
    }
}

fn claimed_words(file: Option<&str>, line: Option<u64>, end_line: Option<u64>) -> String {
    let lines = match (line, end_line) {
        (Some(line), Some(end)) => format!("{line}-{end}"),
        (Some(line), None) | (None, Some(line)) => line.to_string(),
        (None, None) => return file.unwrap_or_default().to_owned(),
    };
    file.map_or_else(|| format!("line {lines}"), |file| format!("{file}:{lines}"))
}

text_type!(
    /// Names a flaw beyond the review it was found in: hex digits of a digest.
    #[derive(Default)]
    Fingerprint
);

impl Fingerprint {
    const HEX_DIGITS: usize = 32;

    /// One that was written down.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Of a flaw that is known by its words alone.
    pub(super) fn of_message(criterion: &str, about: &str, message: &str) -> Self {
        Self::of(criterion, &Basis::message(about, message), 0)
    }

    /// `nth` counts the flaws of a ruling that would have the same one otherwise.
    fn of(criterion: &str, Basis { kind, about, text }: &Basis, nth: usize) -> Self {
        let mut parts = Parts::new("fingerprint/1");
        parts.text(kind).text(&fold_name(criterion)).text(about).text(text).count(nth);
        Self(parts.digest().as_str().chars().take(Self::HEX_DIGITS).collect())
    }
}

/// What a fingerprint is made of, beside the criterion.
#[derive(PartialEq)]
struct Basis {
    kind: &'static str,
    about: String,
    text: String,
}

impl Basis {
    /// Where the line is known: neither its number and indentation nor the message count. None for an empty line.
    fn line(file: &str, line: &str) -> Option<Self> {
        let text = collapsed(line);
        (!text.is_empty()).then(|| Self { kind: "line", about: file.to_owned(), text })
    }

    /// Without a line: the words without their numbers.
    fn message(about: &str, message: &str) -> Self {
        let words: String = message.chars().filter(|c| !c.is_numeric()).collect();
        Self { kind: "message", about: about.to_owned(), text: collapsed(&words) }
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A file that a place is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub text: String,
    /// The lines its diff shows, where a change is judged.
    pub changed: Option<Vec<RangeInclusive<u64>>>,
    /// The lines that the change touched; none where that is not known, or where it is no change.
    pub touched: Option<Vec<RangeInclusive<u64>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The file, or the output, where it is about one.
    pub about: String,
    /// The files a place may be in.
    pub files: Vec<String>,
    /// The folder the files are in, as programs write it before their paths.
    pub root: String,
}

impl Asked {
    /// The file that is meant: only one that was asked about, under its own name.
    fn file(&self, claimed: Option<&str>) -> Option<&str> {
        let find = |path: &str| self.files.iter().find(|file| *file == path).map(String::as_str);
        let Some(claimed) = claimed else {
            return match self.files.as_slice() {
                [only] => Some(only),
                _ => None,
            };
        };
        let normalised = || {
            let path = claimed.trim().trim_matches('`').replace('\\', "/");
            let within = path.strip_prefix(&self.root).and_then(|path| path.strip_prefix('/'));
            let path = within.unwrap_or(&path);
            let path = path.strip_prefix("./").unwrap_or(path);
            // The two sides of a diff have these letters before their paths.
            find(path).or_else(|| find(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))?))
        };
        find(claimed).or_else(normalised)
    }
}

impl Assignment {
    pub fn file<'a>(&self, files: &'a [Material]) -> Option<&'a str> {
        match self.files.as_slice() {
            [only] => {
                files.get(*only).filter(|file| file.form != Form::Summary).map(|file| file.path.as_str())
            }
            _ => None,
        }
    }

    /// The file or the output it looks at, where that is one.
    pub fn about<'a>(&'a self, files: &'a [Material]) -> &'a str {
        let output = match &self.target {
            Target::Output(name) => name.as_str(),
            _ => "",
        };
        self.file(files).unwrap_or(output)
    }

    /// The files a reviewer may name in its answer. The summary of a change stands for all of them.
    pub fn named_files<'a>(&'a self, files: &'a [Material]) -> Vec<&'a str> {
        let own = self.files.iter().filter_map(|index| files.get(*index));
        let (summaries, own): (Vec<_>, Vec<_>) = own.partition(|file| file.form == Form::Summary);
        let all = files.iter().filter(|file| !summaries.is_empty() && file.form == Form::Patch);
        own.into_iter().chain(all).map(|file| file.path.as_str()).collect()
    }
}

impl Answer {
    /// Checks every claimed location against the files, read by `source`: a wrong one is dropped and marked, one outside
    /// the change is kept and marked. Every flaw gets its fingerprint.
    pub fn check_locations(&mut self, asked: &Asked, mut source: impl FnMut(&str) -> Option<Source>) {
        check_all(&mut self.flaws, "", asked, &mut source);
        for Ruling { criterion, flaws, .. } in &mut self.rulings {
            check_all(flaws, criterion, asked, &mut source);
        }
    }
}

fn check_all(
    flaws: &mut [Flaw],
    criterion: &str,
    asked: &Asked,
    source: &mut impl FnMut(&str) -> Option<Source>,
) {
    let bases: Vec<Basis> = flaws.iter_mut().map(|flaw| check(flaw, asked, source)).collect();
    let lines: Vec<_> =
        flaws.iter().map(|flaw| flaw.location.as_ref().and_then(|place| place.line)).collect();
    for (i, flaw) in flaws.iter_mut().enumerate() {
        let is_before = |j: &usize| bases[*j] == bases[i] && (lines[*j], *j) < (lines[i], i);
        let nth = (0..bases.len()).filter(is_before).count();
        flaw.fingerprint = Fingerprint::of(criterion, &bases[i], nth);
    }
}

fn check(flaw: &mut Flaw, asked: &Asked, source: &mut impl FnMut(&str) -> Option<Source>) -> Basis {
    let Some(claim) = flaw.claim.take() else { return Basis::message(&asked.about, &flaw.message) };
    match locate(&claim, asked, source) {
        Ok(CheckedLocation { location, line_text, outside_change, untouched, end_dropped }) => {
            let by_line = Basis::line(&location.file, &line_text);
            let basis = by_line.unwrap_or_else(|| Basis::message(&location.file, &flaw.message));
            (flaw.location, flaw.outside_change) = (Some(location), outside_change);
            flaw.untouched = untouched;
            flaw.location_dropped = end_dropped;
            basis
        }
        Err(why) => {
            flaw.location_dropped = Some(format!("{}: {why}", claim.words()));
            Basis::message(&asked.about, &flaw.message)
        }
    }
}

struct CheckedLocation {
    location: Location,
    /// Empty where it is about the file as a whole.
    line_text: String,
    outside_change: bool,
    untouched: bool,
    /// Why the last line was left out.
    end_dropped: Option<String>,
}

fn locate(
    claim: &Claim,
    asked: &Asked,
    source: &mut impl FnMut(&str) -> Option<Source>,
) -> Result<CheckedLocation, String> {
    let file = asked.file(claim.file.as_deref()).ok_or(match claim.file {
        Some(_) => "the question was not about this file",
        None => "the question was about several files",
    })?;
    let whole = Location { file: file.to_owned(), line: None, end_line: None };
    let Some(line) = claim.line.or(claim.end_line) else {
        return Ok(CheckedLocation {
            location: whole,
            line_text: String::new(),
            outside_change: false,
            untouched: false,
            end_dropped: None,
        });
    };
    let Source { text, changed, touched } = source(file).ok_or("it has no lines that can be read")?;
    let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
    let has = |count: usize| format!("the file has {count} {}", if count == 1 { "line" } else { "lines" });
    let count = text.lines().count();
    let found = at.and_then(|at| text.lines().nth(at)).ok_or_else(|| has(count))?;
    let claimed_end = claim.end_line.filter(|end| *end > line);
    let end_line = claimed_end.filter(|end| *end <= count as u64);
    let end_dropped = (claimed_end != end_line).then(|| format!("{}: {}", claim.words(), has(count)));
    let shows =
        |range: &RangeInclusive<u64>| *range.start() <= end_line.unwrap_or(line) && line <= *range.end();
    Ok(CheckedLocation {
        untouched: end_dropped.is_none() && touched.is_some_and(|touched| !touched.iter().any(shows)),
        outside_change: changed.is_some_and(|changed| !changed.iter().any(shows)),
        location: Location { line: Some(line), end_line, ..whole },
        line_text: found.to_owned(),
        end_dropped,
    })
}

/// The lines of a file that its patch shows, as they are after the change.
pub fn changed_lines(patch: &str) -> Vec<RangeInclusive<u64>> {
    let range = |line: &str| {
        let (_, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (range, _) = rest.split_once(" @@")?;
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        let (first, count): (u64, u64) = (first.parse().ok()?, count.parse().ok()?);
        (count > 0).then(|| first..=first.saturating_add(count - 1))
    };
    patch.lines().filter_map(range).collect()
}

#[cfg(test)]
mod tests;
