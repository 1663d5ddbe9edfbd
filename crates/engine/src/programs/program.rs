//! The row of an agent program with its marks, hook and settings entry, and queries over all rows. All code that differs by
//! program goes through here, so a program with a row is known everywhere.

use super::{Facts, ParsedOutput, Vendor};
use crate::process::Ended;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

/// An agent program: everything that differs from the next one.
pub struct Program {
    /// Its name on the PATH, of its process, in `use:` and in `--agent`.
    pub name: &'static str,
    pub vendor: Option<Vendor>,
    /// Variables that it sets for whatever its agent starts.
    pub marks: &'static [Mark],
    /// Parts of paths below which its own files are installed: packages, and the names of files for download.
    pub packages: &'static [&'static str],
    /// Its files in a project that choose tools, hooks or commands; one that ends in `/` stands for all below it.
    pub gate_files: &'static [&'static str],
    /// How it is asked and put to work, where that is known.
    pub reviewer: Option<&'static Facts>,
    /// The entry in its settings that has it start our server.
    pub server: Option<ServerEntry>,
    /// How it calls us when its agent stops.
    pub hook: Option<Hook>,
}

impl Program {
    /// A program that is neither asked nor put to work.
    pub(super) const fn known(
        name: &'static str,
        marks: &'static [Mark],
        packages: &'static [&'static str],
        gate_files: &'static [&'static str],
    ) -> Self {
        Self { name, vendor: None, marks, packages, gate_files, reviewer: None, server: None, hook: None }
    }

    /// Whether a file is one of its own, by its path.
    fn installs(&self, file: &Path) -> bool {
        let parts: Vec<&OsStr> = file.iter().collect();
        self.packages.iter().any(|package| {
            let package: Vec<&OsStr> = Path::new(package).iter().collect();
            parts.windows(package.len()).any(|window| window == package)
        })
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A table of programs, in the order in which they are preferred where nothing is configured.
#[derive(Clone, Copy, Debug)]
pub struct Programs(pub &'static [&'static Program]);

impl Programs {
    pub fn all(self) -> impl Iterator<Item = &'static Program> {
        self.0.iter().copied()
    }

    pub fn named(self, name: &str) -> Option<&'static Program> {
        self.all().find(|program| program.name == name)
    }

    /// The one that a file belongs to, by the path of the file.
    pub fn installing(self, file: &Path) -> Option<&'static Program> {
        self.all().find(|program| program.installs(file))
    }

    /// Those that can be asked and put to work.
    pub fn reviewers(self) -> impl Iterator<Item = &'static Facts> {
        self.all().filter_map(|program| program.reviewer)
    }

    /// The one of this name that can be asked and put to work.
    pub fn reviewer(self, name: &str) -> Option<&'static Facts> {
        self.named(name)?.reviewer
    }

    /// Those that can be told of us in their settings.
    pub fn agents(self) -> impl Iterator<Item = &'static Program> {
        self.all().filter(|program| program.server.is_some() || program.hook.is_some())
    }

    pub fn hooks(self) -> impl Iterator<Item = Hook> {
        self.all().filter_map(|program| program.hook)
    }

    /// The names of those that can be asked, for help and hints.
    pub fn reviewer_names(self) -> String {
        self.reviewers().map(|facts| facts.name).collect::<Vec<_>>().join(", ")
    }

    /// The names people give the author of work, and whose model they mean.
    pub fn authors(self) -> impl Iterator<Item = (&'static str, Vendor)> {
        let vendors = self.all().filter_map(|program| Some((program.name, program.vendor?)));
        vendors.flat_map(|(name, vendor)| [(name, vendor), (vendor.name(), vendor)])
    }

    /// Every mark, with its program where only one sets it.
    pub fn marks(self) -> impl Iterator<Item = (&'static Mark, Option<&'static Program>)> {
        let own = self.all().flat_map(|program| program.marks.iter().map(move |mark| (mark, Some(program))));
        own.chain(COMMON.iter().map(|mark| (mark, None)))
    }

    pub fn marked(
        self,
        variables: &[(OsString, OsString)],
    ) -> impl Iterator<Item = (&'static Mark, Option<&'static Program>)> {
        self.marks().filter(|(mark, _)| variables.iter().any(|(name, value)| mark.is(name, value)))
    }
}

/// Names in a sentence: `a, b and c`.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>, and: &str) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} {and} {last}", before.join(", ")),
        None => String::new(),
    }
}

/// A variable that an agent program sets for its agent's commands, as measured in the real programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub name: &'static str,
    /// The one value that counts, where others use the name too.
    pub value: Option<&'static str>,
}

impl Mark {
    /// A variable that is a mark whatever its value.
    pub const fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }

    pub fn is(&self, name: &OsStr, value: &OsStr) -> bool {
        name == self.name && self.value.is_none_or(|only| value == only)
    }
}

/// Marks that several programs set.
const COMMON: &[Mark] = &[Mark::new("AI_AGENT")];

/// A review may take long; a program that ends the hook lets its agent go.
pub const HOOK_SECONDS: u64 = 3600;

/// How a program calls us when its agent stops, and what it understands.
#[derive(Clone, Copy)]
pub struct Hook {
    pub program: &'static Facts,
    /// What people call the event, for help.
    pub title: &'static str,
    pub event: &'static str,
    /// The variable in which the program names its project, wherever the agent has gone meanwhile.
    pub project_variable: Option<&'static str>,
    /// Variables that the program sets for the shells of its agent, and not for its hooks.
    pub shell_marks: &'static [&'static str],
    /// Whether the program forgets that its agent was held. A session then ends with each prompt, which stays the same.
    pub forgets_held: bool,
    /// The decision that holds an agent.
    pub hold: &'static str,
    /// The file of a project in which the hook is named, from its root.
    pub file: &'static str,
    /// What that file allows beside JSON.
    pub dialect: Dialect,
    pub path: [&'static str; 2],
    /// An hour, in what the program counts: seconds or milliseconds.
    pub timeout: u64,
    /// What a person does next.
    pub next: &'static str,
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.event, self.program.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON, and what the program allows beside it.
    Json(Dialect),
    Toml,
}

/// What a program allows in its file beside JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// `// …` and `/* … */`
    pub comments: bool,
    /// A comma after the last member.
    pub trailing_commas: bool,
}

impl Dialect {
    /// JSON and nothing beside it.
    pub const STRICT: Self = Self { comments: false, trailing_commas: false };
    pub const COMMENTS: Self = Self { comments: true, trailing_commas: false };
    pub const LOOSE: Self = Self { comments: true, trailing_commas: true };
}

/// The entry that has a program start our server.
#[derive(Clone, Copy, Debug)]
pub struct ServerEntry {
    /// Files it may be in, relative to the root, the one that counts more first; the last is made if none is there.
    pub files: &'static [&'static str],
    pub format: FileFormat,
    pub path: &'static [&'static str],
    /// What a new file has beside the entry.
    pub new_file: Option<&'static str>,
    pub form: ServerForm,
    /// Which variables the server gets.
    pub variables: ServerVariables,
    pub next: &'static str,
}

/// Which of its own variables a program gives to a server that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerVariables {
    All,
    /// Those without keys, and those that the member of this name lists.
    Listed(&'static str),
    /// Those without keys, and those that the member of this name sets, as in `"NAME": "$NAME"`.
    Set(&'static str),
}

impl ServerVariables {
    /// What to write into an entry so that the server gets a variable.
    pub fn passes(self, variable: &str) -> Option<String> {
        match self {
            Self::All => None,
            Self::Listed(member) => Some(format!("{member} = [\"{variable}\"]")),
            Self::Set(member) => Some(format!("\"{member}\": {{\"{variable}\": \"${variable}\"}}")),
        }
    }

    /// Whether an entry gives a variable to the server.
    pub fn gives(self, entry: &Value, variable: &str) -> bool {
        let lists =
            |member: &str| entry[member].as_array().is_some_and(|all| all.iter().any(|one| one == variable));
        let sets = |member: &str| entry[member].get(variable).is_some();
        match self {
            Self::All => true,
            Self::Listed(member) => lists(member) || sets("env"),
            Self::Set(member) => sets(member),
        }
    }
}

/// In which words a server is described.
#[derive(Clone, Copy, Debug)]
pub enum ServerForm {
    /// `command` is the program, `args` the rest.
    CommandAndArgs,
    /// `command` is all of it.
    LocalCommand,
}

/// What is particular about a program that works: it writes files and runs commands in its folder without asking, with the
/// user's own settings, instructions and environment. Reviews use the judging form instead.
pub struct Working {
    /// Its arguments; the prompt is its standard input.
    pub args: &'static [&'static str],
    /// The argument that chooses its model, to be followed by the name in the same word or in the next.
    pub model: ModelArgument,
    pub last: &'static [&'static str],
    /// What existing configurations say on their own and we say ourselves.
    pub own: &'static [&'static str],
    pub set: &'static [(&'static str, &'static str)],
    /// What it said last, and what it cost.
    pub parse_output: fn(&Ended) -> ParsedOutput,
    /// What a line of its output says to people who watch.
    pub live: fn(&Value) -> Option<String>,
}

/// How a model is named on a command line.
#[derive(Clone, Copy, Debug)]
pub enum ModelArgument {
    /// `--model=NAME`: in one word, so that no name is taken for an option.
    Joined(&'static str),
    /// `-m NAME`.
    Next(&'static str),
}

impl Working {
    /// The whole command line but the program, with whatever the user adds.
    pub fn line(&self, model: Option<&str>, more: &[String]) -> Vec<OsString> {
        let mut line: Vec<OsString> = self.args.iter().map(OsString::from).collect();
        match (model, self.model) {
            (Some(name), ModelArgument::Joined(flag)) => line.push(format!("{flag}{name}").into()),
            (Some(name), ModelArgument::Next(flag)) => line.extend([flag.into(), name.into()]),
            (None, _) => {}
        }
        line.extend(more.iter().map(OsString::from));
        line.extend(self.last.iter().map(OsString::from));
        line
    }
}

/// A tool with the one argument that tells most.
pub(super) fn used(tool: &str, input: &Value) -> String {
    let telling = ["command", "file_path", "filePath", "path", "pattern", "url"];
    let argument = telling.iter().find_map(|name| input[*name].as_str());
    format!("→ {tool} {}", argument.unwrap_or_default()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::programs::{Facts, claude, codex, gemini, opencode};
    use serde_json::json;

    fn words(facts: &Facts, model: Option<&str>) -> String {
        let line = facts.working.line(model, &["--more".to_owned()]);
        line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_model_stands_before_what_the_user_adds_and_the_prompt_is_never_an_argument() {
        assert!(words(&claude::FACTS, Some("opus")).ends_with("NotebookEdit --model=opus --more"));
        assert!(words(&codex::FACTS, Some("o3")).ends_with("-s workspace-write -m o3 --more -"));
        assert_eq!(words(&gemini::FACTS, None), "--output-format json --approval-mode yolo --more");
        assert_eq!(words(&opencode::FACTS, Some("a/b")), "run --format json -m a/b --more");
    }

    #[test]
    fn people_who_watch_see_words_and_tools() {
        let claude = json!({ "type": "assistant", "message": { "content": [
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "name": "Bash", "input": { "command": "ls" } },
        ] } });
        assert_eq!((claude::FACTS.working.live)(&claude).as_deref(), Some("I look.\n→ Bash ls"));
        let codex =
            json!({ "type": "item.started", "item": { "type": "command_execution", "command": "ls" } });
        assert_eq!((codex::FACTS.working.live)(&codex).as_deref(), Some("$ ls"));
        let opencode = json!({ "type": "text", "part": { "text": "hello" } });
        assert_eq!((opencode::FACTS.working.live)(&opencode).as_deref(), Some("hello"));
        assert_eq!((claude::FACTS.working.live)(&json!({ "type": "system" })), None);
    }
}
