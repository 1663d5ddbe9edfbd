//! A unified diff or a file as rows with line numbers.

/// What a row of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Same,
}

/// A line with its numbers before and after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRow {
    pub old: Option<u64>,
    pub new: Option<u64>,
    pub sign: Sign,
    pub text: String,
}

/// The rows of a diff, hunk by hunk. Lines before the first hunk, and between hunks, that are no rows are left out.
pub fn hunks(diff: &str) -> Vec<Vec<DiffRow>> {
    let mut hunks: Vec<Vec<DiffRow>> = vec![];
    let (mut old, mut new) = (Count::default(), Count::default());
    for line in diff.lines() {
        if let Some((from, to)) = header(line).filter(|_| old.left == 0 && new.left == 0) {
            (old, new) = (from, to);
            hunks.push(vec![]);
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let (sign, text) = match line.split_at_checked(1) {
            Some(("+", text)) if new.left > 0 => (Sign::Added, text),
            Some(("-", text)) if old.left > 0 => (Sign::Removed, text),
            Some((" ", text)) if old.left > 0 && new.left > 0 => (Sign::Same, text),
            None if old.left > 0 && new.left > 0 => (Sign::Same, ""),
            _ => continue,
        };
        let (before, after) = match sign {
            Sign::Added => (None, Some(new.next())),
            Sign::Removed => (Some(old.next()), None),
            Sign::Same => (Some(old.next()), Some(new.next())),
        };
        hunk.push(DiffRow { old: before, new: after, sign, text: text.to_owned() });
    }
    hunks
}

/// The lines of one side of a hunk.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    line: u64,
    left: u64,
}

impl Count {
    fn next(&mut self) -> u64 {
        let line = self.line;
        (self.line, self.left) = (line.saturating_add(1), self.left.saturating_sub(1));
        line
    }

    /// `12,3` or `12`.
    fn read(text: &str) -> Option<Self> {
        let (line, left) = text.split_once(',').unwrap_or((text, "1"));
        Some(Self { line: line.parse().ok()?, left: left.parse().ok()? })
    }
}

/// `@@ -1,2 +3,4 @@`.
fn header(line: &str) -> Option<(Count, Count)> {
    let (places, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = places.split_once(" +")?;
    Some((Count::read(old)?, Count::read(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_21_3_a_diff_is_rows_with_both_numbers() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@ fn f()\n one\n-two\n+@@ -1 +1 @@\n+2\n\\ No newline at end of file\n@@ -9 +10 @@\n-a\n+b\n";
        let rows: Vec<Vec<_>> = hunks(diff)
            .into_iter()
            .map(|hunk| hunk.into_iter().map(|row| (row.old, row.new, row.sign, row.text)).collect())
            .collect();
        let row = |old, new, sign, text: &str| (old, new, sign, text.to_owned());
        assert_eq!(
            rows,
            [
                vec![
                    row(Some(3), Some(3), Sign::Same, "one"),
                    row(Some(4), None, Sign::Removed, "two"),
                    row(None, Some(4), Sign::Added, "@@ -1 +1 @@"),
                    row(None, Some(5), Sign::Added, "2"),
                ],
                vec![row(Some(9), None, Sign::Removed, "a"), row(None, Some(10), Sign::Added, "b")],
            ]
        );
    }

    #[test]
    fn issue_21_3_what_is_no_diff_has_no_rows() {
        for text in
            ["", "no diff", "@@ -1,x +1 @@\n a", "@@ -1 +1\n a", "@@ -18446744073709551615,2 +1,2 @@\n a\n b"]
        {
            let _ = hunks(text);
        }
        assert_eq!(hunks("+a\n-b\n"), Vec::<Vec<DiffRow>>::new());
    }
}
