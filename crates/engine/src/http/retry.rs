//! Whether somebody is asked again who turned us away, and when. Pure: time is an argument.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a question is sent at most.
const TRIES: u32 = 3;
/// The first wait where the service names none; each further one is longer by the factor.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const FACTOR: u32 = 4;
/// Whoever wants to be left alone for longer is not waited for.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What to do after a try that failed and may go better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask again after this.
    After(Duration),
    /// Enough.
    GiveUp,
    /// The service wants to be left alone for longer than anybody waits.
    LeftAlone(Duration),
}

/// Whether a refusal with this status can go better a moment later.
pub fn may_pass(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 529)
}

/// What to do after `tries` tries, with so much time left; `asked_for` is what the service wants, `seed` makes
/// the waits of questions that failed together differ.
pub fn next(tries: u32, asked_for: Option<Duration>, left: Duration, seed: &str) -> Next {
    if let Some(wait) = asked_for.filter(|wait| *wait > WAIT_MAX.min(left)) {
        return Next::LeftAlone(wait);
    }
    if tries >= TRIES {
        return Next::GiveUp;
    }
    let wait = asked_for.unwrap_or_else(|| jittered(FIRST_WAIT * FACTOR.pow(tries.saturating_sub(1)), seed));
    if wait < left { Next::After(wait) } else { Next::GiveUp }
}

/// Between three quarters and five quarters of a wait.
fn jittered(wait: Duration, seed: &str) -> Duration {
    let hash =
        seed.bytes().fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    wait * (75 + hash % 51) / 100
}

/// What a `Retry-After` says: seconds, or a date.
pub fn wait(retry_after: &str, now: SystemTime) -> Option<Duration> {
    let text = retry_after.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = UNIX_EPOCH + Duration::from_secs(unix_seconds(text)?);
    Some(date.duration_since(now).unwrap_or_default())
}

/// A date such as `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since 1970.
fn unix_seconds(date: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = date.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let number = |text: &str| text.parse::<u64>().ok();
    let (day, year) = (number(day).filter(|day| (1..=31).contains(day))?, number(year)?);
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let clock: Vec<u64> = time.split(':').map(number).collect::<Option<_>>()?;
    let [hours @ 0..24, minutes @ 0..60, seconds @ 0..=60] = clock[..] else { return None };
    if !(1970..10_000).contains(&year) {
        return None;
    }
    // Counted from March, so that the day a leap year adds is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let since_1970 = days.checked_sub(719_468)?;
    Some(since_1970 * 86_400 + hours * 3_600 + minutes * 60 + seconds)
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
            let next = next(tries, asked_for.map(seconds), seconds(left), "ca-1");
            assert_eq!(next, expected, "{tries} {asked_for:?} {left}");
        }
    }

    #[test]
    fn waits_of_our_own_grow_and_differ_from_question_to_question() {
        let wait = |tries, seed: &str| match next(tries, None, MINUTE, seed) {
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
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
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
        assert_eq!(unix_seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    }
}
