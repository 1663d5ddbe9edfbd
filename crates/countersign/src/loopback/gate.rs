//! Admits a request by its headers: `Host` and `Origin` must be this server, then the token must match.

use super::{PersonToken, Token};
use axum::http::Uri;
use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};

const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

pub fn hosts(port: u16) -> [String; 3] {
    NAMES.map(|name| format!("{name}:{port}"))
}

/// The allowed values of `Origin`, where a request has one.
pub fn origins(port: u16) -> [String; 3] {
    NAMES.map(|name| format!("http://{name}:{port}"))
}

pub struct Gate {
    hosts: [String; 3],
    origins: [String; 3],
    token: Option<Token>,
    person: Option<PersonToken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no `Host`, or more than one.
    NoHost,
    /// `Host`, `Origin` or the target is not this server.
    Foreign,
    NoToken,
}

impl Gate {
    /// A gate for a port; without a token it admits every process of this machine.
    pub fn new(port: u16, token: Option<Token>) -> Self {
        Self { hosts: hosts(port), origins: origins(port), token, person: None }
    }

    /// The same with a token that stands for a person.
    pub fn with_person(self, person: Option<PersonToken>) -> Self {
        Self { person, ..self }
    }

    /// The token of a person, if the request has it.
    pub fn person(&self, headers: &HeaderMap) -> Option<&PersonToken> {
        self.person.as_ref().filter(|person| person.admits(given(headers)))
    }

    /// Whether a request is admitted. `open` skips the token.
    pub fn admits(&self, target: &Uri, headers: &HeaderMap, open: bool) -> Result<(), Refused> {
        let host = only(headers, HOST)
            .and_then(|host| host.filter(|host| !host.is_empty()).ok_or(Refused::NoHost))?;
        if !self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)) {
            return Err(Refused::Foreign);
        }
        // A target in absolute form names a host too, which must be the same.
        if target.authority().is_some_and(|named| !named.as_str().eq_ignore_ascii_case(host)) {
            return Err(Refused::Foreign);
        }
        if let Some(origin) = only(headers, ORIGIN).map_err(|_| Refused::Foreign)?
            && !self.origins.iter().any(|own| own == origin)
        {
            return Err(Refused::Foreign);
        }
        match &self.token {
            Some(token) if !open && !token.admits(given(headers)) && self.person(headers).is_none() => {
                Err(Refused::NoToken)
            }
            _ => Ok(()),
        }
    }
}

fn given(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(AUTHORIZATION).map(|value| value.as_bytes())
}

/// The value of a header that may occur once.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Refused> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Refused::NoHost),
        _ => Err(Refused::NoHost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::HeaderValue;

    type Headers = &'static [(&'static str, &'static str)];

    #[test]
    fn only_who_names_us_is_let_in() {
        let gate = Gate::new(80, None);
        let table: [(Headers, Result<(), Refused>); 11] = [
            (&[("host", "127.0.0.1:80")], Ok(())),
            (&[("host", "LOCALHOST:80")], Ok(())),
            (&[("host", "[::1]:80"), ("origin", "http://localhost:80")], Ok(())),
            (&[], Err(Refused::NoHost)),
            (&[("host", "")], Err(Refused::NoHost)),
            (&[("host", "127.0.0.1:80"), ("host", "127.0.0.1:80")], Err(Refused::NoHost)),
            (&[("host", "127.0.0.1")], Err(Refused::Foreign)),
            (&[("host", "evil.example:80")], Err(Refused::Foreign)),
            (&[("host", "127.0.0.1:80"), ("origin", "null")], Err(Refused::Foreign)),
            (&[("host", "127.0.0.1:80"), ("origin", "https://127.0.0.1:80")], Err(Refused::Foreign)),
            (&[("host", "127.0.0.1:80"), ("origin", "http://evil.example:80")], Err(Refused::Foreign)),
        ];
        for (given, expected) in table {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(gate.admits(&Uri::from_static("/v1/status"), &headers, false), expected, "{given:?}");
        }
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost:80"))]);
        for (target, expected) in [
            ("http://localhost:80/", Ok(())),
            ("http://LOCALHOST:80/", Ok(())),
            ("http://127.0.0.1:80/", Err(Refused::Foreign)),
            ("http://evil.example/", Err(Refused::Foreign)),
            ("http://evil@localhost:80/", Err(Refused::Foreign)),
            ("evil.example:80", Err(Refused::Foreign)),
        ] {
            assert_eq!(gate.admits(&Uri::from_static(target), &headers, false), expected, "{target}");
        }
    }
}
