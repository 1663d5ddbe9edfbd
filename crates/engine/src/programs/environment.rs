//! The environment of a program: what it needs to start and to sign in. Programs hand it on to their children, so no other
//! key is in it.

use super::Facts;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables that every program gets.
const KEPT: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TERM", "TZ"];

/// Variables that lead to a service, which every program gets too.
const KEPT_FOR_SERVICES: &[&str] = &[
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
];

/// Whether a variable is handed on to a program; `has` says which others are there.
fn is_kept(facts: &Facts, name: &str, has: impl Fn(&str) -> bool) -> bool {
    let of_family =
        |(needs, prefix): &(Option<&str>, &str)| name.starts_with(prefix) && needs.is_none_or(&has);
    name.starts_with("LC_")
        || KEPT.contains(&name)
        || KEPT_FOR_SERVICES.contains(&name)
        || facts.kept.contains(&name)
        || facts.families.iter().any(of_family)
}

/// The part of our environment that a program may have, with the key that is named for it.
pub fn kept(
    facts: &Facts,
    key_env: Option<&str>,
    ours: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let ours: Vec<_> = ours.into_iter().collect();
    let has = |wanted: &str| ours.iter().any(|(name, _)| name == wanted);
    let may =
        |name: &OsStr| name.to_str().is_some_and(|name| is_kept(facts, name, has) || key_env == Some(name));
    ours.iter().filter(|(name, _)| may(name)).cloned().collect()
}

/// The whole environment of a call: our own as far as the program may have it, its fixed variables, those of the call.
pub fn environment(
    facts: &Facts,
    ours: &[(OsString, OsString)],
    set: Vec<(OsString, OsString)>,
    temporary: &Path,
    call: &str,
) -> Vec<(OsString, OsString)> {
    let own: Vec<_> = [("TMPDIR", temporary.as_os_str()), ("COUNTERSIGN_CALL", OsStr::new(call))]
        .map(|(name, value)| (name.into(), value.into()))
        .into_iter()
        .chain(facts.set.iter().map(|(name, value)| (name.into(), value.into())))
        .chain(set)
        .collect();
    let mut all: Vec<(OsString, OsString)> = vec![];
    for (name, value) in ours.iter().filter(|(name, _)| !own.iter().any(|(given, _)| given == name)) {
        let value = if name == "PATH" { absolute_only(value) } else { value.clone() };
        all.push((name.clone(), value));
    }
    all.extend(own);
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
    use crate::programs::claude;

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours = pairs.iter().map(|(name, value)| (name.into(), value.into()));
        let facts = &claude::FACTS;
        let all = environment(facts, &kept(facts, None, ours), vec![], Path::new("/private/tmp"), "ca-1");
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
