//! What lies beside a script of the project, and what its text does not name: modules that would be loaded in place of
//! those of a library, parts that it finds by listing a folder.

use super::GateSurroundings;
use super::scripts::{FILES_MAX, Family, names_in, part_of_word, plain};
use crate::stamp;
use countersign_core::digest::{Digest, Parts};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const DEPTH_MAX: usize = 16;
/// What programs keep beside scripts, and nothing loads from there by itself.
const CACHES: &str = "__pycache__ .DS_Store .mypy_cache .pytest_cache .ruff_cache";
/// Modules that come with Python: one of the work with such a name would be loaded in its place.
const PYTHON_LIBRARY: &str = "\
    _abc _aix_support _ast _asyncio _bisect _blake2 _bootsubprocess _bz2 _codecs \
    _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _collections \
    _collections_abc _colorize _compat_pickle _compression _contextvars _crypt _csv \
    _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib \
    _frozen_importlib_external _functools _gdbm _hashlib _heapq _imp _interpreters _io \
    _json _locale _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing \
    _opcode _opcode_metadata _operator _osx_support _overlapped _pickle _posixshmem \
    _posixsubprocess _py_abc _pydecimal _pyio _pyrepl _queue _random _scproxy _sha1 \
    _sha256 _sha3 _sha512 _signal _sitebuiltins _socket _sqlite3 _sre _ssl _stat \
    _statistics _string _strptime _struct _symtable _thread _threading_local _tkinter \
    _tokenize _tracemalloc _typing _uuid _warnings _weakref _weakrefset _winapi \
    _zoneinfo abc aifc annotationlib antigravity argparse array ast asynchat asyncio \
    asyncore atexit audioop base64 bdb binascii bisect builtins bz2 calendar cgi cgitb \
    chunk cmath cmd code codecs codeop collections colorsys compileall compression \
    concurrent configparser contextlib contextvars copy copyreg cProfile crypt csv \
    ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email \
    encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch \
    fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp \
    gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io \
    ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox \
    mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc \
    nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev \
    pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix \
    posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat \
    queue quopri random re readline reprlib resource rlcompleter runpy sched secrets \
    select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket \
    socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics \
    string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny \
    tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token \
    tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing \
    unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg \
    winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// What is around a script in its command line.
pub(super) struct Context<'a> {
    /// The folder that is worked in, as a path in the work tree.
    pub top: &'a Path,
    /// The words of the line.
    pub words: &'a [String],
    /// Whether the line goes to another folder.
    pub moves: bool,
}

impl Context<'_> {
    /// Whether a folder has the work itself in it, and is no folder of scripts.
    pub(super) fn is_top(&self, folder: &Path) -> bool {
        self.top.starts_with(folder)
    }
}

impl GateSurroundings {
    /// The files beside a script that differ between the trusted commit and the work: all in a folder of its own, and
    /// elsewhere those that would be loaded in place of a library.
    pub(super) fn changed_beside(&self, script: &Path, context: &Context<'_>) -> BTreeSet<PathBuf> {
        let folder = script.parent().unwrap_or(Path::new(""));
        let mut found = BTreeSet::new();
        if !context.is_top(folder) {
            self.differing(folder, 0, &mut 0, &mut found);
        }
        for python in self.used_of(script, Family::Python) {
            let folder = python.parent().unwrap_or(Path::new("")).to_owned();
            let names = names_in(&self.places.judged().join(&folder));
            let shadows = names.into_iter().filter(|name| {
                let stem = name.to_str().and_then(|name| name.split('.').next()).unwrap_or_default();
                PYTHON_LIBRARY.split_whitespace().any(|known| known == stem)
            });
            found.extend(shadows.map(|name| folder.join(name)).filter(|name| !self.is_same(name, 0)));
        }
        found.remove(script);
        found
    }

    fn differing(&self, folder: &Path, depth: usize, seen: &mut usize, found: &mut BTreeSet<PathBuf>) {
        let (one, two) = self.both(folder);
        let names: BTreeSet<_> = one.iter().chain(Some(&two)).flat_map(|folder| names_in(folder)).collect();
        for name in names.into_iter().filter(|name| !is_cache(name)) {
            *seen += 1;
            let path = folder.join(name);
            let (one, two) = self.both(&path);
            let are_folders = one.is_some_and(|one| is_folder(&one)) && is_folder(&two);
            if *seen > FILES_MAX || are_folders && depth == DEPTH_MAX {
                found.insert(path);
                return;
            }
            if are_folders {
                self.differing(&path, depth + 1, seen, found);
            } else if !self.is_same(&path, 0) {
                found.insert(path);
            }
        }
    }

    /// A path in the trusted commit, and in the work.
    fn both(&self, path: &Path) -> (Option<PathBuf>, PathBuf) {
        (self.scripts.as_ref().map(|scripts| scripts.join(path)), self.places.judged().join(path))
    }

    /// Whether a script reaches a file beside it by the working folder, so that its trusted copy would not help: its text, that of
    /// another one that it uses, or its line names the file or a folder around it.
    pub(super) fn reaches(&self, script: &Path, file: &Path, context: &Context<'_>) -> bool {
        if context.moves {
            return true;
        }
        let texts = self.used_texts(script);
        let of_texts = texts.iter().flat_map(|text| text.split(|letter| !part_of_word(letter)));
        let of_line = context.words.iter().flat_map(|word| word.split(|letter| !part_of_word(letter)));
        of_texts.chain(of_line).filter(|word| !word.is_empty()).any(|word| {
            [Path::new(""), context.top].iter().any(|top| {
                let path = plain(&top.join(word.trim_start_matches('/')));
                path != script
                    && !context.is_top(&path)
                    && (file.starts_with(&path) || path.starts_with(file))
            })
        })
    }

    /// The stamps of a script in the work, of what it uses and of the folder of its own. Taken before they are compared, they
    /// tell of every edit since then.
    pub(super) fn stamps(&self, script: &Path, context: &Context<'_>) -> Digest {
        let mut parts = Parts::new("stamps/1");
        let mut paths: BTreeSet<PathBuf> = self.used_paths(script);
        let folder = script.parent().unwrap_or(Path::new(""));
        if !context.is_top(folder) {
            self.below(folder, 0, &mut paths);
        }
        if is_folder(&self.places.judged().join(script)) {
            self.below(script, 0, &mut paths);
        }
        for path in paths.iter().take(2 * FILES_MAX) {
            if let Ok(found) = self.places.judged().join(path).symlink_metadata() {
                parts.bytes(path.as_os_str().as_bytes());
                stamp::add(&mut parts, &found);
            }
        }
        parts.digest()
    }

    fn below(&self, folder: &Path, depth: usize, paths: &mut BTreeSet<PathBuf>) {
        paths.insert(folder.to_owned());
        for name in names_in(&self.places.judged().join(folder)).into_iter().filter(|name| !is_cache(name)) {
            let path = folder.join(name);
            if paths.len() > 2 * FILES_MAX || depth == DEPTH_MAX {
                return;
            }
            if is_folder(&self.places.judged().join(&path)) {
                self.below(&path, depth + 1, paths);
            } else {
                paths.insert(path);
            }
        }
    }
}

fn is_cache(name: &Path) -> bool {
    name.to_str().is_some_and(|name| CACHES.split_whitespace().any(|known| known == name))
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
