//! Which lines of a file a change touched, by its patch. In doubt a line was touched: only what was not can be there already.

use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The lines of a file that its patch touched, as they are after the change: those that are new, those beside what was only
/// removed, and those between the two places of a line that was moved.
pub fn touched_lines(patch: &str) -> Vec<RangeInclusive<u64>> {
    let mut reader = Reader::default();
    for line in patch.lines() {
        reader.read(line);
    }
    reader.end_run();
    reader.join_moved();
    reader.touched
}

#[derive(Default)]
struct Reader {
    touched: Vec<RangeInclusive<u64>>,
    /// How many lines of the hunk are to come, of the old file and of the new one.
    left: (u64, u64),
    /// The number of the next line of the new file.
    next: u64,
    run: Run,
    removed: Vec<(String, u64)>,
    added: HashMap<String, Vec<u64>>,
}

/// Lines that follow each other and are not in both files.
#[derive(Default)]
struct Run {
    removed: u64,
    added: u64,
    /// The number of the line of the new file at which it began.
    first: u64,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if self.left == (0, 0) {
            self.end_run();
            if let Some((old, new)) = hunk(line) {
                (self.left, self.next) = ((old.1, new.1), if new.1 == 0 { new.0 + 1 } else { new.0 });
            }
            return;
        }
        let text = line.get(1..).unwrap_or_default();
        match line.as_bytes().first() {
            Some(b'+') => {
                self.begin_run();
                self.run.added += 1;
                self.touched.push(self.next..=self.next);
                self.added.entry(collapsed(text)).or_default().push(self.next);
                self.next += 1;
                self.left.1 = self.left.1.saturating_sub(1);
            }
            Some(b'-') => {
                self.begin_run();
                self.run.removed += 1;
                self.removed.push((collapsed(text), self.next));
                self.left.0 = self.left.0.saturating_sub(1);
            }
            Some(b'\\') => {}
            _ => {
                self.end_run();
                self.next += 1;
                self.left = (self.left.0.saturating_sub(1), self.left.1.saturating_sub(1));
            }
        }
    }

    fn begin_run(&mut self) {
        if (self.run.removed, self.run.added) == (0, 0) {
            self.run.first = self.next;
        }
    }

    /// Where more was removed than added, the lines around it speak for what is gone.
    fn end_run(&mut self) {
        let Run { removed, added, first } = std::mem::take(&mut self.run);
        if removed > added {
            self.touched.push(first.saturating_sub(1).max(1)..=first + added);
        }
    }

    /// A line that is removed at one place and added at another was moved, or what stands between them was.
    fn join_moved(&mut self) {
        let is_text = |text: &str| text.chars().any(char::is_alphanumeric);
        for (text, from) in self.removed.iter().filter(|(text, _)| is_text(text)) {
            let to = self.added.get(text).and_then(|all| all.iter().min_by_key(|at| at.abs_diff(*from)));
            if let Some(to) = to {
                self.touched.push(*from.min(to)..=*from.max(to));
            }
        }
    }
}

/// The first line and the count of both sides: `@@ -1,2 +3,4 @@`.
fn hunk(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let side = |text: &str| {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some((side(old)?, side(new)?))
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_20_lines_are_touched_where_the_change_may_have_caused_a_finding() {
        let head = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n";
        let table: [(&str, &[u64]); 8] = [
            ("@@ -1,3 +1,4 @@\n a\n+b\n c\n d\n", &[2]),
            ("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", &[2]),
            // What is gone is seen at the lines around it.
            ("@@ -1,3 +1,2 @@\n a\n-b\n c\n", &[1, 2]),
            ("@@ -1,2 +1 @@\n-a\n b\n", &[1]),
            // A line that was moved, and what it was moved over.
            ("@@ -1,4 +1,4 @@\n-one\n two\n three\n+one\n four\n", &[1, 2, 3]),
            ("@@ -1,4 +1,4 @@\n-}\n two\n three\n+}\n four\n", &[1, 3]),
            // Text that reads like a hunk or a header is text.
            ("@@ -1,2 +1,3 @@\n a\n+@@ -9 +9 @@\n--- b\n+++ c\n", &[2, 3]),
            ("@@ -1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n@@ -9 +10,2 @@\n+x\n y\n", &[2, 10]),
        ];
        for (hunks, expected) in table {
            let touched = touched_lines(&format!("{head}{hunks}"));
            let is_touched = |line: &u64| touched.iter().any(|range| range.contains(line));
            let lines: Vec<u64> = (1..=20).filter(is_touched).collect();
            assert_eq!(lines, expected, "{hunks}");
        }
        assert!(touched_lines("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n").is_empty());
    }
}
