//! Posts JSON to the address of a webhook.

use crate::http::retry::{self, Failed};
use crate::http::{ServiceHost, chain, client, secret};
use countersign_core::text::counted;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Response};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A webhook. The path of its address may be a secret, so messages name the host only.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    pub url: String,
    /// What is sent as `Authorization: Bearer …`.
    pub token: Option<String>,
    /// How long one try may take.
    pub timeout: Duration,
}

impl Webhook {
    /// Posts a JSON text, with retries spread by `id`, within a time. The error says why it was not taken.
    pub async fn post(&self, json: &str, id: &str, within: Duration) -> Result<(), String> {
        let place = ServiceHost::of(&self.url).ok_or("its address is not valid")?;
        let words = |why: String| format!("{}: {why}", place.host);
        if self.token.is_some() && place.is_open() {
            let why = "its token would be sent unencrypted; use an `https://` address";
            return Err(words(why.to_owned()));
        }
        let client = client(&place).map_err(words)?;
        let posted = retry::HTTP.run(Instant::now() + within, id, || self.once(client, json)).await;
        posted.map_err(|given_up| {
            let Failed { why, may_pass, .. } = given_up.last;
            words(match may_pass {
                true => format!("{why} ({})", counted(given_up.tries, "try", "tries")),
                false => why,
            })
        })
    }

    async fn once(&self, client: &Client, json: &str) -> Result<(), Failed<String>> {
        let unreached = |why: String| Failed { why, may_pass: true, asked_for: None };
        let mut request = client.post(&self.url).header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            let value = secret(&format!("Bearer {token}"));
            let unsendable = || Failed::for_good("its token cannot be sent".to_owned());
            request = request.header(AUTHORIZATION, value.ok_or_else(unsendable)?);
        }
        // Its answer does not matter, so only the head is awaited.
        match timeout(self.timeout, request.body(json.to_owned()).send()).await {
            Err(_) => Err(unreached(format!("it did not answer within {} s", self.timeout.as_secs()))),
            Ok(Err(error)) => Err(unreached(chain(&error))),
            Ok(Ok(response)) => taken(&response),
        }
    }
}

/// Whether the text was taken. A redirect would send it to an address that was not configured.
fn taken(response: &Response) -> Result<(), Failed<String>> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let why = match status.is_redirection() {
        true => format!("it answered with {}, and redirects are not followed", status.as_u16()),
        false => format!("it answered with {}", status.as_u16()),
    };
    let may_pass = status.is_server_error() || retry::may_pass(status.as_u16());
    Err(Failed { why, may_pass, asked_for: retry::asked_for(response.headers()) })
}
