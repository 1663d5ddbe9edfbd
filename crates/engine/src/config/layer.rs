//! What one file contributes: its rules, its reviewers, and the settings it gives.

use super::notify::WrittenNotify;
use super::redaction;
use super::reviewers::{Owner, ReviewerConfig, reviewers};
use super::rules::{CheckProblem, RuleSource, rules};
use super::service::WrittenService;
use super::written::{
    WrittenBlocking, WrittenLimits, WrittenPolicy, WrittenProject, WrittenQr, WrittenRedaction,
    WrittenReviewer, WrittenUser,
};
use crate::yaml::{self, At, Diagnostic, Document, FileBytes, Given, List, Sink};
use countersign_core::rule::Rule;
use std::collections::HashMap;
use std::ops::Range;

const MINIMAL: &str = "a configuration begins with `version: 1` and has at least one rule";

/// One file, with everything that is wrong with it.
pub(super) struct Layer {
    pub owner: Owner,
    pub sink: Sink,
    pub policy: WrittenPolicy,
    pub limits: WrittenLimits,
    pub redaction: WrittenRedaction,
    pub qr: WrittenQr,
    pub service: WrittenService,
    pub notify: WrittenNotify,
    pub agents_may_decide: Given<bool>,
    pub reviewers: GivenReviewers,
    pub rules: Vec<(Rule, RuleSource)>,
}

/// The reviewers of a file.
pub(super) enum GivenReviewers {
    /// It has no list.
    None,
    /// It has this list.
    List(Vec<ReviewerConfig>, Range<usize>),
    /// It has a list that could not be understood, which is reported already.
    Broken,
}

/// The project's file. A file that is not YAML has one problem and no layer.
pub(super) fn project(file: &FileBytes, check_problem: CheckProblem<'_>) -> Result<Layer, Diagnostic> {
    let Document { mut sink, start, is_empty, value } = yaml::read::<WrittenProject>(file)?;
    if is_empty {
        return Err(Diagnostic::new("empty", sink.place(&(0..0)), "the file is empty").with_hint(MINIMAL));
    }
    explain_user_keys(&mut sink);
    let Some(written) = value else { return Ok(Layer::empty(Owner::Project, sink)) };
    if written.version.is_none() {
        sink.report_with_hint(
            "missing-key",
            &start,
            "the file has no `version`",
            "begin it with `version: 1`",
        );
    }
    let rules = project_rules(&mut sink, written.rules.as_ref(), &start, check_problem);
    let layer = Layer { rules, ..Layer::empty(Owner::Project, sink) };
    let layer = layer.redacting(written.redaction).with_qr(written.qr).notifying(written.notify);
    let layer = layer.with_service(WrittenService {
        review: written.review.and_then(|at| at.value).unwrap_or_default(),
        context: written.context.and_then(|at| at.value).unwrap_or_default(),
        commands: written.commands.and_then(|at| at.value).unwrap_or_default(),
    });
    Ok(layer.filled(written.reviewers, written.policy, written.limits))
}

/// The user's file. One with nothing in it is as good as none.
pub(super) fn user(file: &FileBytes) -> Result<Layer, Diagnostic> {
    let Document { mut sink, value, .. } = yaml::read::<WrittenUser>(file)?;
    explain_project_keys(&mut sink);
    let Some(written) = value else { return Ok(Layer::empty(Owner::User, sink)) };
    let agents_may_decide = written.agents_may_decide;
    let layer = Layer { agents_may_decide, ..Layer::empty(Owner::User, sink) };
    let layer = layer.redacting(written.redaction).notifying(written.notify);
    Ok(layer.filled(written.reviewers, written.policy, written.limits))
}

/// Rules in the user's file would hold for every project, unseen by the others who work on it.
fn explain_project_keys(sink: &mut Sink) {
    for problem in &mut sink.problems {
        if problem.code == "unknown-key" && problem.message.ends_with("`rules`") {
            problem.message = "`rules` cannot be in the user's own file".into();
            problem.hint = Some("rules belong in the project's countersign.yml".into());
        }
    }
}

/// A project must not be able to let the agents that work on it overrule its gate.
fn explain_user_keys(sink: &mut Sink) {
    for problem in &mut sink.problems {
        if problem.code == "unknown-key" && problem.message.ends_with("`agents_may_decide`") {
            problem.message = "`agents_may_decide` cannot be in a project's file".into();
            problem.hint =
                Some("only the user's own file may say so, ~/.config/countersign/config.yml".into());
        }
    }
}

fn project_rules(
    sink: &mut Sink,
    written: Option<&List<super::written::WrittenRule>>,
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
    rules(sink, list, check_problem)
}

impl Layer {
    fn empty(owner: Owner, sink: Sink) -> Self {
        Self {
            owner,
            sink,
            policy: WrittenPolicy::default(),
            limits: WrittenLimits::default(),
            redaction: WrittenRedaction::default(),
            qr: WrittenQr::default(),
            service: WrittenService::default(),
            notify: WrittenNotify::default(),
            agents_may_decide: Given::default(),
            reviewers: GivenReviewers::None,
            rules: Vec::new(),
        }
    }

    fn redacting(mut self, written: Option<At<WrittenRedaction>>) -> Self {
        self.redaction = written.and_then(|at| at.value).unwrap_or_default();
        redaction::check(&mut self.sink, &self.redaction);
        self
    }

    fn with_qr(mut self, written: Option<At<WrittenQr>>) -> Self {
        self.qr = written.and_then(|at| at.value).unwrap_or_default();
        if let Some(lines) = self.qr.blocking.0.as_ref().and_then(|at| at.value.as_ref()) {
            blocking(&mut self.sink, lines);
        }
        if let Some(at) = &self.qr.state_dir.0
            && at.value.as_ref().is_some_and(|folder| folder.trim().is_empty())
        {
            self.sink.report_with_hint(
                "empty",
                &at.span,
                "`state_dir` is empty",
                "name a folder, or leave it out",
            );
        }
        self
    }

    fn filled(
        mut self,
        written: Option<List<WrittenReviewer>>,
        policy: Option<At<WrittenPolicy>>,
        limits: Option<At<WrittenLimits>>,
    ) -> Self {
        if let Some(at) = written {
            let understood = at.value.and_then(|list| reviewers(&mut self.sink, self.owner, &list));
            self.reviewers = match understood {
                Some(list) => GivenReviewers::List(list, at.span),
                None => GivenReviewers::Broken,
            };
        }
        self.policy = policy.and_then(|at| at.value).unwrap_or_default();
        self.limits = limits.and_then(|at| at.value).unwrap_or_default();
        if let Some(lines) = self.policy.blocking.0.as_ref().and_then(|at| at.value.as_ref()) {
            blocking(&mut self.sink, lines);
        }
        self
    }
}

/// Every line of `blocking` is whole, and no two hold from the same round.
fn blocking(sink: &mut Sink, lines: &[At<WrittenBlocking>]) {
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
        let message = format!("line {} says already what blocks from round {}", other.line(), round.get());
        let problem = Diagnostic::new("duplicate-round", sink.place(span), message);
        sink.problems.push(problem.with_related(other, "the first one"));
    }
}
