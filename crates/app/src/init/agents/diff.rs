//! The change of a file as a unified diff.

use similar::TextDiff;

/// The change of one file; a file that is not there is `/dev/null`, as git has it.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    diff.unified_diff().header(&name("a", before), &name("b", after)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_shown_with_its_lines() {
        let table = [
            (None, Some("a\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"),
            (Some("a\n"), None, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
            (
                Some("a\nb"),
                Some("a\nc"),
                "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            ),
            (Some("a\n"), Some("a\n"), ""),
        ];
        for (before, after, expect) in table {
            assert_eq!(unified("f", before, after), expect);
        }
    }
}
