//! Help: the headings of `--help`, topics that are embedded, and the names of agent programs in the texts of options:
//! `{programs}` are the reviewers, `{agents}` the agents that can be set up, `{authors}` those whose vendor is known.

use super::Failure;
use super::command::{Arguments, HEADINGS};
use crate::output::Answer;
use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr, TypedValueParser};
use clap::{Args, Command, CommandFactory, FromArgMatches};
use countersign_app::answer::v1::{self, Help};
use countersign_engine::programs::{Hook, PROGRAMS, Programs, listed};
use countersign_engine::yaml::closest;

const EXIT_CODES: &str = "\
Exit codes:
  0  passed, overridden or skipped;     5  budget reached
     ci: nothing to judge               6  stopped
  1  needs work                         7  integrity
  2  usage or configuration             8  internal or storage
  3  awaiting a person                130  interrupted
  4  no verdict";

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}";

/// A page that `countersign help NAME` prints.
struct Topic {
    name: &'static str,
    title: &'static str,
    text: &'static str,
}

macro_rules! topics {
    ($($name:literal $file:literal $title:literal;)*) => {
        &[$(Topic { name: $name, title: $title, text: include_str!(concat!("../../../../docs/", $file)) }),*]
    };
}

const TOPICS: &[Topic] = topics! {
    "configuration" "configuration.md" "every key of countersign.yml";
    "adoption" "adoption.md" "an existing project: only what is new blocks";
    "reviewers" "reviewers.md" "who judges: agent programs, services, commands, checks, the author";
    "gates" "gates.md" "what gates judge by, and what the author of the work cannot choose";
    "hooks" "hooks.md" "keep an agent working until its work passes";
    "agents" "agents.md" "set up agents to use Countersign over MCP";
    "tasks" "service.md" "tasks of PLAN.md or of an orchestrator, notifications";
    "run" "run.md" "let agents do the tasks of spec/tasks.md; merge what passes";
    "jobs" "jobs.md" "workflows of steps with quality gates, over MCP";
    "qr" "qr.md" "reviews in items, for planning agents";
    "mcp" "mcp.md" "the MCP server and its tools";
    "serve" "serve.md" "the HTTP server";
    "disputes" "disputes.md" "what to do about a finding that is wrong";
    "ledger" "ledger.md" "what is recorded, and how to check it";
    "json" "json.md" "the objects of --json";
    "ci" "ci.md" "pull requests and CI: GitHub, GitLab, pre-commit, formats of reports";
    "scripts" "scripts.md" "exit codes, output and files, for scripts";
    "decisions" "deciding.md" "approve, reject, fix, skip, unblock, withdraw; who counts as a person";
    "privacy" "privacy.md" "what is sent where, by which reviewer";
};

#[derive(Debug, Args)]
pub struct HelpOptions {
    /// A topic or a command; without one, all of them are listed
    #[arg(value_name = "TOPIC")]
    pub words: Vec<String>,
}

pub fn run(options: &HelpOptions) -> Result<Answer, Failure> {
    let words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    let topic = TOPICS.iter().find(|topic| words == [topic.name]);
    let text = match (topic, below(command(), &words)) {
        _ if words.is_empty() => format!("{}\n{}", command().render_help().ansi(), topics()),
        // A topic and a command can have the same name: the page comes first, then the options.
        (Some(topic), None) => topic.text.to_owned(),
        (Some(topic), Some(help)) => format!("{}\n{}", topic.text, help.ansi()),
        (None, Some(help)) => help.ansi().to_string(),
        (None, None) => return Err(unknown(&words.join(" "))),
    };
    let topic = (!words.is_empty()).then(|| words.join(" "));
    Ok(Answer::of(v1::Answer::passed(Help { topic, text: text.clone() }), text))
}

/// The help of a command below another.
fn below(mut command: Command, words: &[&str]) -> Option<StyledStr> {
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found.find_subcommand_mut(word)?;
    }
    Some(found.render_long_help())
}

fn unknown(typed: &str) -> Failure {
    let topics = TOPICS.iter().map(|topic| topic.name);
    let names = topics.chain(HEADINGS.iter().flat_map(|(_, names)| *names).copied());
    let failure = Failure::usage(format!("there is no topic and no command `{typed}`"));
    match closest(typed, names) {
        Some(name) => failure.hint(format!("did you mean `countersign help {name}`?")),
        None => failure.hint("`countersign help` lists all of them"),
    }
}

fn topics() -> String {
    let rows: String =
        TOPICS.iter().map(|topic| format!("  {:<13}  {}\n", topic.name, topic.title)).collect();
    format!("Topics (countersign help TOPIC):\n{rows}")
}

/// Everything that can be typed.
pub fn command() -> Command {
    let command = filled(Arguments::command(), PROGRAMS);
    let (by_heading, usage) = (by_heading(&command), "countersign [OPTIONS] <COMMAND>");
    command.after_help(by_heading).override_usage(usage).help_template(TEMPLATE)
}

fn by_heading(command: &Command) -> String {
    let about = |name: &&str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        format!("  {name:<13}{}\n", about.map(ToString::to_string).unwrap_or_default())
    };
    let heading = |(title, names): &(&str, &[&str])| {
        format!("{title}:\n{}\n", names.iter().map(about).collect::<String>())
    };
    let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    let headings: String = HEADINGS.iter().map(heading).collect();
    format!("{headings}Topics for `countersign help TOPIC`: {}\n\n{EXIT_CODES}", names.join(", "))
}

/// The parsed arguments, and the name of the command with those below it, such as `task add`.
pub fn parse() -> Result<(Arguments, &'static str), clap::Error> {
    let mut matches = command().try_get_matches()?;
    let (mut names, mut below) = (vec![], &matches);
    while let Some((name, matches)) = below.subcommand() {
        names.push(name.to_owned());
        below = matches;
    }
    // Once in the life of a process.
    let name = names.join(" ").leak();
    let parsed = Arguments::from_arg_matches_mut(&mut matches);
    parsed.map(|arguments| (arguments, &*name)).map_err(|error| error.format(&mut command()))
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
    fn issue_16_2_every_command_has_one_heading() {
        let command = Arguments::command();
        let mut shown: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut listed: Vec<&str> = HEADINGS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
    }

    #[test]
    fn issue_15_8_a_made_up_program_is_in_every_help_by_its_row() {
        let (with, without) =
            (help(filled(Arguments::command(), WITH_MADE_UP)), help(filled(Arguments::command(), PROGRAMS)));
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (with, without) = (flat(&with), flat(&without));
        for before in [
            "The reviewer: ",
            "Check this reviewer only: a configured name, ",
            "The reviewer: a configured name, auto (the first that answers), ",
            "Let this agent start `countersign mcp` in this project: ",
        ] {
            assert!(with.contains(&format!("{before}claude, made-up, ")), "{before}");
            assert!(without.contains(&format!("{before}claude, codex, gemini, opencode, ")), "{before}");
        }
        assert!(with.contains("The agent that wrote the work: claude or made-up."));
        assert!(!with.contains("{programs}") && !with.contains("{agents}") && !with.contains("{authors}"));
        let values: Vec<_> = hooks(WITH_MADE_UP).possible_values().unwrap().collect();
        let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        assert_eq!(names, ["claude", "made-up"]);
    }
}
