//! What the guard says at the end, as one line on the socket.

use super::How;

/// How the program ended, as the guard saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Exited(i32),
    Signalled(i32),
    NotStarted(String),
    /// The lifeline was cut; the one who cut it knows why.
    Cut,
}

impl Report {
    pub(super) fn line(&self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::NotStarted(reason) => format!("not-started {}\n", reason.replace('\n', " ")),
            Self::Cut => "cut\n".to_owned(),
        }
    }

    /// Reads a line; a line that is not whole is no report.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\n')?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "exited" => rest.parse().ok().map(Self::Exited),
            "signalled" => rest.parse().ok().map(Self::Signalled),
            "not-started" => Some(Self::NotStarted(rest.to_owned())),
            "cut" => Some(Self::Cut),
            _ => None,
        }
    }
}

impl From<Option<Report>> for How {
    fn from(report: Option<Report>) -> Self {
        match report {
            Some(Report::Exited(code)) => Self::Exited(code),
            Some(Report::Signalled(signal)) => Self::Signalled(signal),
            Some(Report::NotStarted(reason)) => Self::NotStarted { reason },
            // Nobody here cut the line, so whatever did was not an orderly end.
            Some(Report::Cut) | None => Self::GuardLost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_back_as_they_were_said_and_halves_do_not() {
        let reports = [
            Report::Exited(0),
            Report::Exited(-1),
            Report::Signalled(9),
            Report::NotStarted("no such file".into()),
            Report::Cut,
        ];
        for report in reports {
            assert_eq!(Report::parse(&report.line()), Some(report));
        }
        for line in ["", "exited 0", "exited\n", "exited x\n", "done 0\n"] {
            assert_eq!(Report::parse(line), None, "{line:?}");
        }
        assert_eq!(How::from(None), How::GuardLost);
    }
}
