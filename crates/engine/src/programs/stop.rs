//! Why a model stopped writing. Only a few reasons mean that its reply is whole; a reply that ended for any other
//! reason, or for one that is not known here, may be a part of one, also where it can be read.

use super::{Kind, Problem};

/// By the words of Anthropic's API, which the `claude` program passes on.
pub fn anthropic(reason: Option<&str>) -> Result<(), Problem> {
    match reason {
        Some("end_turn" | "tool_use" | "stop_sequence") => Ok(()),
        Some(reason @ ("max_tokens" | "model_context_window_exceeded")) => cut(reason),
        Some(reason @ "refusal") => declined(reason),
        other => not_whole(other),
    }
}

/// By the words of chat completions, which the `opencode` program uses for every service, with other dashes.
pub fn chat(reason: Option<&str>) -> Result<(), Problem> {
    match reason {
        Some("stop") => Ok(()),
        Some(reason @ "length") => cut(reason),
        Some(reason @ ("content_filter" | "content-filter")) => declined(reason),
        other => not_whole(other),
    }
}

/// By the words of Google's API.
pub fn google(reason: Option<&str>) -> Result<(), Problem> {
    const DECLINED: [&str; 7] =
        ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"];
    match reason {
        Some("STOP") => Ok(()),
        Some(reason @ "MAX_TOKENS") => cut(reason),
        Some(reason) if DECLINED.contains(&reason) => declined(reason),
        other => not_whole(other),
    }
}

fn cut(reason: &str) -> Result<(), Problem> {
    Err(Problem::new(Kind::ReplyTooLong, &format!("it stopped for `{reason}`")))
}

fn declined(reason: &str) -> Result<(), Problem> {
    Err(Problem::new(Kind::Refused, &format!("it stopped for `{reason}`")))
}

fn not_whole(reason: Option<&str>) -> Result<(), Problem> {
    let words = match reason {
        Some(reason) => format!("it stopped for `{reason}`"),
        None => "it does not say why it stopped".to_owned(),
    };
    Err(Problem::new(Kind::NotWhole, &words))
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
