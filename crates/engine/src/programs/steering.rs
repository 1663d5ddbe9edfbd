//! The variables that programs get at a gate: those that are known to choose nothing, those that sign in, and others with
//! the value that a person trusts. A list of what steers is never complete; here it says which are recorded and named.

use super::{Facts, PROGRAMS};
use std::ffi::{OsStr, OsString};

/// Variables that choose what a program loads or talks to, beside those of agent programs.
const STEERING: &str = "AWS_CA_BUNDLE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CC CDPATH CFLAGS CLASSPATH \
                        COUNTERSIGN_CONFIG COUNTERSIGN_LEDGER COUNTERSIGN_REVIEWER COUNTERSIGN_ROOT CPATH CPPFLAGS \
                        CURL_CA_BUNDLE CURL_HOME CXX CXXFLAGS ENV GCONV_PATH GLOBIGNORE GNUMAKEFLAGS HOME IFS \
                        JDK_JAVA_OPTIONS LDFLAGS LESSCLOSE LESSOPEN LIBRARY_PATH LOCPATH MAKEFILES MAKEFLAGS MFLAGS NLSPATH \
                        POSIXLY_CORRECT PS4 REQUESTS_CA_BUNDLE RIPGREP_CONFIG_PATH SHELLOPTS SSL_CERT_DIR SSL_CERT_FILE \
                        TAR_OPTIONS VIRTUAL_ENV XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_DATA_HOME ZDOTDIR";
/// Endings of such variables.
const STEERING_ENDS: &[&str] =
    &["_API_BASE", "_BASE_URL", "_CONFIG_DIR", "_CONFIG_HOME", "_ENDPOINT", "_PROXY", "_proxy"];
/// Beginnings of such variables.
const STEERING_BEGINS: &str = "ASDF_ AWS_ENDPOINT_ BASH_ BUN_ CARGO_ CMAKE_ COREPACK_ DENO_ DOCKER_ DYLD_ GEM_ GIT_ \
                               GOENV GOFLAGS GOPATH GOPROXY GOROOT GOTOOL GTEST_ JAVA_ LD_ LUA_ MISE_ NODE_ NODENV_ \
                               NPM_CONFIG_ npm_config_ OPENSSL_ PERL PHP PKG_CONFIG_ PYENV_ PYTEST_ PYTHON RBENV_ RUBY \
                               RUSTC RUSTDOC RUSTFLAGS RUSTUP_ RUST_TEST_ UV_ VOLTA_";
/// They begin like those, and say only who writes or how something is shown.
const HARMLESS: &str = "CARGO_MANIFEST_ CARGO_PKG_ CARGO_TERM_ GIT_AUTHOR_ GIT_COMMITTER_ GIT_PAGER GIT_EDITOR PYTHONUNBUFFERED \
                        PYTHONIOENCODING";
/// Endings of variables that sign in. They pass, whatever they begin with: a wrong one gets no answer.
const SIGN_IN_ENDS: &[&str] = &[
    "_ACCESS_KEY",
    "_ACCESS_KEY_ID",
    "_API_KEY",
    "_CREDENTIALS",
    "_PASSPHRASE",
    "_PASSWORD",
    "_SECRET",
    "_SECRET_KEY",
    "_TOKEN",
];
/// Variables that belong to a sign-in and choose nothing else.
const SIGN_IN: &str = "AWS_BEARER_TOKEN_BEDROCK AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_DEFAULT_REGION AWS_PROFILE AWS_REGION \
                       AWS_ROLE_ARN AWS_ROLE_SESSION_NAME AWS_WEB_IDENTITY_TOKEN_FILE CLOUD_ML_REGION \
                       GOOGLE_CLOUD_LOCATION GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_PROJECT_ID SSH_AUTH_SOCK";
/// What every program may know: the user, the terminal, the language, the time zone, who commits.
const BASICS: &str = "CI CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS DBUS_SESSION_BUS_ADDRESS DISPLAY FORCE_COLOR HOME LANG \
                      LANGUAGE LINES LOGNAME NO_COLOR PATH PWD PYTHONIOENCODING PYTHONUNBUFFERED SHELL TEMP TERM TMP TMPDIR \
                      TZ USER WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR";
const BASICS_BEGIN: &str = "COUNTERSIGN_ GIT_AUTHOR_ GIT_COMMITTER_ LC_ VERTEX_REGION_";
/// The ending of variables that choose a model.
const MODEL_END: &str = "_MODEL";
/// The home folder is trusted or replaced as a whole, by the caller.
const HOME: &str = "HOME";

type Variables = Vec<(OsString, OsString)>;

fn is_one_of(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|known| known == name)
}

fn begins_like(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|begin| name.starts_with(begin))
}

fn signs_in(name: &str) -> bool {
    is_one_of(SIGN_IN, name) || SIGN_IN_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a variable is known to choose what a program loads, reads or talks to.
pub fn steers(name: &str) -> bool {
    let of_program = |facts: &Facts| {
        facts.steering.iter().any(|known| *known == name || known.ends_with('_') && name.starts_with(known))
    };
    if signs_in(name) || begins_like(HARMLESS, name) {
        return false;
    }
    is_one_of(STEERING, name)
        || PROGRAMS.reviewers().any(of_program)
        || STEERING_ENDS.iter().any(|end| name.ends_with(end))
        || begins_like(STEERING_BEGINS, name)
}

/// Whether a variable chooses a model. It is part of a reviewer's identity, and so not of the place where it is asked.
fn chooses_model(name: &str) -> bool {
    name.ends_with(MODEL_END) || PROGRAMS.reviewers().any(|facts| facts.model_variable == Some(name))
}

/// Whether a variable is known to steer, so that its value is recorded as trusted, and it is named where it is not used.
pub fn needs_trust(name: &str) -> bool {
    name != HOME && (steers(name) || chooses_model(name))
}

/// Whether a variable reaches the programs of a gate with any value.
fn passes(name: &str) -> bool {
    let of_program = |facts: &Facts| facts.kept.contains(&name);
    !needs_trust(name)
        && (is_one_of(BASICS, name)
            || begins_like(BASICS_BEGIN, name)
            || signs_in(name)
            || PROGRAMS.reviewers().any(of_program)
            || PROGRAMS.marks().any(|(mark, _)| mark.name == name))
}

/// The environment of programs at a gate: what passes, and what a person trusts with the value that is trusted. Beside it
/// the names of those that are known to steer or recorded, and whose present value is not used.
pub fn gate_environment(
    current: &[(OsString, OsString)],
    trusted: &[(OsString, Option<OsString>)],
) -> (Variables, Vec<String>) {
    let (mut all, mut dropped): (Variables, Vec<String>) = (vec![], vec![]);
    let is_trusted = |name: &OsStr| trusted.iter().any(|(known, _)| known == name);
    for (name, value) in current {
        let is_known = is_trusted(name) || name.to_str().is_none_or(needs_trust);
        if !is_known {
            // Others of a shell are its own affair, so they are not named.
            all.extend(name.to_str().is_some_and(passes).then(|| (name.clone(), value.clone())));
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
            HTTPS_PROXY MAKEFLAGS MAKEFILES GNUMAKEFLAGS MFLAGS PYTEST_ADDOPTS PYTEST_PLUGINS GTEST_FILTER GOFLAGS \
            RUSTC_WRAPPER RUSTFLAGS CARGO_HOME CARGO_BUILD_RUSTC RIPGREP_CONFIG_PATH OPENSSL_CONF OPENSSL_MODULES GCONV_PATH \
            LOCPATH LESSOPEN TAR_OPTIONS AWS_ENDPOINT_URL AWS_CONFIG_FILE";
        for name in steering.split_whitespace() {
            assert_eq!(given(name), (None, vec![name.to_owned()]), "{name}");
        }
        for name in
            "ANTHROPIC_API_KEY OPENAI_API_KEY CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_AUTH_TOKEN NODE_AUTH_TOKEN \
            GITHUB_TOKEN AWS_PROFILE AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS OPENAI_ORGANIZATION HOME LANG TERM \
            PATH GIT_AUTHOR_NAME LC_ALL COUNTERSIGN_CALL CLAUDECODE SSH_AUTH_SOCK CI NO_COLOR"
                .split_whitespace()
        {
            assert_eq!(given(name), (Some("x".to_owned()), vec![]), "{name}");
        }
        // What nobody knows may steer as well. It is not named: a shell has dozens that differ from one to the next.
        for name in
            "MY_OWN WINDOWID OLDPWD SHLVL VSCODE_PID TMUX LS_COLORS EDITOR SOME_PLUGIN".split_whitespace()
        {
            assert_eq!(given(name), (None, vec![]), "{name}");
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
