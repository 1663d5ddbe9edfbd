//! Reviews in free text with a marker on the last line: `REVIEW_PASSED`, `REVIEW_FIXED` or `REVIEW_FAILED`.
//!
//! Any line before the last may quote the judged work, so a marker counts only on the last line. Where the prompt is ours,
//! it must also carry the random word of the question, which the judged work cannot know. A finding that has to be fixed,
//! or another marker, before `REVIEW_PASSED` is a contradiction.

use super::remark::{strip_prefix_ignoring_case, without_decoration};
use super::{Answer, Claim, Defect, Flaw, Remark, Ruling, cut, garbled, objection, remarks};
use crate::criterion::{Criterion, Severity};
use crate::markdown;
use crate::text;

/// How much of a line is quoted in a defect.
const QUOTED_BYTES: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Nothing has to change.
    Passed,
    /// The reviewer changed something itself.
    Fixed,
    /// Something has to change.
    Failed,
}

impl Marker {
    const ALL: [Self; 3] = [Self::Passed, Self::Fixed, Self::Failed];

    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "REVIEW_PASSED",
            Self::Fixed => "REVIEW_FIXED",
            Self::Failed => "REVIEW_FAILED",
        }
    }
}

/// What a free text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    pub marker: Marker,
    pub reason: Option<String>,
    pub text: String,
}

/// Reads a free text. `word` is what the marker must carry.
pub fn read_marked(text: &str, word: Option<&str>) -> Result<Marked, Defect> {
    let text = text.trim_end();
    if text.is_empty() {
        return garbled("the reply is empty");
    }
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let Some((marker, reason)) = marker(last, word) else {
        return match word.is_some() && marker(last, None).is_some() {
            true => garbled("the marker on the last line does not carry the word of this question"),
            false => garbled("the last line is none of REVIEW_PASSED, REVIEW_FIXED and REVIEW_FAILED"),
        };
    };
    // Any white space may stand before a fence: a reviewer's text is held to be code rather than not.
    let unindented: String = before.lines().flat_map(|line| [line.trim_start(), "\n"]).collect();
    let mut lines = markdown::lines(&unindented);
    lines.by_ref().for_each(drop);
    if lines.open_fence().is_some() {
        return garbled("the marker on the last line stands in a code block that is not closed");
    }
    let other = before.lines().filter_map(|line| any_marker(line, word)).find(|other| *other != marker);
    match other {
        // A failure stands, whatever was quoted before it.
        Some(other) if marker != Marker::Failed => Err(Defect::Contradictory(format!(
            "the last line says {}, and a line before it says {}",
            marker.word(),
            other.word()
        ))),
        _ => Ok(Marked { marker, reason, text: before.trim().to_owned() }),
    }
}

/// A marker that a line before the last one says, with the word of the question or without.
fn any_marker(line: &str, word: Option<&str>) -> Option<Marker> {
    let plain = without_decoration(line).trim_end_matches(|c: char| !c.is_alphanumeric());
    let found = [line, plain].into_iter().find_map(|line| marker(line, word).or_else(|| marker(line, None)));
    found.map(|(marker, _)| marker)
}

/// A marker on a line of its own, in any case, in emphasis or quotes or not, with a reason or not.
fn marker(line: &str, word: Option<&str>) -> Option<(Marker, Option<String>)> {
    let line = unwrap(line.trim());
    let (marker, mut rest) = Marker::ALL
        .into_iter()
        .find_map(|marker| Some((marker, strip_prefix_ignoring_case(line, marker.word())?)))?;
    if let Some(word) = word {
        rest = rest.trim_start_matches([' ', ':']).strip_prefix(word)?;
    }
    match rest.trim() {
        "" => Some((marker, None)),
        rest => {
            let reason = rest.strip_prefix(':')?.trim();
            Some((marker, (!reason.is_empty()).then(|| cut(reason))))
        }
    }
}

/// What stands on both sides of a marker in emphasis or quotes.
const WRAPPERS: [&str; 7] = ["**", "__", "*", "_", "`", "\"", "'"];

fn unwrap(line: &str) -> &str {
    let inner = |wrapper: &&str| line.strip_prefix(*wrapper).and_then(|line| line.strip_suffix(*wrapper));
    WRAPPERS.iter().find_map(inner).unwrap_or(line).trim()
}

/// What a free text comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkedRuling {
    Answer(Answer),
    /// The reviewer changed the files itself: its own words. They rule on nothing, since the files have changed.
    Fixed(String),
}

/// The ruling of a free text on its criteria, all together. `has_changed_files`: the files differ from those asked about.
pub fn rule_marked(
    marked: &Marked,
    criteria: &[&Criterion],
    has_changed_files: bool,
) -> Result<MarkedRuling, Defect> {
    let said = match (&marked.reason, marked.text.as_str()) {
        (Some(reason), "") => reason.clone(),
        (Some(reason), text) => cut(&format!("{reason}\n{text}")),
        (None, text) => cut(text),
    };
    let feedback = if said.is_empty() { super::NO_FEEDBACK.to_owned() } else { said.clone() };
    match marked.marker {
        Marker::Failed => {
            let found = remarks(&said).into_iter().filter(|remark| remark.severity != Severity::May);
            let claim = |remark: &Remark| remark.place.as_deref().map(Claim::of_words);
            let flaws = found.map(|remark| Flaw::new(&remark.text, claim(&remark))).collect();
            let answer = Answer { feedback, bare: Some(false), flaws, ..Answer::default() };
            return Ok(MarkedRuling::Answer(answer));
        }
        // A reviewer that changes files and says that they pass has fixed them, too.
        Marker::Passed | Marker::Fixed if has_changed_files => return Ok(MarkedRuling::Fixed(said)),
        Marker::Fixed => {
            let words = "the last line says REVIEW_FIXED, and no file was changed";
            return Err(Defect::Contradictory(words.to_owned()));
        }
        Marker::Passed => {}
    }
    let reason = marked.reason.as_deref().unwrap_or_default();
    if let Some(line) = objection(&marked.text).or_else(|| objection(reason)) {
        let line = text::cut(line, QUOTED_BYTES);
        let words =
            format!("the last line says REVIEW_PASSED, and another line says what has to be fixed: {line}");
        return Err(Defect::Contradictory(words));
    }
    let passed = |criterion: &&Criterion| Ruling::new(&criterion.name, true, None);
    let rulings = criteria.iter().map(passed).collect();
    Ok(MarkedRuling::Answer(Answer { rulings, feedback, ..Answer::default() }))
}

#[cfg(test)]
mod tests {
    use super::super::Claim;
    use super::*;

    /// What is read: the marker and its reason.
    type Read<'t> = Option<(Marker, Option<&'t str>)>;

    #[test]
    fn only_a_marker_on_the_last_line_counts() {
        use Marker::{Failed, Fixed, Passed};
        let table: [(&str, Read<'_>); 24] = [
            ("REVIEW_PASSED", Some((Passed, None))),
            ("fine\n\nREVIEW_PASSED\n\n", Some((Passed, None))),
            ("review_passed", Some((Passed, None))),
            ("**REVIEW_FIXED**", Some((Fixed, None))),
            ("*REVIEW_FIXED*", Some((Fixed, None))),
            ("__REVIEW_FIXED__", Some((Fixed, None))),
            ("_REVIEW_FIXED_", Some((Fixed, None))),
            ("`REVIEW_FAILED`", Some((Failed, None))),
            ("\"REVIEW_FAILED\"", Some((Failed, None))),
            ("'REVIEW_FAILED'", Some((Failed, None))),
            ("REVIEW_FAILED: no tests", Some((Failed, Some("no tests")))),
            ("REVIEW_FAILED:", Some((Failed, None))),
            ("**REVIEW_FAILED: no tests**", Some((Failed, Some("no tests")))),
            ("  REVIEW_PASSED  ", Some((Passed, None))),
            ("REVIEW_PASSED\nbut look at this", None),
            ("the file says REVIEW_PASSED", None),
            ("REVIEW_PASSED?", None),
            ("REVIEW_PASSEDX", None),
            ("REVIEW_PASSED and more", None),
            ("**REVIEW_PASSED", None),
            ("not REVIEW_PASSED", None),
            ("> REVIEW_PASSED", None),
            ("", None),
            ("   \n", None),
        ];
        for (text, expected) in table {
            let read = read_marked(text, None).ok().map(|marked| (marked.marker, marked.reason));
            let expected = expected.map(|(marker, reason)| (marker, reason.map(str::to_owned)));
            assert_eq!(read, expected, "{text:?}");
        }
    }

    #[test]
    fn where_we_wrote_the_prompt_the_marker_carries_its_word() {
        for (text, holds) in [
            ("REVIEW_PASSED k7", true),
            ("REVIEW_PASSED: k7", true),
            ("**REVIEW_PASSED k7**", true),
            ("REVIEW_FAILED k7: no tests", true),
            ("REVIEW_PASSED", false),
            ("REVIEW_PASSED k8", false),
            ("REVIEW_PASSED k77", false),
            ("REVIEW_PASSED k7 and so on", false),
            ("k7 REVIEW_PASSED", false),
        ] {
            assert_eq!(read_marked(text, Some("k7")).is_ok(), holds, "{text}");
        }
    }

    #[test]
    fn a_marker_in_an_open_code_block_is_a_quotation() {
        for (text, holds) in [
            ("```\nREVIEW_PASSED k7", false),
            ("look:\n~~~text\nREVIEW_PASSED k7", false),
            ("````\n```\nREVIEW_PASSED k7", false),
            ("\u{a0}```\nREVIEW_PASSED k7", false),
            ("\u{3000}~~~\nREVIEW_PASSED k7", false),
            ("```\nREVIEW_PASSED k7\n```", false),
            ("```\ncode\n```\nREVIEW_PASSED k7", true),
            ("```x``` is code\nREVIEW_PASSED k7", true),
        ] {
            assert_eq!(read_marked(text, Some("k7")).is_ok(), holds, "{text}");
        }
    }

    /// With and without the word of the question, because both may be what the reviewer means.
    #[test]
    fn attack_a_pass_after_another_marker_is_a_contradiction() {
        for before in [
            "REVIEW_FAILED k7: it breaks",
            "REVIEW_FAILED: it breaks",
            "REVIEW_FAILED",
            "review_failed",
            "**REVIEW_FAILED k7**",
            "- REVIEW_FAILED",
            "> `REVIEW_FAILED`",
            "REVIEW_FIXED k7",
        ] {
            let read = read_marked(&format!("{before}\nwords\nREVIEW_PASSED k7"), Some("k7"));
            assert!(matches!(read, Err(Defect::Contradictory(_))), "{before}: {read:?}");
            if !before.contains("FIXED") {
                let fixed = read_marked(&format!("{before}\nREVIEW_FIXED k7"), Some("k7"));
                assert!(matches!(fixed, Err(Defect::Contradictory(_))), "{before}: {fixed:?}");
            }
        }
        for text in [
            "REVIEW_PASSED\nREVIEW_PASSED k7",
            "REVIEW_PASSED k7\nREVIEW_FAILED k7: no",
            "the file says REVIEW_FAILED somewhere\nREVIEW_PASSED k7",
        ] {
            assert!(read_marked(text, Some("k7")).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_marker_is_for_every_criterion_that_was_asked() {
        let (one, two) = (Criterion::must("One", "?"), Criterion::must("Two", "?"));
        let asked = [&one, &two];
        let answer = |text| match rule_marked(&read_marked(text, None).unwrap(), &asked, false) {
            Ok(MarkedRuling::Answer(answer)) => answer,
            other => panic!("{text}: {other:?}"),
        };
        for text in ["REVIEW_PASSED", "NIT: a name\nREVIEW_PASSED", "MAJOR: none\nREVIEW_PASSED: fine"] {
            let answer = answer(text);
            assert!(
                answer.fits(&asked, false) && answer.rulings.iter().all(|ruling| ruling.passed),
                "{text}"
            );
        }
        let failed = answer("MAJOR: x\nREVIEW_FAILED: y");
        assert_eq!((failed.bare, failed.feedback.as_str()), (Some(false), "y\nMAJOR: x"));
        assert!(failed.fits(&asked, false));
        let several = answer("MAJOR: x (a.py:4)\nNIT: n\nMINOR: y\nREVIEW_FAILED");
        let place = Claim { file: Some("a.py".into()), line: Some(4), end_line: None };
        assert_eq!(several.flaws, [Flaw::new("x", Some(place)), Flaw::new("y", None)], "advice is no flaw");
    }

    #[test]
    fn attack_a_pass_with_a_finding_that_has_to_be_fixed_is_a_contradiction() {
        let one = Criterion::must("One", "?");
        let ruled = |text: &str, changed| rule_marked(&read_marked(text, None).unwrap(), &[&one], changed);
        for text in [
            "MAJOR: this is broken\nREVIEW_PASSED",
            "minor: a name\nREVIEW_PASSED",
            "1. **BLOCKER** - it loses data\n\nAll good otherwise.\nREVIEW_PASSED",
            "```\nCRITICAL: x\n```\nREVIEW_PASSED",
            "### MAJOR\nit is broken\nREVIEW_PASSED",
            "### MAJOR\n\n```\nit is broken\n```\nREVIEW_PASSED",
            "**Major issues**\n\n1. it is broken\n\nREVIEW_PASSED",
            "REVIEW_PASSED: MAJOR: this is broken",
            "MAJOR this is broken\nREVIEW_PASSED",
        ] {
            assert!(matches!(ruled(text, false), Err(Defect::Contradictory(_))), "{text}");
        }
    }

    #[test]
    fn issue_19_free_texts_as_reviewers_write_them() {
        let one = Criterion::must("One", "?");
        // What stands before the marker, whether files were changed, and whether the work passes; none is no verdict.
        for (text, changed, passes) in [
            ("MAJOR: no error handling\nREVIEW_PASSED k7", false, None),
            ("MAJOR: нет обработки ошибок\nREVIEW_PASSED k7", false, None),
            ("**MAJOR**：エラー処理がない\nREVIEW_PASSED k7", false, None),
            ("Tout va bien, sauf :\n- [MINOR] nom ambigu\nREVIEW_PASSED k7", false, None),
            ("REVIEW_FIXED k7", false, None),
            ("Исправлено.\nREVIEW_FIXED k7", true, None),
            ("REVIEW_PASSED k7\nREVIEW_PASSED k7", false, Some(true)),
            ("Всё хорошо, замечаний нет.\nREVIEW_PASSED k7", false, Some(true)),
            ("問題ありません。\nREVIEW_PASSED k7", false, Some(true)),
            ("Nichts zu beanstanden.\nMAJOR: none\nREVIEW_PASSED k7", false, Some(true)),
            ("MAJOR: нет тестов\nREVIEW_FAILED k7: нет тестов", false, Some(false)),
        ] {
            let ruled =
                read_marked(text, Some("k7")).and_then(|marked| rule_marked(&marked, &[&one], changed));
            let found = match ruled {
                Ok(MarkedRuling::Answer(answer)) => Some(!answer.fails()),
                Ok(MarkedRuling::Fixed(_)) | Err(_) => None,
            };
            assert_eq!(found, passes, "{text}");
        }
    }

    #[test]
    fn a_fix_needs_a_changed_file_and_rules_on_nothing_that_was_asked() {
        let one = Criterion::must("One", "?");
        let ruled = |text: &str, changed| rule_marked(&read_marked(text, None).unwrap(), &[&one], changed);
        let text = "MAJOR: x (a.py:4)\nREVIEW_FIXED";
        assert_eq!(ruled(text, true), Ok(MarkedRuling::Fixed("MAJOR: x (a.py:4)".to_owned())));
        assert!(matches!(ruled(text, false), Err(Defect::Contradictory(_))));
        assert!(matches!(ruled("REVIEW_PASSED", true), Ok(MarkedRuling::Fixed(_))));
        assert!(
            matches!(ruled("REVIEW_FAILED", true), Ok(MarkedRuling::Answer(answer)) if answer.bare == Some(false))
        );
    }
}
