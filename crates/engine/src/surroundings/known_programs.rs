//! What is known of programs that start others: which of their words is the program or script that runs.

/// Programs that start another one: their options with a value, and how many words stand before the program.
pub(super) const WRAPPERS: &[(&str, &[&str], usize)] = &[
    ("caffeinate", &[], 0),
    ("chronic", &[], 0),
    ("chrt", &[], 1),
    ("command", &[], 0),
    ("doas", &["-u"], 0),
    ("env", &["-u", "--unset"], 0),
    ("exec", &["-a"], 0),
    ("flock", &["-w", "-E"], 1),
    ("ionice", &["-c", "-n"], 0),
    ("nice", &["-n"], 0),
    ("nohup", &[], 0),
    ("parallel", &["-j", "-n"], 0),
    ("setsid", &[], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("strace", &["-o", "-e"], 0),
    ("sudo", &["-u", "-g"], 0),
    ("taskset", &[], 1),
    ("time", &["-f", "-o"], 0),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    ("unbuffer", &[], 0),
    ("watch", &["-n"], 0),
    ("xvfb-run", &[], 0),
    ("xargs", &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"], 0),
];
/// Programs that take what they run from the folder they are in.
pub(super) const RUNNERS: &str = "bundle bunx cargo cmake composer go gradle gradlew just make mvn ninja nox npm npx pdm pipenv pnpm \
                       pnpx poetry rake task tox uv uvx yarn";
pub(super) const SHELLS: &str = "ash bash busybox dash fish ksh sh zsh";
pub(super) const INTERPRETERS: &str =
    "awk bun deno gawk lua node nodejs perl php Rscript ruby sed ts-node tsx";
/// Options that are followed by a file or another value: of shells, of Python, of other interpreters.
pub(super) const SHELL_VALUES: &str = "-o -O --rcfile --init-file";
pub(super) const PYTHON_VALUES: &str = "-W -X";
pub(super) const OTHER_VALUES: &str = "-r --require --import --loader --experimental-loader -I";
/// Options of interpreters that are followed by a program in text.
pub(super) const TEXT_OPTIONS: &str = "-e -E -p -pe -ne --eval --print";
/// Modules of Python that test the work.
pub(super) const TEST_MODULES: &str =
    "build compileall coverage doctest flake8 mypy nose2 pip py_compile pylint pytest ruff tox unittest";
/// Compiled files of Python beside a script are neither believed nor written.
pub(super) const PYTHON_FILES: [(&str, &str); 2] =
    [("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONPYCACHEPREFIX", "/dev/null/none")];
/// Options of interpreters that say nothing about where the script is.
pub(super) const PLAIN_FLAGS: &str = "-s -x -e -u -eu -ex -eux -l -i -B -I -E";
/// Options of `find` that are followed by a program.
pub(super) const EXEC_OPTIONS: &str = "-exec -execdir -ok -okdir";
pub(super) const SOURCE: [&str; 2] = [".", "source"];

pub(super) fn is_one_of(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

pub(super) fn is_python(name: &str) -> bool {
    name.strip_prefix("python")
        .or(name.strip_prefix("pypy"))
        .is_some_and(|version| version.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

pub(super) fn is_interpreter(name: &str) -> bool {
    is_python(name) || is_one_of(SHELLS, name) || is_one_of(INTERPRETERS, name)
}
