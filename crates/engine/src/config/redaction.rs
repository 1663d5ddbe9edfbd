//! Redaction: which patterns there are beside the built-in ones, and whether they are looked for.

use super::layer::Layer;
use super::settings::{Merge, Origin, Setting, key};
use super::written::{WrittenRedaction, WrittenSecret};
use crate::yaml::{At, ProblemList};
use countersign_core::redact::{OwnPattern, Problem, problem};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactionConfig {
    /// Whether anything is.
    pub enabled: bool,
    /// Patterns beside the built-in ones.
    pub patterns: Vec<OwnPattern>,
}

/// Reports every pattern that cannot be used.
pub(super) fn check(sink: &mut ProblemList, written: &WrittenRedaction) {
    let mut names = Vec::new();
    for at in written.patterns.items() {
        let Some(secret) = &at.value else { continue };
        let owner = ("this pattern", &at.span);
        let name = sink.name(secret.name.as_ref(), owner);
        let pattern = sink.required(secret.pattern.as_ref(), "pattern", owner);
        if let (Some(name), Some((pattern, span))) = (&name, pattern) {
            let own = OwnPattern { name: name.name.clone(), pattern: pattern.clone() };
            match problem(&own) {
                None => {}
                Some(wrong @ (Problem::Name | Problem::BuiltIn(_))) => {
                    sink.report("bad-name", &name.span, wrong.to_string());
                }
                Some(wrong) => sink.report("bad-pattern", span, wrong.to_string()),
            }
        }
        names.extend(name);
    }
    sink.unique("the pattern", str::to_owned, names.iter());
}

impl Merge<'_> {
    /// The redaction in force. Patterns add up: a project cannot take away what its user keeps secret.
    pub fn redaction(&mut self) -> RedactionConfig {
        let enabled = self.switch(key!(redaction.enabled), true);
        let own = |at: &At<WrittenSecret>| {
            let WrittenSecret { name, pattern } = at.value.as_ref()?;
            Some(OwnPattern {
                name: name.as_ref()?.value.clone()?,
                pattern: pattern.as_ref()?.value.clone()?,
            })
        };
        let all = self.layers.iter().flat_map(|layer| layer.sections.redaction.patterns.items());
        let patterns: Vec<OwnPattern> = all.filter_map(own).collect();
        let given =
            |layer: &Layer| layer.sections.redaction.patterns.0.as_ref().map(|at| layer.origin(&at.span));
        let origin = self.layers.iter().find_map(given).unwrap_or(Origin::Default);
        let names: Vec<_> = patterns.iter().map(|pattern| pattern.name.as_str()).collect();
        let value = format!("[{}]", names.join(", "));
        self.settings.push(Setting { name: "redaction.patterns", value, origin });
        RedactionConfig { enabled, patterns }
    }
}
