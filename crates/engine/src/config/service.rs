//! `review:`, `context:` and `commands:`: when and how the work on a task is reviewed.

use super::layer::Layer;
use super::settings::Merge;
use crate::yaml::{Count, Given};
use schemars::JsonSchema;
use serde::Deserialize;

/// The failing review that blocks a task unless a file says otherwise.
pub const DEFAULT_MAX_REVISIONS: u32 = 3;
/// The review command unless a file says otherwise.
pub const DEFAULT_REVIEW_COMMAND: &str = "/review-task";

/// When the work on a task is reviewed, and by which command.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Review")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenReview {
    /// Whether tasks are reviewed at all. Without it a task that is done is complete.
    #[schemars(extend("default" = true))]
    pub enabled: Given<bool>,
    /// What reviews: `/review-task` is built in, another `/name` is looked up in `.claude/commands`, anything else is a program.
    #[schemars(length(min = 1), extend("default" = DEFAULT_REVIEW_COMMAND))]
    pub command: Given<String>,
    /// The words of the review command, where it is another `/name`.
    #[schemars(length(min = 1))]
    pub prompt: Given<String>,
    /// The model that reviews, instead of the reviewer's own.
    #[schemars(length(min = 1))]
    pub model: Given<String>,
    /// Who reads out of a review what it says: the name of a reviewer. Without it, whoever reviews, with a light model.
    #[schemars(length(min = 1))]
    pub parser: Given<String>,
    /// The model that reads, instead of a light one.
    #[schemars(length(min = 1))]
    pub parser_model: Given<String>,
    /// The failing review that blocks a task.
    #[schemars(extend("default" = DEFAULT_MAX_REVISIONS))]
    pub max_revisions: Given<Count>,
    /// What starts a review.
    #[schemars(extend("default" = "script_completion"))]
    pub trigger: Given<Trigger>,
    /// How a task is reviewed.
    #[schemars(extend("default" = "two_call"))]
    pub pipeline: Given<Pipeline>,
}

/// What starts the review of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// `countersign task done`.
    #[default]
    ScriptCompletion,
    /// An agent's session that stops.
    SessionIdle,
    /// Somebody who asks for it.
    Explicit,
}

impl Trigger {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::ScriptCompletion => "script_completion",
            Self::SessionIdle => "session_idle",
            Self::Explicit => "explicit",
        }
    }
}

/// How a task is reviewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// Somebody reviews in free words, somebody else reads what they say.
    #[default]
    TwoCall,
    /// By the rules, criterion by criterion.
    Structured,
}

/// What a reviewer gets beside the diff of a task.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Context")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenContext {
    /// Title, scope and acceptance criteria of the task.
    #[schemars(extend("default" = true))]
    pub task_definition: Given<bool>,
    /// The change itself. Without it a reviewer has nothing but what stands around it.
    #[schemars(extend("default" = true))]
    pub diff: Given<bool>,
    /// What the tests say; they are run for it.
    #[schemars(extend("default" = true))]
    pub tests: Given<bool>,
    /// What lint says; it is run for it.
    #[schemars(extend("default" = false))]
    pub lint: Given<bool>,
    /// The end of what was said while the work was done.
    #[schemars(extend("default" = false))]
    pub session_log: Given<bool>,
}

/// Commands of the project.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Commands")]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `test` or `lint`")]
pub(super) struct WrittenCommands {
    /// Runs the tests, in a shell at the root. Without it they are found by the files of the project.
    #[schemars(length(min = 1))]
    pub test: Given<String>,
    /// Runs lint, in a shell at the root.
    #[schemars(length(min = 1))]
    pub lint: Given<String>,
}

/// The three sections as one file has them.
#[derive(Debug, Default)]
pub(super) struct WrittenService {
    pub review: WrittenReview,
    pub context: WrittenContext,
    pub commands: WrittenCommands,
}

/// When and how the work on a task is reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceConfig {
    /// Whether tasks are reviewed at all.
    pub enabled: bool,
    /// What reviews.
    pub command: String,
    /// The words of the review command, where the file has them.
    pub prompt: Option<String>,
    /// The model that reviews.
    pub model: Option<String>,
    /// Who reads the review.
    pub parser: Option<String>,
    /// The model that reads it.
    pub parser_model: Option<String>,
    /// The failing review that blocks a task.
    pub max_revisions: u32,
    /// What starts a review.
    pub trigger: Trigger,
    /// How a task is reviewed.
    pub pipeline: Pipeline,
    /// What a reviewer gets.
    pub context: ContextConfig,
    /// Runs the tests.
    pub test: Option<String>,
    /// Runs lint.
    pub lint: Option<String>,
}

/// What a reviewer gets of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextConfig {
    /// Title, scope and acceptance criteria.
    pub task_definition: bool,
    /// The diff.
    pub diff: bool,
    /// What the tests say.
    pub tests: bool,
    /// What lint says.
    pub lint: bool,
    /// The end of the session's log.
    pub session_log: bool,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { task_definition: true, diff: true, tests: true, lint: false, session_log: false }
    }
}

impl Layer {
    /// The same with these sections; what is empty is reported.
    pub(super) fn with_service(mut self, written: WrittenService) -> Self {
        let WrittenReview { command, prompt, model, parser, parser_model, .. } = &written.review;
        let WrittenCommands { test, lint } = &written.commands;
        let texts = [
            ("command", command),
            ("prompt", prompt),
            ("model", model),
            ("parser", parser),
            ("parser_model", parser_model),
            ("test", test),
            ("lint", lint),
        ];
        for (name, given) in texts {
            let Some(at) = &given.0 else { continue };
            if at.value.as_ref().is_some_and(|text| text.trim().is_empty() || text.trim() == "/") {
                let message = format!("`{name}` is empty");
                self.sink.report_with_hint("empty", &at.span, message, "say something, or leave it out");
            }
        }
        self.service = written;
        self
    }
}

impl Merge<'_> {
    /// The sections in force.
    pub(super) fn service(&mut self) -> ServiceConfig {
        ServiceConfig {
            enabled: self.switch("review.enabled", |l| &l.service.review.enabled, true),
            command: self.pick(
                "review.command",
                |l| &l.service.review.command,
                DEFAULT_REVIEW_COMMAND.to_owned(),
                |text| text.trim().to_owned(),
                Clone::clone,
            ),
            prompt: self.maybe("review.prompt", |l| &l.service.review.prompt),
            model: self.maybe("review.model", |l| &l.service.review.model),
            parser: self.maybe("review.parser", |l| &l.service.review.parser),
            parser_model: self.maybe("review.parser_model", |l| &l.service.review.parser_model),
            max_revisions: self.pick(
                "review.max_revisions",
                |l| &l.service.review.max_revisions,
                DEFAULT_MAX_REVISIONS,
                |count| count.get(),
                u32::to_string,
            ),
            trigger: self.pick(
                "review.trigger",
                |l| &l.service.review.trigger,
                Trigger::default(),
                |trigger| *trigger,
                |trigger| trigger.word().to_owned(),
            ),
            pipeline: self.pick(
                "review.pipeline",
                |l| &l.service.review.pipeline,
                Pipeline::default(),
                |pipeline| *pipeline,
                |pipeline| match pipeline {
                    Pipeline::TwoCall => "two_call".to_owned(),
                    Pipeline::Structured => "structured".to_owned(),
                },
            ),
            context: self.context(),
            test: self.maybe("commands.test", |l| &l.service.commands.test),
            lint: self.maybe("commands.lint", |l| &l.service.commands.lint),
        }
    }

    fn context(&mut self) -> ContextConfig {
        let default = ContextConfig::default();
        ContextConfig {
            task_definition: self.switch(
                "context.task_definition",
                |l| &l.service.context.task_definition,
                default.task_definition,
            ),
            diff: self.switch("context.diff", |l| &l.service.context.diff, default.diff),
            tests: self.switch("context.tests", |l| &l.service.context.tests, default.tests),
            lint: self.switch("context.lint", |l| &l.service.context.lint, default.lint),
            session_log: self.switch(
                "context.session_log",
                |l| &l.service.context.session_log,
                default.session_log,
            ),
        }
    }

    pub(super) fn switch(
        &mut self,
        name: &'static str,
        key: fn(&Layer) -> &Given<bool>,
        default: bool,
    ) -> bool {
        self.pick(name, key, default, |value| *value, bool::to_string)
    }

    pub(super) fn maybe(&mut self, name: &'static str, key: fn(&Layer) -> &Given<String>) -> Option<String> {
        let show = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        self.pick(name, key, None, |text| Some(text.trim().to_owned()), show)
    }
}
