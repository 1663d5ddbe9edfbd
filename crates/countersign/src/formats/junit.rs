//! `junit`: a JUnit report. Each criterion is a test case; a question without an answer, and all else that keeps a verdict
//! from being one, is an error. The last case is the verdict, so that no report is empty.

use super::report::{Item, Kind, OWN, Report};
use super::text::{line, lines, xml};
use std::collections::BTreeMap;

const CASES_MAX: usize = 10_000;
const TEXT_BYTES_MAX: usize = 4096;
const NAME_BYTES_MAX: usize = 300;

/// The cases of a rule, with what JUnit counts.
#[derive(Default)]
struct Suite {
    cases: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Suite {
    fn push(&mut self, class: &str, name: &str, place: &str, result: &Result) {
        let (class, name) = (xml(&line(class, NAME_BYTES_MAX)), xml(&line(name, NAME_BYTES_MAX)));
        self.tests += 1;
        let inner = match result {
            Result::Passed => String::new(),
            Result::Said(words) => format!("<system-out>{}</system-out>", xml(words)),
            Result::Failed { kind, words } => {
                self.failures += 1;
                element("failure", kind, words)
            }
            Result::Broken { kind, words } => {
                self.errors += 1;
                element("error", kind, words)
            }
            Result::Skipped(words) => {
                self.skipped += 1;
                format!("<skipped message=\"{}\"/>", xml(&line(words, NAME_BYTES_MAX)))
            }
        };
        self.cases.push_str(&format!(
            "    <testcase classname=\"{class}\" name=\"{name}\"{place} time=\"0\">{inner}</testcase>\n"
        ));
    }

    fn counts(&self) -> String {
        let Self { tests, failures, errors, skipped, .. } = self;
        format!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"0\""
        )
    }
}

enum Result {
    Passed,
    /// It passes, and something is to be said.
    Said(String),
    Failed {
        kind: String,
        words: String,
    },
    Broken {
        kind: String,
        words: String,
    },
    Skipped(String),
}

fn element(name: &str, kind: &str, words: &str) -> String {
    let first = line(words.lines().next().unwrap_or_default(), NAME_BYTES_MAX);
    let kind = xml(&line(kind, NAME_BYTES_MAX));
    format!("<{name} message=\"{}\" type=\"{kind}\">{}</{name}>", xml(&first), xml(words))
}

pub fn render(report: &Report) -> String {
    let mut suites: BTreeMap<&str, Suite> = BTreeMap::new();
    // A place for the verdict stays free.
    let items = report.at_most(CASES_MAX - 1);
    for item in &items {
        push_item(suites.entry(&item.rule).or_default(), item);
    }
    let room = CASES_MAX - 1 - items.len();
    for passed in report.passed.iter().take(room) {
        let name = format!("{}: {}", passed.criterion, passed.target);
        suites.entry(&passed.rule).or_default().push(&passed.rule, &name, "", &Result::Passed);
    }
    let passed_left_out = report.passed.len().saturating_sub(room);
    suites.entry(OWN).or_default().push(OWN, "verdict", "", &verdict(report, passed_left_out));
    let mut total = Suite::default();
    let mut out = String::new();
    for (name, suite) in &suites {
        total.tests += suite.tests;
        total.failures += suite.failures;
        total.errors += suite.errors;
        total.skipped += suite.skipped;
        let name = xml(&line(name, NAME_BYTES_MAX));
        let Suite { cases, .. } = suite;
        out.push_str(&format!("  <testsuite name=\"{name}\" {}>\n{cases}  </testsuite>\n", suite.counts()));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"countersign\" {}>\n{out}</testsuites>\n",
        total.counts()
    )
}

fn push_item(suite: &mut Suite, item: &Item) {
    let words = lines(&item.message, TEXT_BYTES_MAX);
    let (mut name, mut place) = (format!("{}: {}", item.criterion, item.target), String::new());
    if let Some(at) = &item.place {
        place = format!(" file=\"{}\"", xml(&at.path));
        name = format!("{}: {}", item.criterion, at.path);
        if let Some(line) = at.line {
            place.push_str(&format!(" line=\"{line}\""));
            name.push_str(&format!(":{line}"));
        }
    }
    let kind = item.rule_id();
    let result = match item.kind {
        Kind::Blocks => Result::Failed { kind, words },
        Kind::Advice | Kind::Accepted => Result::Said(words),
        Kind::NotCovered | Kind::PassedUnseen | Kind::NotJudged | Kind::LeftOut => Result::Skipped(words),
        Kind::NoVerdict | Kind::Outcome | Kind::Error | Kind::NotSeen => Result::Broken { kind, words },
    };
    suite.push(&item.rule, &name, &place, &result);
}

fn verdict(report: &Report, passed_left_out: usize) -> Result {
    let mut words = vec![report.headline.clone()];
    if passed_left_out > 0 {
        words.push(format!("{passed_left_out} criteria that passed are not listed"));
    }
    words.extend(report.notes.iter().cloned());
    words.extend(report.next.iter().map(|step| format!("next: {step}")));
    let (words, kind) = (lines(&words.join("\n"), TEXT_BYTES_MAX), report.outcome_name().to_owned());
    match report.passes() {
        true => Result::Said(words),
        false if report.count(Kind::Blocks) > 0 => Result::Failed { kind, words },
        false => Result::Broken { kind, words },
    }
}
