//! Times: UTC RFC 3339 for programs, local times and "3 min ago" for people.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use std::time::SystemTime;

pub fn rfc3339(ms: i64) -> Option<String> {
    Timestamp::from_millisecond(ms).ok().map(|time| time.to_string())
}

pub fn local(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).map(|time| time.to_zoned(TimeZone::system()));
    time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()).unwrap_or_default()
}

pub fn local_date(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).map(|time| time.to_zoned(TimeZone::system()));
    time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// A point in time that a person typed: a length such as `2h` or `3 days` back from now, or a local date with or without
/// a time.
pub fn since(typed: &str) -> Result<i64, String> {
    let now = Zoned::now();
    if let Ok(span) = typed.parse::<Span>() {
        let back = now.checked_sub(span.abs()).map_err(|error| error.to_string())?;
        return Ok(back.timestamp().as_millisecond());
    }
    let local = |time: DateTime| time.to_zoned(TimeZone::system()).map(|time| time.timestamp());
    let time = typed.parse::<Timestamp>().or_else(|_| typed.parse::<DateTime>().and_then(local));
    time.map(Timestamp::as_millisecond)
        .map_err(|_| "expected a length such as 2h or 3d, or a date such as 2026-11-16".to_owned())
}

/// How long it is from one local time without a zone to another: `3:05`, `1:02:03`.
pub fn between(from: &str, to: &str) -> Option<String> {
    let (from, to) = (from.parse::<DateTime>().ok()?, to.parse::<DateTime>().ok()?);
    let seconds = from.duration_until(to).as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        _ if from > to => None,
        0 => Some(format!("{minutes}:{seconds:02}")),
        _ => Some(format!("{hours}:{minutes:02}:{seconds:02}")),
    }
}

pub fn ago(ms: i64) -> String {
    let seconds = (Timestamp::now().as_millisecond() - ms).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_19_a_time_without_a_zone_is_so_long_ago() {
        for (from, long) in [
            ("2026-02-23T10:15:00", Some("0:07")),
            ("2026-02-23T10:12:02", Some("3:05")),
            ("2026-02-22T09:00:00", Some("25:15:07")),
            ("2026-02-23T10:15:08", None),
            ("yesterday", None),
        ] {
            assert_eq!(between(from, "2026-02-23T10:15:07").as_deref(), long, "{from}");
        }
    }

    #[test]
    fn issue_16_3_a_point_in_time_is_a_length_or_a_date() {
        let now = Timestamp::now().as_millisecond();
        let hours = now - since("2h").unwrap();
        assert!((7_200_000..7_260_000).contains(&hours), "{hours}");
        assert_eq!(since("1970-01-01T00:00:01Z").unwrap(), 1000);
        for typed in ["3d", "90 minutes", "1 week", "2026-11-16", "2026-11-16T10:00"] {
            assert!(since(typed).is_ok(), "{typed}");
        }
        for typed in ["", "yesterday", "16.11.2026", "7"] {
            assert!(since(typed).unwrap_err().contains("2026-11-16"), "{typed}");
        }
    }
}
