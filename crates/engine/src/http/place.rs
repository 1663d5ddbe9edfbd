//! The address of a service or webhook. Pure.

use url::{Host, Url};

/// The host at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name in a sentence: host and port.
    pub host: String,
    pub is_local: bool,
    /// Whether what is sent there is not encrypted.
    pub is_plain: bool,
}

impl Place {
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
