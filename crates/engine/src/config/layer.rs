//! One file of the configuration, read and checked: its rules, its reviewers and the settings it gives. Putting the
//! files together is done in `resolve`.

use super::commands::{self, WrittenCommands};
use super::notify::{self, WrittenNotify};
use super::reviewers::{Owner, ReviewerConfig, reviewers};
use super::rules::{CheckProblem, RuleSource, rules};
use super::service::{self, WrittenContext, WrittenReview};
use super::settings::{Origin, check_patterns};
use super::written::{
    WrittenBlocking, WrittenJobs, WrittenLimits, WrittenPolicy, WrittenProject, WrittenQr, WrittenRedaction,
    WrittenReviewer, WrittenRule, WrittenUser,
};
use crate::yaml::{self, At, Diagnostic, Document, FileBytes, Given, List, ProblemList};
use countersign_core::rule::Rule;
use std::collections::HashMap;
use std::ops::Range;

const MINIMAL: &str =
    "a configuration begins with `version: 1` and has at least one rule, or one of `qr`, `run` and `review`";

/// One file, with everything that is wrong with it.
pub(super) struct Layer {
    pub owner: Owner,
    pub sink: ProblemList,
    pub sections: Sections,
    /// The list of reviewers, where the file has one.
    pub reviewers: Option<At<Vec<ReviewerConfig>>>,
    pub rules: Vec<(Rule, RuleSource)>,
}

#[derive(Default)]
pub(super) struct Sections {
    pub policy: WrittenPolicy,
    pub limits: WrittenLimits,
    pub redaction: WrittenRedaction,
    pub qr: WrittenQr,
    pub jobs: WrittenJobs,
    pub review: WrittenReview,
    pub context: WrittenContext,
    pub commands: WrittenCommands,
    pub notify: WrittenNotify,
    pub agents_may_decide: Given<bool>,
}

/// The project's file. A file that is not YAML has one problem and no layer.
pub(super) fn project(file: &FileBytes, check_problem: CheckProblem<'_>) -> Result<Layer, Diagnostic> {
    let Document { mut sink, start, is_empty, value } = yaml::read::<WrittenProject>(file)?;
    if is_empty {
        return Err(Diagnostic::new("empty", sink.place(&(0..0)), "the file is empty").with_hint(MINIMAL));
    }
    // A project must not be able to let the agents that work on it overrule its gate.
    let hint = "only the user's own file may set this: ~/.config/countersign/config.yml";
    explain_wrong_file(&mut sink, "agents_may_decide", "a project's file", hint);
    let Some(written) = value else { return Ok(Layer::new(Owner::Project, sink, Sections::default())) };
    if written.version.is_none() {
        let message = "the file has no `version`";
        sink.report_with_hint("missing-key", &start, message, "begin it with `version: 1`");
    }
    let rules = match &written.rules.0 {
        None if written.has_a_door() => Vec::new(),
        rules => project_rules(&mut sink, rules.as_ref(), &written.exclude, &start, check_problem),
    };
    let mut review = section(written.review);
    let context = service::context(&mut sink, written.context, &mut review);
    let sections = Sections {
        policy: section(written.policy),
        limits: section(written.limits),
        redaction: section(written.redaction),
        qr: section(written.qr),
        jobs: section(written.jobs),
        review,
        context,
        commands: section(written.commands),
        notify: section(written.notify),
        agents_may_decide: Given(None),
    };
    let layer = Layer::new(Owner::Project, sink, sections).with_reviewers(written.reviewers);
    Ok(Layer { rules, ..layer })
}

/// The user's file. An empty one counts as absent.
pub(super) fn user(file: &FileBytes) -> Result<Layer, Diagnostic> {
    let Document { mut sink, value, .. } = yaml::read::<WrittenUser>(file)?;
    // Rules in the user's file would hold for every project, unseen by the others who work on it.
    let hint = "rules belong in the project's countersign.yml";
    explain_wrong_file(&mut sink, "rules", "the user's own file", hint);
    let Some(written) = value else { return Ok(Layer::new(Owner::User, sink, Sections::default())) };
    let sections = Sections {
        policy: section(written.policy),
        limits: section(written.limits),
        redaction: section(written.redaction),
        notify: section(written.notify),
        agents_may_decide: written.agents_may_decide,
        ..Sections::default()
    };
    Ok(Layer::new(Owner::User, sink, sections).with_reviewers(written.reviewers))
}

fn section<T: Default>(written: Option<At<T>>) -> T {
    written.and_then(|at| at.value).unwrap_or_default()
}

/// Says of a key that only the other file may have, why it is not known here.
fn explain_wrong_file(sink: &mut ProblemList, key: &str, file: &str, hint: &str) {
    let unknown = |problem: &&mut Diagnostic| {
        problem.code == "unknown-key" && problem.message.ends_with(&format!("`{key}`"))
    };
    for problem in sink.problems.iter_mut().filter(unknown) {
        problem.message = format!("`{key}` cannot be in {file}");
        problem.hint = Some(hint.into());
    }
}

fn project_rules(
    sink: &mut ProblemList,
    written: Option<&List<WrittenRule>>,
    exclude: &Given<Vec<At<String>>>,
    start: &Range<usize>,
    check_problem: CheckProblem<'_>,
) -> Vec<(Rule, RuleSource)> {
    let Some(at) = written else {
        sink.report_with_hint("no-rules", start, "the file has no `rules`, so it asks nothing", MINIMAL);
        return Vec::new();
    };
    let list = at.value.as_deref().unwrap_or_default();
    if at.value.is_some() && list.is_empty() {
        sink.report_with_hint("no-rules", &at.span, "`rules` is empty, so it asks nothing", MINIMAL);
    }
    rules(sink, list, exclude, check_problem)
}

impl Layer {
    fn new(owner: Owner, mut sink: ProblemList, sections: Sections) -> Self {
        check_patterns(&mut sink, &sections.redaction);
        notify::check(&mut sink, owner, &sections.notify);
        service::check(&mut sink, &sections.review, &sections.commands);
        commands::check(&mut sink, &sections.commands);
        blocking(&mut sink, sections.policy.blocking.items());
        blocking(&mut sink, sections.qr.blocking.items());
        if let Some(At { span, value: Some(folder) }) = &sections.qr.state_dir.0
            && folder.trim().is_empty()
        {
            let hint = "name a folder, or leave it out";
            sink.report_with_hint("empty", span, "`state_dir` is empty", hint);
        }
        Self { owner, sink, sections, reviewers: None, rules: Vec::new() }
    }

    fn with_reviewers(mut self, written: Option<List<WrittenReviewer>>) -> Self {
        self.reviewers = written.map(|At { span, value }| At {
            span,
            value: value.and_then(|list| reviewers(&mut self.sink, self.owner, &list)),
        });
        self
    }

    /// This file, at the line of a span.
    pub fn origin(&self, span: &Range<usize>) -> Origin {
        let place = self.sink.place(span);
        let (file, line) = (place.file().to_owned(), place.line());
        match self.owner {
            Owner::Project => Origin::Project(file, line),
            Owner::User => Origin::User(file, line),
        }
    }
}

/// Every line of `blocking` is whole, and no two hold from the same round.
fn blocking(sink: &mut ProblemList, lines: &[At<WrittenBlocking>]) {
    let mut seen: HashMap<u32, Range<usize>> = HashMap::new();
    for at in lines {
        let Some(line) = &at.value else { continue };
        let owner = ("this line of `blocking`", &at.span);
        sink.required(line.severity.as_ref(), "severity", owner);
        let Some((round, span)) = sink.required(line.from_round.as_ref(), "from_round", owner) else {
            continue;
        };
        let Some(first) = seen.insert(round.get(), span.clone()) else { continue };
        let other = sink.place(&first);
        let message = format!("line {} already says what blocks from round {}", other.line(), round.get());
        let problem = Diagnostic::new("duplicate-round", sink.place(span), message);
        sink.problems.push(problem.with_related(other, "the first one"));
    }
}
