//! Rules and criteria: what they mean, and where each was written.

use super::reviewers::AUTO;
use super::written::{
    WrittenCheck, WrittenCriterion, WrittenEach, WrittenLines, WrittenRule, WrittenSeverity, meaning,
    value_span,
};
use crate::yaml::{At, Given, Named, Place, ProblemList, quoted};
use countersign_core::check::Check;
use countersign_core::criterion::{Criterion, Severity, fold_name};
use countersign_core::rule::{Each, Lines, MEDIA, Rule, Scope};
use globset::Glob;
use std::ops::Range;

/// Says what is wrong with a check, for instance with its regular expression.
pub type CheckProblem<'f> = &'f dyn Fn(&Check) -> Option<String>;

/// Where a rule was written, so that what is found out later can be shown there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSource {
    pub name: Place,
    pub patterns: Vec<Place>,
    /// The names of its criteria, in order.
    pub criteria: Vec<Place>,
    pub reviewer: Option<Place>,
}

/// The rules that could be understood; everything else is reported.
pub(super) fn rules(
    sink: &mut ProblemList,
    written: &[At<WrittenRule>],
    exclude: &Given<Vec<At<String>>>,
    check_problem: CheckProblem<'_>,
) -> Vec<(Rule, RuleSource)> {
    let mut reader = Reader { sink, check_problem };
    // What is not understood is reported: then there is no configuration.
    let everywhere = reader.given_patterns(exclude, None).flatten().unwrap_or_default();
    let mut names = Vec::new();
    let mut rules = Vec::new();
    for at in written {
        let Some(value) = &at.value else { continue };
        let name = reader.sink.name(value.name.as_ref(), ("this rule", &at.span));
        names.extend(name.clone());
        let rule = reader.rule(name, value, &at.span);
        rules.extend(rule.map(|(mut rule, source)| {
            rule.exclude.splice(0..0, everywhere.iter().cloned());
            (rule, source)
        }));
    }
    sink.unique("the rule", str::to_owned, names.iter());
    rules
}

/// Reads rules. `None` stands for what could not be understood, which is reported already.
struct Reader<'a> {
    sink: &'a mut ProblemList,
    check_problem: CheckProblem<'a>,
}

impl Reader<'_> {
    fn rule(
        &mut self,
        name: Option<Named>,
        written: &WrittenRule,
        span: &Range<usize>,
    ) -> Option<(Rule, RuleSource)> {
        let patterns = self.patterns(written, span);
        let criteria = self.criteria(written, span);
        let each = match &written.each.0 {
            Some(at) => at.value?.meaning(),
            None => Each::Together,
        };
        let lines = match &written.lines.0 {
            Some(at) => at.value?.meaning(),
            None => Lines::Changed,
        };
        let unseen = self.given_patterns(&written.unseen, Some(MEDIA));
        let exclude = self.given_patterns(&written.exclude, None);
        let (name, patterns, criteria, unseen) = (name?, patterns?, criteria?, unseen?);
        let place = |span: &Range<usize>| self.sink.place(span);
        let places = RuleSource {
            name: place(&name.span),
            patterns: patterns.iter().map(|at| place(&at.span)).collect(),
            criteria: criteria.iter().map(|(_, span)| place(span)).collect(),
            reviewer: written.reviewer.as_ref().map(|at| place(&at.span)),
        };
        let text = |field: &Option<At<String>>| field.as_ref().and_then(|at| at.value.clone());
        let rule = Rule {
            name: name.name,
            scope: Scope::Files { patterns: patterns.into_iter().map(|at| at.name).collect(), each },
            criteria: criteria.into_iter().map(|(criterion, _)| criterion).collect(),
            guidance: text(&written.guidance),
            reviewer: text(&written.reviewer).filter(|name| name != AUTO),
            unseen,
            exclude: exclude?.unwrap_or_default(),
            lines,
        };
        Some((rule, places))
    }

    fn patterns(&mut self, written: &WrittenRule, span: &Range<usize>) -> Option<Vec<Named>> {
        let (list, list_span) = self.sink.required(written.r#for.as_ref(), "for", ("this rule", span))?;
        if list.is_empty() {
            self.sink.report("no-patterns", list_span, "`for` is empty, so the rule applies to nothing");
        }
        let mut good = Vec::new();
        for at in list {
            let Some(pattern) = &at.value else { continue };
            if self.is_pattern(pattern, &at.span) {
                good.push(Named { name: pattern.clone(), span: at.span.clone() });
            }
        }
        (!list.is_empty() && good.len() == list.len()).then_some(good)
    }

    /// Patterns, and other words that are allowed among them, where they are given.
    fn given_patterns(
        &mut self,
        written: &Given<Vec<At<String>>>,
        word: Option<&str>,
    ) -> Option<Option<Vec<String>>> {
        let Some(At { value, .. }) = &written.0 else { return Some(None) };
        let mut good = Vec::new();
        for at in value.as_ref()? {
            let pattern = at.value.as_ref()?;
            if word == Some(pattern) || self.is_pattern(pattern, &at.span) {
                good.push(pattern.clone());
            }
        }
        Some(Some(good))
    }

    fn is_pattern(&mut self, pattern: &str, span: &Range<usize>) -> bool {
        let Some((problem, hint)) = pattern_problem(pattern) else { return true };
        let message = format!("the pattern {} {problem}", quoted(pattern));
        self.sink.report_with_hint("bad-glob", span, message, hint);
        false
    }

    /// The criteria, each with the place of its name.
    fn criteria(
        &mut self,
        written: &WrittenRule,
        span: &Range<usize>,
    ) -> Option<Vec<(Criterion, Range<usize>)>> {
        let owner = ("this rule", span);
        let (list, list_span) = self.sink.required(written.criteria.as_ref(), "criteria", owner)?;
        if list.is_empty() {
            let message = "`criteria` is empty, so the rule asks nothing";
            let hint = "give at least one, such as `- {name: Complete, ask: \"Is anything missing?\"}`";
            self.sink.report_with_hint("no-criteria", list_span, message, hint);
        }
        let mut names = Vec::new();
        let mut good = Vec::new();
        for at in list {
            let Some(value) = &at.value else { continue };
            let name = self.sink.name(value.name.as_ref(), ("this criterion", &at.span));
            names.extend(name.clone());
            good.extend(self.criterion(name, value, &at.span));
        }
        self.sink.unique("the criterion", fold_name, names.iter());
        (!list.is_empty() && good.len() == list.len()).then_some(good)
    }

    fn criterion(
        &mut self,
        name: Option<Named>,
        written: &WrittenCriterion,
        span: &Range<usize>,
    ) -> Option<(Criterion, Range<usize>)> {
        let check = written.check.as_ref().map(|at| self.check(at));
        let question = match (&written.ask, &check) {
            (Some(At { span, value: Some(text) }), _) if text.trim().is_empty() => {
                self.sink.report("missing-key", span, "`ask` is empty");
                None
            }
            (Some(at), _) => at.value.clone(),
            (None, Some(check)) => check.as_ref().map(default_question),
            (None, None) => {
                let hint = "say in `ask` what must be true, or give a `check`";
                self.sink.report_with_hint("missing-key", span, "this criterion asks nothing", hint);
                None
            }
        };
        let severity = match &written.severity.0 {
            Some(at) => at.value?.meaning(),
            None => Severity::Must,
        };
        let name = name?;
        // An unreadable check must not turn into no check.
        let check = match check {
            Some(check) => Some(check?),
            None => None,
        };
        Some((Criterion { name: name.name, question: question?, severity, check }, name.span))
    }

    fn check(&mut self, at: &At<WrittenCheck>) -> Option<Check> {
        let written = at.value.as_ref()?;
        let check = meaning(written)?;
        let is_empty = match &check {
            Check::RequiredHeadings(headings) => {
                headings.is_empty() || headings.iter().any(|h| h.trim().is_empty())
            }
            Check::RequiredPattern(pattern) | Check::ForbiddenPattern(pattern) => pattern.is_empty(),
            Check::Run(run) => run.command.trim().is_empty(),
            _ => false,
        };
        let problem = match &check {
            _ if is_empty => {
                Some("the check is empty, so its result would always be the same: add a value".to_owned())
            }
            Check::Run(run) if run.command.contains('\0') => {
                Some("a command cannot hold a zero byte".to_owned())
            }
            check => (self.check_problem)(check),
        };
        let Some(problem) = problem else { return Some(check) };
        let span = value_span(written).unwrap_or_else(|| at.span.clone());
        self.sink.report("bad-check", &span, problem);
        None
    }
}

/// Why a pattern cannot be used. One that parses can still match nothing: a rule that silently never applies is no gate.
fn pattern_problem(pattern: &str) -> Option<(String, String)> {
    let relative = "patterns are relative to the project's root, such as `docs/**/*.md`";
    let problem = |problem: &str, hint: &str| Some((problem.to_owned(), hint.to_owned()));
    if pattern.trim().is_empty() {
        return problem("is empty", relative);
    }
    if pattern.starts_with('!') {
        return problem(
            "begins with `!`",
            "a pattern can only add files; name what is left out in `exclude`",
        );
    }
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "." || part == "..") {
        return problem("can match nothing: it is not relative to the root", relative);
    }
    if pattern.ends_with('/') {
        return Some((
            "names a folder".into(),
            format!("for all files in it, write {}", quoted(&format!("{pattern}**"))),
        ));
    }
    let error = Glob::new(pattern).err()?;
    Some((
        format!("cannot be read: {}", error.kind()),
        "`[` and `{` need their closing bracket; `\\` before one makes it an ordinary character".into(),
    ))
}

/// The question a check answers, for criteria that give none.
fn default_question(check: &Check) -> String {
    match check {
        Check::NoConflictMarkers => "Is it free of conflict markers?".into(),
        Check::NoPlaceholders => "Is it free of placeholders?".into(),
        Check::NotEmpty => "Is it more than white space?".into(),
        Check::ValidJson => "Is it valid JSON?".into(),
        Check::ValidYaml => "Is it valid YAML?".into(),
        Check::ValidToml => "Is it valid TOML?".into(),
        Check::LinksResolve => "Do all relative links lead somewhere?".into(),
        Check::RequiredHeadings(headings) => format!("Are these headings there: {}?", headings.join(", ")),
        Check::RequiredPattern(pattern) => format!("Does it match `{pattern}`?"),
        Check::ForbiddenPattern(pattern) => format!("Is there nothing that matches `{pattern}`?"),
        Check::Run(run) => format!("Does `{}` end with {}?", run.command, run.exit_code),
    }
}

impl WrittenSeverity {
    pub(super) fn meaning(self) -> Severity {
        match self {
            Self::Must => Severity::Must,
            Self::Should => Severity::Should,
            Self::May => Severity::May,
        }
    }
}

impl WrittenLines {
    fn meaning(self) -> Lines {
        match self {
            Self::Changed => Lines::Changed,
            Self::File => Lines::File,
        }
    }
}

impl WrittenEach {
    fn meaning(self) -> Each {
        match self {
            Self::File => Each::File,
            Self::All => Each::Together,
            Self::Fit => Each::Fit,
        }
    }
}
