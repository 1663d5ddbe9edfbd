//! The bytes and the text of one file, and places in it.

use super::diagnostic::Diagnostic;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// A file as it was read, not yet looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// Where it came from, as people should see it.
    pub path: PathBuf,
    /// What was in it; at most one byte more than [`MAX_FILE_BYTES`] needs to be read.
    pub bytes: Vec<u8>,
}

/// A readable file: text, within the size limit.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    text: Arc<str>,
    line_starts: Vec<usize>,
}

impl Source {
    /// Text that is known to be text. A byte order mark is left out, so that the first column is column 1.
    pub fn new(path: impl Into<PathBuf>, text: &str) -> Arc<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Arc::new(Self { path: path.into(), text: text.into(), line_starts })
    }

    /// The file as text, or why it is none.
    pub fn read(file: &FileBytes) -> Result<Arc<Self>, Diagnostic> {
        Self::read_within(file, MAX_FILE_BYTES)
    }

    /// The same for a file that may be of another size.
    pub fn read_within(file: &FileBytes, max_bytes: usize) -> Result<Arc<Self>, Diagnostic> {
        if file.bytes.len() > max_bytes {
            let message = format!("the file is larger than {max_bytes} bytes");
            let place = Place::start_of(&Self::new(&file.path, ""));
            return Err(Diagnostic::new("too-large", place, message));
        }
        match std::str::from_utf8(&file.bytes) {
            Ok(text) => Ok(Self::new(&file.path, text)),
            Err(error) => {
                let (good, _) = file.bytes.split_at(error.valid_up_to());
                let source = Self::new(&file.path, &String::from_utf8_lossy(good));
                let end = source.text.len();
                let message = "the file is not UTF-8 from here on";
                Err(Diagnostic::new("not-utf8", Place::new(&source, end..end), message)
                    .with_hint("save it as UTF-8"))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The byte at which this line and column (both from 1, columns in characters) is.
    pub(super) fn offset(&self, line: usize, column: usize) -> usize {
        let Some(start) = self.line_starts.get(line.saturating_sub(1)).copied() else {
            return self.text.len();
        };
        let line = self.text.get(start..).unwrap_or_default();
        let before = line.chars().take(column.saturating_sub(1)).take_while(|c| *c != '\n');
        start + before.map(char::len_utf8).sum::<usize>()
    }
}

/// A range of bytes in a file. Line and column are worked out on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    source: Arc<Source>,
    span: Range<usize>,
}

impl Place {
    /// This range of the file; bounds that are no character boundary or beyond the end are moved back.
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Self {
        let start = source.text.floor_char_boundary(span.start);
        let end = source.text.floor_char_boundary(span.end).max(start);
        Self { source: Arc::clone(source), span: start..end }
    }

    /// The first byte of the file, for what concerns all of it.
    pub fn start_of(source: &Arc<Source>) -> Self {
        Self::new(source, 0..0)
    }

    pub fn file(&self) -> &Path {
        &self.source.path
    }

    /// The whole text of the file, for showing lines of it.
    pub fn source(&self) -> &Arc<str> {
        &self.source.text
    }

    /// The bytes that are meant; empty where something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.source.line_starts.partition_point(|start| *start <= self.span.start)
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        let start = self.source.line_starts.get(self.line() - 1).copied().unwrap_or_default();
        1 + self.source.text.get(start..self.span.start).unwrap_or_default().chars().count()
    }
}

/// Reads a file, as far as it may be large.
pub fn read_file(path: &Path) -> Result<FileBytes, Diagnostic> {
    let bytes = read_bounded(path).map_err(|error| unreadable(path, &reason(&error)))?;
    Ok(FileBytes { path: path.to_owned(), bytes })
}

/// Opens a file and nothing else: opening a named pipe would wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
    let file = File::options().read(true).custom_flags(nonblock.cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file")),
    }
}

/// The bytes of a file, at most one more than [`MAX_FILE_BYTES`]: enough to know that it is too large.
pub fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MAX_FILE_BYTES)
}

/// The bytes of a file that may be of another size, likewise at most one more.
pub fn read_at_most(path: &Path, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The problem of a file that cannot be read. It has no line to point at.
pub fn unreadable(path: &Path, why: &str) -> Diagnostic {
    let place = Place::start_of(&Source::new(path, ""));
    Diagnostic::new("unreadable", place, format!("`{}` cannot be read: {why}", path.display()))
}

/// The words of the system without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = Source::new("f", "\u{feff}é: ñ\r\nb: x");
        for (offset, line, column) in [(0, 1, 1), (2, 1, 2), (4, 1, 4), (8, 2, 1), (11, 2, 4), (12, 2, 5)] {
            let place = Place::new(&source, offset..offset);
            assert_eq!((place.line(), place.column()), (line, column), "byte {offset}");
            assert_eq!(source.offset(line, column), offset);
        }
        assert_eq!(source.offset(9, 9), 12);
        assert_eq!(Place::new(&source, 1..500).span(), 0..12);
    }
}
