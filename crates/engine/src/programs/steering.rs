//! Variables that steer a program: they choose what it loads, which service or model it talks to, or which settings it
//! reads. At a gate they have the values that a person trusts, or none.

use super::{Facts, PROGRAMS};
use std::ffi::{OsStr, OsString};

/// Variables that choose what a program loads or talks to, beside those of agent programs.
const STEERING: &[&str] = &[
    "AWS_CA_BUNDLE",
    "CDPATH",
    "CLASSPATH",
    "COUNTERSIGN_CONFIG",
    "COUNTERSIGN_LEDGER",
    "COUNTERSIGN_REVIEWER",
    "COUNTERSIGN_ROOT",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "ENV",
    "GLOBIGNORE",
    HOME,
    "IFS",
    "JDK_JAVA_OPTIONS",
    "PS4",
    "REQUESTS_CA_BUNDLE",
    "SHELLOPTS",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "ZDOTDIR",
];
/// Endings of such variables.
const STEERING_ENDS: &[&str] =
    &["_API_BASE", "_BASE_URL", "_CONFIG_DIR", "_CONFIG_HOME", "_ENDPOINT", "_PROXY", "_proxy"];
/// Beginnings of such variables.
const STEERING_BEGINS: &str = "ASDF_ BASH_ BUN_ COREPACK_ DENO_ DYLD_ GEM_ GIT_ JAVA_ LD_ LUA_ MISE_ NODE_ NODENV_ \
                               NPM_CONFIG_ npm_config_ PERL PHP PYENV_ PYTHON RBENV_ RUBY RUSTUP_ UV_ VOLTA_";
/// They begin like those, and say only who writes or how something is shown.
const HARMLESS: &str = "GIT_AUTHOR_ GIT_COMMITTER_ GIT_PAGER GIT_EDITOR PYTHONUNBUFFERED PYTHONIOENCODING";
/// Endings of variables that sign in. They pass, whatever they begin with: a wrong one gets no answer.
const SIGN_IN_ENDS: &[&str] =
    &["_API_KEY", "_AUTH_TOKEN", "_ACCESS_TOKEN", "_OAUTH_TOKEN", "_TOKEN", "_PASSWORD"];
/// The ending of variables that choose a model.
const MODEL_END: &str = "_MODEL";
/// The home folder is trusted or replaced as a whole, by the caller.
const HOME: &str = "HOME";

type Variables = Vec<(OsString, OsString)>;

/// Whether a variable chooses what a program loads, reads or talks to.
pub fn steers(name: &str) -> bool {
    let begins_like = |words: &str| words.split_whitespace().any(|begin| name.starts_with(begin));
    let of_program = |facts: &Facts| {
        facts.steering.iter().any(|known| *known == name || known.ends_with('_') && name.starts_with(known))
    };
    if SIGN_IN_ENDS.iter().any(|end| name.ends_with(end)) || begins_like(HARMLESS) {
        return false;
    }
    STEERING.contains(&name)
        || PROGRAMS.reviewers().any(of_program)
        || STEERING_ENDS.iter().any(|end| name.ends_with(end))
        || begins_like(STEERING_BEGINS)
}

/// Whether a variable chooses a model. It is part of a reviewer's identity, and so not of the place where it is asked.
fn chooses_model(name: &str) -> bool {
    name.ends_with(MODEL_END) || PROGRAMS.reviewers().any(|facts| facts.model_variable == Some(name))
}

/// Whether gates use a variable only with the value that a person trusts.
pub fn needs_trust(name: &str) -> bool {
    name != HOME && (steers(name) || chooses_model(name))
}

/// The environment of programs at a gate: variables that steer have their trusted value, or they are left out. Beside it
/// the names of those whose present value is not used.
pub fn gate_environment(
    current: &[(OsString, OsString)],
    trusted: &[(OsString, Option<OsString>)],
) -> (Variables, Vec<String>) {
    let (mut all, mut dropped): (Variables, Vec<String>) = (vec![], vec![]);
    let is_trusted = |name: &OsStr| trusted.iter().any(|(known, _)| known == name);
    for (name, value) in current {
        let steers = name.to_str().is_none_or(needs_trust);
        if !steers && !is_trusted(name) {
            all.push((name.clone(), value.clone()));
        } else if !value.is_empty() && !trusted.contains(&(name.clone(), Some(value.clone()))) {
            dropped.push(name.to_string_lossy().into_owned());
        }
    }
    all.extend(trusted.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))));
    dropped.sort();
    (all, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_17_steering_variables_have_their_trusted_value_or_none() {
        let trusted = [
            ("ANTHROPIC_BASE_URL".into(), Some("https://trusted.example".into())),
            ("HTTPS_PROXY".into(), None),
            ("MY_LIBRARY".into(), Some("/opt/lib".into())),
        ];
        let given = |name: &str| {
            let (all, dropped) = gate_environment(&[(name.into(), "x".into())], &trusted);
            let value = all.into_iter().find(|(known, _)| known == name);
            (value.map(|(_, value)| value.into_string().unwrap()), dropped)
        };
        let steering = "PYTHONPATH PYTHONHOME PYTHONSTARTUP NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS SSL_CERT_FILE \
            SSL_CERT_DIR REQUESTS_CA_BUNDLE LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV BASH_FUNC_python3%% \
            ENV PERL5LIB PERL5OPT RUBYOPT RUBYLIB GIT_DIR GIT_CONFIG_COUNT GIT_EXEC_PATH JAVA_TOOL_OPTIONS \
            ANTHROPIC_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_SMALL_FAST_MODEL GEMINI_MODEL OPENAI_BASE_URL \
            OPENAI_API_BASE GOOGLE_GEMINI_BASE_URL CLAUDE_CONFIG_DIR CLAUDE_CODE_USE_BEDROCK ANTHROPIC_CUSTOM_HEADERS \
            CODEX_HOME CODEX_CA_CERTIFICATE GEMINI_CLI_CUSTOM_HEADERS XDG_CONFIG_HOME XDG_DATA_HOME OPENCODE_CONFIG \
            http_proxy https_proxy HTTP_PROXY ALL_PROXY NO_PROXY no_proxy MISE_CONFIG_DIR ASDF_DATA_DIR PYENV_VERSION \
            HTTPS_PROXY";
        for name in steering.split_whitespace() {
            assert_eq!(given(name), (None, vec![name.to_owned()]), "{name}");
        }
        for name in
            "ANTHROPIC_API_KEY OPENAI_API_KEY CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_AUTH_TOKEN NODE_AUTH_TOKEN \
            GITHUB_TOKEN AWS_PROFILE HOME LANG TERM PATH GIT_AUTHOR_NAME MY_OWN"
                .split_whitespace()
        {
            assert_eq!(given(name), (Some("x".to_owned()), vec![]), "{name}");
        }
        for (name, value) in [("ANTHROPIC_BASE_URL", "https://trusted.example"), ("MY_LIBRARY", "/opt/lib")] {
            assert_eq!(given(name), (Some(value.to_owned()), vec![name.to_owned()]), "{name}");
            // What a person trusts is there also where this process lacks it.
            let (all, dropped) = gate_environment(&[], &trusted);
            assert!(all.contains(&(name.into(), value.into())) && dropped.is_empty(), "{name}");
            let (_, dropped) = gate_environment(&[(name.into(), value.into())], &trusted);
            assert_eq!(dropped, Vec::<String>::new(), "{name}");
        }
    }
}
