//! The connections: one set for the whole process, so that requests share them.

use super::Place;
use reqwest::header::HeaderValue;
use reqwest::{Client, redirect, retry};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// The connections to a place. A proxy of the environment is used for everything but this machine.
pub fn client(place: &Place) -> Result<&'static Client, String> {
    static CLIENTS: [OnceLock<Result<Client, String>>; 4] = [const { OnceLock::new() }; 4];
    let which = usize::from(place.is_local) + 2 * usize::from(place.is_plain);
    CLIENTS[which].get_or_init(|| make(place)).as_ref().map_err(Clone::clone)
}

fn make(place: &Place) -> Result<Client, String> {
    // Somebody else in this process may have chosen already; that is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect would take the key and the work to somebody who was not named.
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false);
    let builder = if place.is_local { builder.no_proxy() } else { builder };
    // Certificates are of no use where nothing is encrypted, and the system has many files of them. To other
    // machines there may be a proxy that is reached by an encrypted address.
    let trusts_nobody = place.is_plain && place.is_local;
    let builder = if trusts_nobody { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| chain(&error))
}

/// A header that logs do not show; none where the text cannot be sent.
pub fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// An error with its causes, without addresses: those are said once, by whoever words it.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = vec![];
    let mut next = Some(error);
    while let Some(error) = next {
        words.push(error.to_string());
        next = error.source();
    }
    // The outer ones repeat that there was an error; the innermost says which.
    words.pop().unwrap_or_default()
}
