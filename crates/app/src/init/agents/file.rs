//! A settings file on the disk, inside the project. It is read and replaced as a whole.

use countersign_engine::config::{Diagnostic, FileBytes, Place, Source};
use countersign_engine::workspace::{PathProblem, Root};
use countersign_engine::yaml::read_bounded;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Clone, Debug)]
pub struct Settings {
    /// From the root.
    pub name: &'static str,
    pub path: PathBuf,
    /// The path after links.
    pub real: PathBuf,
    pub linked: bool,
    /// Without the byte order mark; none where there is no file.
    pub text: Option<String>,
    marked: bool,
}

impl Settings {
    pub fn read(root: &Root, name: &'static str) -> Result<Self, Diagnostic> {
        let path = root.join(name);
        let refuse =
            |why: String| nowhere(&path, why).with_hint("make it a readable file; nothing was changed");
        root.relative(root.path(), Path::new(name)).map_err(|problem| match problem {
            PathProblem::Outside { .. } => nowhere(&path, problem.to_string())
                .with_hint("nothing outside the project is written: put a file there instead of the link"),
            problem => refuse(problem.to_string()),
        })?;
        let unreadable = |error: io::Error| refuse(format!("`{name}` cannot be read: {error}"));
        let bytes = read_existing(&path).map_err(unreadable)?;
        let real = if bytes.is_some() { path.canonicalize().map_err(unreadable)? } else { path.clone() };
        let linked = path.is_symlink();
        let Some(bytes) = bytes else {
            return Ok(Self { name, path, real, linked, text: None, marked: false });
        };
        let marked = bytes.starts_with(BYTE_ORDER_MARK.to_string().as_bytes());
        let text = Source::read(&FileBytes { path: path.clone(), bytes })?.text().to_string();
        Ok(Self { name, path, real, linked, text: Some(text), marked })
    }

    /// Replaces the text, or removes the file, unless it was changed meanwhile.
    pub fn replace(&self, text: Option<&str>) -> io::Result<()> {
        let whole = |text: &str| match self.marked {
            true => format!("{BYTE_ORDER_MARK}{text}"),
            false => text.to_owned(),
        };
        let now = read_existing(&self.real)?;
        if now != self.text.as_deref().map(|text| whole(text).into_bytes()) {
            return Err(io::Error::other("another program changed it; run the command again"));
        }
        match text {
            Some(text) => write(&self.real, &whole(text)),
            None => self.delete(),
        }
    }

    /// Deletes the file, and its folder if that is empty then.
    fn delete(&self) -> io::Result<()> {
        fs::remove_file(&self.real)?;
        if self.name.contains('/')
            && let Some(folder) = self.real.parent()
        {
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

fn nowhere(path: &Path, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("unreadable", Place::start_of(&Source::new(path, "")), message)
}

/// The bytes of a file, at most one more than allowed; none if there is no file.
fn read_existing(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_bounded(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some),
    }
}

/// Writes atomically. The file keeps its permissions; a new file has the usual ones.
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
