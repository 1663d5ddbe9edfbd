//! Lines for the log of a job. A runner of GitHub takes a line that begins with `::`, also after spaces, and one with `##[`
//! anywhere, for a command, in any line.

use super::Format;
use std::borrow::Cow;

/// Whether the log of this process is read for commands.
pub fn is_read() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// Text for the log: no line is a command where a runner looks for them.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if is_read() { without_commands(text) } else { Cow::Borrowed(text) }
}

/// An answer in a format whose meaning stays: the older form of a command is written as the format writes any character.
pub fn in_log(format: Format, text: &str) -> Cow<'_, str> {
    let other = match format {
        Format::Json | Format::Sarif | Format::Gitlab | Format::Rdjson => r"#\u0023[",
        Format::Junit => "#&#35;[",
        Format::Markdown => return harmless(text),
        Format::Text | Format::Github | Format::Outputs => return Cow::Borrowed(text),
    };
    if is_read() && text.contains("##[") {
        Cow::Owned(text.replace("##[", other))
    } else {
        Cow::Borrowed(text)
    }
}

/// Text of which no line is a command.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let begins = |line: &str| line.trim_start().starts_with("::");
    if !text.contains("##[") && !text.lines().any(begins) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = line.replace("##[", "## [");
        if begins(&line) { format!("| {}", line.trim_start()) } else { line }
    });
    Cow::Owned(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_text_is_a_command() {
        let table = [
            ("a\nb\n", "a\nb\n"),
            ("  ::error::x\n", "| ::error::x\n"),
            ("a\n\u{a0}::stop-commands::x", "a\n| ::stop-commands::x"),
            ("see ##[add-mask]a ##[error]", "see ## [add-mask]a ## [error]"),
            ("a ::b", "a ::b"),
        ];
        for (text, expected) in table {
            assert_eq!(without_commands(text), expected);
        }
    }
}
