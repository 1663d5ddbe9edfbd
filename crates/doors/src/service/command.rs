//! The review command: the prompt of a reviewer (built in, of the project or of the user), or a program.

use countersign_core::text;

pub const REVIEW_TASK: &str = "review-task";
pub const COMMANDS_FOLDER: &str = ".claude/commands";
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;

pub const REVIEW_TASK_WORDS: &str = "\
You are an independent reviewer of the work on one task. The message has what is known of the task, the change that \
was made for it, and what tests and lint say, each under its heading.

Look at the whole change and judge:

- whether it does what the task asks for, and everything its acceptance criteria name;
- whether it is correct: edge cases, errors, races, security;
- whether the tests that should be there are there, and pass;
- whether it does things nobody asked for.

Write down what you found, each with its place and what would mend it. Then conclude, in words that cannot be \
misunderstood, with one of these: you approve the work as it is; it needs revision, and what has to change; or it is \
rejected, because a person has to decide before anybody works on.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewCommand {
    Words {
        /// The name without `/`.
        name: String,
        /// The value of `$ARGUMENTS`.
        arguments: String,
    },
    Program(String),
}

impl ReviewCommand {
    /// Parses a command: `/name arguments` is a prompt, anything else a program.
    pub fn of(written: &str) -> Result<Self, String> {
        let written = written.trim();
        let Some(rest) = written.strip_prefix('/') else {
            return match written.is_empty() {
                true => Err("the review command is empty".to_owned()),
                false => Ok(Self::Program(written.to_owned())),
            };
        };
        // A path is a program.
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name.contains('/') {
            return Ok(Self::Program(written.to_owned()));
        }
        let is_name = !name.is_empty()
            && name.len() <= 100
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
            && name.split(':').all(|part| !part.is_empty());
        match is_name {
            true => Ok(Self::Words { name: name.to_owned(), arguments: arguments.trim().to_owned() }),
            false => Err(format!("`/{}` is not a valid command name", text::visible_line(name))),
        }
    }
}

/// The file of a prompt in a folder of commands: `a:b` is `b.md` in `a`.
pub fn file_of(name: &str) -> String {
    format!("{}.md", name.replace(':', "/"))
}

/// The prompt of a template: without front matter, with the arguments in place.
pub fn expand(template: &str, arguments: &str) -> String {
    let template = template.strip_prefix('\u{feff}').unwrap_or(template);
    let body = after_front_matter(template).unwrap_or(template);
    let arguments = match arguments.trim() {
        "" => "the task and its change, as they stand in the message",
        given => given,
    };
    body.trim().replace("$ARGUMENTS", arguments)
}

fn after_front_matter(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut end = 0;
    rest.split_inclusive('\n').find(|line| {
        end += line.len();
        line.trim_end() == "---"
    })?;
    rest.get(end..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SVC-5.
    #[test]
    fn svc_5_a_command_is_words_or_a_program() {
        let words = |name: &str, arguments: &str| {
            Ok(ReviewCommand::Words { name: name.to_owned(), arguments: arguments.to_owned() })
        };
        let program = |text: &str| Ok(ReviewCommand::Program(text.to_owned()));
        let table = [
            ("/review-task", words("review-task", "")),
            (" /mine  be strict ", words("mine", "be strict")),
            ("/team:mine", words("team:mine", "")),
            ("./judge.sh --fast", program("./judge.sh --fast")),
            ("/usr/bin/judge -x", program("/usr/bin/judge -x")),
            ("judge", program("judge")),
        ];
        for (written, expected) in table {
            assert_eq!(ReviewCommand::of(written), expected, "{written}");
        }
        for bad in ["", " ", "/", "/..", "/a.b", "/a::b", "/\u{202e}x"] {
            assert!(ReviewCommand::of(bad).is_err(), "{bad}");
        }
        assert_eq!(file_of("team:mine"), "team/mine.md");
    }

    #[test]
    fn arguments_stand_in_their_places_and_what_is_about_a_command_is_left_out() {
        let template = "---\ndescription: x\n---\n\nReview $ARGUMENTS. Again: $ARGUMENTS\n";
        assert_eq!(expand(template, "a b"), "Review a b. Again: a b");
        assert!(expand(template, "").starts_with("Review the task and its change"));
        assert_eq!(expand("---\nnever closed", ""), "---\nnever closed");
        assert_eq!(expand("no arguments", "x"), "no arguments");
    }
}
