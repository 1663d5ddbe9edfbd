//! Which notifications are sent by which way: the switches of people, the event, and the time of day.

use std::fmt;

/// What a notification is about: people switch each kind on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    ReviewFailed,
    /// A review waits for a decision.
    PersonNeeded,
    /// A review came to no verdict: a reviewer was not there, or could not be understood.
    NoVerdict,
    TaskComplete,
}

impl About {
    pub fn word(self) -> &'static str {
        match self {
            Self::ReviewFailed => "review_failed",
            Self::PersonNeeded => "person_needed",
            Self::NoVerdict => "no_verdict",
            Self::TaskComplete => "task_complete",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Desktop,
    Bell,
    Sound,
    /// A service, over HTTP.
    Webhook,
    /// A program of the user's.
    Command,
}

impl Way {
    /// All of them, in the order in which they are named.
    pub const ALL: [Self; 5] = [Self::Desktop, Self::Bell, Self::Sound, Self::Webhook, Self::Command];

    pub fn word(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Bell => "bell",
            Self::Sound => "sound",
            Self::Webhook => "webhook",
            Self::Command => "command",
        }
    }

    /// Whether quiet hours silence it. A webhook and a command are for machines, which are never disturbed.
    pub fn disturbs(self) -> bool {
        matches!(self, Self::Desktop | Self::Bell | Self::Sound)
    }
}

const SOUND_NAME_BYTES: usize = 64;

/// Whether this can be the name of a sound: a name and no path, and nothing a player takes for an option.
pub fn is_sound_name(name: &str) -> bool {
    let sign = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    let begins = name.chars().next().is_some_and(char::is_alphanumeric);
    begins && name.len() <= SOUND_NAME_BYTES && name.chars().all(sign)
}

/// A time of the day, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    pub const MIDNIGHT: Self = Self(0);

    pub fn at(hour: u16, minute: u16) -> Option<Self> {
        (hour < 24 && minute < 60).then_some(Self(hour * 60 + minute))
    }

    /// A time as people write it, `22:00` or `7:30`.
    pub fn parse(text: &str) -> Option<Self> {
        let (hour, minute) = text.split_once(':')?;
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !matches!(hour.len(), 1 | 2) || minute.len() != 2 || !digits(hour) || !digits(minute) {
            return None;
        }
        Self::at(hour.parse().ok()?, minute.parse().ok()?)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// Hours without sound, bell and desktop messages. They may go past midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    pub start: TimeOfDay,
    /// The first minute after them. The same as the first: there are no such hours.
    pub end: TimeOfDay,
}

impl QuietHours {
    pub fn hold_at(self, time: TimeOfDay) -> bool {
        match self.start <= self.end {
            true => self.start <= time && time < self.end,
            false => self.start <= time || time < self.end,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Whether any notification is sent.
    pub enabled: bool,
    pub desktop: bool,
    pub bell: bool,
    pub sound: bool,
    pub webhook: bool,
    pub command: bool,
    pub on_review_failed: bool,
    pub on_person_needed: bool,
    pub on_no_verdict: bool,
    pub on_task_complete: bool,
    pub quiet: Option<QuietHours>,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            enabled: true,
            desktop: true,
            bell: true,
            sound: false,
            webhook: false,
            command: false,
            on_review_failed: true,
            on_person_needed: true,
            on_no_verdict: true,
            on_task_complete: false,
            quiet: None,
        }
    }
}

impl Switches {
    pub fn wants(&self, about: About) -> bool {
        self.enabled
            && match about {
                About::ReviewFailed => self.on_review_failed,
                About::PersonNeeded => self.on_person_needed,
                About::NoVerdict => self.on_no_verdict,
                About::TaskComplete => self.on_task_complete,
            }
    }

    pub fn has(&self, way: Way) -> bool {
        self.enabled
            && match way {
                Way::Desktop => self.desktop,
                Way::Bell => self.bell,
                Way::Sound => self.sound,
                Way::Webhook => self.webhook,
                Way::Command => self.command,
            }
    }

    pub fn is_quiet(&self, time: TimeOfDay) -> bool {
        self.quiet.is_some_and(|hours| hours.hold_at(time))
    }

    /// By which ways people are told of this, at this local time.
    pub fn ways(&self, about: About, time: TimeOfDay) -> Vec<Way> {
        let quiet = self.is_quiet(time);
        let told = |way: &Way| self.has(*way) && !(quiet && way.disturbs());
        if self.wants(about) { Way::ALL.into_iter().filter(told).collect() } else { vec![] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> TimeOfDay {
        TimeOfDay::parse(text).unwrap()
    }

    #[test]
    fn times_are_hours_and_minutes() {
        for (text, shown) in [("22:00", "22:00"), ("7:30", "07:30"), ("00:00", "00:00"), ("23:59", "23:59")] {
            assert_eq!(time(text).to_string(), shown);
        }
        for wrong in
            ["", "22", "22:0", "22:000", "24:00", "22:60", "-1:00", "+1:00", "1 :00", "10pm", "022:00"]
        {
            assert_eq!(TimeOfDay::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_sound_has_a_name_and_neither_a_path_nor_an_option() {
        for name in ["Basso", "bell", "dialog-error", "My Sound 2", "Glöckchen", "a.b"] {
            assert!(is_sound_name(name), "{name}");
        }
        for name in
            ["", " ", "-x", "--help", "../Basso", "/etc/passwd", "a/b", ".hidden", "a\nb", "a\0", "a$b"]
        {
            assert!(!is_sound_name(name), "{name}");
        }
        assert!(!is_sound_name(&"a".repeat(65)));
    }

    /// SVC-15.
    #[test]
    fn svc_15_quiet_hours_have_a_first_minute_and_end_before_their_last_and_may_go_past_midnight() {
        let table = [
            // start, end, time, quiet
            ("22:00", "07:00", "21:59", false),
            ("22:00", "07:00", "22:00", true),
            ("22:00", "07:00", "23:59", true),
            ("22:00", "07:00", "00:00", true),
            ("22:00", "07:00", "06:59", true),
            ("22:00", "07:00", "07:00", false),
            ("22:00", "07:00", "12:00", false),
            ("12:00", "14:00", "11:59", false),
            ("12:00", "14:00", "12:00", true),
            ("12:00", "14:00", "13:59", true),
            ("12:00", "14:00", "14:00", false),
            ("12:00", "14:00", "00:00", false),
            ("22:00", "00:00", "23:59", true),
            ("22:00", "00:00", "00:00", false),
            ("00:00", "06:00", "00:00", true),
            ("00:00", "23:59", "23:59", false),
            ("08:00", "08:00", "08:00", false),
            ("08:00", "08:00", "07:59", false),
            ("00:00", "00:00", "00:00", false),
        ];
        for (start, end, at, quiet) in table {
            let hours = QuietHours { start: time(start), end: time(end) };
            assert_eq!(hours.hold_at(time(at)), quiet, "{start} to {end} at {at}");
        }
    }

    /// SVC-15.
    #[test]
    fn svc_15_who_is_told_by_which_way() {
        use About::{NoVerdict, PersonNeeded, ReviewFailed, TaskComplete};
        use Way::{Bell, Command, Desktop, Sound, Webhook};
        let night = Some(QuietHours { start: time("22:00"), end: time("07:00") });
        let default = Switches::default();
        let all = Switches { sound: true, webhook: true, command: true, ..default };
        let silent = Switches { desktop: false, bell: false, ..default };
        let table: [(Switches, About, &str, &[Way]); 14] = [
            (default, ReviewFailed, "12:00", &[Desktop, Bell]),
            (default, NoVerdict, "12:00", &[Desktop, Bell]),
            (default, PersonNeeded, "12:00", &[Desktop, Bell]),
            (Switches { on_person_needed: false, ..all }, PersonNeeded, "12:00", &[]),
            (default, TaskComplete, "12:00", &[]),
            (Switches { on_task_complete: true, ..default }, TaskComplete, "12:00", &[Desktop, Bell]),
            (Switches { on_review_failed: false, ..all }, ReviewFailed, "12:00", &[]),
            (Switches { on_no_verdict: false, ..all }, NoVerdict, "12:00", &[]),
            (all, ReviewFailed, "12:00", &[Desktop, Bell, Sound, Webhook, Command]),
            (Switches { quiet: night, ..all }, ReviewFailed, "12:00", &Way::ALL),
            (Switches { quiet: night, ..all }, ReviewFailed, "23:00", &[Webhook, Command]),
            (Switches { quiet: night, ..default }, ReviewFailed, "03:00", &[]),
            (Switches { enabled: false, ..all }, ReviewFailed, "12:00", &[]),
            (silent, ReviewFailed, "12:00", &[]),
        ];
        for (switches, about, at, ways) in table {
            assert_eq!(switches.ways(about, time(at)), ways, "{about:?} {at} {switches:?}");
        }
    }
}
