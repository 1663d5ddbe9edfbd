//! The environment of the program: what it needs to start and to sign in, and nothing else.
//!
//! It hands its environment on to whatever it starts, so a key that is not there cannot get lost.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables that are handed on.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TZ",
    // The way to the service.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    // Signing in.
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

/// Families of variables that are handed on, where the variable before them is there.
const FAMILIES: &[(Option<&str>, &str)] = &[
    (None, "LC_"),
    (None, "ANTHROPIC_DEFAULT_"),
    (Some("CLAUDE_CODE_USE_BEDROCK"), "AWS_"),
    (Some("CLAUDE_CODE_USE_BEDROCK"), "ANTHROPIC_BEDROCK_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "ANTHROPIC_VERTEX_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "CLOUD_ML_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "GOOGLE_"),
    (Some("CLAUDE_CODE_USE_VERTEX"), "VERTEX_"),
];

/// Variables that are the same in every call.
const SET: &[(&str, &str)] = &[
    // `@path` in what is judged would be read and sent, from anywhere on the disk.
    ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    // It alone sees for how long the service wants to be left alone, so it tries again, and not for long.
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    // A verdict is about what was sent, never about a summary of it; whether that is too long, the service
    // knows, while the program only guesses.
    ("DISABLE_COMPACT", "1"),
    ("CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE", "100000000"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// Whether a variable is handed on; `has` says which others are there.
pub fn is_kept(name: &str, has: impl Fn(&str) -> bool) -> bool {
    let of_family =
        |(needs, prefix): &(Option<&str>, &str)| name.starts_with(prefix) && needs.is_none_or(&has);
    KEPT.contains(&name) || FAMILIES.iter().any(of_family)
}

/// The whole environment of a call, from the one we have.
pub fn environment(ours: &[(OsString, OsString)], temporary: &Path, call: &str) -> Vec<(OsString, OsString)> {
    let has = |wanted: &str| ours.iter().any(|(name, _)| name == wanted);
    let mut all: Vec<(OsString, OsString)> = vec![];
    for (name, value) in ours {
        if name.to_str().is_some_and(|name| is_kept(name, has)) {
            let value = if name == "PATH" { absolute_only(value) } else { value.clone() };
            all.push((name.clone(), value));
        }
    }
    all.extend(SET.iter().map(|(name, value)| (name.into(), value.into())));
    all.push(("TMPDIR".into(), temporary.into()));
    all.push(("CLAUDE_CODE_TMPDIR".into(), temporary.into()));
    all.push(("COUNTERSIGN_CALL".into(), call.into()));
    all
}

/// The program runs among copies of what is judged; none of them may be found as a program.
fn absolute_only(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(folders).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours: Vec<_> = pairs.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let all = environment(&ours, Path::new("/private/tmp"), "ca-1");
        all.into_iter().map(|(n, v)| (n.into_string().unwrap(), v.into_string().unwrap())).collect()
    }

    #[test]
    fn sign_in_survives_and_nothing_else_does() {
        let table = [
            ("HOME", true),
            ("LC_ALL", true),
            ("https_proxy", true),
            ("ANTHROPIC_API_KEY", true),
            ("CLAUDE_CODE_OAUTH_TOKEN", true),
            ("CLAUDE_CONFIG_DIR", true),
            ("CLAUDECODE", false),
            ("CLAUDE_CODE_ENTRYPOINT", false),
            ("OPENAI_API_KEY", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("GITHUB_TOKEN", false),
            ("COUNTERSIGN_REVIEWER", false),
            ("NODE_OPTIONS", false),
            ("LD_PRELOAD", false),
        ];
        for (name, kept) in table {
            let all = given(&[(name, "value")]);
            assert_eq!(all.contains(&(name.to_owned(), "value".to_owned())), kept, "{name}");
        }
    }

    #[test]
    fn another_cloud_keeps_its_own_sign_in() {
        let all = given(&[("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_PROFILE", "x"), ("GOOGLE_CLOUD", "y")]);
        assert!(all.contains(&("AWS_PROFILE".to_owned(), "x".to_owned())));
        assert!(!all.iter().any(|(name, _)| name == "GOOGLE_CLOUD"));
    }

    #[test]
    fn every_call_has_its_own_marks_once() {
        let all = given(&[
            ("PATH", "/bin:.:bin::/usr/bin"),
            ("TMPDIR", "/tmp"),
            ("COUNTERSIGN_CALL", "ca-0"),
            ("CLAUDE_CODE_MAX_RETRIES", "99"),
        ]);
        let value = |wanted: &str| {
            let all: Vec<_> = all.iter().filter(|(name, _)| name == wanted).collect();
            assert_eq!(all.len(), 1, "{wanted}");
            all[0].1.clone()
        };
        assert_eq!(value("PATH"), "/bin:/usr/bin");
        assert_eq!(value("TMPDIR"), "/private/tmp");
        assert_eq!(value("COUNTERSIGN_CALL"), "ca-1");
        assert_eq!(value("CLAUDE_CODE_MAX_RETRIES"), "3");
        assert_eq!(value("CLAUDE_CODE_DISABLE_FILE_MENTIONS"), "1");
    }
}
