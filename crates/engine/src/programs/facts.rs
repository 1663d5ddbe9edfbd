//! The facts of one program: words, variables, and the functions that prepare a call and parse its output.

use super::{ParsedOutput, Problem, ProgramName, Working};
use crate::process::Ended;
use countersign_core::prompt::Shape;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The API of a service that is asked without a program between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    OpenAi,
}

/// Who makes a model. The best judge is often a model of another vendor than the author's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    Anthropic,
    OpenAi,
    Google,
}

impl Vendor {
    const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Google];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.name() == name)
    }

    /// Its name, as people and models give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
        }
    }
}

/// Everything that is particular about a program that can be asked and put to work.
pub struct Facts {
    /// Its name on the PATH, and in `use:`.
    pub name: &'static str,
    /// Its name in a sentence.
    pub called: ProgramName<'static>,
    /// Who makes its models, where that is one.
    pub vendor: Option<Vendor>,
    /// Whether it can look around in a project without taking orders from it.
    pub may_see_project: bool,
    /// Whether it can be told where its service is.
    pub chooses_service: bool,
    /// Whether it can be told the most a question may cost.
    pub caps_cost: bool,
    /// A model that is enough to read what another one wrote, where one is known.
    pub light_model: Option<&'static str>,
    /// Variables that choose its service or what it loads; one that ends in `_` stands for all with this prefix.
    pub steering: &'static [&'static str],
    pub prompt_max_bytes: usize,
    /// Whether it can be held to reading the files of one folder. If not, the question carries everything.
    pub reads_files: bool,
    pub model_variable: Option<&'static str>,
    /// Variables that it is handed beside the common ones: the way to its service, and its sign-in.
    pub kept: &'static [&'static str],
    /// Families of variables that it is handed, where the variable before them is there.
    pub families: &'static [(Option<&'static str>, &'static str)],
    /// Variables that are the same in every call.
    pub set: &'static [(&'static str, &'static str)],
    pub credentials: Credentials,
    pub working: Working,
    /// Whether it says what a call cost in money.
    pub reports_cost: bool,
    /// Whether it sends a question again by itself: where only it sees the wait that its service asks for.
    pub sends_again: bool,
    /// What a line of its output says about waiting for it, where it would go on without use. It counts over the lines.
    pub patience: Option<fn(&mut usize, &str) -> Option<Patience>>,
    /// Command line, prompt and files of a question.
    pub prepare: fn(&Form<'_>) -> Setup,
    pub parse_output: fn(&Ended) -> ParsedOutput,
    /// How many files it opened, by its own record; none where it keeps no such record.
    pub opened: fn(&Ended) -> Option<usize>,
    /// A file in which it writes down what its service answered, where its report leaves out whether that was whole.
    pub record: Option<Record>,
}

/// How long a program is waited for after a line of its output, until another line says something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// As long as the question may take.
    Whole,
    AtMost(Duration),
}

/// A file in which a program writes down what its service answered.
#[derive(Clone, Copy)]
pub struct Record {
    /// Its place in the private folder.
    pub file: &'static str,
    /// Whether the last reply was whole.
    pub check: fn(&[u8]) -> Result<(), Problem>,
}

#[derive(Clone, Copy, Debug)]
pub struct Credentials {
    pub variables: &'static [&'static str],
    /// The variable that names the folder of its files.
    pub folder_variable: Option<&'static str>,
    /// That folder below the home folder.
    pub folder: &'static str,
    pub file: &'static str,
}

impl Credentials {
    /// The file with the sign-in, whether it is there or not.
    pub fn file(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let given = self.folder_variable.and_then(&variable).filter(|folder| !folder.is_empty());
        let folder = match given {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(&variable("HOME").filter(|home| !home.is_empty())?).join(self.folder),
        };
        Some(folder.join(self.file))
    }
}

impl PartialEq for Facts {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Facts {}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What is particular about a question.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// The model, where not the program's own choice.
    pub model: Option<&'a str>,
    /// Where the service is, where not at the program's own choice.
    pub base_url: Option<&'a str>,
    /// The variable that holds the key of that service.
    pub key_env: Option<&'a str>,
    pub system_prompt: &'a str,
    pub payload: &'a str,
    /// What its reply must be like.
    pub shape: Shape,
    /// Whether there are files it has to read itself, in the folder it runs in.
    pub reads_files: bool,
    pub folder: &'a Path,
    /// A folder for its own things, beside the one it runs in. Gone with the question.
    pub private: &'a Path,
    /// The file with the user's sign-in, where there is one.
    pub credentials: Option<&'a Path>,
    /// The part of our environment that it gets.
    pub environment: &'a [(OsString, OsString)],
    /// The most the question may cost, for a program that can be told so, in millionths of a dollar.
    pub most_microusd: Option<u64>,
}

#[cfg(test)]
impl Form<'static> {
    /// A question like most.
    pub fn example() -> Self {
        Self {
            model: None,
            base_url: None,
            key_env: None,
            system_prompt: "judge",
            payload: "work",
            shape: Shape::RULINGS,
            reads_files: false,
            folder: Path::new("/private/files"),
            private: Path::new("/private"),
            credentials: None,
            environment: &[],
            most_microusd: None,
        }
    }
}

/// How a question is put.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The arguments.
    pub args: Vec<OsString>,
    /// What it reads from its standard input.
    pub prompt: String,
    /// Variables of this call.
    pub set: Vec<(OsString, OsString)>,
    /// Files it needs, relative to its private folder.
    pub files: Vec<(PathBuf, String)>,
    /// Links it needs, relative to its private folder, and what they point to.
    pub links: Vec<(PathBuf, PathBuf)>,
}
