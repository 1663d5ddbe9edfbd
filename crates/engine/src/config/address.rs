//! Addresses of services, and the names of the variables that hold their keys.

use crate::yaml::ProblemList;
use std::ops::Range;
use url::Url;

/// Reads the address of a key. A sign-in does not belong into it: the variable that `key_env` names holds it.
pub(super) fn address(
    sink: &mut ProblemList,
    (key, span): (&str, &Range<usize>),
    given: &str,
    (example, key_env): (&str, &str),
) -> Option<Url> {
    let Ok(url) = Url::parse(given) else {
        sink.report_with_hint("bad-address", span, format!("`{key}` is not an address"), example);
        return None;
    };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        let message = format!("`{key}` begins with `http://` or `https://`");
        sink.report_with_hint("bad-address", span, message, example);
        return None;
    }
    if !url.username().is_empty() || url.password().is_some() {
        let hint = format!("name the variable that holds the key in `{key_env}`");
        sink.report_with_hint(
            "sign-in-in-address",
            span,
            format!("`{key}` contains a user name or password"),
            hint,
        );
        return None;
    }
    Some(url)
}

/// The name of a variable that holds a key.
pub(super) fn variable(
    sink: &mut ProblemList,
    (key, span): (&str, &Range<usize>),
    name: String,
) -> Option<String> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()) {
        return Some(name);
    }
    // What is there may be the key itself, so it is not repeated.
    let message = format!("`{key}` is the name of a variable, with letters, digits and `_`");
    sink.report_with_hint(
        "bad-variable",
        span,
        message,
        "write the key into a variable or a file, never here",
    );
    None
}
