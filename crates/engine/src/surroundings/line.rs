//! A command line at a gate: its programs are trusted ones, and scripts of the project are those of the trusted commit.

use super::beside::Context;
use super::known_programs::*;
use super::scripts::{Located, RunFrom};
use super::shell_words::{self, Word, after_options, assignment, is_script_input, quoted};
use super::{GateSurroundings, Surroundings, TREE, Variables, untrusted, variable};
use countersign_core::digest::Digest;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a command line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It judges: all files that its words name are part of it.
    Reviewer,
    /// It tests the work, and may run what the work consists of: `make`, `npm test`.
    Check,
}

/// A command line that may be started, and the variables it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub words: Vec<String>,
    pub variables: Variables,
    /// The files of the project that take part, by their paths there.
    pub scripts: Vec<PathBuf>,
    /// The stamps of those that run in the project.
    pub stamps: Vec<Digest>,
}

impl Line {
    /// A command line that no gate starts.
    fn of(words: Vec<String>, root: &Path) -> Self {
        Self { words, variables: vec![(TREE.into(), root.into())], ..Self::default() }
    }
}

impl Surroundings {
    /// Whether a command may be started at this gate, and all files of the project that take part are those of the trusted
    /// commit.
    pub(crate) fn has_trusted_scripts(&self, words: &[String], root: &Path) -> bool {
        let Some(gate) = &self.gate else { return false };
        let line = self.line(words, root, Path::new("/"));
        line.is_ok_and(|line| line.scripts.iter().all(|script| gate.is_unchanged(script)))
    }

    /// The words of a command as they may be started in `folder`; as they are where this is no gate.
    pub(crate) fn line(&self, words: &[String], root: &Path, folder: &Path) -> Result<Line, String> {
        let Some(gate) = &self.gate else {
            return Ok(Line::of(words.to_vec(), root));
        };
        let mut lines = Lines::new(self, gate, root, folder, Purpose::Reviewer);
        let new = lines.command(&exact(words), &[], true)?;
        let words = words.iter().zip(new).map(|(word, new)| new.unwrap_or_else(|| word.clone())).collect();
        lines.ends(words)
    }

    /// The text of a check, for a shell in the project; the first word is the shell.
    pub(crate) fn shell_line(&self, text: &str, root: &Path) -> Result<Line, String> {
        let Some(gate) = &self.gate else {
            return Ok(Line::of(vec!["sh".to_owned(), text.to_owned()], root));
        };
        let mut lines = Lines::new(self, gate, root, root, Purpose::Check);
        let text = lines.text(text)?;
        let shell = self.trusted_program(gate, "sh")?;
        let words = vec![shell.to_string_lossy().into_owned(), text];
        lines.ends(words)
    }
}

/// One command line that is looked through.
pub(super) struct Lines<'a> {
    surroundings: &'a Surroundings,
    gate: &'a GateSurroundings,
    root: &'a Path,
    /// The `PATH` of programs: trusted folders.
    path: OsString,
    purpose: Purpose,
    /// Whether it runs in the project itself.
    in_project: bool,
    /// The folders that relative paths may be meant from: the first one, and those it changes to.
    bases: Vec<PathBuf>,
    /// Files of the project that take part, by their paths there.
    pub(super) scripts: Vec<PathBuf>,
    /// The stamps of those that run in the project.
    stamps: Vec<Digest>,
    /// The words that were looked through.
    words: Vec<String>,
    /// Folders of the trusted commit with modules of Python.
    modules: Vec<PathBuf>,
    /// Whether a script of the project is one for Python.
    is_python: bool,
    /// Whether Python must not load modules from the folder it runs in.
    safe_path: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(
        surroundings: &'a Surroundings,
        gate: &'a GateSurroundings,
        root: &'a Path,
        folder: &Path,
        purpose: Purpose,
    ) -> Self {
        let (in_project, path) = (folder == root, surroundings.trusted_path(gate));
        let (bases, safe_path) = (vec![root.to_owned()], purpose == Purpose::Reviewer && !in_project);
        Self {
            surroundings,
            gate,
            root,
            path,
            purpose,
            in_project,
            bases,
            scripts: vec![],
            stamps: vec![],
            words: vec![],
            modules: vec![],
            is_python: false,
            safe_path,
        }
    }

    /// The line with these words, if the scripts in it are still those that were compared with the trusted commit.
    fn ends(self, words: Vec<String>) -> Result<Line, String> {
        if !self.scripts.is_empty() && self.gate.is_edited() {
            return Err("the checkout of the trusted scripts was edited: ask again".to_owned());
        }
        let variables = self.variables();
        Ok(Line { words, variables, scripts: self.scripts, stamps: self.stamps })
    }

    fn variables(&self) -> Variables {
        let mut all: Variables = vec![(TREE.into(), self.root.into())];
        if self.safe_path {
            all.push(("PYTHONSAFEPATH".into(), "1".into()));
        }
        if self.is_python {
            all.extend(PYTHON_FILES.map(|(name, value)| (name.into(), value.into())));
        }
        if !self.modules.is_empty() {
            let trusted = variable(&self.surroundings.environment, "PYTHONPATH");
            let more =
                trusted.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
            let path = std::env::join_paths(self.modules.iter().chain(&more)).unwrap_or_default();
            all.push(("PYTHONPATH".into(), path));
        }
        all
    }

    /// A text for a shell, with its scripts replaced.
    fn text(&mut self, text: &str) -> Result<String, String> {
        let unclear = |problem: String| format!("`{text}` cannot be looked through: {problem}");
        let mut new = vec![];
        for simple in shell_words::commands(text).map_err(unclear)? {
            let words = self.command(&simple.words, &simple.inputs, false)?;
            let spans = simple.words.iter().chain(&simple.inputs).map(|word| word.span.clone());
            new.extend(spans.zip(words).filter_map(|(span, word)| Some((span, word?))));
        }
        new.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut text = text.to_owned();
        for (span, word) in new {
            text.replace_range(span, &quoted(&word));
        }
        Ok(text)
    }

    /// What the words and inputs of one command are replaced by.
    pub(super) fn command(
        &mut self,
        words: &[Word],
        inputs: &[Word],
        exact: bool,
    ) -> Result<Vec<Option<String>>, String> {
        let mut new = vec![None; words.len() + inputs.len()];
        self.words.extend(words.iter().chain(inputs).map(|word| word.text.clone()));
        let mut at = 0;
        let mut last = words.len();
        while let Some(word) = words.get(at) {
            if let Some((_, value)) = assignment(word) {
                new[at] = self.assigned(word, value)?;
                at += 1;
                continue;
            }
            new[at] = self.program(word, exact && at == 0)?;
            let name = word.text.rsplit('/').next().unwrap_or_default();
            last = at + 1;
            if let Some((name, options, before)) = WRAPPERS.iter().find(|(known, ..)| *known == name) {
                at = after_options(words, at + 1, name, options)? + before;
                continue;
            }
            self.arguments(name, words, at + 1, &mut new)?;
            if is_interpreter(name) && is_script_input(&words[at + 1..]) {
                if inputs.is_empty() && !exact {
                    return Err(format!(
                        "`{name}` gets its script from another command, which is not looked into"
                    ));
                }
                for (n, input) in inputs.iter().enumerate() {
                    new[words.len() + n] = self.code(input)?;
                }
            }
            break;
        }
        if self.purpose == Purpose::Reviewer {
            for (n, word) in words.iter().enumerate().skip(last) {
                if new[n].is_none() {
                    new[n] = self.named_file(word)?;
                }
            }
        }
        Ok(new)
    }

    /// The arguments that a program runs.
    fn arguments(
        &mut self,
        name: &str,
        words: &[Word],
        at: usize,
        new: &mut [Option<String>],
    ) -> Result<(), String> {
        if is_one_of(RUNNERS, name) && self.purpose == Purpose::Reviewer {
            return Err(format!(
                "`{name}` runs what the folder it is in says, which the work that is judged can change: name the program \
                 of the reviewer itself"
            ));
        }
        if let ("cd" | "pushd", Some(word)) = (name, words.get(at)) {
            if !word.is_plain {
                return Err(format!("`cd {}` leads to a folder that is not known beforehand", word.text));
            }
            let base = self.bases.iter().map(|base| base.join(&word.text)).collect::<Vec<_>>();
            self.bases.extend(base);
        }
        if let ("eval" | "trap", Some(word)) = (name, words.get(at)) {
            return Err(format!("`{name} {}` is not looked into", word.text));
        }
        if SOURCE.contains(&name)
            && let Some(word) = words.get(at)
        {
            new[at] = self.code(word)?;
        }
        if is_interpreter(name) {
            self.script(name, words, at, new)?;
        }
        if name == "find" {
            for n in (at..words.len()).filter(|n| is_one_of(EXEC_OPTIONS, &words[*n].text)) {
                let inner = self.command(&words[n + 1..], &[], false)?;
                for (new, inner) in new[n + 1..].iter_mut().zip(inner) {
                    *new = new.take().or(inner);
                }
            }
        }
        Ok(())
    }

    /// The script of an interpreter: a file, a module, or a text.
    fn script(
        &mut self,
        name: &str,
        words: &[Word],
        mut at: usize,
        new: &mut [Option<String>],
    ) -> Result<(), String> {
        let (is_shell, is_python) = (is_one_of(SHELLS, name), is_python(name));
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            let is_short = text.starts_with('-') && !text.starts_with("--");
            let next = words.get(at + 1);
            if is_short && is_shell && text.contains('c') {
                let Some(next) = next else { return Ok(()) };
                new[at + 1] = Some(self.text(&next.text)?).filter(|new| *new != next.text);
                // In single quotes the variables in it would stay as they are.
                return match new[at + 1] {
                    Some(_) if !next.is_plain => {
                        Err(format!("`{name} -c` has a script and variables in one text"))
                    }
                    _ => Ok(()),
                };
            }
            if is_python && is_short && (text.starts_with("-m") || text.ends_with('m')) {
                let attached = text.strip_prefix("-m").filter(|module| !module.is_empty());
                let module = attached.or(next.map(|next| next.text.as_str())).unwrap_or_default();
                return self.module(module);
            }
            if is_python && is_short && text.contains('c') || !is_python && is_one_of(TEXT_OPTIONS, text) {
                self.safe_path |= is_python;
                return Ok(());
            }
            if let ("-f" | "--file", Some(next)) = (text, next) {
                new[at + 1] = self.code(next)?;
                return Ok(());
            }
            let with_value = match (is_shell, is_python) {
                (true, _) => SHELL_VALUES,
                (_, true) => PYTHON_VALUES,
                _ => OTHER_VALUES,
            };
            if is_one_of(with_value, text) {
                if let Some(next) = next {
                    new[at + 1] = self.code_if_there(next)?;
                }
                at += 2;
            } else if text.starts_with('-') && text.len() > 1 {
                new[at] = self.named_file(word)?;
                at += 1;
            } else if matches!((name, text), ("deno" | "bun", "run" | "test" | "x")) {
                at += 1;
            } else {
                new[at] = self.code(word)?;
                return Ok(());
            }
        }
        Ok(())
    }

    /// A module that Python runs.
    fn module(&mut self, module: &str) -> Result<(), String> {
        let first = module.split('.').next().unwrap_or_default();
        if self.purpose == Purpose::Check && is_one_of(TEST_MODULES, first) {
            return Ok(());
        }
        let below = self.top();
        let names = [below.join(first), below.join(format!("{first}.py"))];
        let judged = self.gate.places.judged();
        let in_work = names.iter().any(|name| judged.join(name).exists());
        let scripts = self.gate.scripts.as_ref();
        let trusted = scripts.filter(|scripts| names.iter().any(|name| scripts.join(name).exists()));
        match (trusted, in_work) {
            (None, false) => self.safe_path = true,
            (None, true) => return Err(self.gate.trusted_copy(module, None).err().unwrap_or_default()),
            (Some(_), _) if self.purpose == Purpose::Check => {
                self.is_python = true;
                self.scripts.extend(names.iter().cloned());
                let context = Context { top: &below, words: &[], moves: false };
                self.stamps.extend(names.iter().map(|name| self.gate.stamps(name, &context)));
                if let Some(other) = names.iter().find(|name| !self.gate.is_same(name, 0)) {
                    return Err(format!(
                        "`{}` is not the same as in the trusted commit, and `python -m {module}` runs it: a person has \
                         to look at the change first",
                        other.display()
                    ));
                }
            }
            (Some(scripts), _) => {
                self.modules.push(scripts.join(&below));
                self.scripts.extend(names);
                self.safe_path = true;
            }
        }
        Ok(())
    }

    /// A program: a trusted one, or one of the project from the trusted commit.
    fn program(&mut self, word: &Word, exact: bool) -> Result<Option<String>, String> {
        if !word.is_plain {
            return Err(format!(
                "which program `{}` is, is not known beforehand: name it without variables",
                word.text
            ));
        }
        if word.text.contains('/') {
            return match self.locate(word)? {
                Located::Nowhere => Err(format!("`{}` was not found", word.text)),
                _ => self.code(word),
            };
        }
        if exact {
            let file = self.surroundings.trusted_program(self.gate, &word.text)?;
            return Ok(Some(file.to_string_lossy().into_owned()));
        }
        // A shell or `env` takes the first one of the folders it is given.
        let (found, refused) = self.gate.places.find(&word.text, Path::new("/"), Some(&self.path));
        match (refused.first(), found) {
            (Some((file, problem)), _) => Err(untrusted(file, problem)),
            (None, Some(file)) => self.gate.check_interpreters(&file, &self.path).map(|()| None),
            (None, None) => Ok(None),
        }
    }

    /// Where a word leads, from any folder that the line changes to.
    fn locate(&self, word: &Word) -> Result<Located, String> {
        let mut all = self.bases.iter().map(|base| self.gate.locate(&word.text, base));
        let found: Vec<_> = all.by_ref().filter(|located| *located != Located::Nowhere).collect();
        match found.as_slice() {
            [] => Ok(Located::Nowhere),
            [one] => Ok(one.clone()),
            [one, more @ ..] if more.iter().all(|other| other == one) => Ok(one.clone()),
            _ => Err(format!("`{}` may be one of several files: write its path from the project", word.text)),
        }
    }

    /// Code that is run: what it is replaced by.
    fn code(&mut self, word: &Word) -> Result<Option<String>, String> {
        if !word.is_plain {
            return Err(format!("which script `{}` is, is not known beforehand", word.text));
        }
        match self.locate(word)? {
            Located::Nowhere => Ok(None),
            Located::Outside(path) => match self.gate.places.problem(&path) {
                Some(problem) => Err(untrusted(&path, &problem)),
                None => self.gate.check_interpreters(&path, &self.path).map(|()| None),
            },
            Located::Inside { path, trusted, .. } => {
                self.is_python |= self.gate.uses_python(&path);
                self.scripts.push(path.clone());
                let from = match self.in_project {
                    true => self.run_from(&word.text, &path, trusted.as_deref())?,
                    false => RunFrom::TrustedCommit(self.gate.trusted_copy(&word.text, trusted.as_deref())?),
                };
                if let Some(trusted) = &trusted {
                    self.gate.check_interpreters(trusted, &self.path)?;
                }
                // A link on the way would lead `..` elsewhere. Otherwise as it is written: it is no other file that is named.
                let in_place = || match word.text.contains("..") {
                    true => self.gate.places.judged().join(&path).to_string_lossy().into_owned(),
                    false => word.text.clone(),
                };
                let copy = match from {
                    RunFrom::TrustedCommit(copy) => copy,
                    RunFrom::Project(stamps) => {
                        self.stamps.push(stamps);
                        return Ok(Some(in_place()));
                    }
                };
                self.gate.check_packages(&word.text, &copy)?;
                if self.safe_path {
                    self.modules.extend(copy.parent().map(Path::to_owned));
                }
                Ok(Some(copy.to_string_lossy().into_owned()))
            }
        }
    }

    /// Where a script is run from that works in the project itself.
    fn run_from(&self, word: &str, path: &Path, trusted: Option<&Path>) -> Result<RunFrom, String> {
        let top = self.top();
        let context = Context { top: &top, words: &self.words, moves: self.bases.len() > 1 };
        self.gate.run_from(word, path, trusted, &context)
    }

    /// The folder that is worked in, as a path in the work tree.
    fn top(&self) -> PathBuf {
        let root = self.root.canonicalize().ok();
        let top = root.as_deref().and_then(|root| root.strip_prefix(self.gate.places.judged()).ok());
        top.unwrap_or(Path::new("")).to_owned()
    }

    fn code_if_there(&mut self, word: &Word) -> Result<Option<String>, String> {
        if word.is_plain { self.code(word) } else { Ok(None) }
    }

    /// A word of a reviewer that names a file of the project, also as `--option=FILE`.
    fn named_file(&mut self, word: &Word) -> Result<Option<String>, String> {
        let (option, name) = match word.text.split_once('=') {
            Some((option, name)) if option.starts_with('-') => (format!("{option}="), name),
            _ => (String::new(), word.text.as_str()),
        };
        let located = self.gate.locate(name, self.root);
        let Located::Inside { path, trusted, judged } = located else { return Ok(None) };
        let is_file = [&trusted, &judged].into_iter().flatten().any(|path| path.is_file());
        if self.purpose == Purpose::Check || name.is_empty() || !is_file {
            return Ok(None);
        }
        let copy = self.gate.trusted_copy(name, trusted.as_deref())?;
        self.scripts.push(path);
        Ok(Some(format!("{option}{}", copy.display())))
    }

    /// A variable that the line sets; folders of the project in it are those of the trusted commit.
    fn assigned(&self, word: &Word, value: &str) -> Result<Option<String>, String> {
        let name = word.text.split('=').next().unwrap_or_default();
        let inside = |part: &str| {
            !part.is_empty() && matches!(self.gate.locate(part, self.root), Located::Inside { .. })
        };
        // Where the results of a build go, as without the variable.
        let is_output = name == "CARGO_TARGET_DIR";
        if crate::programs::steers(name) && !is_output && (!word.is_plain || value.split(':').any(inside)) {
            return Err(format!("`{name}` leads into the project that is judged"));
        }
        Ok(None)
    }
}

/// The words of a command that no shell reads.
pub(super) fn exact(words: &[String]) -> Vec<Word> {
    words.iter().map(|text| Word { text: text.clone(), span: 0..0, is_plain: true }).collect()
}
