//! A webhook: somebody at an address who is told something, in JSON.

use crate::http::retry::{self, Next};
use crate::http::{Place, chain, client};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep, timeout};

/// Somebody at an address. The path of the address may be a secret, so messages name the host only.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The address.
    pub url: String,
    /// What is sent as `Authorization: Bearer …`.
    pub token: Option<String>,
    /// How long one try may take.
    pub timeout: Duration,
}

/// Why a try did not arrive.
struct Refused {
    words: String,
    /// Whether it may go better a moment later.
    may_pass: bool,
    wait: Option<Duration>,
}

impl Webhook {
    /// Posts a JSON text, again where that may help, for no longer than `within`. Otherwise why it was not taken.
    /// `id` is what the text is known by; whoever gets it twice knows it by that.
    pub async fn post(&self, json: &str, id: &str, within: Duration) -> Result<(), String> {
        let place = Place::of(&self.url).ok_or("its address is none")?;
        let words = |why: String| format!("{}: {why}", place.host);
        if self.token.is_some() && place.is_open() {
            let why = "its token would go over the network in the open; use an `https://` address";
            return Err(words(why.to_owned()));
        }
        let client = client(&place).map_err(words)?;
        let deadline = Instant::now() + within;
        let mut tries = 1;
        loop {
            let refused = match self.once(client, json).await {
                Ok(()) => return Ok(()),
                Err(refused) if !refused.may_pass => return Err(words(refused.words)),
                Err(refused) => refused,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            match retry::next(tries, refused.wait, left, id) {
                Next::After(wait) => sleep(wait).await,
                Next::GiveUp | Next::LeftAlone(_) => {
                    let tried = if tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") };
                    return Err(words(format!("{} ({tried})", refused.words)));
                }
            }
            tries += 1;
        }
    }

    async fn once(&self, client: &Client, json: &str) -> Result<(), Refused> {
        let refused = |words: String, may_pass| Refused { words, may_pass, wait: None };
        let mut request = client.post(&self.url).header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| refused("its token cannot be sent".to_owned(), false))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        // What it says is of no interest, so only the head of its answer is waited for.
        match timeout(self.timeout, request.body(json.to_owned()).send()).await {
            Err(_) => Err(refused(format!("it did not answer within {} s", self.timeout.as_secs()), true)),
            Ok(Err(error)) => Err(refused(chain(&error), true)),
            Ok(Ok(response)) => taken(&response),
        }
    }
}

/// Whether it was taken. A redirect would take it to somebody who was not named.
fn taken(response: &Response) -> Result<(), Refused> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let words = match status.is_redirection() {
        true => format!("it answered with {}, and redirects are not followed", status.as_u16()),
        false => format!("it answered with {}", status.as_u16()),
    };
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let wait = retry_after.and_then(|text| retry::wait(text, SystemTime::now()));
    Err(Refused { words, may_pass: status.is_server_error() || retry::may_pass(status.as_u16()), wait })
}
