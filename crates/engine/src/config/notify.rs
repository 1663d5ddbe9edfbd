//! `notify:`: who is notified when a review needs a person, in which ways, and when not.

use super::reviewers::{Owner, address, argv, variable};
use super::settings::{Key, Merge, key, shown};
use crate::yaml::{At, Given, ProblemList, Whole, quoted};
use countersign_core::notify::{QuietHours, Switches, TimeOfDay, is_sound_name};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use url::Url;

/// How long a webhook may take to answer one try unless a file says otherwise.
pub const DEFAULT_WEBHOOK_SECONDS: u32 = 3;
/// What a time looks like, for editors.
const TIME: &str = "^([01]?[0-9]|2[0-3]):[0-5][0-9]$";

/// Who is notified when a review needs a person. Keys that are left out come from the user's file or are defaults.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Notify")]
#[serde(default, deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenNotify {
    /// Whether any notification is sent.
    #[schemars(extend("default" = true))]
    pub enabled: Given<bool>,
    /// By a message of the desktop, where there is one.
    #[schemars(extend("default" = true))]
    pub desktop: Given<bool>,
    /// By the bell of the terminal, where there is one.
    #[schemars(extend("default" = true))]
    pub bell: Given<bool>,
    /// By a sound of the system.
    #[schemars(extend("default" = false))]
    pub sound_enabled: Given<bool>,
    /// The name of that sound, instead of the one that belongs to what happened. One that the system does not have is the bell.
    #[schemars(length(min = 1, max = 64))]
    pub sound_name: Given<String>,
    /// When a review ended in something a person has to look at.
    #[schemars(extend("default" = true))]
    pub on_review_failed: Given<bool>,
    /// When a review waits for a decision.
    #[schemars(extend("default" = true))]
    pub on_person_needed: Given<bool>,
    /// When a review came to no verdict.
    #[schemars(extend("default" = true))]
    pub on_no_verdict: Given<bool>,
    /// When a task passed its review.
    #[schemars(extend("default" = false))]
    pub on_task_complete: Given<bool>,
    /// From this time on, local, there is neither sound nor bell nor desktop.
    #[schemars(regex(pattern = TIME))]
    pub quiet_hours_start: Given<String>,
    /// Until this time, which may be on the next day.
    #[schemars(regex(pattern = TIME))]
    pub quiet_hours_end: Given<String>,
    /// By a POST of a JSON object to an address. Quiet hours do not silence it.
    pub webhook: Given<WrittenWebhook>,
    /// By a program and its arguments, which gets the same object on stdin. Quiet hours do not silence it.
    #[schemars(length(min = 1))]
    pub command: Given<Vec<At<String>>>,
}

/// An address that is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Webhook")]
#[serde(deny_unknown_fields, expecting = "a mapping with `url`")]
pub(super) struct WrittenWebhook {
    /// Where to.
    #[schemars(required, regex(pattern = "^https?://"))]
    pub url: Option<At<String>>,
    /// How long one try may take. There are up to three.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_WEBHOOK_SECONDS))]
    pub timeout_seconds: Given<Whole<1, 10>>,
    /// The environment variable that holds a token, which is sent as `Authorization: Bearer …`.
    #[schemars(length(min = 1))]
    pub token_env: Option<At<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyConfig {
    pub switches: Switches,
    /// The name of the sound, instead of the one that belongs to what happened.
    pub sound_name: Option<String>,
    pub webhook: Option<WebhookConfig>,
    pub command: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfig {
    /// Where to. Its path may be a secret.
    pub url: String,
    pub timeout_seconds: u32,
    pub token_env: Option<String>,
}

impl WebhookConfig {
    /// The address without what may be secret about it.
    pub fn shown(&self) -> String {
        match Url::parse(&self.url) {
            Ok(url) => format!("{}/…", url.origin().ascii_serialization()),
            Err(_) => "…".to_owned(),
        }
    }
}

/// Reports what cannot be meant.
pub(super) fn check(sink: &mut ProblemList, owner: Owner, notify: &WrittenNotify) {
    quiet_hours(sink, notify);
    if let Some(At { span, value: Some(name) }) = &notify.sound_name.0
        && !is_sound_name(name)
    {
        let message = format!("{} cannot be the name of a sound", quoted(name));
        let hint = "a name such as `Basso` or `bell`: letters, digits, spaces, `-`, `_` and `.`, and no path";
        sink.report_with_hint("bad-name", span, message, hint);
    }
    if let Some(At { span, value: Some(webhook) }) = &notify.webhook.0 {
        check_webhook(sink, webhook, span);
    }
    if let Some(At { span, value: Some(list) }) = &notify.command.0 {
        argv(sink, owner, list, span);
    }
}

/// Both ends are times, and one is not without the other: whose file has one has both.
fn quiet_hours(sink: &mut ProblemList, notify: &WrittenNotify) {
    let ends =
        [("quiet_hours_start", &notify.quiet_hours_start), ("quiet_hours_end", &notify.quiet_hours_end)];
    for (name, given) in ends {
        if let Some(At { span, value: Some(text) }) = &given.0
            && TimeOfDay::parse(text).is_none()
        {
            let message = format!("`{name}` is not a time: {}", quoted(text));
            sink.report_with_hint("bad-time", span, message, "write hours and minutes, such as `\"22:00\"`");
        }
    }
    let alone = match (&notify.quiet_hours_start.0, &notify.quiet_hours_end.0) {
        (Some(start), None) => Some((start, "quiet_hours_start", "quiet_hours_end")),
        (None, Some(end)) => Some((end, "quiet_hours_end", "quiet_hours_start")),
        _ => None,
    };
    if let Some((at, there, missing)) = alone {
        let message = format!("`{there}` is set, and `{missing}` is not");
        sink.report_with_hint("missing-key", &at.span, message, format!("set `{missing}` too"));
    }
}

fn check_webhook(sink: &mut ProblemList, webhook: &WrittenWebhook, span: &Range<usize>) {
    if let Some((url, span)) = sink.required(webhook.url.as_ref(), "url", ("`webhook`", span)) {
        let example = "for example `https://example.com/hooks/reviews`";
        address(sink, ("url", span), url, (example, "token_env"));
    }
    if let Some(At { span, value: Some(name) }) = &webhook.token_env {
        variable(sink, ("token_env", span), name.clone());
    }
}

fn words(list: &[At<String>]) -> Option<Vec<String>> {
    list.iter().map(|at| at.value.clone()).collect()
}

fn meaning(written: &WrittenWebhook) -> Option<WebhookConfig> {
    Some(WebhookConfig {
        url: written.url.as_ref()?.value.clone()?,
        timeout_seconds: written.timeout_seconds.get().map_or(DEFAULT_WEBHOOK_SECONDS, |whole| whole.get()),
        token_env: written.token_env.as_ref().and_then(|at| at.value.clone()),
    })
}

impl Merge<'_> {
    pub(super) fn notify(&mut self) -> NotifyConfig {
        let mut switches = Switches::default();
        switches.enabled = self.switch(key!(notify.enabled), switches.enabled);
        switches.desktop = self.switch(key!(notify.desktop), switches.desktop);
        switches.bell = self.switch(key!(notify.bell), switches.bell);
        switches.sound = self.switch(key!(notify.sound_enabled), switches.sound);
        let sound_name = self.text(key!(notify.sound_name));
        switches.on_review_failed = self.switch(key!(notify.on_review_failed), switches.on_review_failed);
        switches.on_person_needed = self.switch(key!(notify.on_person_needed), switches.on_person_needed);
        switches.on_no_verdict = self.switch(key!(notify.on_no_verdict), switches.on_no_verdict);
        switches.on_task_complete = self.switch(key!(notify.on_task_complete), switches.on_task_complete);
        let start = self.time(key!(notify.quiet_hours_start));
        let end = self.time(key!(notify.quiet_hours_end));
        switches.quiet = start.zip(end).map(|(start, end)| QuietHours { start, end });
        let show = |webhook: &Option<_>| shown(&webhook.as_ref().map(WebhookConfig::shown));
        let webhook = self.pick(key!(notify.webhook), None, meaning, show);
        let show = |command: &Option<Vec<String>>| shown(&command.as_ref().map(|words| words.join(" ")));
        let command = self.pick(key!(notify.command), None, |list| words(list), show);
        (switches.webhook, switches.command) = (webhook.is_some(), command.is_some());
        NotifyConfig { switches, sound_name, webhook, command }
    }

    fn time(&mut self, key: Key<String>) -> Option<TimeOfDay> {
        self.pick(key, None, |text| TimeOfDay::parse(text), shown)
    }
}
