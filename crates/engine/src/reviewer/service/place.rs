//! Where a service is, and how messages speak of it. Pure.

use crate::programs::{Kind, Problem};
use url::{Host, Url};

/// Where a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name in a sentence: host and port.
    pub host: String,
    /// Whether it is on this machine.
    pub is_local: bool,
    /// Whether what is sent there is not encrypted.
    pub is_plain: bool,
}

impl Place {
    /// The place at an address.
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

    /// What happened and what to do, in words.
    pub fn words(&self, problem: &Problem, has_key: bool) -> String {
        let it = format!("the service at {}", self.host);
        let words = match problem.kind {
            Kind::NotSignedIn if has_key => {
                format!("{it} does not take the key: look at the variable or the file that holds it")
            }
            Kind::NotSignedIn => format!("{it} wants a key: name the variable that holds it in `key_env`"),
            Kind::RateLimited => {
                format!("the account at {} is at its limit: hand it in again later", self.host)
            }
            Kind::Overloaded => format!("{it} is overloaded: hand it in again in a while"),
            Kind::ServerError => format!("{it} failed: hand it in again in a while"),
            Kind::NotStarted | Kind::NotInstalled if self.is_local => {
                format!("{it} cannot be reached: is it running?")
            }
            Kind::NotStarted | Kind::NotInstalled => {
                format!("{it} cannot be reached: look at `base_url`, network and proxy")
            }
            Kind::Connection => format!("{it} gave no whole reply: look at `base_url`, network and proxy"),
            Kind::Rejected => format!("{it} did not take the question: look at `base_url` and `model`"),
            Kind::Refused => "the model declined to judge this: ask another reviewer, or a person".to_owned(),
            Kind::QuestionTooLong => {
                format!("the question is too long for {it}: hand in fewer or smaller files")
            }
            Kind::ReplyTooLong => {
                format!(
                    "the reply of {it} was too long: ask less at once, or raise `reply_tokens` or `reply_bytes`"
                )
            }
            Kind::TimedOut => {
                format!("{it} took too long: raise `timeout_seconds`, or hand in fewer files")
            }
            Kind::Cancelled => format!("the question to {it} was cancelled"),
            Kind::Garbled => "the reply is not in the form that was asked for".to_owned(),
            Kind::TurnsUsedUp | Kind::BudgetUsedUp | Kind::Crashed => format!("{it} broke off"),
        };
        if problem.quoted.is_empty() { words } else { format!("{words} ({})", problem.quoted) }
    }
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
            let place = Place::of(address).unwrap();
            assert_eq!((place.host.as_str(), place.is_local, place.is_open()), (host, is_local, is_open));
            assert_eq!(place.is_plain, address.starts_with("http:"), "{address}");
        }
        assert_eq!(Place::of("nowhere"), None);
    }
}
