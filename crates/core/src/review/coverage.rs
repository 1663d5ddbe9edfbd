//! What a round looked at: which files were judged, which were not, and why.

use super::Round;
use crate::plan::{Exclusions, Reuse, ReviewerKind};
use crate::submission::{Content, Form, Material};
use crate::text::{counted, visible_line};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// How many files a line names.
const NAMED_MAX: usize = 3;
/// How many letters of a commit are shown.
const COMMIT_LETTERS: usize = 8;

/// What a round looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The commit that a change is against; none where it is no change, or where there was no commit yet.
    pub base: Option<String>,
    pub is_change: bool,
    /// How many files were handed in.
    pub files: usize,
    /// How many of them a reviewer, a check or the author looks at.
    pub judged: usize,
    /// Files that no rule is about.
    pub not_covered: Vec<String>,
    /// Files that the rules would be about, but for their `exclude`.
    pub excluded: Vec<String>,
    /// Files that a rule is about and no reviewer can see.
    pub not_seen: Vec<NotSeen>,
    /// Files that guidance names: shown to reviewers for context.
    pub context: Vec<String>,
    /// Those of them that were too long to be shown.
    pub context_not_shown: Vec<String>,
    /// Whether a reviewer could read more of the project than it was given.
    pub sees_project: bool,
    /// Files that HEAD has otherwise: what was judged is what was on disk.
    pub other_in_head: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSeen {
    pub path: String,
    pub why: String,
    /// Whether the rules let it pass unseen.
    pub allowed: bool,
}

impl Coverage {
    pub fn of(round: &Round) -> Self {
        let submission = &round.submission;
        let is_change = submission.change.is_some();
        // Of a change each file is a patch, and most are there as they are too, for checks.
        let own =
            |file: &&Material| if is_change { file.form == Form::Patch } else { file.form == Form::File };
        let mut looked_at: HashMap<&str, Look> = HashMap::new();
        for assignment in &round.assignments {
            let first = assignment.candidates.first();
            let asked = first.is_some_and(|one| one.kind == ReviewerKind::Asked);
            let sees_project = first.is_some_and(|one| one.reuse == Reuse::Review);
            let answered = round.answer_to(assignment).is_some();
            for file in assignment.files.iter().filter_map(|file| submission.files.get(*file)) {
                let look = match &file.content {
                    _ if assignment.not_seen => Look::NotSeen,
                    Content::Cut if asked && !sees_project && !answered => Look::NotSeen,
                    Content::Cut if asked && !sees_project => Look::AllowedUnseen,
                    content if asked && content.unseen().is_some() => Look::AllowedUnseen,
                    _ => Look::Judged,
                };
                let known = looked_at.entry(&file.path).or_insert(look);
                *known = (*known).max(look);
            }
        }
        let mut coverage = Self {
            base: submission.change.as_ref().and_then(|change| change.base.clone()),
            is_change,
            files: 0,
            judged: 0,
            not_covered: vec![],
            excluded: vec![],
            not_seen: vec![],
            context: vec![],
            context_not_shown: vec![],
            sees_project: false,
            other_in_head: submission.other_in_head.clone(),
        };
        coverage.look_beside(round);
        let exclusions = Exclusions::of(&round.rules).ok();
        let is_excluded = |path: &str| exclusions.as_ref().is_some_and(|exclusions| exclusions.has(path));
        for file in submission.files.iter().filter(own) {
            coverage.files += 1;
            match looked_at.get(file.path.as_str()) {
                None if is_excluded(&file.path) => coverage.excluded.push(file.path.clone()),
                None => coverage.not_covered.push(file.path.clone()),
                Some(Look::Judged) => coverage.judged += 1,
                Some(look) => {
                    let allowed = *look == Look::AllowedUnseen;
                    let why =
                        file.content.unseen().unwrap_or("its diff is too long to be shown whole").to_owned();
                    coverage.not_seen.push(NotSeen { path: file.path.clone(), why, allowed });
                }
            }
        }
        coverage
    }

    /// What reviewers got beside the work, or could read by themselves.
    fn look_beside(&mut self, round: &Round) {
        let mut named = HashSet::new();
        for assignment in &round.assignments {
            let asked = assignment.candidates.iter().find(|one| one.kind == ReviewerKind::Asked);
            let Some(asked) = asked else { continue };
            let answered = round.answer_to(assignment).and_then(|(key, _)| assignment.candidate(key));
            self.sees_project |= answered.unwrap_or(asked).reuse == Reuse::Review;
            let (rule, files) = (assignment.rule, &assignment.files);
            for (file, is_shown) in round.submission.guidance_shown(rule, files) {
                if named.insert((&file.path, is_shown)) {
                    let list = if is_shown { &mut self.context } else { &mut self.context_not_shown };
                    list.push(file.path.clone());
                }
            }
        }
    }

    /// All of it in one line: `judged 42 of 44 changed files since 1a2b3c4d; 2 not covered: a.toml, b.toml`.
    pub fn words(&self) -> String {
        let (one, several) =
            if self.is_change { ("changed file", "changed files") } else { ("file", "files") };
        let mut out = format!("judged {} of {}", self.judged, counted(self.files, one, several));
        if let Some(base) = &self.base {
            let _ = write!(out, " since {}", base.get(..COMMIT_LETTERS).unwrap_or(base));
        }
        let part = |out: &mut String, what: &str, names: Vec<String>| {
            if let Some((first, rest)) = names.split_at_checked(NAMED_MAX.min(names.len())) {
                let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                if !first.is_empty() {
                    let _ = write!(out, "; {} {what}: {}{more}", names.len(), first.join(", "));
                }
            }
        };
        let name = |path: &String| visible_line(path).into_owned();
        part(&mut out, "not covered by any rule", self.not_covered.iter().map(name).collect());
        part(&mut out, "excluded", self.excluded.iter().map(name).collect());
        for (allowed, what) in [(false, "not seen"), (true, "passed unseen")] {
            let files = self.not_seen.iter().filter(|file| file.allowed == allowed);
            let names = files.map(|file| format!("{} ({})", name(&file.path), visible_line(&file.why)));
            part(&mut out, what, names.collect());
        }
        part(&mut out, "for context", self.context.iter().map(name).collect());
        part(&mut out, "too long to be shown for context", self.context_not_shown.iter().map(name).collect());
        if self.sees_project {
            out.push_str("; a reviewer could read the whole project");
        }
        let names = self.other_in_head.iter().map(name).collect();
        part(&mut out, "other in HEAD than judged", names);
        out
    }
}

/// How closely a file was looked at, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Judged,
    AllowedUnseen,
    NotSeen,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(not_covered: &[&str], not_seen: &[(&str, bool)]) -> Coverage {
        Coverage {
            base: Some("1a2b3c4d5e6f".into()),
            is_change: true,
            files: 44,
            judged: 44 - not_covered.len() - not_seen.len(),
            not_covered: not_covered.iter().map(|path| (*path).to_owned()).collect(),
            excluded: vec![],
            not_seen: not_seen
                .iter()
                .map(|(path, allowed)| NotSeen {
                    path: (*path).into(),
                    why: "it is not text".into(),
                    allowed: *allowed,
                })
                .collect(),
            context: vec![],
            context_not_shown: vec![],
            sees_project: false,
            other_in_head: vec![],
        }
    }

    #[test]
    fn one_line_says_what_was_looked_at() {
        let table = [
            (coverage(&[], &[]), "judged 44 of 44 changed files since 1a2b3c4d"),
            (
                coverage(&["a.toml", "b.toml"], &[]),
                "judged 42 of 44 changed files since 1a2b3c4d; 2 not covered by any rule: a.toml, b.toml",
            ),
            (
                coverage(&["a", "b", "c", "d", "e\n"], &[("x.bin", false), ("y.png", true)]),
                "judged 37 of 44 changed files since 1a2b3c4d; 5 not covered by any rule: a, b, c and 2 more; \
                 1 not seen: x.bin (it is not text); 1 passed unseen: y.png (it is not text)",
            ),
            (
                Coverage { judged: 43, excluded: vec!["v/x".into()], ..coverage(&[], &[]) },
                "judged 43 of 44 changed files since 1a2b3c4d; 1 excluded: v/x",
            ),
            (
                Coverage { base: None, is_change: false, files: 1, judged: 1, ..coverage(&[], &[]) },
                "judged 1 of 1 file",
            ),
            (
                Coverage {
                    context: vec!["terms.md".into()],
                    context_not_shown: vec!["long.md".into()],
                    sees_project: true,
                    ..coverage(&[], &[])
                },
                "judged 44 of 44 changed files since 1a2b3c4d; 1 for context: terms.md; 1 too long to be shown for context: \
                 long.md; a reviewer could read the whole project",
            ),
        ];
        for (coverage, words) in table {
            assert_eq!(coverage.words(), words);
        }
    }
}
