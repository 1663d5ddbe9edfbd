//! Whether a value is a secret: long enough, mixed enough, and not a name, a path or a stand-in.

/// Where the place alone decides.
pub(super) fn any(_: &str, _: Option<char>) -> bool {
    true
}

/// A secret access key has exactly 40 characters; longer runs are other base64, 40 hex digits are a commit.
pub(super) fn aws_secret(value: &str, after: Option<char>) -> bool {
    value.len() == 40 && after != Some('=') && !value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A token behind its prefix: `sk-learn-based-pipeline` is none.
pub(super) fn token(value: &str, _: Option<char>) -> bool {
    has_letter_and_digit(value) && !is_name(value)
}

/// A password in an address, unless it is one for show.
pub(super) fn url_password(value: &str, _: Option<char>) -> bool {
    let for_show = ["password", "passwd", "pass", "pw", "pwd", "secret", "token"];
    let lower = value.to_ascii_lowercase();
    !for_show.contains(&lower.as_str()) && !is_placeholder(value) && !value.starts_with(['$', '%'])
}

/// Base64 of a token or a private key.
pub(super) fn encoded(value: &str, _: Option<char>) -> bool {
    let Some(text) = decoded(value) else { return false };
    let mut is_one = text.contains("PRIVATE KEY");
    super::table::tokens(&text, |_, _| is_one = true);
    is_one
}

/// Base64 of a name and a password, as in the files of registries.
pub(super) fn encoded_password(value: &str, _: Option<char>) -> bool {
    decoded(value).is_some_and(|text| text.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
}

/// The text that some base64 stands for, also of the alphabet for addresses; what is no text in it is left out.
fn decoded(value: &str) -> Option<String> {
    let (mut bits, mut held, mut bytes) = (0_u32, 0, vec![]);
    for byte in value.trim_end_matches('=').bytes() {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(sextet);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value in quotes behind a word like `password`.
pub(super) fn quoted(value: &str, _: Option<char>) -> bool {
    is_mixed(value)
}

/// The same without quotes: what goes on as an expression is code.
pub(super) fn bare(value: &str, after: Option<char>) -> bool {
    !matches!(after, Some('(' | '[' | '{' | '<' | ':' | '$')) && is_mixed(value)
}

fn is_mixed(value: &str) -> bool {
    let sign = |byte: u8| byte.is_ascii_punctuation() && !SEPARATORS.contains(&byte);
    let long = value.len() >= 12 || value.bytes().any(sign);
    long && has_letter_and_digit(value)
        && !value.contains("://")
        && !value.starts_with(['/', '.', '~'])
        && !is_placeholder(value)
        && !is_name(value)
        && bits_per_byte(value) >= MIN_BITS_PER_BYTE
}

const SEPARATORS: &[u8] = b"-_./:,";
const MIN_BITS_PER_BYTE: f64 = 2.75;
/// A version or a year may end a name; more digits do not.
const MAX_NAME_DIGITS: usize = 4;

fn has_letter_and_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_alphabetic()) && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Words that people write where a secret would stand.
fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 16] = [
        "example",
        "changeme",
        "change_me",
        "placeholder",
        "redacted",
        "dummy",
        "xxxx",
        "your",
        "****",
        "....",
        "…",
        "${",
        "{{",
        "$(",
        "<",
        "environ",
    ];
    let lower = value.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// `my-cluster-secret-2024`, `primaryApiKeyV2`, `auth.sha256`: words, each with a number at most.
fn is_name(value: &str) -> bool {
    let is_word = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = &part[letters..];
        digits.iter().all(u8::is_ascii_digit) && (letters == 0 || digits.len() <= MAX_NAME_DIGITS)
    };
    value.as_bytes().split(|byte| SEPARATORS.contains(byte)).all(is_word)
}

/// How much each byte says that the others do not (Shannon).
fn bits_per_byte(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = f64::from(counts.iter().sum::<u32>());
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}
