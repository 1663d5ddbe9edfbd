//! Times: UTC RFC 3339 for programs, "3 min ago" for people.

use jiff::Timestamp;

/// UTC, RFC 3339.
pub fn rfc3339(ms: i64) -> Option<String> {
    Timestamp::from_millisecond(ms).ok().map(|time| time.to_string())
}

/// How long ago, in one unit.
pub fn ago(ms: i64) -> String {
    let seconds = (Timestamp::now().as_millisecond() - ms).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
