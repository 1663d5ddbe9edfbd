//! Where an answer goes: one format to standard output, others to files. A file says that there is no verdict until there
//! is one, so that a file of an earlier call is never taken for this one's.

use super::Format;
use super::log_lines::is_read;
use super::report::Report;
use super::sources::unfinished;
use countersign_app::{Code, Failure};
use countersign_core::outcome::Outcome;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The commands whose answers are about work that was judged, by their first word.
const JUDGING: [&str; 7] = ["review", "ci", "show", "run", "retry", "task", "rule"];
const FLAG: &str = "--format";

/// A value of `--format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub format: Format,
    /// None for standard output.
    pub file: Option<PathBuf>,
}

impl std::str::FromStr for Wanted {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (name, file) = match typed.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (typed, None),
        };
        let format = Format::named(name)
            .ok_or_else(|| format!("there is no format `{name}`; formats are {}", Format::names()))?;
        if file == Some("") {
            return Err(format!("`{typed}` names no file: {name}=FILE"));
        }
        Ok(Self { format, file: file.map(PathBuf::from) })
    }
}

/// A file that gets the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub format: Format,
    pub path: PathBuf,
    /// Whether others write to it too.
    pub append: bool,
}

impl Target {
    pub fn is_writable(&self) -> bool {
        OpenOptions::new().append(true).create(true).open(&self.path).is_ok()
    }
}

/// Where the answer of a command goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs {
    pub stdout: Format,
    pub files: Vec<Target>,
}

impl Outputs {
    pub fn to_stdout(format: Format) -> Self {
        Self { stdout: format, files: vec![] }
    }

    /// What was asked for. `command` has to be one that judges, unless its own formats are enough.
    pub fn of(json: bool, wanted: &[Wanted], command: &str) -> Result<Self, Failure> {
        let first = command.split(' ').next().unwrap_or_default();
        let is_own = |wanted: &&Wanted| matches!(wanted.format, Format::Text | Format::Json);
        if let Some(other) = wanted.iter().find(|wanted| !is_own(wanted))
            && !JUDGING.contains(&first)
        {
            let name = other.format.name();
            return Err(Failure::usage(format!("`countersign {command}` has no findings for {FLAG} {name}"))
                .hint(format!("{FLAG} {name} is for {}", JUDGING.join(", "))));
        }
        Self::anywhere(json, wanted)
    }

    /// The same for any command.
    fn anywhere(json: bool, wanted: &[Wanted]) -> Result<Self, Failure> {
        let mut outputs = Self::to_stdout(if json { Format::Json } else { Format::Text });
        let mut is_named = json;
        for Wanted { format, file } in wanted {
            let name = format.name();
            match file {
                Some(path) => {
                    outputs.files.push(Target { format: *format, path: path.clone(), append: false });
                }
                None if is_named && outputs.stdout != *format => {
                    return Err(Failure::usage(format!(
                        "{} and {name} cannot both be on standard output",
                        outputs.stdout.name()
                    ))
                    .hint(format!("write one of them to a file: {FLAG} {name}=FILE")));
                }
                None => (outputs.stdout, is_named) = (*format, true),
            }
        }
        Ok(outputs)
    }

    /// In a job of GitHub the log has annotations, and the step has a summary and outputs.
    pub fn add_of_job(&mut self) {
        if !is_read() {
            return;
        }
        if self.stdout == Format::Text {
            self.stdout = Format::Github;
        }
        for (variable, format) in
            [("GITHUB_STEP_SUMMARY", Format::Markdown), ("GITHUB_OUTPUT", Format::Outputs)]
        {
            let path = std::env::var_os(variable).filter(|path| !path.is_empty());
            self.files.extend(path.map(|path| Target { format, path: path.into(), append: true }));
        }
    }

    /// Makes every file say that there is no verdict yet. A file that cannot be written is a mistake of the caller, told
    /// before a reviewer is asked.
    pub fn begin(&self) -> Result<(), Failure> {
        for target in self.files.iter().filter(|target| !target.append && is_plain(&target.path)) {
            let failure = Failure::new(Outcome::Interrupted, Code::Interrupted, "the command has not ended");
            let text = match target.format {
                Format::Text | Format::Json => failed_text(target.format, "", &failure),
                format => format.render(&unfinished()).unwrap_or_default(),
            };
            write(target, &text).map_err(|error| {
                Failure::usage(format!("`{}` cannot be written: {error}", target.path.display()))
                    .hint(format!("name another file in {FLAG} {}=FILE", target.format.name()))
            })?;
        }
        Ok(())
    }

    /// Writes the answer to every file. False, with a message, where one could not be written.
    pub fn write(&self, text: impl Fn(Format) -> String) -> bool {
        let mut is_written = true;
        for target in &self.files {
            if let Err(error) = write(target, &text(target.format)) {
                let _ = writeln!(
                    anstream::stderr(),
                    "error: `{}` could not be written: {error}",
                    target.path.display()
                );
                is_written = false;
            }
        }
        is_written
    }
}

/// A failure in one of the two formats that every command has.
pub fn failed_text(format: Format, command: &'static str, failure: &Failure) -> String {
    match format {
        Format::Json => crate::output::json_line(countersign_app::answer::v1::Failed::of(command, failure)),
        _ => format!("{}: {}\n", failure.outcome, failure),
    }
}

/// Whether this is a file of its own, or none yet: no pipe and no device.
fn is_plain(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file()) || path.symlink_metadata().is_err()
}

fn write(target: &Target, text: &str) -> std::io::Result<()> {
    let Target { path, append, .. } = target;
    if *append || !is_plain(path) {
        return OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes());
    }
    fs::write(path, text)
}

/// What a command line asks for that could not be read as a whole: what can be read of it.
pub fn typed(words: impl Iterator<Item = String>) -> Outputs {
    let words: Vec<String> = words.collect();
    let json = words.iter().any(|word| word == "--json");
    let mut wanted = vec![];
    for (n, word) in words.iter().enumerate() {
        let value = match word.strip_prefix("--format=") {
            Some(value) => Some(value),
            None if word == FLAG => words.get(n + 1).map(String::as_str),
            None => None,
        };
        wanted.extend(value.and_then(|value| value.parse::<Wanted>().ok()));
    }
    let mut outputs = Outputs::anywhere(json, &wanted)
        .unwrap_or_else(|_| Outputs::to_stdout(if json { Format::Json } else { Format::Text }));
    if words.iter().any(|word| word == "ci") {
        outputs.add_of_job();
    }
    outputs
}

/// The report about a failure, with paths as the repository has them.
pub fn of_failure(command: &'static str, failure: &Failure) -> Report {
    let here = std::env::current_dir().unwrap_or_default();
    let top = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here).to_owned();
    let failed = countersign_app::answer::v1::Failed::of(command, failure);
    Report::of_failure(&failed, &top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_20_formats_go_where_they_are_told() {
        let wanted =
            |typed: &[&str]| -> Vec<Wanted> { typed.iter().map(|one| one.parse().unwrap()).collect() };
        let of = |json, typed: &[&str], command| {
            Outputs::of(json, &wanted(typed), command).map(|outputs| {
                (outputs.stdout, outputs.files.iter().map(|file| file.format).collect::<Vec<_>>())
            })
        };
        let ok = |json, typed, command| of(json, typed, command).unwrap();
        assert_eq!(ok(false, &[], "review"), (Format::Text, vec![]));
        assert_eq!(ok(true, &["sarif=a"], "review"), (Format::Json, vec![Format::Sarif]));
        assert_eq!(ok(false, &["sarif=a", "github"], "task done"), (Format::Github, vec![Format::Sarif]));
        assert_eq!(ok(false, &["json"], "status"), (Format::Json, vec![]));
        for (json, typed, command) in [
            (true, vec!["github"], "review"),
            (false, vec!["sarif", "junit"], "ci"),
            (false, vec!["sarif"], "status"),
        ] {
            assert!(of(json, &typed, command).is_err(), "{typed:?}");
        }
        for wrong in ["sarf", "sarif=", "=x", ""] {
            assert!(wrong.parse::<Wanted>().is_err(), "{wrong}");
        }
    }
}
