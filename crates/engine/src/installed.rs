//! Which programs are installed: found on the `PATH`, and never started here.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where a program is: a path with a `/` from `base`, a bare name on the `PATH`.
pub fn find(program: &str, base: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(join(base, program)).filter(|file| is_executable(file));
    }
    let folders = std::env::split_paths(path?);
    folders.map(|folder| base.join(folder).join(program)).find(|file| is_executable(file))
}

/// A path below another, without the `./` people write in front of programs.
pub fn join(base: &Path, path: &str) -> PathBuf {
    base.join(path).components().collect()
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
