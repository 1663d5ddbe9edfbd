//! What is accepted although it fails: findings on record in the baseline, and exceptions with a reason that stand in the
//! files. Both say exactly what they accept, by contents and never by a count.

use crate::answer::{Fingerprint, Flaw};
use crate::criterion::fold_name;
use crate::digest::{Digest, Parts};
use crate::submission::Material;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What begins an exception in a comment.
pub const MARKER: &str = "countersign: allow ";
const BECAUSE: &str = " because ";
/// What closes a comment at the end of a reason.
const CLOSERS: [&str; 5] = ["-->", "*/", "#}", "--]]", "%>"];
/// The most exceptions that are read from one file.
const EXCEPTIONS_MAX: usize = 1_000;

/// What a submission is judged beside, from where its author cannot write, or with a person's word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepting {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Debt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<Exception>,
}

/// A finding that was there when a project adopted its rules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Debt {
    pub rule: String,
    pub criterion: String,
    /// The file, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub fingerprint: Fingerprint,
    /// Where no line tells it from others: it is the same only while its file has these bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

impl Debt {
    fn is_in(&self, files: &[Material]) -> bool {
        let is_it = |file: &&Material| {
            file.form.is_file()
                && self.file.as_ref() == Some(&file.path)
                && self.digest.as_ref() == Some(&file.digest)
        };
        self.digest.is_none() || files.iter().any(|file| is_it(&file))
    }
}

/// A comment that lets one criterion of one rule fail on a line, and says why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    pub file: String,
    /// The line of the comment, from 1.
    pub line: u64,
    /// The line that it is about.
    pub about: u64,
    /// The rule and the criterion, as they were written: `RULE/CRITERION`.
    pub allows: String,
    pub reason: String,
    /// Whether the base has it too, on the same line of text. Without that it needs a person.
    #[serde(default)]
    pub is_given: bool,
}

/// An exception of one state of a file, with the text it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub exception: Exception,
    text: String,
}

impl Accepting {
    pub fn is_empty(&self) -> bool {
        self.baseline.is_empty() && self.exceptions.is_empty()
    }

    /// Why a flaw of a criterion is accepted, if it is. What is certain comes before what needs a person. Of a change a line
    /// that it touched is no debt: it may be a copy of one that is still there, and is not seen beside it.
    pub fn accepts(
        &self,
        (rule, criterion): (&str, &str),
        flaw: &Flaw,
        files: &[Material],
        is_change: bool,
    ) -> Option<AcceptedBy> {
        let is_debt = |debt: &&Debt| {
            debt.fingerprint == flaw.fingerprint
                && debt.rule == rule
                && (!is_change || flaw.untouched || debt.digest.is_some())
                && debt.is_in(files)
                && fold_name(&debt.criterion) == fold_name(criterion)
        };
        if !flaw.fingerprint.as_str().is_empty() && self.baseline.iter().any(|debt| is_debt(&debt)) {
            return Some(AcceptedBy::Baseline);
        }
        let covers = |exception: &&Exception| exception.allows(rule, criterion) && exception.covers(flaw);
        let mut covering = (0..self.exceptions.len()).filter(|index| covers(&&self.exceptions[*index]));
        let first = covering.clone().next();
        covering.find(|index| self.exceptions[*index].is_given).or(first).map(AcceptedBy::Exception)
    }

    /// Names it, as a part of the name of what is judged.
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::new("accepting/1");
        parts.count(self.baseline.len());
        for Debt { rule, criterion, file, fingerprint, digest } in &self.baseline {
            parts.text(rule).text(criterion).maybe(file.as_deref()).text(fingerprint.as_str());
            parts.maybe(digest.as_ref().map(Digest::as_str));
        }
        parts.count(self.exceptions.len());
        for Exception { file, line, about, allows, reason, is_given } in &self.exceptions {
            parts.text(file).count(*line as usize).count(*about as usize).text(allows).text(reason);
            parts.count(usize::from(*is_given));
        }
        parts
    }
}

/// Why a flaw does not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AcceptedBy {
    /// The change did not cause it, as its reviewer says, and did not touch its lines.
    AlreadyThere,
    Baseline,
    /// By the index of the exception.
    Exception(usize),
}

impl Exception {
    /// Whether it names this criterion of this rule. Either may have a `/` in its name.
    fn allows(&self, rule: &str, criterion: &str) -> bool {
        self.allows.match_indices('/').any(|(at, _)| {
            let (of, name) = (&self.allows[..at], &self.allows[at + 1..]);
            of.trim() == rule && fold_name(name) == fold_name(criterion)
        })
    }

    fn covers(&self, flaw: &Flaw) -> bool {
        let Some(place) = flaw.location.as_ref().filter(|place| place.file == self.file) else {
            return false;
        };
        let lines: RangeInclusive<u64> = self.line.min(self.about)..=self.about;
        place.line.is_some_and(|line| {
            lines.contains(&line)
                && lines.contains(&place.end_line.unwrap_or(line))
                && flaw.location_dropped.is_none()
        })
    }
}

/// The exceptions in a file. A comment behind text is about its own line; one that stands alone is about the next line that
/// is more than such a comment.
pub fn exceptions(file: &str, text: &str) -> Vec<Written> {
    if !text.contains(MARKER) {
        return vec![];
    }
    let lines: Vec<&str> = text.lines().collect();
    let read: Vec<_> = lines.iter().map(|line| read(file, line)).collect();
    let found = read.iter().enumerate().filter_map(|(at, found)| Some((at, found.as_ref()?)));
    let written = found.map(|(at, Read { allows, reason, is_alone })| {
        let next =
            (at + 1..lines.len()).find(|next| read[*next].as_ref().is_none_or(|other| !other.is_alone));
        let about = if *is_alone { next.unwrap_or(at) } else { at };
        Written {
            exception: Exception {
                file: file.to_owned(),
                line: at as u64 + 1,
                about: about as u64 + 1,
                allows: allows.clone(),
                reason: reason.clone(),
                is_given: false,
            },
            text: collapsed(lines[about]),
        }
    });
    written.take(EXCEPTIONS_MAX).collect()
}

/// The exceptions of a file, marked where the base has the same one about the same text, once for each that it has.
pub fn given(now: Vec<Written>, base: &[Written]) -> Vec<Exception> {
    let same = |one: &Written, other: &Written| {
        let (a, b) = (&one.exception, &other.exception);
        fold_name(&a.allows) == fold_name(&b.allows) && a.reason == b.reason && one.text == other.text
    };
    let mut left: Vec<&Written> = base.iter().collect();
    let marked = |one: Written| {
        let known = left.iter().position(|other| same(&one, other));
        let is_given = known.map(|at| left.swap_remove(at)).is_some();
        Exception { is_given, ..one.exception }
    };
    now.into_iter().map(marked).collect()
}

struct Read {
    allows: String,
    reason: String,
    is_alone: bool,
}

fn read(file: &str, line: &str) -> Option<Read> {
    let (before, rest) = line.split_once(MARKER)?;
    let before = before.trim();
    let opener = openers(file).iter().find(|opener| before.ends_with(**opener))?;
    // What stands behind the end of the comment is no reason.
    let is_last =
        |closer: &str| rest.find(closer).is_none_or(|at| rest[at + closer.len()..].trim().is_empty());
    let (allows, reason) =
        rest.split_once(BECAUSE).filter(|_| CLOSERS.iter().all(|closer| is_last(closer)))?;
    let mut reason = reason.trim();
    for closer in CLOSERS {
        reason = reason.strip_suffix(closer).unwrap_or(reason).trim();
    }
    let is_whole = !allows.trim().is_empty() && allows.contains('/') && !reason.is_empty();
    is_whole.then(|| Read {
        allows: allows.trim().to_owned(),
        reason: reason.to_owned(),
        is_alone: before.len() == opener.len(),
    })
}

/// What opens a comment in a file of this name.
fn openers(file: &str) -> &'static [&'static str] {
    let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
    match name.rsplit_once('.').map_or(name.as_str(), |(_, ending)| ending) {
        "md" | "markdown" | "html" | "htm" | "xml" | "svg" | "vue" => &["<!--"],
        "py" | "sh" | "bash" | "yml" | "yaml" | "toml" | "rb" | "pl" | "r" | "mk" | "makefile"
        | "dockerfile" | "cfg" | "conf" | "gitignore" | "ex" | "exs" => &["#"],
        "tf" | "tfvars" | "hcl" | "php" => &["#", "//", "/*"],
        "rs" | "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "go" | "java" | "kt" | "kts" | "c" | "h"
        | "cc" | "cpp" | "hpp" | "cs" | "swift" | "scala" | "proto" | "jsonc" | "json5" | "css" | "scss" => {
            &["//", "/*", "*"]
        }
        "sql" | "lua" | "hs" | "elm" => &["--", "/*"],
        "ini" | "lisp" | "clj" | "el" | "asm" => &[";", "#"],
        "tex" | "erl" => &["%"],
        _ => &["#", "//", "/*", "<!--", "--", ";"],
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Location;

    #[test]
    fn issue_20_exceptions_are_comments_with_a_rule_a_criterion_and_a_reason() {
        let table = [
            ("a.rs", "x(); // countersign: allow r/C because it is slow", Some(("r/C", "it is slow", 1))),
            ("a.rs", "// countersign: allow r/C because x\ny();", Some(("r/C", "x", 2))),
            (
                "a.md",
                "<!-- countersign: allow my rule/No stubs because x -->\ntext",
                Some(("my rule/No stubs", "x", 2)),
            ),
            ("a.py", "f()  # countersign: allow r/C because x", Some(("r/C", "x", 1))),
            ("a.py", "f()  // countersign: allow r/C because x", None),
            ("a.md", "# countersign: allow r/C because x", None),
            ("a.rs", "let s = \"countersign: allow r/C because x\";", None),
            ("a.rs", "// countersign: allow r/C", None),
            ("a.rs", "// countersign: allow r/C because", None),
            ("a.rs", "// countersign: allow r because x", None),
            ("a.rs", "/* countersign: allow r/C because x */\ny();", Some(("r/C", "x", 2))),
            ("a.rs", "/* countersign: allow r/C because x */ y();", None),
            ("a.html", "<!-- countersign: allow r/C because x --> <b>", None),
        ];
        for (file, text, expected) in table {
            let found = exceptions(file, text);
            let found = found.first().map(|one| &one.exception);
            let found = found.map(|one| (one.allows.as_str(), one.reason.as_str(), one.about));
            assert_eq!(found, expected, "{text}");
        }
        let two = "// countersign: allow r/A because a\n// countersign: allow r/B because b\nx();\n";
        let about: Vec<_> = exceptions("a.rs", two).iter().map(|one| one.exception.about).collect();
        assert_eq!(about, [3, 3]);
        // A line with more than the comment is what the one above is about.
        let stretched =
            "// countersign: allow r/A because a\ny(); // countersign: allow q/Q because b\nx();\n";
        let about: Vec<_> = exceptions("a.rs", stretched).iter().map(|one| one.exception.about).collect();
        assert_eq!(about, [2, 2]);
    }

    #[test]
    fn issue_20_an_exception_is_given_only_with_the_same_reason_on_the_same_text() {
        let base = exceptions("a.rs", "x(); // countersign: allow r/C because slow\n");
        for (now, is_given) in [
            ("\n\n  x(); // countersign: allow r/C because slow\n", true),
            ("y(); // countersign: allow r/C because slow\n", false),
            ("x(); // countersign: allow r/C because quick\n", false),
            ("x(); // countersign: allow r/D because slow\n", false),
        ] {
            assert_eq!(given(exceptions("a.rs", now), &base)[0].is_given, is_given, "{now}");
        }
        let twice = "x(); // countersign: allow r/C because slow\n".repeat(2);
        let twice: Vec<bool> =
            given(exceptions("a.rs", &twice), &base).iter().map(|one| one.is_given).collect();
        assert_eq!(twice, [true, false], "a copy is new");
    }

    #[test]
    fn issue_20_only_what_is_named_is_accepted() {
        let at = |line, end_line| Some(Location { file: "a.rs".into(), line: Some(line), end_line });
        let flaw = |location, print: &str| Flaw {
            location,
            fingerprint: Fingerprint::new(print),
            ..Flaw::default()
        };
        let text = "// countersign: allow r/C because x\ny();\nz();\n";
        let debt = |print: &str| Debt {
            rule: "r".into(),
            criterion: "C".into(),
            file: None,
            fingerprint: Fingerprint::new(print),
            digest: None,
        };
        let accepting =
            Accepting { baseline: vec![debt("f1")], exceptions: given(exceptions("a.rs", text), &[]) };
        let by_exception = Some(AcceptedBy::Exception(0));
        for (rule, criterion, flaw, expected) in [
            ("r", "**c:**", flaw(at(2, None), ""), by_exception),
            ("r", "C", flaw(at(1, Some(2)), ""), by_exception),
            ("r", "C", flaw(at(2, Some(3)), ""), None),
            ("r", "C", flaw(at(3, None), ""), None),
            ("r", "C", flaw(None, ""), None),
            ("r", "D", flaw(at(2, None), ""), None),
            ("s", "C", flaw(at(2, None), ""), None),
            ("r", "C", flaw(at(2, None), "f1"), Some(AcceptedBy::Baseline)),
            ("r", "C", flaw(at(3, None), "f2"), None),
            ("s", "C", flaw(None, "f1"), None),
        ] {
            assert_eq!(
                accepting.accepts((rule, criterion), &flaw, &[], false),
                expected,
                "{rule}/{criterion} {flaw:?}"
            );
        }
    }

    #[test]
    fn issue_20_a_debt_without_a_telling_line_is_bound_to_the_bytes_of_its_file() {
        let file = |text: &str| Material {
            path: "a.rs".into(),
            output: 0,
            digest: Digest::of(text.as_bytes()),
            size_bytes: 1,
            content: crate::submission::Content::Text,
            form: crate::submission::Form::File,
            old_path: None,
        };
        let debt = Debt {
            rule: "r".into(),
            criterion: "C".into(),
            file: Some("a.rs".into()),
            fingerprint: Fingerprint::new("f"),
            digest: Some(Digest::of(b"one")),
        };
        let accepting = Accepting { baseline: vec![debt], exceptions: vec![] };
        let flaw = Flaw { fingerprint: Fingerprint::new("f"), ..Flaw::default() };
        let accepts = |files: &[Material]| accepting.accepts(("r", "C"), &flaw, files, false);
        assert_eq!(accepts(&[file("one")]), Some(AcceptedBy::Baseline));
        assert_eq!((accepts(&[file("two")]), accepts(&[])), (None, None));
        // Of a change a line that it touched may be a copy.
        let debt = Debt { digest: None, ..accepting.baseline[0].clone() };
        let accepting = Accepting { baseline: vec![debt], exceptions: vec![] };
        for (untouched, is_change, expected) in
            [(true, true, true), (false, true, false), (false, false, true), (true, false, true)]
        {
            let flaw = Flaw { untouched, ..flaw.clone() };
            assert_eq!(accepting.accepts(("r", "C"), &flaw, &[], is_change).is_some(), expected);
        }
    }
}
