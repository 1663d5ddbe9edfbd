//! Warnings about valid jobs that will not work well: a reviewer sees only files, questions and guidance.

use countersign_core::submission::OutputKind;
use countersign_core::text::counted;

/// Fewer words than this are a label, not a question.
const MIN_WORDS: usize = 4;

/// Words that do not change the meaning.
const FILLERS: [&str; 12] =
    ["a", "an", "and", "been", "explicitly", "had", "has", "have", "is", "our", "the", "was"];

/// Phrases, without fillers, about facts that only the conversation shows.
const NEEDS_THE_CONVERSATION: [&str; 29] = [
    "accepted by user",
    "agreed by user",
    "agreed upon with",
    "agreed with user",
    "approved by user",
    "as agreed",
    "as discussed",
    "asked user",
    "chat history",
    "confirmed by user",
    "confirmed with user",
    "conversation",
    "discussed with",
    "questions were asked",
    "transcript",
    "user accepted",
    "user agreed",
    "user agrees",
    "user approved",
    "user approves",
    "user asked",
    "user confirmed",
    "user confirms",
    "user happy",
    "user requested",
    "user said",
    "user satisfied",
    "user told",
    "user's satisfaction",
];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Warning {
    pub code: &'static str,
    pub message: String,
    pub hint: &'static str,
}

pub(super) fn criterion(name: &str, question: &str) -> Vec<Warning> {
    let mut found = Vec::new();
    if let Some(words) = about_the_conversation(name).or_else(|| about_the_conversation(question)) {
        found.push(Warning {
            code: "needs-conversation",
            message: format!("\"{words}\": a reviewer sees the files and not the conversation"),
            hint: "have the step write what was said into an output, and ask about that",
        });
    }
    let words = question.split_whitespace().count();
    if words < MIN_WORDS {
        found.push(Warning {
            code: "short-question",
            message: format!("a question of {} is too vague", counted(words, "word", "words")),
            hint: "say what must be true of the files for it to pass",
        });
    }
    found
}

/// A warning about a review; `kind` is that of the output it looks at, unless it looks at all.
pub(super) fn review(kind: Option<OutputKind>, guidance: Option<&str>) -> Option<Warning> {
    let one_by_one = kind == Some(OutputKind::Files);
    (one_by_one && guidance.is_none()).then(|| Warning {
        code: "no-guidance",
        message: "each file is reviewed alone, by a reviewer who does not see the other files".into(),
        hint: "say in `additional_review_guidance` what the files are for and which other files to read",
    })
}

fn about_the_conversation(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let words: Vec<&str> = words.filter(|word| !FILLERS.contains(word)).collect();
    let plain = format!(" {} ", words.join(" "));
    NEEDS_THE_CONVERSATION.into_iter().find(|phrase| plain.contains(&format!(" {phrase} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(name: &str, question: &str) -> Vec<&'static str> {
        criterion(name, question).into_iter().map(|warning| warning.code).collect()
    }

    /// JOBS-12.
    #[test]
    fn jobs_12_questions_about_the_conversation_are_noticed() {
        for question in [
            "User confirmed satisfaction with it",
            "Has the user explicitly confirmed the scope?",
            "The agent asked the user for all priorities",
            "Was the plan approved by the user?",
            "Does it match the CONVERSATION so far?",
            "The layout is as discussed, in full",
            "Is it to the user’s satisfaction?",
        ] {
            assert_eq!(codes("Name", question), ["needs-conversation"], "{question}");
        }
        assert_eq!(codes("User approved", "Is everything in order?"), ["needs-conversation"]);
        for question in [
            "Can a user confirm an order with it?",
            "Are conversations stored with their dates?",
            "Does the page say what the users need?",
            "Is every user story there?",
        ] {
            assert_eq!(codes("Name", question), [""; 0], "{question}");
        }
    }

    /// JOBS-12.
    #[test]
    fn jobs_12_questions_under_four_words_are_noticed() {
        for (question, short) in [
            ("Good", true),
            ("Good formatting?", true),
            ("Is it  complete?", true),
            ("Is the file complete?", false),
        ] {
            assert_eq!(codes("Name", question) == ["short-question"], short, "{question}");
        }
        assert_eq!(codes("Name", "User agreed"), ["needs-conversation", "short-question"]);
    }

    /// JOBS-12.
    #[test]
    fn jobs_12_files_judged_one_by_one_need_guidance() {
        for (kind, guidance, warned) in [
            (Some(OutputKind::Files), None, true),
            (Some(OutputKind::Files), Some("Read the glossary."), false),
            (Some(OutputKind::File), None, false),
            (None, None, false),
        ] {
            assert_eq!(review(kind, guidance).is_some(), warned, "{kind:?} {guidance:?}");
        }
    }
}
