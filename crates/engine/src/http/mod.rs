//! HTTP to services and webhooks: addresses, connections, and when to try again.

pub(crate) mod retry;

use reqwest::header::HeaderValue;
use reqwest::{Client, redirect};
use std::sync::OnceLock;
use std::time::Duration;
use url::{Host, Url};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceHost {
    /// Its name in a sentence: host and port.
    pub host: String,
    pub is_local: bool,
    /// Whether what is sent there is not encrypted.
    pub is_plain: bool,
}

impl ServiceHost {
    pub fn of(base_url: &str) -> Option<Self> {
        let url = Url::parse(base_url).ok()?;
        let is_local = match url.host()? {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}", url.host_str()?);
        Some(Self { host, is_local, is_plain: url.scheme() != "https" })
    }

    /// Whether what is sent there can be read on the way.
    pub fn is_open(&self) -> bool {
        self.is_plain && !self.is_local
    }
}

/// The connections to a place. A proxy of the environment is used for everything but this machine.
pub fn client(place: &ServiceHost) -> Result<&'static Client, String> {
    static CLIENTS: [OnceLock<Result<Client, String>>; 4] = [const { OnceLock::new() }; 4];
    let which = usize::from(place.is_local) + 2 * usize::from(place.is_plain);
    CLIENTS[which].get_or_init(|| make(place)).as_ref().map_err(Clone::clone)
}

fn make(place: &ServiceHost) -> Result<Client, String> {
    // Another part of this process may have installed one already; that one works too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect would send the key and the work to a host that was not configured.
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_near_or_far_and_open_or_not() {
        let table = [
            // address, name, near, open
            ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", true, false),
            ("http://127.9.9.9/v1", "127.9.9.9", true, false),
            ("http://localhost:11434/v1", "localhost:11434", true, false),
            ("http://LOCALHOST/v1", "localhost", true, false),
            ("http://x.localhost/v1", "x.localhost", true, false),
            ("http://[::1]:1/v1", "[::1]:1", true, false),
            ("https://api.openai.com/v1", "api.openai.com", false, false),
            ("http://api.openai.com/v1", "api.openai.com", false, true),
            ("http://192.168.1.7:8000/v1", "192.168.1.7:8000", false, true),
            ("http://localhost.example.com/v1", "localhost.example.com", false, true),
            ("http://127.0.0.1.example.com/v1", "127.0.0.1.example.com", false, true),
        ];
        for (address, host, is_local, is_open) in table {
            let place = ServiceHost::of(address).unwrap();
            assert_eq!((place.host.as_str(), place.is_local, place.is_open()), (host, is_local, is_open));
            assert_eq!(place.is_plain, address.starts_with("http:"), "{address}");
        }
        assert_eq!(ServiceHost::of("nowhere"), None);
    }
}
