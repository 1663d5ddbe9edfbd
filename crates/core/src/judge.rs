//! The judge: from the answers of a round to its verdict. A round passes only if every assignment has a valid answer and
//! no criterion fails that blocks in this attempt. The overall result of a reply does not count beside its rulings.

use crate::accepting::AcceptedBy;
use crate::answer::{Answer, Flaw, Location, MAX_FLAWS, with_flaws};
use crate::criterion::Severity;
use crate::digest::{Key, Parts};
use crate::outcome::NoVerdict;
use crate::plan::{Assignment, Target};
use crate::rule::{Lines, Rule};
use crate::submission::{Material, Submission};
use serde::{Deserialize, Serialize};

/// Where a failed ruling stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FindingRef {
    pub assignment: usize,
    /// Index of the ruling in its answer; none where the whole failed without rulings.
    pub ruling: Option<usize>,
}

/// An assignment without a ruling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    pub assignment: usize,
    pub why: NoVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundEnd {
    /// Everything that blocks passed.
    Pass,
    /// Something that blocks failed.
    NeedsWork,
    /// Nothing that blocks failed, and a ruling is missing.
    NoVerdict(NoVerdict),
    /// Other work was handed in meanwhile.
    Superseded,
    /// A file changed meanwhile.
    Stale,
}

impl RoundEnd {
    pub fn words(self) -> String {
        match self {
            Self::Pass => "passed".to_owned(),
            Self::NeedsWork => "needs work".to_owned(),
            Self::NoVerdict(NoVerdict::Budget) => "budget reached".to_owned(),
            Self::NoVerdict(why) => format!("no verdict: {}", why.words()),
            Self::Superseded => "replaced: newer work was submitted".to_owned(),
            Self::Stale => "stale: the files changed meanwhile".to_owned(),
        }
    }
}

/// The verdict of a round, by reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub blocking: Vec<FindingRef>,
    /// Failures that do not block in this attempt. Always shown.
    pub waived: Vec<FindingRef>,
    /// Assignments without a valid answer.
    pub unanswered: Vec<Unanswered>,
    /// What passed only after new notes of the author, and would block otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_notes: Vec<FindingRef>,
    /// Flaws that are accepted. A finding whose flaws all are does not block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedFlaw>,
}

/// A flaw that is accepted, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedFlaw {
    #[serde(flatten)]
    pub finding: FindingRef,
    /// Its index in the finding.
    pub flaw: usize,
    pub by: AcceptedBy,
}

/// Judges a round. `answer` finds the answer to an assignment, or why there is none.
pub fn judge<'a>(
    rules: &[Rule],
    assignments: &'a [Assignment],
    submission: &Submission,
    threshold: Severity,
    accept_bare: bool,
    answer: impl Fn(&'a Assignment) -> Result<&'a Answer, NoVerdict>,
) -> Judgement {
    let mut judgement = Judgement::default();
    for (index, assignment) in assignments.iter().enumerate() {
        let criteria: Vec<_> = assignment.asks(rules).collect();
        let fitting = |answer: &'a Answer| match answer.fits(&criteria, accept_bare) {
            true => Ok(answer),
            false => Err(NoVerdict::Garbled),
        };
        let answer = match answer(assignment).and_then(fitting) {
            Ok(answer) => answer,
            Err(why) => {
                judgement.unanswered.push(Unanswered { assignment: index, why });
                continue;
            }
        };
        let mut fail = |ruling: Option<usize>, severity: Severity| {
            let list = if severity >= threshold { &mut judgement.blocking } else { &mut judgement.waived };
            list.push(FindingRef { assignment: index, ruling });
        };
        if answer.bare == Some(false) {
            // Which criterion failed is not known, so the heaviest decides.
            let heaviest = criteria.iter().map(|criterion| criterion.severity).max();
            fail(None, heaviest.unwrap_or(Severity::Must));
        }
        for (i, (ruling, criterion)) in answer.rulings.iter().zip(&criteria).enumerate() {
            if !ruling.passed {
                let accepted = match criterion.severity >= threshold {
                    true => accepted(rules, assignment, submission, answer, (index, i)),
                    false => Accepted::default(),
                };
                if !accepted.is_all {
                    fail(Some(i), criterion.severity);
                }
                judgement.accepted.extend(accepted.flaws);
            } else if criterion.severity >= threshold && answer.after_notes.contains(&criterion.name) {
                judgement.after_notes.push(FindingRef { assignment: index, ruling: Some(i) });
            }
        }
    }
    judgement
}

/// What is accepted of a failed ruling.
#[derive(Default)]
struct Accepted {
    flaws: Vec<AcceptedFlaw>,
    is_all: bool,
}

fn accepted(
    rules: &[Rule],
    assignment: &Assignment,
    submission: &Submission,
    answer: &Answer,
    (index, ruling): (usize, usize),
) -> Accepted {
    let (Some(rule), Some(ruled)) = (rules.get(assignment.rule), answer.rulings.get(ruling)) else {
        return Accepted::default();
    };
    let flaws = answer.flaws_on(Some(ruled), assignment.about(&submission.files));
    // Beyond the limit flaws are only counted; what they are is not known.
    let is_counted = |flaw: usize| flaws.len() > MAX_FLAWS && flaw + 1 == flaws.len();
    let is_by_change = submission.change.is_some() && rule.lines == Lines::Changed;
    let by = |flaw: &Flaw| match is_by_change && flaw.is_already_there() {
        true => Some(AcceptedBy::AlreadyThere),
        false => {
            let (of, is_change) =
                ((rule.name.as_str(), ruled.criterion.as_str()), submission.change.is_some());
            submission.accepting.accepts(of, flaw, &submission.files, is_change)
        }
    };
    let finding = FindingRef { assignment: index, ruling: Some(ruling) };
    let accept = |(flaw, said): (usize, &Flaw)| {
        let by = by(said).filter(|_| !is_counted(flaw))?;
        Some(AcceptedFlaw { finding, flaw, by })
    };
    let accepted: Vec<_> = flaws.iter().enumerate().filter_map(accept).collect();
    Accepted { is_all: !flaws.is_empty() && accepted.len() == flaws.len(), flaws: accepted }
}

impl Judgement {
    /// Whether it passes only by an exception that is new: then a person has the last word.
    pub fn needs_person(&self, submission: &Submission) -> bool {
        let is_new = |flaw: &AcceptedFlaw| match flaw.by {
            AcceptedBy::Exception(index) => {
                submission.accepting.exceptions.get(index).is_none_or(|exception| !exception.is_given)
            }
            AcceptedBy::AlreadyThere | AcceptedBy::Baseline => false,
        };
        self.accepted.iter().any(is_new)
    }

    /// How the round ends: a blocking failure wins over a missing ruling, a missing ruling over a pass.
    pub fn end(&self, assignments: usize) -> RoundEnd {
        // The first reason. A budget only if there is no other: more money would not be enough then.
        let mut reasons = self.unanswered.iter().map(|unanswered| unanswered.why);
        let why = reasons.clone().find(|why| *why != NoVerdict::Budget).or_else(|| reasons.next());
        if !self.blocking.is_empty() {
            RoundEnd::NeedsWork
        } else if let Some(why) = why {
            RoundEnd::NoVerdict(why)
        } else if assignments == 0 {
            RoundEnd::NoVerdict(NoVerdict::EmptyChange)
        } else {
            RoundEnd::Pass
        }
    }
}

/// A failed ruling, with everything a reader needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The same on unchanged bytes.
    pub id: String,
    pub rule: String,
    pub target: Target,
    pub file: Option<String>,
    /// The criterion; none where the whole failed without rulings.
    pub criterion: Option<String>,
    pub severity: Severity,
    pub feedback: String,
    pub reviewer: String,
    /// What is wrong, one by one: at least one.
    pub flaws: Vec<Flaw>,
}

impl Finding {
    /// What the reviewer says, with the places that it names beside.
    pub fn words(&self) -> String {
        with_flaws(&self.feedback, &self.flaws)
    }

    /// Its flaws in a line each: the first line of what is wrong, and the place as far as it is known.
    pub fn in_brief(&self) -> impl Iterator<Item = (&str, Option<String>)> {
        self.flaws.iter().map(|flaw| {
            let first = flaw.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            (first, flaw.location.as_ref().map(Location::to_string).or_else(|| self.file.clone()))
        })
    }
}

pub fn finding_id(key: &Key, criterion: &str) -> String {
    let digest = Parts::new("finding/1").text(key.as_str()).text(criterion).digest();
    format!("fi-{}", digest.short())
}

pub fn finding(
    rules: &[Rule],
    files: &[Material],
    assignment: &Assignment,
    key: &Key,
    answer: &Answer,
    ruling: Option<usize>,
) -> Finding {
    let criteria: Vec<_> = assignment.asks(rules).collect();
    let ruled = ruling.and_then(|i| answer.rulings.get(i));
    let criterion = ruling.and_then(|i| criteria.get(i));
    let heaviest = criteria.iter().map(|criterion| criterion.severity).max();
    let name = criterion.map_or("", |criterion| criterion.name.as_str());
    Finding {
        id: finding_id(key, name),
        rule: rules.get(assignment.rule).map(|rule| rule.name.clone()).unwrap_or_default(),
        target: assignment.target.clone(),
        file: assignment.file(files).map(str::to_owned),
        criterion: criterion.map(|criterion| criterion.name.clone()),
        severity: criterion.map(|criterion| criterion.severity).or(heaviest).unwrap_or(Severity::Must),
        feedback: answer.feedback_on(ruled),
        flaws: answer.flaws_on(ruled, assignment.about(files)),
        reviewer: assignment.candidate(key).map(|candidate| candidate.reviewer.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Ruling;
    use crate::criterion::Criterion;
    use crate::rule::Scope;

    /// One rule with a light and a heavy criterion, and one assignment that asks both.
    fn asked() -> (Vec<Rule>, Vec<Assignment>) {
        let light = Criterion { severity: Severity::May, ..Criterion::must("Light", "?") };
        let criteria = vec![light, Criterion::must("Heavy", "?")];
        let rule = Rule::new("r", Scope::Whole, criteria);
        let (target, criteria) = (Target::All, vec![0, 1]);
        (
            vec![rule],
            vec![Assignment {
                rule: 0,
                target,
                criteria,
                files: vec![],
                candidates: vec![],
                not_seen: false,
            }],
        )
    }

    fn judged(answer: &Answer, accept_bare: bool) -> RoundEnd {
        let (rules, assignments) = asked();
        let work = Submission::new(&rules, vec![], vec![], None);
        judge(&rules, &assignments, &work, Severity::Should, accept_bare, |_| Ok(answer))
            .end(assignments.len())
    }

    fn ruled(passed: &[bool]) -> Answer {
        let ruling = |(i, passed): (usize, &bool)| {
            let criterion = ["Light", "Heavy"][i];
            Ruling::new(criterion, *passed, None)
        };
        Answer::from_rulings(passed.iter().enumerate().map(ruling).collect())
    }

    #[test]
    fn rulings_decide_by_their_weight() {
        assert_eq!(judged(&ruled(&[true, true]), false), RoundEnd::Pass);
        assert_eq!(judged(&ruled(&[false, true]), false), RoundEnd::Pass);
        assert_eq!(judged(&ruled(&[true, false]), false), RoundEnd::NeedsWork);
    }

    #[test]
    fn an_answer_that_does_not_fit_is_none() {
        let garbled = RoundEnd::NoVerdict(NoVerdict::Garbled);
        assert_eq!(judged(&ruled(&[true]), false), garbled);
        let bare = |passed| Answer { bare: Some(passed), ..Answer::default() };
        assert_eq!(judged(&bare(true), false), garbled);
        assert_eq!(judged(&bare(true), true), RoundEnd::Pass);
        assert_eq!(
            judged(&bare(false), false),
            RoundEnd::NeedsWork,
            "the heaviest criterion may have failed"
        );
    }

    #[test]
    fn nothing_judged_is_nothing_passed() {
        assert_eq!(Judgement::default().end(0), RoundEnd::NoVerdict(NoVerdict::EmptyChange));
    }
}
