//! Which files a rule is about, which it leaves out, and which it lets pass unseen, by their paths.

use super::PlanError;
use crate::rule::{Lines, MEDIA, Rule, Scope};
use crate::submission::{Content, Submission};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The files of a rule that may pass although no reviewer sees them.
pub struct MayStayUnseen {
    media: bool,
    patterns: GlobSet,
}

impl MayStayUnseen {
    pub fn of(rule: &Rule) -> Result<Self, PlanError> {
        let (media, patterns): (Vec<_>, Vec<_>) =
            rule.may_stay_unseen().into_iter().partition(|pattern| pattern == MEDIA);
        let patterns = patterns_of(rule, &patterns)?;
        Ok(Self { media: !media.is_empty(), patterns })
    }

    pub fn has(&self, path: &str, content: &Content) -> bool {
        (self.media && *content == Content::Media) || self.patterns.is_match(path)
    }
}

/// What rules are about but for their `exclude`.
pub struct Exclusions(Vec<(Option<GlobSet>, GlobSet)>);

impl Exclusions {
    pub fn of(rules: &[Rule]) -> Result<Self, PlanError> {
        let mut all = vec![];
        for rule in rules.iter().filter(|rule| !rule.exclude.is_empty()) {
            let scope = match &rule.scope {
                Scope::Files { patterns, .. } => Some(patterns_of(rule, patterns)?),
                Scope::Whole | Scope::Output(_) => None,
            };
            all.push((scope, patterns_of(rule, &rule.exclude)?));
        }
        Ok(Self(all))
    }

    /// Whether a rule would be about a file that it excludes.
    pub fn has(&self, path: &str) -> bool {
        self.0.iter().any(|(scope, exclude)| {
            scope.as_ref().is_none_or(|scope| scope.is_match(path)) && exclude.is_match(path)
        })
    }
}

fn patterns_of(rule: &Rule, patterns: &[String]) -> Result<GlobSet, PlanError> {
    glob_set(patterns).map_err(|reason| PlanError::BadPattern { rule: rule.name.clone(), reason })
}

impl Rule {
    /// Whether its questions about this work ask which findings the change did not cause.
    pub fn asks_cause(&self, submission: &Submission) -> bool {
        submission.change.is_some() && self.lines == Lines::Changed
    }

    /// Matches the files that it is about, by their paths; of a scope without patterns those that it does not exclude.
    pub fn matcher(&self) -> Result<impl Fn(&str) -> bool + use<>, PlanError> {
        let scope = match &self.scope {
            Scope::Files { patterns, .. } => Some(patterns_of(self, patterns)?),
            Scope::Whole | Scope::Output(_) => None,
        };
        let exclude = patterns_of(self, &self.exclude)?;
        Ok(move |path: &str| {
            scope.as_ref().is_none_or(|scope| scope.is_match(path)) && !exclude.is_match(path)
        })
    }
}

/// The matcher for a rule's patterns: `*` stays within a folder, `**` crosses them.
pub fn glob_set(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}
