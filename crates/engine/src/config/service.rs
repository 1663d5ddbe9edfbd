//! `review:` and `context:`: when and how the work on a task is reviewed.

use super::commands::{CommandsConfig, WrittenCommands};
use super::settings::{Merge, Origin, key};
use crate::yaml::{At, Count, Given, ProblemList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Who reads out of a review what it says: the name of a reviewer. Without it, the reviewer itself, with a light model.
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
    /// The section `context`, where it stands here.
    pub context: Given<WrittenContext>,
}

/// What starts the review of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// `countersign task done`.
    #[default]
    ScriptCompletion,
    /// An agent's session that stops.
    SessionIdle,
    /// A person or agent who asks for it.
    Explicit,
}

impl Trigger {
    pub fn word(self) -> &'static str {
        match self {
            Self::ScriptCompletion => "script_completion",
            Self::SessionIdle => "session_idle",
            Self::Explicit => "explicit",
        }
    }
}

/// How a task is reviewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// One call reviews in free words, a second call reads the result.
    #[default]
    TwoCall,
    /// By the rules, criterion by criterion.
    Structured,
}

/// What a reviewer gets beside the diff of a task. The keys may also be spelled `include_task_definition`,
/// `include_git_diff`, `include_test_results`, `include_lint_results` and `include_session_log`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Context")]
#[schemars(extend("patternProperties" = {
    "^include_(task_definition|git_diff|test_results|lint_results|session_log)$": { "type": "boolean" },
}))]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenContext {
    /// Title, scope and acceptance criteria of the task.
    #[schemars(extend("default" = true))]
    #[serde(alias = "include_task_definition")]
    pub task_definition: Given<bool>,
    /// The change itself. Without it a reviewer has nothing but what stands around it.
    #[schemars(extend("default" = true))]
    #[serde(alias = "include_git_diff")]
    pub diff: Given<bool>,
    /// What the tests say; they are run for it.
    #[schemars(extend("default" = true))]
    #[serde(alias = "include_test_results")]
    pub tests: Given<bool>,
    /// What lint says; it is run for it.
    #[schemars(extend("default" = false))]
    #[serde(alias = "include_lint_results")]
    pub lint: Given<bool>,
    /// The end of what was said while the work was done.
    #[schemars(extend("default" = false))]
    #[serde(alias = "include_session_log")]
    pub session_log: Given<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceConfig {
    pub enabled: bool,
    pub command: String,
    /// The words of the review command, where the file has them.
    pub prompt: Option<String>,
    pub model: Option<String>,
    pub parser: Option<String>,
    pub parser_model: Option<String>,
    /// The failing review that blocks a task.
    pub max_revisions: u32,
    pub trigger: Trigger,
    pub pipeline: Pipeline,
    pub context: ContextConfig,
    pub test: Option<String>,
    pub lint: Option<String>,
    pub commands: CommandsConfig,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextConfig {
    pub task_definition: bool,
    pub diff: bool,
    pub tests: bool,
    pub lint: bool,
    pub session_log: bool,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { task_definition: true, diff: true, tests: true, lint: false, session_log: false }
    }
}

/// The section `context`: at the top of the file, or under `review`.
pub(super) fn context(
    sink: &mut ProblemList,
    top: Option<At<WrittenContext>>,
    review: &mut WrittenReview,
) -> WrittenContext {
    let under = std::mem::take(&mut review.context).0;
    if let (Some(_), Some(under)) = (&top, &under) {
        let message = "`context` is there twice: under `review` and at the top";
        sink.report_with_hint("duplicate-key", &under.span, message, "keep one of the two");
    }
    top.or(under).and_then(|at| at.value).unwrap_or_default()
}

/// Reports texts that are empty.
pub(super) fn check(sink: &mut ProblemList, review: &WrittenReview, commands: &WrittenCommands) {
    let texts = [
        ("command", &review.command),
        ("prompt", &review.prompt),
        ("model", &review.model),
        ("parser", &review.parser),
        ("parser_model", &review.parser_model),
        ("test", &commands.test),
        ("lint", &commands.lint),
        ("setup", &commands.setup),
    ];
    for (name, given) in texts {
        if let Some(At { span, value: Some(text) }) = &given.0
            && matches!(text.trim(), "" | "/")
        {
            let message = format!("`{name}` is empty");
            sink.report_with_hint("empty", span, message, "write a text, or remove the key");
        }
    }
}

impl Merge<'_> {
    pub(super) fn service(&mut self) -> ServiceConfig {
        ServiceConfig {
            enabled: self.switch(key!(review.enabled), true),
            command: self.pick(
                key!(review.command),
                DEFAULT_REVIEW_COMMAND.to_owned(),
                |text| text.trim().to_owned(),
                Clone::clone,
            ),
            prompt: self.text(key!(review.prompt)),
            model: self.text(key!(review.model)),
            parser: self.text(key!(review.parser)),
            parser_model: self.text(key!(review.parser_model)),
            max_revisions: self.count(key!(review.max_revisions), DEFAULT_MAX_REVISIONS),
            trigger: self.trigger(),
            pipeline: self.word(key!(review.pipeline), Pipeline::default()),
            context: self.context(),
            test: self.text(key!(commands.test)),
            lint: self.text(key!(commands.lint)),
            commands: self.commands(),
        }
    }

    /// Without a setting, tasks are reviewed when their work is done, and so are changes where a hook is installed.
    fn trigger(&mut self) -> Trigger {
        let trigger = self.word(key!(review.trigger), Trigger::default());
        if let Some(setting) = self.settings.last_mut().filter(|setting| setting.origin == Origin::Default) {
            setting.value =
                format!("{} for tasks, {} for hooks", trigger.word(), Trigger::SessionIdle.word());
        }
        trigger
    }

    fn context(&mut self) -> ContextConfig {
        let default = ContextConfig::default();
        ContextConfig {
            task_definition: self.switch(key!(context.task_definition), default.task_definition),
            diff: self.switch(key!(context.diff), default.diff),
            tests: self.switch(key!(context.tests), default.tests),
            lint: self.switch(key!(context.lint), default.lint),
            session_log: self.switch(key!(context.session_log), default.session_log),
        }
    }
}
