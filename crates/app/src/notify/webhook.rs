//! The webhook of a project.

use super::Came;
use super::message::Message;
use crate::project::Project;
use countersign_engine::webhook::Webhook;
use std::time::Duration;

/// Posts the message, within this time.
pub async fn post(project: &Project, message: &Message, within: Duration) -> Came {
    let Some(config) = &project.config.notify.webhook else { return Came::not_there("no webhook") };
    let token = match &config.token_env {
        None => None,
        Some(name) => match std::env::var(name) {
            Ok(token) if !token.trim().is_empty() => Some(token.trim().to_owned()),
            _ => return Came::failed(format!("the variable `{name}` holds no token")),
        },
    };
    let timeout = Duration::from_secs(config.timeout_seconds.into());
    let webhook = Webhook { url: config.url.clone(), token, timeout };
    match webhook.post(&message.json().to_string(), &message.id, within).await {
        Ok(()) => Came::done(),
        Err(why) => Came::failed(why),
    }
}
