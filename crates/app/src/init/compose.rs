//! The text of a new `countersign.yml`: rules for the files of the project, and suggestions that are commented out.
//!
//! Prose begins with `# `. A suggestion is a line of YAML behind a bare `#`, so removing the `#` switches it on.

use super::detect::DetectedProject;
use super::packs::Packed;
use countersign_engine::programs::{Facts, PROGRAMS, listed};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reviewer {
    Program(&'static Facts),
    Command(Vec<String>),
    Replay(String),
    SelfReview,
    /// A service: its `use`, its model, and its address where that is not the vendor's.
    Service {
        api: &'static str,
        model: String,
        base_url: Option<String>,
    },
}

const COMMAND_SECONDS: u32 = 600;
/// A longer list has one entry on each line.
const MAX_LIST_CHARS: usize = 90;

const HEAD: &str = "\
# What is judged in this project, by which reviewers, and when work passes. Written by `countersign init`; change it
# as you like: `countersign validate` checks it, `countersign review` judges by it, and `countersign config --schema`
# prints a schema for your editor.
version: 1
";

/// The section without a reviewer, with placeholders for the names of agent programs.
const NO_REVIEWER: &str = "
# Reviewers answer questions. None is configured yet: the rules below need none. A reviewer is `use: {first}`,
# {others} (as you are signed in), a service (`use: anthropic` or `openai`, also for models
# on this machine), or `use: command` with a program of your own that reads a question as JSON and writes its
# answer as JSON; `countersign doctor --ask` tries it. To switch one on, remove the `#` here and in the rule
# `change` below.
#reviewers:
#  - name: main
#    use: {first}
";

const EMPTY: &str = "
  # There was nothing to judge yet, so the only rule checks this file. Add rules as the project grows, or remove
  # this file and run `countersign init` again.
  - name: configuration
    for: [\"countersign.yml\"]
    criteria:
      - {name: Merged, check: no_conflict_markers}
      - {name: Valid YAML, check: valid_yaml}
";

const CHANGE: &str = "\
each: all
# What may pass although no reviewer can see it: media, and lock files that are too long. Everything else may not.
unseen: [media, '**/*.lock', '**/*-lock.json', '**/*-lock.yaml', '**/go.sum']
guidance: |
  Judge what is there, not what might have been meant. Name the file and the line of everything you find.
criteria:
  - name: Complete
    ask: Is everything it sets out to do really there, with no stub and no case that is silently left out?
  - name: Correct
    ask: Does it do what its names and documents say, also for empty, wrong and very large input?
  - name: Failures are handled
    ask: Is every failure dealt with or passed on with its reason, and none swallowed?
  - name: No secrets
    ask: Is it free of passwords, keys, tokens and personal data, also in examples and tests?
  - name: Tested
    ask: Does each behaviour that matters have a test that would fail without it?
    severity: should
  - name: Documents agree
    ask: Do documents, help texts and comments say what the code does now?
    severity: should
  - name: Nothing left over
    ask: Is it free of debugging output, code that is commented out, and files that belong to nothing?
    severity: may
";

const WRITING: &str = "\
each: file
guidance: |
  The reader has never seen this project. Name the place of everything you find.
criteria:
  - name: Complete
    ask: Does it say everything its title promises, with no section left open?
  - name: Correct
    ask: Is it free of statements that contradict each other or that cannot be right?
  - name: No secrets
    ask: Is it free of passwords, keys, tokens and personal data?
  - name: Can be followed
    ask: Could a newcomer follow every step exactly as it is written?
    severity: should
";

const CHECKOUT: &str = "
# Gates run tests and lint in a checkout of exactly the judged files. `setup` installs there what git ignores and they
# need; what `keep` names survives from one use to the next.
commands:
";

const POLICY: &str = "
# When work passes. These are the defaults; `max_attempts` counts with `countersign review --subject NAME`.
#policy:
#  max_attempts: 3
#  blocking: [{from_round: 1, severity: should}]
";

/// The configuration of a project without a file: the questions about a change.
pub fn default_questions() -> String {
    let body: String = CHANGE.lines().map(|line| format!("    {line}\n")).collect();
    format!("version: 1\nrules:\n  - name: change\n    for: [\"**\"]\n{body}")
}

pub fn compose(found: &DetectedProject, reviewer: Option<&Reviewer>, packs: &[Packed]) -> String {
    let mut out = HEAD.to_owned();
    match reviewer {
        Some(reviewer) => push_reviewer(&mut out, reviewer),
        None => out.push_str(&no_reviewer()),
    }
    out.push_str("\nrules:");
    let begun = out.len();
    push_checks(&mut out, found);
    if out.len() == begun {
        out.push_str(EMPTY);
    }
    push_commands(&mut out, found);
    push_questions(&mut out, found, reviewer.is_some());
    packs.iter().for_each(|packed| push_pack(&mut out, packed, reviewer.is_some()));
    push_checkout(&mut out, found);
    out.push_str(POLICY);
    out
}

/// What the checkout needs in which a gate runs tests and lint.
fn push_checkout(out: &mut String, found: &DetectedProject) {
    if found.setup.is_empty() && found.keep.is_empty() {
        return;
    }
    out.push_str(CHECKOUT);
    match &found.setup[..] {
        [] => {}
        [only] => out.push_str(&format!("  setup: {}\n", quoted(only))),
        // Each begins at the root.
        all => {
            let all: Vec<String> = all.iter().map(|line| format!("({line})")).collect();
            out.push_str(&format!("  setup: {}\n", quoted(&all.join(" && "))));
        }
    }
    if !found.keep.is_empty() {
        out.push_str(&format!("  keep:{}\n", list(&found.keep, 4)));
    }
}

fn no_reviewer() -> String {
    let mut names = PROGRAMS.reviewers().map(|facts| facts.called.name);
    let first = names.next().unwrap_or_default().trim_matches('`');
    NO_REVIEWER.replace("{first}", first).replace("{others}", &listed(names, "or"))
}

fn push_reviewer(out: &mut String, reviewer: &Reviewer) {
    out.push_str("\n# Reviewers answer questions. `countersign doctor --ask` tries them.\nreviewers:\n");
    let (name, lines) = match reviewer {
        Reviewer::Program(program) => ("main", program.name.to_owned()),
        Reviewer::Command(argv) => ("main", format!("command\n    command:{}", list(argv, 6))),
        Reviewer::Replay(file) => ("recorded", format!("replay\n    file: {}", quoted(file))),
        Reviewer::SelfReview => ("me", "self".to_owned()),
        Reviewer::Service { api, model, base_url } => {
            let url = base_url.as_ref().map(|url| format!("\n    base_url: {}", quoted(url)));
            ("main", format!("{api}\n    model: {}{}", quoted(model), url.unwrap_or_default()))
        }
    };
    out.push_str(&format!("  - name: {name}\n    use: {lines}\n"));
}

fn push_checks(out: &mut String, found: &DetectedProject) {
    let private_key = "{forbidden_pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----'}";
    let text = Checks {
        comment: Some("No conflict markers and no private keys in any text."),
        name: "text",
        patterns: &found.text,
        each: "all",
        criteria: &[("Merged", "no_conflict_markers"), ("No private keys", private_key)],
    };
    let documents = Checks {
        comment: Some("Documents without placeholders. With `severity: may` a check is only advice."),
        name: "documents",
        patterns: &found.documents,
        each: "file",
        criteria: &[("Finished", "no_placeholders"), ("Links lead somewhere", "links_resolve")],
    };
    let data = |name, patterns, criteria| Checks { comment: None, name, patterns, each: "file", criteria };
    let json = data("json", &found.json, &[("Valid JSON", "valid_json")]);
    let yaml = data("yaml", &found.yaml, &[("Valid YAML", "valid_yaml")]);
    let toml = data("toml", &found.toml, &[("Valid TOML", "valid_toml")]);
    [text, documents, json, yaml, toml].iter().for_each(|rule| rule.push(out));
}

struct Checks<'a> {
    comment: Option<&'a str>,
    name: &'a str,
    patterns: &'a [String],
    each: &'a str,
    criteria: &'a [(&'a str, &'a str)],
}

impl Checks<'_> {
    /// Writes the rule, unless it has no patterns.
    fn push(&self, out: &mut String) {
        let Self { comment, name, patterns, each, criteria } = self;
        if patterns.is_empty() {
            return;
        }
        let comment = comment.map(|words| format!("  # {words}\n")).unwrap_or_default();
        let patterns = list(patterns, 6);
        out.push_str(&format!(
            "\n{comment}  - name: {name}\n    for:{patterns}\n    each: {each}\n    criteria:\n"
        ));
        for (name, check) in *criteria {
            out.push_str(&format!("      - {{name: {name}, check: {check}}}\n"));
        }
    }
}

fn push_commands(out: &mut String, found: &DetectedProject) {
    if found.commands.is_empty() {
        return;
    }
    out.push_str(
        "
  # Tests and lint. Commented out, because every round runs all of them again: use them if they take seconds,
  # or if nothing else runs them before the work is done.
",
    );
    let patterns = if found.code.is_empty() { &found.text } else { &found.code };
    let mut rule = format!("- name: commands\n  for:{}\n  criteria:\n", list(patterns, 4));
    for suggested in &found.commands {
        let command = quoted(&suggested.command);
        let name = quoted(&format!("{} passes", suggested.command));
        rule.push_str(&format!(
            "    - {{name: {name}, check: {{run: {{command: {command}, timeout_seconds: {COMMAND_SECONDS}}}}}}}\n"
        ));
    }
    push_lines(out, "#  ", &rule);
}

fn push_questions(out: &mut String, found: &DetectedProject, asked: bool) {
    let everything = vec!["**".to_owned()];
    let (patterns, body) = match (found.code.is_empty(), found.documents.is_empty()) {
        (false, _) => ([found.code.clone(), found.documents.clone()].concat(), CHANGE),
        (true, false) => (found.documents.clone(), WRITING),
        (true, true) => (everything, CHANGE),
    };
    out.push_str(match asked {
        true => "\n  # Questions for the reviewer. Name the files you changed to ask only about those:\n",
        false => "\n  # Questions for a reviewer, commented out until you configure one above. Then name the files you changed:\n",
    });
    out.push_str("  # `countersign review FILES --subject NAME`.\n");
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let rule = format!("- name: change\n  for:{}\n{body}", list(&patterns, 4));
    push_lines(out, if asked { "  " } else { "#  " }, &rule);
}

/// The rule of a pack, as it stands in a file.
pub fn pack_rule(Packed { pack, patterns }: &Packed) -> String {
    let body: String = pack.rule.lines().map(|line| format!("  {line}\n")).collect();
    format!("- name: {}\n  for:{}\n{body}", pack.name, list(patterns, 4))
}

fn push_pack(out: &mut String, packed: &Packed, asked: bool) {
    let off = if asked { "" } else { ", commented out until you configure a reviewer above" };
    out.push_str(&format!("\n  # Pack {}: {}{off}.\n", packed.pack.name, packed.pack.about));
    push_lines(out, if asked { "  " } else { "#  " }, &pack_rule(packed));
}

fn push_lines(out: &mut String, before: &str, lines: &str) {
    lines.lines().for_each(|line| out.push_str(&format!("{before}{line}\n")));
}

fn list(entries: &[String], indent: usize) -> String {
    let entries: Vec<String> = entries.iter().map(|entry| quoted(entry)).collect();
    let line = format!(" [{}]", entries.join(", "));
    if line.len() <= MAX_LIST_CHARS {
        return line;
    }
    entries.iter().map(|entry| format!("\n{:indent$}- {entry}", "")).collect()
}

/// A text in double quotes: JSON is YAML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
