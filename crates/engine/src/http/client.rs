//! HTTP connections: one set for the whole process, shared by all requests.

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
    // Another part of this process may have installed one already; that is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect would send the key and the work to a host that was not configured.
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false);
    let builder = if place.is_local { builder.no_proxy() } else { builder };
    // Without encryption no certificates are loaded; to other machines there may be a proxy with an encrypted address.
    let needs_certificates = !(place.is_plain && place.is_local);
    let builder = if needs_certificates { builder } else { builder.tls_certs_only([]) };
    builder.build().map_err(|error| chain(&error))
}

/// A header that logs do not show; none where the text cannot be sent.
pub fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The innermost cause of an error: the outer ones only repeat that there was one, with the address.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().unwrap_or(error).to_string()
}
