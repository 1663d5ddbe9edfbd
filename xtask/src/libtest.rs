//! Reads what `cargo test` and the test programs print: which tests ran, where, how long each took.

#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    pub seconds: f64,
    /// The test program: `package`, `package::bin/name` or `package::integration`.
    pub binary: String,
    pub name: String,
}

/// The results after the lines so far.
#[derive(Debug, Default)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    /// Every test that reported a time.
    pub timed: Vec<Timed>,
    unfinished: Vec<String>,
    /// The program that is running, until its result line.
    running: Option<Running>,
}

#[derive(Debug, Default)]
struct Running {
    package: Option<String>,
    kind: Kind,
    stem: String,
}

#[derive(Debug, Default, PartialEq)]
enum Kind {
    Library,
    Binary,
    #[default]
    Integration,
}

impl Tally {
    /// Takes one line of output into account.
    pub fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(running) = parse_running(line) {
            self.finish();
            self.running = Some(running);
        } else if let Some(package) = line.strip_prefix(PACKAGE_MARK) {
            if let Some(running) = &mut self.running {
                running.package = Some(package.to_owned());
            }
        } else if let Some((passed, failed)) = parse_result(line) {
            self.passed += passed;
            self.failed += failed;
            self.running = None;
        } else if let Some((name, seconds)) = parse_timed(line) {
            let binary = self.running.as_ref().map(Running::id).unwrap_or_default();
            self.timed.push(Timed { seconds, binary, name: name.to_owned() });
        }
    }

    /// The output is over, or the next program starts: a program without a result by now has none.
    pub fn finish(&mut self) {
        if let Some(running) = self.running.take() {
            self.unfinished.push(running.id());
        }
    }

    pub fn slowest(&self, count: usize) -> Vec<&Timed> {
        let mut all: Vec<&Timed> = self.timed.iter().collect();
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.name.cmp(&b.name)));
        all.truncate(count);
        all
    }

    /// Why a successful exit code must not be believed, if so.
    pub fn doubt(&self) -> Option<String> {
        if !self.unfinished.is_empty() {
            return Some(format!(
                "these test programs ended without a `test result:` line: {}; does a test call exit()?",
                self.unfinished.join(", ")
            ));
        }
        if self.failed > 0 {
            return Some(format!("{} tests failed although cargo reported success", self.failed));
        }
        if self.passed == 0 {
            return Some("no test was run, so nothing was tested; is a filter too narrow?".to_owned());
        }
        None
    }
}

impl Running {
    fn id(&self) -> String {
        let package = self.package.as_deref().unwrap_or("?");
        match self.kind {
            Kind::Library => package.to_owned(),
            Kind::Binary => format!("{package}::bin/{}", self.stem),
            Kind::Integration => format!("{package}::{}", self.stem),
        }
    }
}

/// What the runner of `cargo xtask test` prints before the package's name: cargo itself names only
/// `tests/it/main.rs`, which every package has.
pub const PACKAGE_MARK: &str = "     Package ";

/// `     Running unittests src/lib.rs (target/debug/deps/countersign_core-718f163ac8f9e66f)` or
/// `   Doc-tests countersign_core`.
fn parse_running(line: &str) -> Option<Running> {
    if let Some(package) = line.strip_prefix("   Doc-tests ") {
        return Some(Running {
            package: Some(package.to_owned()),
            kind: Kind::Integration,
            stem: "doc".to_owned(),
        });
    }
    let (source, path) = line.strip_prefix("     Running ")?.strip_suffix(')')?.rsplit_once(" (")?;
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let stem = file.rsplit_once('-').map_or(file, |(stem, _hash)| stem).to_owned();
    let kind = match source.strip_prefix("unittests ") {
        Some(root) if root.ends_with("lib.rs") => Kind::Library,
        Some(_) => Kind::Binary,
        None => Kind::Integration,
    };
    Some(Running { package: None, kind, stem })
}

/// `test result: ok. 8 passed; 0 failed; 0 ignored; …` gives (8, 0).
fn parse_result(line: &str) -> Option<(u64, u64)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        counts.split("; ").find_map(|part| part.strip_suffix(word)?.trim_end().parse::<u64>().ok())
    };
    Some((count("passed")?, count("failed")?))
}

/// `test ids::tests::letters ... ok <0.003s>` gives the name and 0.003.
fn parse_timed(line: &str) -> Option<(&str, f64)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let (_, time) = outcome.split_once(" <")?;
    let seconds: f64 = time.strip_suffix("s>")?.parse().ok()?;
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    Some((name.strip_suffix(" - should panic").unwrap_or(name), seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(output: &str) -> Tally {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.line(line));
        tally.finish();
        tally
    }

    #[test]
    fn time_lines() {
        let table = [
            ("test ids::tests::letters ... ok <0.003s>", Some(("ids::tests::letters", 0.003))),
            ("test a ... FAILED <12.500s>", Some(("a", 12.5))),
            ("test a - should panic ... ok <0.001s>", Some(("a", 0.001))),
            ("test src/lib.rs - a (line 3) ... ok <0.200s>", Some(("src/lib.rs - a (line 3)", 0.2))),
            ("test a ... ok", None),
            ("test a ... ignored", None),
            ("test a ... ok <soon>", None),
            ("test a ... ok <NaNs>", None),
            ("test a has been running for over 60 seconds", None),
            ("a line that says test a ... ok <0.003s>", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(parse_timed(line), expected, "{line}");
        }
    }

    #[test]
    fn result_lines() {
        let table = [
            (
                "test result: ok. 8 passed; 0 failed; 2 ignored; 0 measured; 1 filtered out; finished in 0.01s",
                Some((8, 0)),
            ),
            ("test result: FAILED. 3 passed; 2 failed; 0 ignored", Some((3, 2))),
            ("test result: ok.", None),
            ("test result: ok. many passed; 0 failed", None),
        ];
        for (line, expected) in table {
            assert_eq!(parse_result(line), expected, "{line}");
        }
    }

    #[test]
    fn programs_are_told_apart() {
        let table = [
            ("     Running unittests src/lib.rs (target/debug/deps/some_lib-718f163ac8f9e66f)", "some-lib"),
            ("     Running unittests src/main.rs (target/debug/deps/tool-81a1)", "some-lib::bin/tool"),
            ("     Running tests/it/main.rs (/a (b)/deps/it-81a1)", "some-lib::it"),
        ];
        for (line, expected) in table {
            let output = format!("{line}\n     Package some-lib\n\ntest a ... ok <1.000s>\n");
            let expected = Timed { seconds: 1.0, binary: expected.to_owned(), name: "a".to_owned() };
            assert_eq!(tally(&output).timed, [expected], "{line}");
        }
        assert!(parse_running("     Running `target/debug/xtask`").is_none());
    }

    #[test]
    fn the_slowest_come_first_and_are_few() {
        let tally = tally("test a ... ok <0.100s>\ntest c ... ok <2.000s>\ntest b ... FAILED <2.000s>\n");
        let names: Vec<&str> = tally.slowest(2).iter().map(|timed| timed.name.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn success_is_doubted_without_evidence() {
        const RUN: &str = "     Running tests/it/main.rs (deps/it-81a1)\n     Package p\n";
        let result = |passed: u32, failed: u32| {
            format!("test result: ok. {passed} passed; {failed} failed; 0 ignored\n")
        };
        let table = [
            (String::new(), Some("no test was run")),
            (format!("{RUN}{}", result(0, 0)), Some("no test was run")),
            (format!("{RUN}{}{RUN}{}", result(0, 0), result(1, 0)), None),
            (format!("{RUN}{}", result(1, 1)), Some("1 tests failed")),
            (format!("{RUN}{RUN}{}", result(1, 0)), Some("without a `test result:` line: p::it;")),
            (format!("{RUN}{}{RUN}", result(1, 0)), Some("without a `test result:` line: p::it;")),
        ];
        for (output, expected) in table {
            let doubt = tally(&output).doubt();
            match expected {
                None => assert_eq!(doubt, None, "{output}"),
                Some(words) => {
                    assert!(doubt.as_deref().is_some_and(|d| d.contains(words)), "{output}{doubt:?}")
                }
            }
        }
    }
}
