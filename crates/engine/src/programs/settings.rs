//! The entries in settings of agent programs that have them start our server, as data.

/// How a settings file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON, and what the program allows beside it.
    Json(Dialect),
    /// TOML.
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
    /// With comments.
    pub const COMMENTS: Self = Self { comments: true, trailing_commas: false };
    /// With comments and trailing commas.
    pub const LOOSE: Self = Self { comments: true, trailing_commas: true };
}

/// The entry that has a program start our server.
#[derive(Clone, Copy, Debug)]
pub struct ServerEntry {
    /// Files it may be in, relative to the root, the one that counts more first; the last is made if none is there.
    pub files: &'static [&'static str],
    /// How they are written.
    pub format: FileFormat,
    /// Where in the file.
    pub path: &'static [&'static str],
    /// What a new file has beside the entry.
    pub new_file: Option<&'static str>,
    /// In which words the server is described.
    pub form: ServerForm,
    /// What a person does next.
    pub next: &'static str,
}

/// In which words a server is described.
#[derive(Clone, Copy, Debug)]
pub enum ServerForm {
    /// `command` is the program, `args` the rest.
    CommandAndArgs,
    /// `command` is all of it.
    LocalCommand,
}
