//! The table of secrets, the table of what is none, and what holds for any text.

mod corpus;

use super::*;
use crate::answer::{Answer, Asked, Flaw, Ruling, StatedFlaw};
use proptest::prelude::*;

fn standard() -> Redaction {
    static STANDARD: std::sync::LazyLock<Redaction> =
        std::sync::LazyLock::new(|| Redaction::new(&[]).unwrap());
    STANDARD.clone()
}

/// Made up for these tests, and put together here so that no scanner takes this file for a leak.
fn secrets() -> Vec<(&'static str, String)> {
    let letters = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdEf";
    let upper = "Q7RSTUVW2XYZ3456";
    let url_safe = "AbC-dEf_123-456ghiJKLmnoPQRstuVWXyz0987";
    let aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEY12A";
    vec![
        ("anthropic-key", format!("sk-ant-api03-{url_safe}")),
        ("openai-key", format!("sk-{letters}")),
        ("openai-key", format!("sk-proj-{url_safe}")),
        ("aws-key-id", format!("AKIA{upper}")),
        ("aws-key-id", format!("ASIA{upper}")),
        ("github-token", format!("ghp_{letters}")),
        ("github-token", format!("gho_{letters}")),
        ("github-token", format!("github_pat_11ABCDEFG0_{letters}")),
        ("gitlab-token", format!("glpat-{}", &url_safe[..22])),
        ("slack-token", format!("xoxb-123456789012-1234567890123-{}", &letters[..24])),
        ("google-key", format!("AIza{}", &url_safe[..35])),
        ("stripe-key", format!("sk_live_{}", &letters[..24])),
        ("stripe-key", format!("rk_live_{}", &letters[..24])),
        ("npm-token", format!("npm_{}", &letters[..36])),
        ("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{url_safe}{}", &letters[..30])),
        ("jwt", format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{}", &url_safe[..30])),
        ("aws-secret", aws.to_owned()),
    ]
}

/// What stands around a secret that is replaced, with `@` for the secret.
fn around() -> Vec<(&'static str, String, &'static str)> {
    let random = "x9Qf3LmZ7pRt2Vb8";
    vec![
        ("assigned-secret", random.to_owned(), "password = \"@\""),
        ("assigned-secret", random.to_owned(), "  api_key: @\n"),
        ("assigned-secret", random.to_owned(), "DB_PASSWORD=@"),
        ("assigned-secret", random.to_owned(), "{\"clientSecret\": \"@\"}"),
        ("assigned-secret", random.to_owned(), "const TOKEN: &str = \"@\";"),
        ("assigned-secret", random.to_owned(), "config['secret_key'] = '@'"),
        ("assigned-secret", random.to_owned(), "\\\"password\\\": \\\"@\\\"}"),
        ("assigned-secret", "Tr0ub4dor&3".to_owned(), "password: '@'"),
        ("assigned-secret", "0123456789abcdef0123456789abcdef".to_owned(), "secret: @"),
        ("aws-secret", secrets()[16].1.clone(), "aws key @,"),
        ("url-password", "s3cr3t-pw".to_owned(), "postgres://app:@@db.internal/x"),
        ("authorization", format!("{random}{random}"), "Authorization: Bearer @"),
        ("authorization", "dXNlcjpwYXNzd29yZA==".to_owned(), "authorization: Basic @"),
        ("slack-token", "T0000000/B0000000/abcdEFGH1234".to_owned(), "https://hooks.slack.com/services/@"),
    ]
}

fn pem(kind: &str, end: &str) -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    format!(
        "-----BEGIN {kind}PRIVATE KEY-----{end}{line}{end}{line}{end}Zk9=={end}-----END {kind}PRIVATE KEY-----"
    )
}

#[test]
fn every_secret_of_the_table_is_replaced_and_counted() {
    let redaction = standard();
    for (name, secret) in secrets().into_iter().filter(|(name, _)| *name != "aws-secret") {
        for (before, after) in
            [("", ""), ("key \"", "\","), ("a\n", "\nb"), ("=", ""), ("\\n", "\\n"), ("é", "é")]
        {
            let (text, counts) = redaction.redact_owned(&format!("{before}{secret}{after}"));
            assert_eq!(text, format!("{before}[redacted: {name}]{after}"));
            assert_eq!(counts.words(), format!("{name} 1"));
        }
    }
    for (name, secret, around) in around() {
        let (head, tail) = around.split_once('@').unwrap();
        let (text, counts) = redaction.redact_owned(&format!("{head}{secret}{tail}"));
        assert_eq!(text, format!("{head}[redacted: {name}]{tail}"));
        assert_eq!(counts.total(), 1);
    }
}

#[test]
fn a_private_key_keeps_its_lines() {
    let redaction = standard();
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let (text, counts) = redaction.redact_owned(&format!("a\n{}\nb", pem(kind, "\n")));
        assert_eq!(text, format!("a\n{}b", "[redacted: private-key]\n".repeat(5)));
        assert_eq!(counts.words(), "private-key 1");
    }
    let (text, _) = redaction.redact_owned(&format!("a\r\n{}\r\nb", pem("", "\r\n")));
    assert_eq!(text, format!("a\r\n{}b", "[redacted: private-key]\r\n".repeat(5)));
    // Inside JSON, in a quotation, and cut off at either end.
    let (text, _) = redaction.redact_owned(&format!("{{\"k\": \"{}\"}}", pem("RSA ", "\\n")));
    assert_eq!(text, "{\"k\": \"[redacted: private-key]\"}");
    let whole = pem("", "\n> ");
    assert!(!redaction.hide(&whole).contains("MII"));
    for cut in [&whole[..whole.len() / 2], &whole[whole.len() / 3..]] {
        assert!(!redaction.hide(cut).contains("QEFAASCBKcwggSjAgEAAoIBAQC7"), "{cut}");
    }
}

#[test]
fn the_signs_of_a_diff_hide_no_secret() {
    let redaction = standard();
    for sign in ["+", "-", " "] {
        for (name, secret) in secrets().into_iter().filter(|(name, _)| *name != "aws-secret") {
            let text = redaction.hide(&format!("@@ -1 +1 @@\n{sign}{secret}\n"));
            assert_eq!(text, format!("@@ -1 +1 @@\n{sign}[redacted: {name}]\n"));
        }
        let key = redaction.hide(&format!("@@ -1 +1 @@\n{sign}{}\n x\n", pem("RSA ", &format!("\n{sign}"))));
        assert!(!key.contains("MII") && !key.contains("Zk9") && key.ends_with("\n x\n"), "{key}");
    }
}

/// Ordinary text that looks like a secret at first sight.
const ORDINARY: &[&str] = &[
    "commit 8978142f0c5b1d6a7e3c9b2a4d5e6f708192a3b4",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "checksum = \"9a8f5f1f4c2d0e9b7a6c5d4e3f2a1b0c9d8e7f6a\"",
    "![logo](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)",
    "sk-learn-based-pipeline-for-2024-models, see sk-fading-circle-container",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password: ${DB_PASSWORD}, token: {{ vault.token_2 }}, secret: <your-secret-here-1>",
    "let token = parse_header2_with_options(input);",
    "secret: my-cluster-secret-2024",
    "\"apiKey\": \"primaryApiKeyV2\", max_tokens: 1234567890123456",
    "password = \"changeme123!\"",
    "the password: at least 12 characters, one of them a digit",
    "postgres://user:password@localhost/db and https://host:8080/path@2x.png and git@github.com:a/b.git",
    "postgres://user:${PASSWORD}@localhost/db",
    "Authorization: Bearer <token>, bearer authentication-scheme-version-2",
    "It begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----, see RFC 7468.",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ada@home",
    "npm_config_registry=https://registry.example npm_package_version",
    "aws s3 cp s3://bucket/8978142f0c5b1d6a7e3c9b2a4d5e6f708192a3b4 .",
    "eyJ is how a token begins; eyJhbGciOiJIUzI1NiJ9 alone is a header",
    "token_type: urn:ietf:params:oauth:token-type:jwt",
    "# Títle\r\n\n```rust\nlet x = \"\\u{1b}\";\n```\n👩‍👩‍👧 می‌خواهم\n",
    "key: AKIA is the prefix, AKIAlowercaseisnotone1",
];

#[test]
fn ordinary_text_is_the_same_bytes() {
    let redaction = standard();
    for text in ORDINARY {
        let (same, counts) = redaction.redact(text);
        assert_eq!((same, counts), (Cow::Borrowed(*text), Counts::default()));
    }
}

#[test]
fn own_patterns_are_added_and_must_make_sense() {
    let own = |name: &str, pattern: &str| OwnPattern { name: name.into(), pattern: pattern.into() };
    let internal = own("internal", "corp-([a-z0-9]{20})");
    let redaction = Redaction::new(std::slice::from_ref(&internal)).unwrap();
    assert_eq!(redaction.hide("x corp-abcdefghij0123456789 y"), "x [redacted: internal] y");
    let lines = Redaction::new(&[own("lines", "(?s)BEGIN.*?END")]).unwrap();
    assert_eq!(lines.hide("BEGIN\nx\nEND\n"), "[redacted: lines]\n[redacted: lines]\n[redacted: lines]\n");
    for (name, pattern, said) in [
        ("a", "(", "the pattern cannot be read: unclosed group"),
        ("a", "x*", "the pattern matches the empty text, so it would replace everything"),
        ("a", "[a-z]+", "the pattern matches `[redacted: anthropic-key]`, the mark that replaces a secret"),
        ("jwt", "x", "`jwt` is the name of a built-in pattern"),
        ("A b", "x", "the name of a pattern has small letters, digits and `-`, at most 40"),
    ] {
        assert_eq!(problem(&own(name, pattern)).unwrap().to_string(), said);
    }
    assert_eq!(problem(&internal), None);
    let identities = [Redaction::off(), standard(), redaction, lines].map(|r| r.identity().to_owned());
    assert_eq!(identities.iter().collect::<BTreeSet<_>>().len(), 4);
}

#[test]
fn a_long_value_is_replaced_to_its_end() {
    let value = "aB3dE5gH7jK9mN1p".repeat(40);
    for text in [format!("secret: {value}\n"), format!("token = \"{value}\"")] {
        let hidden = standard().hide(&text);
        assert_eq!(hidden, text.replace(&value, "[redacted: assigned-secret]"));
    }
}

#[test]
fn off_replaces_nothing() {
    for (_, secret) in secrets() {
        assert_eq!(Redaction::off().hide(&secret), secret);
    }
}

/// Issue 15, item 4: what reviewers find is free of secrets like their feedback.
#[test]
fn findings_are_redacted_with_the_answer() {
    let (_, key) = &secrets()[0];
    let stated =
        StatedFlaw { message: format!("see {key}"), file: Some(key.clone()), line: Some(1), end_line: None };
    let dropped = Flaw { location_dropped: Some(key.clone()), ..Flaw::new("m", None) };
    let ruling = Ruling { flaws: vec![stated.flaw(), dropped], ..Ruling::new("A", false, None) };
    let mut answer = Answer { rulings: vec![ruling], flaws: vec![stated.flaw()], ..Answer::default() };
    standard().answer(&mut answer);
    answer.check_locations(&Asked::default(), |_| None);
    assert_eq!(answer.redacted, 5);
    let words = format!("{answer:?}");
    assert!(!words.contains(&key[10..]) && words.contains("[redacted: anthropic-key]:1"), "{words}");
}

#[test]
fn a_reply_cannot_hide_a_secret_behind_escapes() {
    let redaction = standard();
    let (_, key) = &secrets()[0];
    let spelled = key.replacen('s', "\\u0073", 1);
    for reply in [
        format!("{{\"feedback\": \"see {key}\"}}"),
        format!("{{\"feedback\": \"see\\n{key}\"}}"),
        format!("{{\"feedback\": \"see {spelled}\"}}"),
        format!("```json\n{{\"{spelled}\": 1}}\n```"),
        format!("not JSON: {key}"),
    ] {
        let hidden = redaction.reply(&reply);
        assert!(hidden.contains("[redacted: anthropic-key]") && !hidden.contains(&key[10..]), "{hidden}");
    }
    let plain = "{\"passed\": true,  \"passed\": 1}";
    assert_eq!(redaction.reply(plain), plain);
}

#[test]
fn no_text_takes_long() {
    let redaction = standard();
    for piece in [
        "curl -u ",
        "machine a login b password ",
        "Z2hwX2FCM2RFNWdIN2pLOW1O\n",
        "hf_aB3dE5gH\n",
        "secret=",
        "sk-",
        "password = \"",
        "AKIA",
        "://a:",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJaaaaaaaa.",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let _ = redaction.redact(&text);
    }
}

fn piece() -> impl Strategy<Value = String> {
    let known = secrets().into_iter().map(|(_, secret)| secret);
    let placed = around().into_iter().map(|(_, secret, around)| around.replacen('@', &secret, 1));
    let all: Vec<String> = known.chain(placed).chain([pem("RSA ", "\n"), pem("", "\\n")]).collect();
    prop_oneof![
        proptest::sample::select(all),
        proptest::sample::select(ORDINARY).prop_map(str::to_owned),
        "[ -~]{0,30}",
        "[a-zA-Z0-9_/+=-]{0,50}",
        Just("\n".to_owned()),
        Just("secret = ".to_owned()),
        any::<String>(),
    ]
}

proptest! {
    /// Any text: no panic, the same lines, nothing left to find, and twice is once.
    #[test]
    fn what_was_redacted_stays(pieces in proptest::collection::vec(piece(), 0..8)) {
        let redaction = standard();
        let text = pieces.concat();
        let (once, counts) = redaction.redact(&text);
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
        let (twice, none) = redaction.redact(&once);
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(none.total(), 0);
        if counts.total() == 0 {
            prop_assert_eq!(once.as_ref(), text.as_str());
        }
    }
}

impl Redaction {
    fn redact_owned(&self, text: &str) -> (String, Counts) {
        let (text, counts) = self.redact(text);
        (text.into_owned(), counts)
    }
}

#[test]
fn every_row_can_be_looked_for() {
    for (row, of) in table::TABLE.iter().enumerate() {
        assert!(table::regex(row).is_ok(), "{}", of.name);
        assert!(
            !of.hints.is_empty() && of.hints.iter().all(|hint| *hint == hint.to_lowercase()),
            "{}",
            of.name
        );
    }
}

#[test]
fn a_text_without_hints_needs_no_expression() {
    assert!(table::needed("A page full of clear words, with 40 of these.\n").is_empty());
    let of = |name: &str| {
        (0..table::TABLE.len()).filter(|row| table::TABLE[*row].name == name).collect::<Vec<_>>()
    };
    let named: BTreeSet<&str> =
        table::needed("the TokenS of a").into_iter().map(|row| table::TABLE[row].name).collect();
    assert_eq!(named, BTreeSet::from(["assigned-secret"]));
    // One hint is a part of the other.
    assert!(table::needed("sk-ant-").starts_with(&[of("anthropic-key"), of("openai-key")].concat()));
}

/// Texts made to be matched by a row, so that its hints are those of its expression.
fn matched() -> impl Strategy<Value = (usize, String)> {
    let made = |row: usize| {
        // The generator knows no places between characters, and those say nothing about the text.
        let expression = table::expanded(table::TABLE[row].expression);
        let expression = expression.replace(r"(?-u:\b)", "").replace("(?i-u:", "(?i:").replace('^', "");
        proptest::string::string_regex(&expression).unwrap().prop_map(move |text| (row, text))
    };
    (0..table::TABLE.len()).prop_flat_map(made)
}

proptest! {
    #[test]
    fn what_a_row_finds_has_one_of_its_hints((row, text) in matched()) {
        prop_assume!(table::regex(row).unwrap().is_match(&text));
        prop_assert!(table::needed(&text).contains(&row), "{}: {text}", table::TABLE[row].name);
    }
}
