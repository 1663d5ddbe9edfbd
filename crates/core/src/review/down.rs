//! When a reviewer counts as down: it failed several questions of a round in a row, each the same way. Asking it the rest
//! would cost time and lead to nothing else.

use crate::outcome::NoVerdict;
use crate::text;

/// So many identical failures in a row are enough.
const FAILURES: u32 = 3;
/// Longer words with a digit in them are ids, times and addresses, which differ from one question to the next.
const NUMBER_BYTES: usize = 3;

/// The failures of one reviewer in a row, in one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    last: Option<(NoVerdict, String)>,
    failures: u32,
    gist: String,
}

impl Streak {
    /// Takes what came of a question: none where it was answered.
    pub fn take(&mut self, failure: Option<(NoVerdict, &str)>) {
        // A question that is too long, or that a model declines, says nothing about the next one.
        let counted = failure.filter(|(why, _)| matches!(why, NoVerdict::Unavailable | NoVerdict::Timeout));
        let Some((why, detail)) = counted else {
            *self = Self::default();
            return;
        };
        let gist = gist(detail);
        let same = self.last.as_ref().is_some_and(|(last, _)| *last == why) && self.gist == gist;
        self.failures = if same { (self.failures + 1).min(FAILURES) } else { 1 };
        self.gist = gist;
        self.last = Some((why, detail.to_owned()));
    }

    /// Why the next question is not put to the reviewer, where it counts as down.
    pub fn down(&self, reviewer: &str) -> Option<(NoVerdict, String)> {
        let (why, detail) = self.last.as_ref().filter(|_| self.failures >= FAILURES)?;
        let questions = text::counted(u64::from(self.failures), "question", "questions");
        Some((
            *why,
            format!(
                "not asked: `{reviewer}` counts as down for this round, because {questions} failed the same way: {detail}"
            ),
        ))
    }
}

/// What is the same in words about the same failure.
fn gist(detail: &str) -> String {
    let is_number = |word: &&str| {
        let inner = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        inner.len() > NUMBER_BYTES && inner.bytes().any(|byte| byte.is_ascii_digit())
    };
    detail.split_whitespace().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use NoVerdict::{Garbled, Refused, Timeout, TooLong, Unavailable};

    #[test]
    fn issue_23_a_reviewer_is_down_after_three_equal_failures_in_a_row() {
        let down = |failures: &[Option<(NoVerdict, &str)>]| {
            let mut streak = Streak::default();
            failures.iter().for_each(|failure| streak.take(*failure));
            streak.down("main").map(|(why, _)| why)
        };
        let key = Some((Unavailable, "it rejected the key (401 no)"));
        let table: &[(&[_], _)] = &[
            (&[], None),
            (&[key, key], None),
            (&[key, key, key], Some(Unavailable)),
            (&[key, key, None, key, key], None),
            (&[None, key, key, key], Some(Unavailable)),
            (&[key, key, Some((Unavailable, "it rejected the key (500 no)"))], None),
            (&[key, key, Some((Timeout, "it rejected the key (401 no)"))], None),
            (&[Some((Timeout, "late")), Some((Timeout, "late")), Some((Timeout, "late"))], Some(Timeout)),
            (
                &[
                    Some((Unavailable, "failed (req_0191 at 12:00:01)")),
                    Some((Unavailable, "failed (req_0192 at 12:00:02)")),
                    Some((Unavailable, "failed (req_0193 at 12:00:03)")),
                ],
                Some(Unavailable),
            ),
            (&[Some((TooLong, "x")); 5], None),
            (&[Some((Refused, "x")); 5], None),
            (&[Some((Garbled, "x")); 5], None),
        ];
        for (failures, expected) in table {
            assert_eq!(down(failures), *expected, "{failures:?}");
        }
        let mut streak = Streak::default();
        (0..4).for_each(|_| streak.take(key));
        let words = "not asked: `main` counts as down for this round, because 3 questions failed the same way: it \
                     rejected the key (401 no)";
        assert_eq!(streak.down("main").unwrap().1, words);
    }
}
