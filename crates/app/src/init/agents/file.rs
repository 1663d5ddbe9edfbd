//! A settings file on the disk: inside the project, read whole, replaced whole.

use countersign_engine::config::{Diagnostic, FileBytes, MAX_FILE_BYTES, Place, Source};
use countersign_engine::workspace::{PathProblem, Root};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file, and what is in it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// As the agent knows it, from the root.
    pub name: &'static str,
    /// The same, absolute.
    pub path: PathBuf,
    /// Where its bytes are, links followed.
    pub real: PathBuf,
    /// Whether a link leads to it.
    pub linked: bool,
    /// Its text, where it is there. A byte order mark is kept apart.
    pub text: Option<String>,
    marked: bool,
}

impl Settings {
    /// Reads a file of the project, if it is there.
    pub fn read(root: &Root, name: &'static str) -> Result<Self, Diagnostic> {
        let path = root.join(name);
        let refuse = |why: String| {
            nowhere(&path, why).with_hint("make it a file that can be read; nothing was changed")
        };
        root.relative(root.path(), Path::new(name)).map_err(|problem| match problem {
            PathProblem::Outside { .. } => nowhere(&path, problem.to_string())
                .with_hint("nothing outside the project is written: put a file there instead of the link"),
            problem => refuse(problem.to_string()),
        })?;
        let unreadable = |error: io::Error| refuse(format!("`{name}` cannot be read: {error}"));
        let bytes = read_bounded(&path).map_err(unreadable)?;
        let real = if bytes.is_some() { path.canonicalize().map_err(unreadable)? } else { path.clone() };
        let linked = path.is_symlink();
        let Some(bytes) = bytes else {
            return Ok(Self { name, path, real, linked, text: None, marked: false });
        };
        let marked = bytes.starts_with(BYTE_ORDER_MARK.to_string().as_bytes());
        let text = Source::read(&FileBytes { path: path.clone(), bytes })?.text().to_string();
        Ok(Self { name, path, real, linked, text: Some(text), marked })
    }

    /// Puts another text in its place, or takes the file away; only if nobody else changed it meanwhile.
    pub fn replace(&self, text: Option<&str>) -> io::Result<()> {
        let whole = |text: &str| match self.marked {
            true => format!("{BYTE_ORDER_MARK}{text}"),
            false => text.to_owned(),
        };
        let now = read_bounded(&self.real)?;
        if now != self.text.as_deref().map(|text| whole(text).into_bytes()) {
            return Err(io::Error::other("it was changed meanwhile; run the command again"));
        }
        match text {
            Some(text) => write(&self.real, &whole(text)),
            None => self.delete(),
        }
    }

    /// Deletes the file, and its folder if that was only there for it.
    fn delete(&self) -> io::Result<()> {
        fs::remove_file(&self.real)?;
        if self.name.contains('/')
            && let Some(folder) = self.real.parent()
        {
            // Not empty is the usual case, and no problem.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// A problem with a file as a whole.
fn nowhere(path: &Path, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("unreadable", Place::start_of(&Source::new(path, "")), message)
}

/// The bytes of a file, one more than allowed at most; nothing if it is not there.
fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // Opening a named pipe would wait for somebody to write to it.
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        found => found?,
    };
    let mut bytes = vec![];
    File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Whoever reads the file sees the old text or the new one. It keeps its permissions; a new file has the usual ones.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(before) = fs::metadata(path) {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
