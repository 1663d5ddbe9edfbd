//! What a secret looks like: one row each, the specific ones before those that go by what stands around.
//!
//! A row's expression has one group: what is replaced. It never matches across lines, but for a private key.
//! `BOUND` is a place where a word may begin, also right behind the `\n` of a text inside JSON.

use super::value;

/// One kind of secret.
pub(super) struct Row {
    /// What stands in the mark, and in the count.
    pub name: &'static str,
    /// How it is found.
    pub expression: &'static str,
    /// Whether what was found is one: the value, and the character behind it.
    pub is_one: fn(&str, Option<char>) -> bool,
}

/// As far as the expressions look at a value; what goes on behind that belongs to it.
pub(super) const LOOKED_AT_BYTES: usize = 64;

const fn row(name: &'static str, expression: &'static str, is_one: fn(&str, Option<char>) -> bool) -> Row {
    Row { name, expression, is_one }
}

/// Where a word may begin.
const BOUND: &str = r"(?:(?-u:\b)|\\[nrt])";
/// The same for prefixes so short that they turn up in the middle of base64; also behind the sign of a diff.
const ALONE: &str = r"(?:^[+-]?|[^A-Za-z0-9_+/-]|\\[nrt])";
/// Words that say that a secret follows, and the sign between.
const NAMED: &str = r#"(?i-u:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|(?:access|secret|account|auth|signing|encryption|client)[_-]?key)s?(?:\\?["'`\]]){0,2}[ \t]{0,8}(?::[ \t]{0,4}&?[A-Za-z]{1,12}[ \t]{0,4})?(?::=|=>|=|:)[ \t]{0,8}"#;
/// What stands between the lines of a key: line breaks, also written out, the signs of quotations and of diffs.
const BETWEEN: &str =
    r#"(?:[ \t\r]|\n-?|\\[nrt]|["'`,+>#*|\\]|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[ -\[\]-~]{0,100})"#;

/// The expression of a row with its pieces filled in.
pub(super) fn spelled_out(expression: &str) -> String {
    let pieces = [("BOUND", BOUND), ("ALONE", ALONE), ("NAMED", NAMED), ("BETWEEN", BETWEEN)];
    pieces.iter().fold(expression.to_owned(), |text, (name, piece)| text.replace(name, piece))
}

/// The table. `docs/reviewers.md` has it for users.
pub(super) const TABLE: &[Row] = &[
    row(
        "private-key",
        "(-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:BETWEEN*[A-Za-z0-9+/=]{32,})+\
         (?:(?:BETWEEN*[A-Za-z0-9+/=]{1,31}){0,2}BETWEEN*-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----)?)",
        value::any,
    ),
    // The end of a key whose beginning was cut off.
    row(
        "private-key",
        "((?:[A-Za-z0-9+/=]{32,}BETWEEN+)+(?:[A-Za-z0-9+/=]{1,31}BETWEEN+){0,2}\
         -----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----)",
        value::any,
    ),
    row("anthropic-key", "BOUND(sk-ant-[A-Za-z0-9_-]{16,})", value::any),
    row("openai-key", "BOUND(sk-[A-Za-z0-9_-]{20,})", value::token),
    row("aws-key-id", r"ALONE((?:AKIA|ASIA)[0-9A-Z]{16})(?-u:\b)", value::any),
    row(
        "aws-secret",
        r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}[^A-Za-z0-9/+\n]{1,8}([A-Za-z0-9/+]{40,})",
        value::forty,
    ),
    row("aws-secret", r#"(?i-u:aws)[ -~\t]{0,40}?["':= ]([A-Za-z0-9/+]{40,})"#, value::forty),
    row("github-token", "BOUND(gh[opsru]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})", value::any),
    row(
        "gitlab-token",
        "BOUND(gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{20,}(?:\\.[A-Za-z0-9_.-]+)?)",
        value::token,
    ),
    row("slack-token", "BOUND(xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})", value::token),
    row("slack-token", r"hooks\.slack\.com/services/([A-Za-z0-9/_-]{20,})", value::any),
    row("google-key", "ALONE(AIza[A-Za-z0-9_-]{35,})", value::any),
    row("stripe-key", "BOUND([sr]k_live_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})", value::any),
    row("npm-token", "BOUND(npm_[A-Za-z0-9]{36,})", value::any),
    row("pypi-token", "BOUND(pypi-[A-Za-z0-9_-]{50,})", value::token),
    row("jwt", r"BOUND(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)", value::any),
    row("authorization", r"BOUND(?i-u:bearer)[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})", value::token),
    row(
        "authorization",
        r#"(?i-u:authorization(?:\\?["'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\?["'])?(?:basic|token))[ \t]{1,4}([A-Za-z0-9+/=_-]{8,})"#,
        value::any,
    ),
    row("url-password", r#"://[!-~&&[^/:@"'`<>]]{0,64}:([!-~&&[^/@"'`<>]]{1,128})@"#, value::of_url),
    row("assigned-secret", r#"NAMED\\?["'`]([^\x00-\x20"'`]{8,64})"#, value::quoted),
    row("assigned-secret", "NAMED([A-Za-z0-9+/_=.~-]{16,64})", value::bare),
];
