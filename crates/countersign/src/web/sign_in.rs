//! Signing in: a link that is good once and for two minutes becomes a session of twelve hours.
//!
//! Cookies ignore ports: a server on another port of 127.0.0.1 would receive the cookie of the page. So the page has a random
//! name below `.localhost`, which leads to this machine in every browser, and cookies of that name go nowhere else.

use axum::http::header::{COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use countersign_app::Failure;
use countersign_engine::fresh;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a link is good.
const LINK_TIME: Duration = Duration::from_secs(120);
/// How long a session is good.
const SESSION_TIME: Duration = Duration::from_secs(12 * 60 * 60);
/// How many sessions there are at once; the oldest ends when there are more.
const SESSIONS_MAX: usize = 16;
const NAME_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;
pub const COOKIE_NAME: &str = "countersign";

pub struct SignIn {
    /// The name and port of the page, as `Host` has it.
    host: String,
    secrets: Mutex<Secrets>,
}

#[derive(Default)]
struct Secrets {
    link: Option<(String, Instant)>,
    /// The oldest first.
    sessions: Vec<Known>,
}

#[derive(Clone)]
struct Known {
    cookie: String,
    form: String,
    until: Instant,
}

/// A session of a request: the token that its forms must have.
#[derive(Clone)]
pub struct Session {
    pub form: String,
}

impl SignIn {
    pub fn new(port: u16) -> Result<Self, Failure> {
        let host = format!("cs-{}.localhost:{port}", secret::<NAME_BYTES>()?);
        Ok(Self { host, secrets: Mutex::default() })
    }

    fn secrets(&self) -> MutexGuard<'_, Secrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new link. The one before is no longer good.
    pub fn new_link(&self) -> Result<String, Failure> {
        let code = secret::<SECRET_BYTES>()?;
        let link = format!("http://{}/open?code={code}", self.host);
        self.secrets().link = Some((code, Instant::now() + LINK_TIME));
        Ok(link)
    }

    /// Whether a request is for the page, by its only `Host`.
    pub fn is_host(&self, headers: &HeaderMap) -> bool {
        only(headers, HOST).is_some_and(|host| host.eq_ignore_ascii_case(&self.host))
    }

    /// Whether a form was sent by the page itself.
    pub fn is_own_form(&self, headers: &HeaderMap) -> bool {
        let origin = only(headers, ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        let site = HeaderName::from_static("sec-fetch-site");
        let same = !headers.contains_key(&site) || only(headers, site) == Some("same-origin");
        same && origin == Some(self.host.as_str())
    }

    /// Whether the link with this code is good now, without using it up.
    pub fn is_good(&self, code: &str) -> bool {
        let secrets = self.secrets();
        secrets.link.as_ref().is_some_and(|(known, until)| is_same(known, code) && Instant::now() < *until)
    }

    /// Uses up the link with this code; returns the cookie of a new session.
    pub fn begin(&self, code: &str) -> Result<Option<String>, Failure> {
        let known = Known {
            cookie: secret::<SECRET_BYTES>()?,
            form: secret::<SECRET_BYTES>()?,
            until: Instant::now() + SESSION_TIME,
        };
        let mut secrets = self.secrets();
        match secrets.link.take() {
            Some((known, until)) if is_same(&known, code) && Instant::now() < until => {}
            other => {
                // A wrong code does not use up the link of the person.
                secrets.link = other;
                return Ok(None);
            }
        }
        let too_many = (secrets.sessions.len() + 1).saturating_sub(SESSIONS_MAX);
        secrets.sessions.drain(..too_many);
        let cookie = known.cookie.clone();
        secrets.sessions.push(known);
        Ok(Some(format!(
            "{COOKIE_NAME}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}",
            SESSION_TIME.as_secs()
        )))
    }

    /// The session of a request.
    pub fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let mut cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let named = cookies
            .by_ref()
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='));
        let given: Vec<&str> = named.collect();
        let mut secrets = self.secrets();
        let now = Instant::now();
        secrets.sessions.retain(|known| now < known.until);
        let known =
            secrets.sessions.iter().find(|known| given.iter().any(|given| is_same(&known.cookie, given)))?;
        Some(Session { form: known.form.clone() })
    }
}

impl Session {
    pub fn has_sent(&self, token: &str) -> bool {
        is_same(&self.form, token)
    }
}

fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Compares in constant time.
fn is_same(known: &str, given: &str) -> bool {
    let difference =
        known.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| std::hint::black_box(sum | (a ^ b)));
    known.len() == given.len() && difference == 0
}

fn secret<const BYTES: usize>() -> Result<String, Failure> {
    let random = fresh::random::<BYTES>().map_err(|error| Failure::internal(error.to_string()))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn code(link: &str) -> &str {
        link.split("code=").nth(1).unwrap()
    }

    #[test]
    fn issue_21_1_a_link_is_good_once() {
        let sign_in = SignIn::new(80).unwrap();
        let (old, link) = (sign_in.new_link().unwrap(), sign_in.new_link().unwrap());
        assert!(!sign_in.is_good(code(&old)) && sign_in.is_good(code(&link)));
        assert!(sign_in.begin(code(&old)).unwrap().is_none());
        assert!(sign_in.begin("").unwrap().is_none());
        let cookie = sign_in.begin(code(&link)).unwrap().unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        assert!(sign_in.begin(code(&link)).unwrap().is_none());
        let cookie = cookie.split(';').next().unwrap();
        let session = sign_in.session(&headers(&[("cookie", &format!("a=b; {cookie}"))])).unwrap();
        assert!(session.has_sent(&session.form) && !session.has_sent(""));
        for wrong in ["", "countersign=", "countersign=ab", "a=b"] {
            assert!(sign_in.session(&headers(&[("cookie", wrong)])).is_none(), "{wrong}");
        }
    }

    #[test]
    fn issue_21_1_a_form_is_that_of_the_page() {
        let sign_in = SignIn::new(80).unwrap();
        let own = format!("http://{}", sign_in.host);
        assert!(sign_in.is_own_form(&headers(&[("origin", &own)])));
        assert!(sign_in.is_own_form(&headers(&[("origin", &own), ("sec-fetch-site", "same-origin")])));
        for wrong in [
            headers(&[]),
            headers(&[("origin", "null")]),
            headers(&[("origin", "http://127.0.0.1:80")]),
            headers(&[("origin", &own), ("origin", &own)]),
            headers(&[("origin", &own), ("sec-fetch-site", "same-site")]),
            headers(&[("origin", &own), ("sec-fetch-site", "cross-site")]),
        ] {
            assert!(!sign_in.is_own_form(&wrong), "{wrong:?}");
        }
        assert!(sign_in.is_host(&headers(&[("host", &sign_in.host)])));
        assert!(!sign_in.is_host(&headers(&[("host", "127.0.0.1:80")])));
        assert!(!sign_in.is_host(&headers(&[("host", &sign_in.host), ("host", "127.0.0.1:80")])));
    }

    #[test]
    fn issue_21_1_the_oldest_of_many_sessions_ends() {
        let sign_in = SignIn::new(80).unwrap();
        let mut cookies = vec![];
        for _ in 0..=SESSIONS_MAX {
            let link = sign_in.new_link().unwrap();
            cookies.push(sign_in.begin(code(&link)).unwrap().unwrap());
        }
        let is_known = |cookie: &str| sign_in.session(&headers(&[("cookie", cookie)])).is_some();
        assert!(!is_known(&cookies[0]) && cookies[1..].iter().all(|cookie| is_known(cookie)));
    }
}
