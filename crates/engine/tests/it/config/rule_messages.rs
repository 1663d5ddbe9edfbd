//! Mistakes in rules, criteria and checks, with all that is said about them.

use super::{check, read};

/// A rule with something after `criteria:`, on line 5.
fn check_criteria(criteria: &str, expected: &str) {
    check(
        &format!("version: 1\nrules:\n- name: docs\n  for: [\"*.md\"]\n  criteria: {criteria}\n"),
        expected,
    );
}

#[test]
fn rules_need_a_name_files_and_criteria() {
    check(
        "version: 1\nrules:\n-\n- {}\n- {name: r, for: [], criteria: []}\n- {name: r, for: a, criteria: {name: x}}\n\
         - {name: s, for: [a], each: folder, guidance: 7, criteria: [{name: A, ask: q}]}\n",
        "
3:2: an entry of `rules` must be a rule, a mapping with `name`, `for` and `criteria`, not empty
4:3: this rule has no `name`
4:3: this rule has no `for`
4:3: this rule has no `criteria`
5:18: `for` is empty, so the rule applies to nothing
5:32: `criteria` is empty, so the rule asks nothing
  give at least one, such as `- {name: Complete, ask: \"Is anything missing?\"}`
6:10: the rule on line 5 already has the name `r`
6:18: `for` must be a list, not the text `a`
6:31: `criteria` must be a list, not a mapping
7:29: `each` cannot be `folder`
  known: `file`, `all`, `fit`
7:47: `guidance` must be text, not 7
  if you mean text, write `\"7\"`",
    );
}

#[test]
fn patterns_that_can_match_nothing_are_refused() {
    check(
        "version: 1\nrules:\n- name: r\n  criteria: [{name: A, ask: q}]\n  for:\n  - '['\n  - /etc/passwd\n  - ./b\n  \
         - a/../b\n  - '!x'\n  - docs/\n  - ''\n  - 3\n",
        "
6:5: the pattern `[` cannot be read: unclosed character class; missing ']'
  `[` and `{` need their closing bracket; `\\` before one makes it an ordinary character
7:5: the pattern `/etc/passwd` can match nothing: it is not relative to the root
  patterns are relative to the project's root, such as `docs/**/*.md`
8:5: the pattern `./b` can match nothing: it is not relative to the root
  patterns are relative to the project's root, such as `docs/**/*.md`
9:5: the pattern `a/../b` can match nothing: it is not relative to the root
  patterns are relative to the project's root, such as `docs/**/*.md`
10:5: the pattern `!x` begins with `!`
  a pattern can only add files; name what is left out in `exclude`
11:5: the pattern `docs/` names a folder
  for all files in it, write `docs/**`
12:5: the pattern `` is empty
  patterns are relative to the project's root, such as `docs/**/*.md`
13:5: an entry of `for` must be text, not 3
  if you mean text, write `\"3\"`",
    );
}

#[test]
fn criteria_have_different_names_that_can_be_seen() {
    check_criteria(
        "\n  - {name: A, ask: q}\n  - {name: B, ask: q}\n  - {name: \"**a:**\", ask: q}\n  - {name: B, ask: q}",
        "
8:12: the criterion on line 6 already has the name `A`, which is the same as `**a:**`
9:12: the criterion on line 7 already has the name `B`",
    );
    check_criteria(
        "\n  - {ask: q}\n  - {name: '', ask: q}\n  - {name: 5, ask: q}\n  - {name: \"a\\tb\", ask: q}\n  \
         - {name: \"\\u202E\", ask: q}\n  - {name: ' x', ask: q}\n  - {name: ~, ask: q}",
        "
6:5: this criterion has no `name`
7:12: the name is empty
8:12: `name` must be text, not 5
  if you mean text, write `\"5\"`
9:12: the name `a\\u{9}b` holds a character that cannot be seen
10:12: the name `\\u{202e}` holds a character that cannot be seen
11:12: the name ` x` begins or ends with white space
12:5: this criterion has no `name`",
    );
    check_criteria(
        &format!("[{{name: {}, ask: q}}]", "x".repeat(201)),
        "5:21: the name is longer than 200 characters",
    );
}

#[test]
fn criteria_ask_or_check() {
    check_criteria(
        "\n  - {name: A}\n  - {name: B, ask: ' '}\n  - {name: C, ask: true}\n  - {name: D, ask: q, severity: high}\n  \
         - {name: E, ask: q, severity: ~}\n  - {name: F, check: ~}",
        "
6:5: this criterion asks nothing
  say in `ask` what must be true, or give a `check`
7:20: `ask` is empty
8:20: `ask` must be text, not true
  if you mean text, write `\"true\"`
9:33: `severity` cannot be `high`
  known: `must`, `should`, `may`
10:33: `severity` must be one of `must`, `should`, `may`, not empty
11:5: this criterion asks nothing
  say in `ask` what must be true, or give a `check`",
    );
}

#[test]
fn checks_are_words_or_one_key() {
    let known = "`no_conflict_markers`, `no_placeholders`, `not_empty`, `valid_json`, `valid_yaml`, `valid_toml`, \
                 `links_resolve`, `required_headings`, `required_pattern`, `forbidden_pattern`, `run`";
    check_criteria(
        "\n  - {name: A, check: valid_jsn}\n  - {name: B, check: run}\n  - {name: C, check: {not_empty: true}}\n  \
         - {name: D, check: {a: 1, b: 2}}\n  - {name: E, check: {}}\n  - {name: F, check: 3}\n  - {name: G, check: {x: 1}}",
        &format!(
            "
6:22: `check` cannot be `valid_jsn`
  did you mean `valid_json`?
7:22: `check` cannot be just `run`
  write `run: …` and put its value after the colon
8:34: `not_empty` takes no value
  write just `not_empty`
9:22: `check` must be a mapping with one key, not 2
10:22: `check` must be a mapping with one key, not 0
11:22: `check` must be one of {known}, not 3
12:22: `check` cannot be `x`
  known: {known}"
        ),
    );
}

#[test]
fn checks_are_looked_into() {
    check_criteria(
        "\n  - {name: A, check: {required_pattern: '('}}\n  - {name: B, check: {forbidden_pattern: ''}}\n  \
         - {name: C, check: {required_headings: []}}\n  - {name: D, check: {required_headings: Usage}}\n  \
         - {name: E, check: {run: {comand: x}}}\n  - {name: F, check: {run: {command: x, exit_code: 256}}}\n  \
         - {name: G, check: {run: ''}}\n  - {name: H, check: {run: [make]}}\n  - {name: I, check: {run: {exit_code: 0}}}\n  \
         - {name: J, check: {run: \"a\\0b\"}}\n  - {name: K, check: {forbidden_pattern: 7}}\n  \
         - {name: L, check: {run: {command: x, timeout_seconds: 0}}}",
        "
6:41: the regular expression cannot be read
7:42: the check is empty, so its result would always be the same: add a value
8:42: the check is empty, so its result would always be the same: add a value
9:42: `required_headings` must be a list, not the text `Usage`
10:29: unknown key `comand`
  did you mean `command`?
11:52: `exit_code` must be a whole number from 0 to 255, not 256
12:28: the check is empty, so its result would always be the same: add a value
13:28: `run` must be a command or a mapping with `command`, not a list
14:28: `run` has no `command`
15:28: a command cannot hold a zero byte
16:42: `forbidden_pattern` must be text, not 7
  if you mean text, write `\"7\"`
17:58: `timeout_seconds` must be a whole number from 1 to 4294967295, not 0",
    );
}

#[test]
fn rules_ask_for_reviewers_that_exist() {
    let rule = |reviewer: &str| {
        format!(
            "version: 1\nrules:\n- {{name: r, for: [a], reviewer: {reviewer}, criteria: [{{name: A, ask: q}}]}}\n"
        )
    };
    check(&rule("main"), "3:33: no reviewer is called `main`\n  no `reviewers` are configured");
    let list = "reviewers: [{name: main, use: self}, {name: second, use: checks}]\n";
    check(&(rule("mian") + list), "3:33: no reviewer is called `mian`\n  did you mean `main`?");
    check(&(rule("nobody") + list), "3:33: no reviewer is called `nobody`\n  known: `main`, `second`");
    // With a list that cannot be read, nobody can say whether the name is in it.
    check(&(rule("main") + "reviewers: 3\n"), "4:12: `reviewers` must be a list, not 3");
    assert!(read(rule("auto")).is_ok());
}

#[test]
fn problems_inside_an_alias_are_shown_once_where_they_are_written() {
    check(
        "version: 1\nrules:\n- {name: r, for: [a], criteria: &c [{name: A, ask: 3}]}\n- {name: s, for: [a], criteria: *c}\n",
        "
3:52: `ask` must be text, not 3
  if you mean text, write `\"3\"`",
    );
}
