//! Rulings by row rather than by reply: a replay file's lines, a self-review's results.

use super::{Answer, Defect, Ruling, StatedFlaw, bounded_flaws, cut, garbled, match_rulings};
use crate::criterion::fold_name;
use crate::digest::Key;
use crate::plan::{Assignment, Target};
use crate::rule::Rule;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The rule it answers; may be left out where that is clear.
    #[serde(default)]
    pub rule: Option<String>,
    /// The file it answers for; may be left out where that is clear.
    #[serde(default)]
    pub file: Option<String>,
    pub criterion: String,
    pub passed: bool,
    #[serde(default)]
    pub feedback: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<StatedFlaw>,
}

impl Row {
    pub fn speaks_of(&self, rule: &str, file: Option<&str>) -> bool {
        // The file first: among thousands of rows it tells at once, and a name must be folded to compare.
        self.file.as_deref().is_none_or(|named| Some(named) == file)
            && self.rule.as_deref().is_none_or(|named| fold_name(named) == fold_name(rule))
    }

    pub fn ruling(&self) -> Ruling {
        let feedback = self.feedback.as_deref().map(cut);
        let flaws = bounded_flaws(self.findings.iter().map(StatedFlaw::flaw).collect());
        Ruling { flaws, ..Ruling::new(&self.criterion, self.passed, feedback) }
    }
}

/// Answers every self-review assignment from rows: each row belongs to exactly one, and each is answered in full.
pub fn self_rulings(
    rows: &[Row],
    assignments: &[Assignment],
    rules: &[Rule],
) -> Result<Vec<(Key, Answer)>, Defect> {
    let own: Vec<&Assignment> = assignments.iter().filter(|assignment| assignment.is_self_review()).collect();
    let mut results: Vec<Vec<Ruling>> = vec![vec![]; own.len()];
    for (i, row) in rows.iter().enumerate() {
        let spoken_of: Vec<usize> = (0..own.len()).filter(|n| speaks_of(row, own[*n], rules)).collect();
        match spoken_of.as_slice() {
            [only] => results[*only].push(row.ruling()),
            [] => return garbled(format!("result {}: '{}' was not asked", i + 1, cut(&row.criterion))),
            several => {
                return garbled(format!(
                    "result {}: '{}' was asked {} times; which? name its `rule` and `file`",
                    i + 1,
                    row.criterion,
                    several.len()
                ));
            }
        }
    }
    own.iter()
        .zip(results)
        .map(|(assignment, results)| {
            let asked: Vec<_> = assignment.asks(rules).collect();
            let key = assignment.candidates[0].key.clone();
            match match_rulings(results, &asked) {
                Ok(rulings) => Ok((key, Answer::from_rulings(rulings))),
                Err(defect) => Err(Defect::Garbled(format!("{}: {defect}", assignment.target_words()))),
            }
        })
        .collect()
}

fn speaks_of(row: &Row, assignment: &Assignment, rules: &[Rule]) -> bool {
    let rule = rules.get(assignment.rule).map_or("", |rule| rule.name.as_str());
    let file = match &assignment.target {
        Target::File(path) => Some(path.as_str()),
        _ => None,
    };
    row.speaks_of(rule, file)
        && assignment.asks(rules).any(|criterion| fold_name(&criterion.name) == fold_name(&row.criterion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::Criterion;
    use crate::plan::{Candidate, Reuse, ReviewerKind};
    use crate::rule::Scope;

    fn row(file: Option<&str>, criterion: &str, passed: bool) -> Row {
        Row {
            rule: None,
            file: file.map(Into::into),
            criterion: criterion.into(),
            passed,
            feedback: None,
            findings: vec![],
        }
    }

    fn asked(files: &[&str]) -> (Vec<Assignment>, Vec<Rule>) {
        let criteria = vec![Criterion::must("A", "?"), Criterion::must("B", "?")];
        let rule = Rule::new("r", Scope::Whole, criteria);
        let assignment = |file: &&str| Assignment {
            rule: 0,
            target: Target::File((*file).into()),
            criteria: vec![0, 1],
            files: vec![0],
            candidates: vec![Candidate {
                reviewer: "self".into(),
                kind: ReviewerKind::SelfReview,
                look: 0,
                key: Key::from(format!("k {file}")),
                reuse: Reuse::Never,
                place: None,
            }],
            not_seen: false,
        };
        (files.iter().map(assignment).collect(), vec![rule])
    }

    fn judge(rows: &[Row], files: &[&str]) -> Result<Vec<(String, bool)>, String> {
        let (assignments, rules) = asked(files);
        let answers = self_rulings(rows, &assignments, &rules).map_err(|defect| defect.to_string())?;
        Ok(answers
            .into_iter()
            .map(|(key, a)| (key.to_string(), a.rulings.iter().all(|r| r.passed)))
            .collect())
    }

    #[test]
    fn every_assignment_is_answered_in_full_or_nothing_is() {
        let one = judge(&[row(None, "A", true), row(None, "**b:**", false)], &["x"]);
        assert_eq!(one, Ok(vec![("k x".into(), false)]));
        let two = [
            row(Some("x"), "A", true),
            row(Some("x"), "B", true),
            row(Some("y"), "A", true),
            row(Some("y"), "B", true),
        ];
        assert_eq!(judge(&two, &["x", "y"]), Ok(vec![("k x".into(), true), ("k y".into(), true)]));
        for (rows, files, error) in [
            (vec![row(None, "A", true)], vec!["x"], "x: criterion 'B' is not answered"),
            (
                vec![row(None, "A", true), row(None, "A", true)],
                vec!["x"],
                "x: criterion 'A' is answered twice",
            ),
            (vec![row(None, "C", true)], vec!["x"], "result 1: 'C' was not asked"),
            (vec![row(Some("z"), "A", true)], vec!["x"], "result 1: 'A' was not asked"),
            (
                vec![row(None, "A", true)],
                vec!["x", "y"],
                "result 1: 'A' was asked 2 times; which? name its `rule` and `file`",
            ),
            (vec![], vec!["x"], "x: criterion 'A' is not answered"),
        ] {
            assert_eq!(judge(&rows, &files), Err(error.to_owned()));
        }
    }
}
