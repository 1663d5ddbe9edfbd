//! The words with which an agent ends a task: on a line of their own.

/// What an agent says of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskWord {
    /// It is done.
    Complete,
    /// It did not work, and why.
    Failed(String),
    /// Something is missing that the agent cannot get, and what.
    Blocked(String),
}

const WRAPPERS: [&str; 6] = ["**", "__", "*", "_", "`", "\""];

/// The last such word of a text; none where there is none, which is not "done".
pub fn task_word(text: &str) -> Option<TaskWord> {
    text.lines().rev().find_map(word)
}

fn word(line: &str) -> Option<TaskWord> {
    let line = line.trim();
    let inner = |wrapper: &&str| line.strip_prefix(*wrapper)?.strip_suffix(*wrapper);
    let line = WRAPPERS.iter().find_map(inner).unwrap_or(line).trim();
    let why = |name: &str| -> Option<String> {
        let rest = line.strip_prefix(name)?.trim();
        if rest.is_empty() {
            return Some("the agent gave no reason".to_owned());
        }
        Some(rest.strip_prefix(':')?.trim().to_owned())
    };
    match line {
        "TASK_COMPLETE" => Some(TaskWord::Complete),
        _ => why("TASK_FAILED").map(TaskWord::Failed).or_else(|| why("TASK_BLOCKED").map(TaskWord::Blocked)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_line_of_its_own_counts() {
        let failed = |why: &str| Some(TaskWord::Failed(why.to_owned()));
        let blocked = |why: &str| Some(TaskWord::Blocked(why.to_owned()));
        let table = [
            ("done\nTASK_COMPLETE", Some(TaskWord::Complete)),
            ("TASK_COMPLETE\nanything after it\n", Some(TaskWord::Complete)),
            ("**TASK_COMPLETE**", Some(TaskWord::Complete)),
            ("`TASK_COMPLETE`", Some(TaskWord::Complete)),
            ("TASK_FAILED: no compiler", failed("no compiler")),
            ("TASK_FAILED", failed("the agent gave no reason")),
            ("TASK_BLOCKED: which database?", blocked("which database?")),
            ("TASK_COMPLETE\nTASK_FAILED: after all", failed("after all")),
            ("TASK_FAILED: at first\nTASK_COMPLETE", Some(TaskWord::Complete)),
            ("I will print TASK_COMPLETE when done", None),
            ("TASK_COMPLETED", None),
            ("task_complete", None),
            ("TASK_FAILED because", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(task_word(text), expected, "{text:?}");
        }
    }
}
