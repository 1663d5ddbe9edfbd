//! Whether a failed HTTP request is sent again, and when.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// How often something is tried, and what is waited in between.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    tries: u32,
    /// The first wait where the server names none; each further one is longer by the factor.
    first_wait: Duration,
    factor: u32,
    /// A server that asks for a longer wait is given up.
    wait_max: Duration,
}

/// The longest wait that a server may ask for.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// Questions to services and to agent programs, and messages to webhooks.
pub const HTTP: Policy =
    Policy { tries: 3, first_wait: Duration::from_millis(500), factor: 4, wait_max: WAIT_MAX };

#[derive(Debug)]
pub struct Failed<E> {
    pub why: E,
    /// Whether it may go better a moment later.
    pub may_pass: bool,
    pub asked_for: Option<Duration>,
}

impl<E> Failed<E> {
    /// A try after which no other makes sense.
    pub fn for_good(why: E) -> Self {
        Self { why, may_pass: false, asked_for: None }
    }
}

/// The last try, after which there is no other.
pub struct GivenUp<E> {
    pub last: Failed<E>,
    pub tries: u32,
    /// The wait that the server asks for, where that is the reason.
    pub left_alone: Option<Duration>,
}

/// What to do after a try that failed and may go better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    After(Duration),
    GiveUp,
    /// The server asks for a wait that is too long.
    LeftAlone(Duration),
}

/// Whether a refusal with this status can go better a moment later.
pub fn may_pass(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 529)
}

impl Policy {
    /// Tries until it goes well, or another try makes no sense before the deadline. `seed` spreads waits that began together.
    pub async fn run<T, E, Try: Future<Output = Result<T, Failed<E>>>>(
        &self,
        deadline: Instant,
        seed: &str,
        mut once: impl FnMut() -> Try,
    ) -> Result<T, GivenUp<E>> {
        let mut tries = 0;
        loop {
            let last = match once().await {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            tries += 1;
            let left = deadline.saturating_duration_since(Instant::now());
            let left_alone = match self.next(tries, last.asked_for, left, seed) {
                Next::After(wait) if last.may_pass => {
                    sleep(wait).await;
                    continue;
                }
                Next::LeftAlone(wait) if last.may_pass => Some(wait),
                _ => None,
            };
            return Err(GivenUp { last, tries, left_alone });
        }
    }

    /// What to do after `tries` tries, with so much time left; `asked_for` is what the service wants.
    fn next(&self, tries: u32, asked_for: Option<Duration>, left: Duration, seed: &str) -> Next {
        if let Some(wait) = asked_for.filter(|wait| *wait > self.wait_max.min(left)) {
            return Next::LeftAlone(wait);
        }
        if tries >= self.tries {
            return Next::GiveUp;
        }
        let own = || jittered(self.first_wait * self.factor.pow(tries.saturating_sub(1)), seed);
        let wait = asked_for.unwrap_or_else(own);
        if wait < left { Next::After(wait) } else { Next::GiveUp }
    }
}

/// Between three quarters and five quarters of a wait.
fn jittered(wait: Duration, seed: &str) -> Duration {
    let hash =
        seed.bytes().fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    wait * (75 + hash % 51) / 100
}

pub fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    wait(headers.get(RETRY_AFTER)?.to_str().ok()?, SystemTime::now())
}

/// What a `Retry-After` says: seconds, or a date.
fn wait(retry_after: &str, now: SystemTime) -> Option<Duration> {
    let text = retry_after.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn what_may_pass_and_what_never_does() {
        for status in [429, 500, 502, 503, 529] {
            assert!(may_pass(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 422, 501, 504] {
            assert!(!may_pass(status), "{status}");
        }
    }

    #[test]
    fn the_service_is_waited_for_within_reason() {
        let seconds = Duration::from_secs;
        let table = [
            // tries, asked for, left, next
            (1, Some(0), 60, Next::After(Duration::ZERO)),
            (1, Some(5), 60, Next::After(seconds(5))),
            (2, Some(60), 61, Next::After(MINUTE)),
            (3, Some(5), 60, Next::GiveUp),
            (1, Some(61), 600, Next::LeftAlone(seconds(61))),
            (3, Some(3600), 600, Next::LeftAlone(seconds(3600))),
            (1, Some(5), 4, Next::LeftAlone(seconds(5))),
            (1, Some(5), 5, Next::GiveUp),
            (3, None, 600, Next::GiveUp),
            (1, None, 0, Next::GiveUp),
        ];
        for (tries, asked_for, left, expected) in table {
            let next = HTTP.next(tries, asked_for.map(seconds), seconds(left), "ca-1");
            assert_eq!(next, expected, "{tries} {asked_for:?} {left}");
        }
    }

    #[test]
    fn waits_of_our_own_grow_and_differ_from_question_to_question() {
        let wait = |tries, seed: &str| match HTTP.next(tries, None, MINUTE, seed) {
            Next::After(wait) => wait.as_millis(),
            other => panic!("{other:?}"),
        };
        for seed in ["ca-1", "ca-2", "ca-3", ""] {
            assert!((375..=625).contains(&wait(1, seed)), "{}", wait(1, seed));
            assert!((1500..=2500).contains(&wait(2, seed)), "{}", wait(2, seed));
            assert_eq!(wait(1, seed), wait(1, seed));
        }
        assert_ne!(wait(1, "ca-1"), wait(1, "ca-2"));
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let table = [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("99999999999999999999", Some(u64::MAX)),
            ("+7", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("Tue, 29 Feb 2000 00:00:00 GMT", Some(951_782_400 - 784_111_777)),
            ("Wed, 01 Mar 2000 00:00:00 GMT", Some(951_868_800 - 784_111_777)),
            ("Fri, 01 Jan 2027 00:00:00 GMT", Some(1_798_761_600 - 784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("", None),
            ("soon", None),
            ("-1", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994 25:49:37 GMT", None),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
        ];
        for (text, expected) in table {
            assert_eq!(wait(text, now), expected.map(Duration::from_secs), "{text:?}");
        }
    }
}
