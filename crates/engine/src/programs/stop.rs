//! Why a model stopped writing. Only a few reasons mean that its reply is whole; after any other or unknown reason the
//! reply may be incomplete, even if it can be parsed.

use super::{Kind, Problem};

/// By the words of Anthropic's API, which the `claude` program passes on.
pub fn anthropic(reason: Option<&str>) -> Result<(), Problem> {
    const WHOLE: &[&str] = &["end_turn", "tool_use", "stop_sequence"];
    check(reason, WHOLE, &["max_tokens", "model_context_window_exceeded"], &["refusal"])
}

/// By the words of chat completions, which the `opencode` program uses for every service, with other dashes.
pub fn chat(reason: Option<&str>) -> Result<(), Problem> {
    check(reason, &["stop"], &["length"], &["content_filter", "content-filter"])
}

/// By the words of Google's API.
pub fn google(reason: Option<&str>) -> Result<(), Problem> {
    const DECLINED: &[&str] =
        &["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"];
    check(reason, &["STOP"], &["MAX_TOKENS"], DECLINED)
}

fn check(reason: Option<&str>, whole: &[&str], cut: &[&str], declined: &[&str]) -> Result<(), Problem> {
    let Some(reason) = reason else {
        return Err(Problem::new(Kind::NotWhole, "it does not say why it stopped"));
    };
    let kind = match reason {
        _ if whole.contains(&reason) => return Ok(()),
        _ if cut.contains(&reason) => Kind::ReplyTooLong,
        _ if declined.contains(&reason) => Kind::Refused,
        _ => Kind::NotWhole,
    };
    Err(Problem::new(kind, &format!("it stopped for `{reason}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the reasons of an API are read.
    type Read = fn(Option<&str>) -> Result<(), Problem>;

    #[test]
    fn only_reasons_that_are_known_to_mean_a_whole_reply_are_taken() {
        let table: [(Read, &str, Option<Kind>); 17] = [
            (anthropic, "end_turn", None),
            (anthropic, "tool_use", None),
            (anthropic, "stop_sequence", None),
            (anthropic, "max_tokens", Some(Kind::ReplyTooLong)),
            (anthropic, "refusal", Some(Kind::Refused)),
            (anthropic, "pause_turn", Some(Kind::NotWhole)),
            (anthropic, "compaction", Some(Kind::NotWhole)),
            (chat, "stop", None),
            (chat, "length", Some(Kind::ReplyTooLong)),
            (chat, "content_filter", Some(Kind::Refused)),
            (chat, "tool_calls", Some(Kind::NotWhole)),
            (chat, "STOP", Some(Kind::NotWhole)),
            (google, "STOP", None),
            (google, "MAX_TOKENS", Some(Kind::ReplyTooLong)),
            (google, "SAFETY", Some(Kind::Refused)),
            (google, "OTHER", Some(Kind::NotWhole)),
            (google, "FINISH_REASON_UNSPECIFIED", Some(Kind::NotWhole)),
        ];
        for (read, reason, expected) in table {
            let problem = read(Some(reason)).err();
            assert_eq!(problem.as_ref().map(|problem| problem.kind), expected, "{reason}");
            assert!(problem.is_none_or(|problem| problem.quoted.contains(reason)), "{reason}");
        }
        for read in [anthropic, chat, google] {
            assert_eq!(read(None).unwrap_err().kind, Kind::NotWhole);
        }
    }
}
