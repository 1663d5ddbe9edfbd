//! What a secret looks like: one row each, specific ones first. The one group of a row's expression is what is replaced;
//! only a private key and passwords on a line of their own match across lines. `BOUND` is where a word may begin, also right behind the `\n` of a JSON text.

use super::{Problem, compile, value, vendors};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::Regex;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// Rows of tokens that are known by how they begin, so that they are also found in pieces and in base64.
const OF_TOKENS: &[&str] = &[
    "anthropic-key",
    "openai-key",
    "aws-key-id",
    "github-token",
    "gitlab-token",
    "slack-token",
    "google-key",
    "stripe-key",
    "npm-token",
    "pypi-token",
    "jwt",
    "vendor-token",
    "discord-token",
];

pub(super) struct Row {
    /// What stands in the mark, and in the count.
    pub name: &'static str,
    /// A text without any of these, in any case, has no such secret and is not searched.
    pub hints: &'static [&'static str],
    pub expression: &'static str,
    /// Whether what was found is one: the value, and the character behind it.
    pub is_one: fn(&str, Option<char>) -> bool,
}

/// As far as the expressions look at a value; what goes on behind that belongs to it.
pub(super) const LOOKED_AT_BYTES: usize = 64;

const fn row(
    name: &'static str,
    hints: &'static [&'static str],
    expression: &'static str,
    is_one: fn(&str, Option<char>) -> bool,
) -> Row {
    Row { name, hints, expression, is_one }
}

const BOUND: &str = r"(?:(?-u:\b)|\\[nrt])";
/// The same for prefixes so short that they turn up in the middle of base64; also behind the sign of a diff.
const ALONE: &str = r"(?:^[+-]?|[^A-Za-z0-9_+/-]|\\[nrt])";
/// Words that say that a secret follows, and the sign between.
const NAMED: &str = r#"(?i-u:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|(?:access|secret|account|auth|signing|encryption|client)[_-]?key)s?(?:\\?["'`\]]){0,2}[ \t]{0,8}(?::[ \t]{0,4}&?[A-Za-z]{1,12}[ \t]{0,4})?(?::=|=>|=|:)[ \t]{0,8}"#;
/// What stands in all of them.
const NAMED_HINTS: &[&str] = &["passw", "passphrase", "pwd", "secret", "token", "credential", "key"];
/// What stands between the lines of a key: line breaks, also written out, the signs of quotations and of diffs.
const BETWEEN: &str =
    r#"(?:[ \t\r]|\n-?|\\[nrt]|["'`,+>#*|\\]|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[ -\[\]-~]{0,100})"#;

/// The expression of a row with its pieces filled in.
pub(super) fn expanded(expression: &str) -> String {
    let pieces = [("BOUND", BOUND), ("ALONE", ALONE), ("NAMED", NAMED), ("BETWEEN", BETWEEN)];
    pieces.iter().fold(expression.to_owned(), |text, (name, piece)| text.replace(name, piece))
}

/// The table. `docs/reviewers.md` has it for users.
pub(super) const TABLE: &[Row] = &[
    row(
        "private-key",
        &["private key"],
        "(-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:BETWEEN*[A-Za-z0-9+/=]{32,})+\
         (?:(?:BETWEEN*[A-Za-z0-9+/=]{1,31}){0,2}BETWEEN*-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----)?)",
        value::any,
    ),
    // The end of a key whose beginning was cut off.
    row(
        "private-key",
        &["private key"],
        "((?:[A-Za-z0-9+/=]{32,}BETWEEN+)+(?:[A-Za-z0-9+/=]{1,31}BETWEEN+){0,2}\
         -----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----)",
        value::any,
    ),
    row("anthropic-key", &["sk-ant-"], "BOUND(sk-ant-[A-Za-z0-9_-]{16,})", value::any),
    row("openai-key", &["sk-"], "BOUND(sk-[A-Za-z0-9_-]{20,})", value::token),
    row("aws-key-id", &["akia", "asia"], r"ALONE((?:AKIA|ASIA)[0-9A-Z]{16})(?-u:\b)", value::any),
    row(
        "aws-secret",
        &["akia", "asia"],
        r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}[^A-Za-z0-9/+\n]{1,8}([A-Za-z0-9/+]{40,})",
        value::aws_secret,
    ),
    row("aws-secret", &["aws"], r#"(?i-u:aws)[ -~\t]{0,40}?["':= ]([A-Za-z0-9/+]{40,})"#, value::aws_secret),
    row(
        "github-token",
        &["gho_", "ghp_", "ghs_", "ghr_", "ghu_", "github_pat_"],
        "BOUND(gh[opsru]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
        value::any,
    ),
    row(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "glimt-", "gloas-"],
        "BOUND(gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas)-[A-Za-z0-9_-]{20,}(?:\\.[A-Za-z0-9_.-]+)?)",
        value::token,
    ),
    row(
        "slack-token",
        &["xox", "xapp-"],
        "BOUND(xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
        value::token,
    ),
    row(
        "slack-token",
        &["hooks.slack.com/services/"],
        r"hooks\.slack\.com/services/([A-Za-z0-9/_-]{20,})",
        value::any,
    ),
    row("google-key", &["aiza"], "ALONE(AIza[A-Za-z0-9_-]{35,})", value::any),
    row(
        "google-key",
        &["ya29.", "gocspx-", "1//0"],
        r"ALONE((?:ya29\.|GOCSPX-|1//0)[A-Za-z0-9_-]{20,})",
        value::token,
    ),
    row(
        "stripe-key",
        &["k_live_", "k_test_", "whsec_"],
        "BOUND([sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        value::any,
    ),
    row("npm-token", &["npm_"], "BOUND(npm_[A-Za-z0-9]{36,})", value::any),
    row("pypi-token", &["pypi-"], "BOUND(pypi-[A-Za-z0-9_-]{50,})", value::token),
    row(
        "jwt",
        &["eyj"],
        r"BOUND(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
        value::any,
    ),
    row("vendor-token", vendors::UNDERSCORED_HINTS, vendors::UNDERSCORED, value::token),
    row("vendor-token", vendors::DASHED_HINTS, vendors::DASHED, value::token),
    row("vendor-token", vendors::DOTTED_HINTS, vendors::DOTTED, value::token),
    row("vendor-token", vendors::SHORT_HINTS, vendors::SHORT, value::token),
    row("vendor-token", vendors::NUMBERED_HINTS, vendors::NUMBERED, value::token),
    row("discord-token", vendors::DISCORD_HINTS, vendors::DISCORD, value::token),
    row(
        "discord-token",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/[0-9]{5,20}/([A-Za-z0-9_-]{30,})",
        value::any,
    ),
    row("encoded-secret", vendors::ENCODED_HINTS, vendors::ENCODED, value::encoded),
    row(
        "password-hash",
        &["$2a$", "$2b$", "$2x$", "$2y$", "$apr1$", "$5$", "$6$", "$y$", "$argon2"],
        r"(\$(?:2[abxy]\$[0-9]{2}|apr1|[56]|y|argon2id?)\$[A-Za-z0-9./$=,+]{20,})",
        value::token,
    ),
    row("authorization", &["bearer"], r"BOUND(?i-u:bearer)[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})", value::token),
    row(
        "authorization",
        &["authorization"],
        r#"(?i-u:authorization(?:\\?["'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\?["'])?(?:basic|token|apikey|ssws))[ \t]{1,4}([A-Za-z0-9+/=_-]{8,})"#,
        value::any,
    ),
    row(
        "url-password",
        &["://"],
        r#"://[!-~&&[^/:@"'`<>]]{0,64}:([!-~&&[^/@"'`<>]]{1,128})@"#,
        value::url_password,
    ),
    row(
        "private-key",
        &["private-lines:"],
        r"Private-Lines: [0-9]{1,3}\r?\n((?:[A-Za-z0-9+/]{64}\r?\n)*[A-Za-z0-9+/]{20,}={0,2})",
        value::any,
    ),
    row(
        "private-key",
        &["client-key-data"],
        r#"client-key-data"?[ \t]*:[ \t]*"?([A-Za-z0-9+/=]{40,})"#,
        value::any,
    ),
    row("private-key", &["\"d\""], r#""d"[ \t]*:[ \t]*"([A-Za-z0-9_-]{40,})""#, value::token),
    row("private-key", &["privatekey"], r"(?i-u:PrivateKey)[ \t]*=[ \t]*([A-Za-z0-9+/]{43}=)", value::any),
    row(
        "registry-auth",
        &["\"auth\""],
        r#""auth"[ \t]*:[ \t]*"([A-Za-z0-9+/]{12,}={0,2})""#,
        value::encoded_password,
    ),
    row("registry-auth", &["_auth"], r#"_auth[ \t]*=[ \t]*["']?([A-Za-z0-9+/]{16,}={0,2})"#, value::token),
    row(
        "netrc-password",
        &["login"],
        r"(?:machine[ \t\r\n]{1,8}[!-~]{1,64}|default)[ \t\r\n]{1,8}login[ \t\r\n]{1,8}[!-~]{1,64}[ \t\r\n]{1,8}password[ \t\r\n]{1,8}([!-~]{6,64})",
        value::url_password,
    ),
    row(
        "database-password",
        &[":5432:", ":3306:", ":*:"],
        r"ALONE[A-Za-z0-9.*-]{1,64}:(?:5432|3306|\*):[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_*-]{1,64}:([!-~]{8,64})",
        value::quoted,
    ),
    row(
        "azure-key",
        &["accountkey=", "accesskey="],
        "(?:Account|Access)Key=([A-Za-z0-9+/]{40,}={0,2})",
        value::any,
    ),
    row("azure-key", &["sig="], "[?&]sig=([A-Za-z0-9%+/=]{30,})", value::token),
    row(
        "command-password",
        &["curl", "wget"],
        r#"(?i-u:curl|wget)[ -~]{0,200}?[ \t](?:-u|--user|--password)[ =]{1,4}["']?(?:[!-~&&[^:"']]{1,64}:)?([!-~&&[^"']]{8,64})"#,
        value::quoted,
    ),
    row(
        "assigned-secret",
        NAMED_HINTS,
        r#"(?i-u:--(?:password|passphrase|token|secret|api-key)[ \t]{1,4}["']?)([A-Za-z0-9+/_=.~-]{12,64})"#,
        value::bare,
    ),
    row(
        "assigned-secret",
        &["define"],
        r#"(?i-u:define\([ \t]{0,4}["'][A-Z0-9_]{0,40}(?:password|key|salt|secret|token)[A-Z0-9_]{0,10}["'][ \t]{0,4},[ \t]{0,4})["']([^\x00-\x20"']{8,64})"#,
        value::quoted,
    ),
    row(
        "assigned-secret",
        &["secret_key_base", "app_key"],
        r#"(?i-u:secret_key_base|app_key)["']?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}["']?((?:base64:)?[A-Za-z0-9+/=]{32,})"#,
        value::token,
    ),
    row(
        "assigned-secret",
        NAMED_HINTS,
        r#"(?i-u:(?:password|passphrase|secret|token|api_?key)(?:>|"[ \t]{1,4}value="))([^\x00-\x20"<]{8,64})[<"]"#,
        value::quoted,
    ),
    row(
        "assigned-secret",
        NAMED_HINTS,
        r"(?i-u:^[+-]?[ \t]{0,16}ENV[ \t]{1,4}[A-Z0-9_]{0,40}(?:password|secret|token|key)[ \t]{1,4})([A-Za-z0-9+/_=.~-]{12,64})",
        value::bare,
    ),
    row(
        "assigned-secret",
        NAMED_HINTS,
        r"NAMED[|>][+-]?[ \t]{0,4}\r?\n[+-]?[ \t]{1,16}([A-Za-z0-9+/_=.~-]{16,64})",
        value::bare,
    ),
    row("assigned-secret", NAMED_HINTS, r#"NAMED\\?["'`]([^\x00-\x20"'`]{8,64})"#, value::quoted),
    row("assigned-secret", NAMED_HINTS, "NAMED([A-Za-z0-9+/_=.~-]{16,64})", value::bare),
];

const ROWS: usize = TABLE.len();

/// The tokens in a text that are known by how they begin, with their rows.
pub(super) fn tokens(text: &str, mut found: impl FnMut(Range<usize>, usize)) {
    for row in needed(text).into_iter().filter(|row| OF_TOKENS.contains(&TABLE[*row].name)) {
        match regex(row) {
            Ok(regex) => super::find(regex, Some(TABLE[row].is_one), text, |range| found(range, row)),
            Err(_) => found(0..text.len(), row),
        }
    }
}

/// The rows that may find something in a text, in order.
pub(super) fn needed(text: &str) -> Vec<usize> {
    let Some((searcher, rows)) = &*HINTS else { return (0..ROWS).collect() };
    let mut is_due = [false; ROWS];
    let mut left = ROWS;
    for hint in searcher.find_overlapping_iter(text) {
        for row in &rows[hint.pattern().as_usize()] {
            left -= usize::from(!std::mem::replace(&mut is_due[*row], true));
        }
        if left == 0 {
            break;
        }
    }
    (0..ROWS).filter(|row| is_due[*row]).collect()
}

/// Every hint once, and the rows it is of. None where they cannot be searched for, and then every row is due.
static HINTS: LazyLock<Option<(AhoCorasick, Vec<Vec<usize>>)>> = LazyLock::new(|| {
    let (mut hints, mut rows): (Vec<&str>, Vec<Vec<usize>>) = (vec![], vec![]);
    for (row, hint) in
        TABLE.iter().enumerate().flat_map(|(row, of)| of.hints.iter().map(move |hint| (row, hint)))
    {
        match hints.iter().position(|known| known == hint) {
            Some(known) => rows[known].push(row),
            None => {
                hints.push(hint);
                rows.push(vec![row]);
            }
        }
    }
    let searcher = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(hints).ok()?;
    Some((searcher, rows))
});

/// Each is compiled when first needed: compiling all takes milliseconds and megabytes, and most texts need none.
pub(super) fn regex(row: usize) -> Result<&'static Regex, Problem> {
    static MADE: [OnceLock<Result<Regex, Problem>>; ROWS] = [const { OnceLock::new() }; ROWS];
    let made = MADE[row].get_or_init(|| compile(&expanded(TABLE[row].expression)));
    made.as_ref().map_err(Clone::clone)
}
