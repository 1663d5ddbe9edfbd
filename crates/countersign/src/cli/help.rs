//! The command line with the names of agent programs in its help: `{programs}` are those that can be asked, `{agents}`
//! those that can be told of us, `{authors}` those whose vendor is known.

use super::arguments::Arguments;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Command, CommandFactory, FromArgMatches};
use countersign_engine::programs::{Hook, PROGRAMS, Programs, listed};

/// Everything that can be typed.
pub fn command() -> Command {
    filled(Arguments::command(), PROGRAMS)
}

/// What was typed.
pub fn parse() -> Result<Arguments, clap::Error> {
    let mut matches = command().try_get_matches()?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command()))
}

/// The programs that have a hook, as values of an argument.
pub fn hooks(programs: Programs) -> impl TypedValueParser<Value = Hook> {
    let value = |hook: Hook| PossibleValue::new(hook.program.name).help(hook.title);
    let named = move |name: String| programs.hooks().find(|hook| hook.program.name == name);
    PossibleValuesParser::new(programs.hooks().map(value))
        .try_map(move |name| named(name).ok_or("this program has no hook"))
}

/// The names in place of their words, in every help text.
fn filled(command: Command, programs: Programs) -> Command {
    let agents: Vec<&str> = programs.agents().map(|program| program.name).collect();
    let authors = programs.all().filter(|program| program.vendor.is_some()).map(|program| program.name);
    let names = [
        ("{programs}", programs.reviewer_names()),
        ("{agents}", agents.join(", ")),
        ("{authors}", listed(authors, "or")),
    ];
    let words = |text: String| names.iter().fold(text, |text, (word, names)| text.replace(word, names));
    command
        .mut_args(|arg| match arg.get_help().map(|help| help.to_string()) {
            Some(help) if help.contains('{') => arg.help(words(help)),
            _ => arg,
        })
        .mut_subcommands(|command| filled(command, programs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::WITH_MADE_UP;

    /// The long help of a command and all below it.
    fn help(mut command: Command) -> String {
        let own = command.render_long_help().to_string();
        let below: Vec<Command> = command.get_subcommands().cloned().collect();
        own + &below.into_iter().map(help).collect::<String>()
    }

    #[test]
    fn issue_15_8_a_made_up_program_is_in_every_help_by_its_row() {
        let (with, without) =
            (help(filled(Arguments::command(), WITH_MADE_UP)), help(filled(Arguments::command(), PROGRAMS)));
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (with, without) = (flat(&with), flat(&without));
        for before in [
            "Who answers questions: ",
            "Look at this reviewer only: a configured name, ",
            "Who is asked: a configured name, auto (the first that answers), ",
            "Let this agent start `countersign mcp` in this project: ",
        ] {
            assert!(with.contains(&format!("{before}claude, made-up, ")), "{before}");
            assert!(without.contains(&format!("{before}claude, codex, gemini, opencode, ")), "{before}");
        }
        assert!(with.contains("Whose model wrote the work: claude or made-up."));
        assert!(!with.contains("{programs}") && !with.contains("{agents}") && !with.contains("{authors}"));
        let values: Vec<_> = hooks(WITH_MADE_UP).possible_values().unwrap().collect();
        let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        assert_eq!(names, ["claude", "made-up"]);
    }
}
