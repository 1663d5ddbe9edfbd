//! The token of a server: kept in a file that only its owner can read, shown once.

use countersign_app::Failure;
use countersign_core::digest::Digest;
use countersign_engine::fresh;
use countersign_engine::ledger::Ledger;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const BYTES: usize = 32;
/// How much of its digest is the public name of a token.
const NAME_LETTERS: usize = 8;

/// A token. It has no `Debug`, so that it is not printed by accident.
pub struct Token(String);

impl Token {
    /// Whether an `Authorization` header has it. Compares in constant time.
    pub fn admits(&self, header: Option<&[u8]>) -> bool {
        let Some((scheme, given)) = header.and_then(|header| header.split_at_checked("Bearer ".len())) else {
            return false;
        };
        let own = self.0.as_bytes();
        let same = given.len() == own.len();
        let difference = own.iter().zip(given).fold(0, |sum, (a, b)| std::hint::black_box(sum | (a ^ b)));
        scheme.eq_ignore_ascii_case(b"Bearer ") && same && difference == 0
    }
}

/// A token that stands for the person who started the server. It is shown at the terminal of that person and kept in no
/// file, where an agent of the same account could read it.
pub struct PersonToken {
    token: Token,
    /// Its public name, for the record of what it was used for.
    pub name: String,
    /// The terminal where it was made.
    pub terminal: Option<String>,
}

impl PersonToken {
    /// Makes one and shows it at the terminal that controls this process.
    pub fn make(server: &str, terminal: Option<String>) -> Result<Self, Failure> {
        let token = make()?;
        let name = Digest::of(token.as_bytes()).as_str().chars().take(NAME_LETTERS).collect();
        let shown = OpenOptions::new().write(true).open("/dev/tty").and_then(|mut tty| {
            writeln!(tty, "{server}: to decide, clients need this token, which is kept nowhere: {token}")
        });
        shown.map_err(|error| {
            Failure::internal(format!("the token cannot be shown at the terminal: {error}"))
        })?;
        Ok(Self { token: Token(token), name, terminal })
    }

    pub fn admits(&self, header: Option<&[u8]>) -> bool {
        self.token.admits(header)
    }
}

/// The token in a file of this folder. It is kept, so that clients need it once; a new one is made where there is none,
/// or others can read it. `server` is the name in messages.
pub fn provide(server: &str, folder: &Path, file: &str) -> Result<Token, Failure> {
    let path = folder.join(file);
    let failure = |error: io::Error| {
        Failure::internal(format!("the token in `{}` cannot be kept: {error}", path.display()))
    };
    if let Some(token) = kept(&path) {
        eprintln!("{server}: clients need the token in {}", path.display());
        return Ok(token);
    }
    Ledger::make_folder(folder)?;
    let token = make()?;
    write(&path, &token).map_err(failure)?;
    eprintln!("{server}: clients need this token, kept in {}: {token}", path.display());
    Ok(Token(token))
}

/// The token in the file, if it is one and only the owner can read it.
fn kept(path: &Path) -> Option<Token> {
    let file = OpenOptions::new().read(true).custom_flags(without_waiting()).open(path).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.mode() & 0o077 != 0 || found.len() > 4096 {
        return None;
    }
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text).ok()?;
    let text = text.trim_end();
    let whole = text.len() == BYTES * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| Token(text.to_owned()))
}

fn make() -> Result<String, Failure> {
    let random = fresh::random::<BYTES>().map_err(|error| Failure::internal(error.to_string()))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a temporary file and renames it: readers never see half a token, and a file that others could have opened is
/// replaced.
fn write(path: &Path, token: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    fs::set_permissions(file.path(), Permissions::from_mode(0o600))?;
    file.write_all(format!("{token}\n").as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Follows no link and waits for no pipe.
fn without_waiting() -> i32 {
    (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_let_in() {
        let token = Token("ab12".to_owned());
        for (header, admitted) in [
            (Some("Bearer ab12"), true),
            (Some("bearer ab12"), true),
            (Some("Bearer ab13"), false),
            (Some("Bearer ab1"), false),
            (Some("Bearer ab122"), false),
            (Some("Bearer "), false),
            (Some("Basic ab12"), false),
            (Some("ab12"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(token.admits(header.map(str::as_bytes)), admitted, "{header:?}");
        }
    }

    #[test]
    fn a_token_is_kept_unless_others_can_read_it() {
        const FILE: &str = "a-token";
        let provide = |folder: &Path| provide("a server", folder, FILE);
        let folder = tempfile::tempdir().unwrap();
        let first = provide(folder.path()).unwrap().0;
        let path = folder.path().join(FILE);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(provide(folder.path()).unwrap().0, first);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let second = provide(folder.path()).unwrap().0;
        assert_ne!(second, first);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        fs::write(&path, "short").unwrap();
        assert_eq!(provide(folder.path()).unwrap().0.len(), 64);
        // A pipe in its place does not block; a link is not followed and is replaced.
        fs::remove_file(&path).unwrap();
        let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
        assert_eq!(provide(folder.path()).unwrap().0.len(), 64);
        let planted = folder.path().join("planted");
        fs::rename(&path, &planted).unwrap();
        std::os::unix::fs::symlink(&planted, &path).unwrap();
        let own = provide(folder.path()).unwrap().0;
        assert_ne!(fs::read_to_string(&planted).unwrap().trim_end(), own);
        assert!(!path.is_symlink());
    }
}
