//! Mistakes in the file as a whole, its settings and its reviewers, with all that is said about them.

use super::check;

/// A good file with something more, from line 4 on.
fn check_beside(rest: &str, expected: &str) {
    check(
        &format!("version: 1\nrules:\n- {{name: docs, for: [a], criteria: [{{name: A, ask: q}}]}}\n{rest}\n"),
        expected,
    );
}

#[test]
fn what_is_not_yaml_is_the_only_problem() {
    check("rules: [1, 2\n", "1:8: unclosed bracket '['");
    check(
        "version: 2\nask: why: not\n",
        "
2:9: mapping values are not allowed in this context
  text that holds `: ` needs quotes",
    );
    check(
        "rules:\n  - name: x\n   for: y\n",
        "
3:4: while parsing a block collection, did not find expected '-' indicator
  check the indentation: keys of one mapping begin in one column",
    );
    check("a: *nobody\n", "1:4: no anchor (`&name`) of this name comes before the alias");
    check("a: &x [*x]\n", "1:8: the alias is inside its own anchor");
    check("a: !env HOME\n", "1:9: unsupported tag `!env`");
    check("[x]: y\n", "1:1: a key must be a word");
    check("null: y\n", "1:1: a key must be a word");
    check("a: \u{1}\n", "1:4: unexpected character: `\\u{1}'");
    check(
        "version: 1\né: {rules: [], rules: []}\n",
        "
2:16: the key `rules` is given twice
  keep one of the two",
    );
    check(
        "version: 1\n---\nversion: 1\n",
        "
3:1: a second document begins here
  a file is one YAML document; remove the `---`",
    );
    check(
        "a: {<<: {b: 1}}\n",
        "
1:5: merge keys (`<<`) are not supported
  write the keys out, or share a whole value with an alias",
    );
}

#[test]
fn a_file_with_nothing_in_it_is_no_configuration() {
    let said = "
1:1: the file is empty
  a configuration begins with `version: 1` and has at least one rule, or one of `qr`, `run` and `review`";
    for nothing in ["# to do\n", "---\n", "~\n"] {
        check(nothing, said);
    }
    // Without a line there is no place.
    for nothing in ["", "\u{feff}"] {
        check(nothing, &said.replace("1:1:", ""));
    }
    check("- 1\n", "1:3: the file must be a mapping with `version` and `rules`, not a list");
    check("hello\n", "1:1: the file must be a mapping with `version` and `rules`, not the text `hello`");
}

#[test]
fn version_and_rules_are_required() {
    let minimal = "  a configuration begins with `version: 1` and has at least one rule, or one of `qr`, `run` and `review`";
    check("version: 1\n", &format!("1:1: the file has no `rules`, so it asks nothing\n{minimal}"));
    check("version: 1\nqr:\nrules:\n", "3:1: `rules` must be a list, not empty");
    check("version: 1\nrules: []\n", &format!("2:8: `rules` is empty, so it asks nothing\n{minimal}"));
    check("version: 1\nrules: {}\n", "2:8: `rules` must be a list, not a mapping");
    let rules = "rules: [{name: r, for: [a], criteria: [{name: A, ask: q}]}]\n";
    check(rules, "1:1: the file has no `version`\n  begin it with `version: 1`");
    check(&format!("version: 2\n{rules}"), "1:10: `version` must be the number 1, not 2");
    check(&format!("version: -1\n{rules}"), "1:10: `version` must be the number 1, not -1");
    check(&format!("version: 1.0\n{rules}"), "1:10: `version` must be the number 1, not 1.0");
    check(
        &format!("version: \"1\"\n{rules}"),
        "1:10: `version` must be the number 1, not the text `1`\n  remove the quotes",
    );
}

#[test]
fn unknown_keys_come_with_a_suggestion_and_all_together() {
    check_beside(
        "polcy: {}\nzebra: 1\nlimits: {prompt_byte: 3, \"\\e[31m\": 4}",
        "
4:1: unknown key `polcy`
  did you mean `policy`?
5:1: unknown key `zebra`
  known here: `version`, `reviewers`, `exclude`, `rules`, `policy`, `limits`, `redaction`, `qr`, `jobs`, `review`, `context`, `commands`, `notify`, `run`
6:10: unknown key `prompt_byte`
  did you mean `prompt_bytes`?
6:26: unknown key `\\u{1b}[31m`
  known here: `max_inline_files`, `prompt_bytes`, `reply_bytes`, `reviewers_at_once`, `keep_contents_days`",
    );
    check(
        "version: 1\nrules:\n- {name: r, for: [a], criterion: [], criteria: [{name: A, ask: q, sevrity: may}]}\n",
        "
3:23: unknown key `criterion`
  did you mean `criteria`?
3:67: unknown key `sevrity`
  did you mean `severity`?",
    );
}

#[test]
fn limits_are_whole_numbers_from_one() {
    check_beside(
        "policy:\n  max_attempts: 0\n  max_stalled_rounds: -1\n  reuse_days: 3.5\nlimits:\n  \
         max_inline_files: no\n  prompt_bytes: \"9\"\n  reply_bytes: 99999999999\n  reviewers_at_once:",
        "
5:17: `max_attempts` must be a whole number from 1 to 4294967295, not 0
6:23: `max_stalled_rounds` must be a whole number from 1 to 4294967295, not -1
7:15: `reuse_days` must be a whole number from 1 to 4294967295, not 3.5
9:21: `max_inline_files` must be a whole number from 0 to 4294967295, not the text `no`
10:17: `prompt_bytes` must be a whole number from 1 to 4294967295, not the text `9`
  remove the quotes
11:16: `reply_bytes` must be a whole number from 1 to 4294967295, not 99999999999
12:3: `reviewers_at_once` must be a whole number from 1 to 4294967295, not empty",
    );
}

#[test]
fn policy_is_checked_value_by_value() {
    check_beside(
        "policy:\n  accept_bare_verdicts: \"true\"\n  overrides: people\n  blocking:\n  \
         - {from_round: 1, severity: must}\n  - {from_round: 1, severity: may}\n  - {}\n  - 3\n  - [1, must]",
        "
5:25: `accept_bare_verdicts` must be true or false, not the text `true`
  remove the quotes
6:14: `overrides` cannot be `people`
  known: `allow`, `people-only`, `forbid`
9:18: line 8 already says what blocks from round 1
10:5: this line of `blocking` has no `severity`
10:5: this line of `blocking` has no `from_round`
11:5: an entry of `blocking` must be a mapping with `from_round` and `severity`, not 3
12:5: an entry of `blocking` must be a mapping with `from_round` and `severity`, not a list",
    );
    check_beside(
        "policy: [3]\nlimits: 4",
        "
4:9: `policy` must be a mapping, not a list
5:9: `limits` must be a mapping, not 4",
    );
}

#[test]
fn reviewers_have_names_kinds_and_only_their_own_keys() {
    check_beside(
        "reviewers:\n- {name: a, use: nobody}\n- {name: b, use: comand}\n- {use: self}\n- {name: auto, use: self}\n\
         - {name: b, use: self}\n- {name: '', use: self, file: x}\n- {name: c, use: command}\n\
         - {name: d, use: command, command: []}\n- {name: e, use: replay, model: x, sees: given}\n\
         - {name: f, use: 3}\n- {name: g, use: command, command: [1], timeout_seconds: 0, model: ''}\n- {name: h}\n\
         - {name: i, use: replay, file: ''}",
        "
5:18: `use` cannot be `nobody`
  known: `command`, `claude`, `codex`, `gemini`, `opencode`, `anthropic`, `openai`, `replay`, `self`, `checks`
6:18: `use` cannot be `comand`
  did you mean `command`?
7:3: this reviewer has no `name`
8:10: `auto` means the first reviewer that can answer, so no reviewer can have this name
9:10: the reviewer on line 6 already has the name `b`
10:10: the name is empty
10:31: `file` has no meaning for `use: self`
  it belongs to `use:` `replay`
11:3: a reviewer with `use: command` has no `command`
12:36: `command` names no program
13:3: a reviewer with `use: replay` has no `file`
13:33: `model` has no meaning for `use: replay`
  it belongs to `use:` `command`, `claude`, `codex`, `gemini`, `opencode`, `anthropic`, `openai`
13:42: `sees` has no meaning for `use: replay`
  it belongs to `use:` `command`, `claude`, `codex`, `gemini`, `opencode`
14:18: `use` must be one of `command`, `claude`, `codex`, `gemini`, `opencode`, `anthropic`, `openai`, `replay`, `self`, `checks`, not 3
15:37: an entry of `command` must be text, not 1
  if you mean text, write `\"1\"`
15:58: `timeout_seconds` must be a whole number from 1 to 4294967295, not 0
15:68: `model` cannot be ``
16:3: this reviewer has no `use`
17:32: `file` cannot be ``",
    );
}

#[test]
fn services_have_models_addresses_and_keys_elsewhere() {
    check_beside(
        "reviewers:\n- {name: a, use: openai}\n- {name: b, use: openai, model: m, base_url: localhost}\n\
         - {name: c, use: openai, model: m, base_url: 'ftp://x'}\n\
         - {name: d, use: openai, model: m, base_url: 'http://me:pw@x/v1'}\n\
         - {name: e, use: openai, model: m, base_url: 'http://x/v1?key=1'}\n\
         - {name: f, use: anthropic, model: m, key_env: sk-secret}\n\
         - {name: g, use: anthropic, model: m, key_env: A, key_file: b}\n\
         - {name: h, use: claude, base_url: 'http://x', price: {input_usd_per_million: -1}}\n\
         - {name: i, use: openai, model: m, sees: project, question_usd: 1, price: 3}\n\
         - {name: j, use: opencode, sees: project}\n",
        "
5:3: a reviewer with `use: openai` has no `model`
6:46: `base_url` is not an address
  for example `http://127.0.0.1:8080/v1`
7:46: `base_url` begins with `http://` or `https://`
  for example `http://127.0.0.1:8080/v1`
8:46: `base_url` contains a user name or password
  name the variable that holds the key in `key_env`
9:46: `base_url` cannot contain `?` or `#`
  remove that sign and everything after it
10:48: `key_env` is the name of a variable, with letters, digits and `_`
  write the key into a variable or a file, never here
11:61: `key_env` and `key_file` are both set; use one of them
12:36: `base_url` has no meaning for `use: claude`
  it belongs to `use:` `codex`, `gemini`, `opencode`, `anthropic`, `openai`
12:55: this price has no `output_usd_per_million`
12:79: `input_usd_per_million` must be an amount of dollars from 0 to 1000000, like 0.50, not -1
13:42: `sees` has no meaning for `use: openai`
  it belongs to `use:` `command`, `claude`, `codex`, `gemini`, `opencode`
13:65: `question_usd` has no meaning for `use: openai`
  it belongs to `use:` `claude`
13:75: `price` must be a price, a mapping with `input_usd_per_million` and `output_usd_per_million`, not 3
14:34: `opencode` cannot be used with `sees: project`: it would obey the instruction files of the project that it reviews
  remove `sees`, or use another reviewer",
    );
}

#[test]
fn patterns_of_secrets_that_cannot_be_used() {
    check_beside(
        "redaction:\n  patterns:\n  - {name: a, pattern: '('}\n  - {name: b, pattern: 'x*'}\n  - {name: b, pattern: 'xy'}\n  \
         - {name: jwt, pattern: 'x'}\n  - {name: A b, pattern: 'x'}\n  - {name: c}\n  - {name: d, pattern: 'redacted'}",
        "
6:24: the pattern cannot be read: unclosed group
7:24: the pattern matches the empty text, so it would replace everything
8:12: the pattern on line 7 already has the name `b`
9:12: `jwt` is the name of a built-in pattern
10:12: the name of a pattern has small letters, digits and `-`, at most 40
11:5: this pattern has no `pattern`
12:24: the pattern matches `[redacted: anthropic-key]`, the mark that replaces a secret",
    );
}
