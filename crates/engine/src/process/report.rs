//! The report of a guard: how its program ended, as one line on the socket.

use super::How;

impl How {
    /// The line of this end. [`How::GuardLost`] says that the lifeline was cut: the process that cut it knows why.
    pub(super) fn report(&self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::NotStarted { reason } => format!("not-started {}\n", reason.replace('\n', " ")),
            _ => "cut\n".to_owned(),
        }
    }

    /// Parses a line; an incomplete line is no report.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\n')?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "exited" => rest.parse().ok().map(Self::Exited),
            "signalled" => rest.parse().ok().map(Self::Signalled),
            "not-started" => Some(Self::NotStarted { reason: rest.to_owned() }),
            "cut" => Some(Self::GuardLost),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_back_as_they_were_said_and_halves_do_not() {
        let reports = [
            How::Exited(0),
            How::Exited(-1),
            How::Signalled(9),
            How::NotStarted { reason: "no such file".into() },
            How::GuardLost,
        ];
        for report in reports {
            assert_eq!(How::parse(&report.report()), Some(report));
        }
        for line in ["", "exited 0", "exited\n", "exited x\n", "done 0\n"] {
            assert_eq!(How::parse(line), None, "{line:?}");
        }
    }
}
