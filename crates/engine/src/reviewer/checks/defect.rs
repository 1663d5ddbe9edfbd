//! What a check found wrong, how much of it is listed, and how it reads as feedback.

use super::quote::visible;

/// How many defects of a file are listed under one check.
pub const MAX_DEFECTS: usize = 5;

/// A path in a feedback is cut here; longer ones only exist to be in the way.
const MAX_PATH_CHARS: usize = 256;

/// One thing that is wrong with a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The line, from 1; `None` when it is about the file as a whole.
    pub line: Option<usize>,
    pub message: String,
}

impl Defect {
    pub(super) fn of_file(message: String) -> Self {
        Self { line: None, message }
    }

    pub(super) fn at(line: usize, message: String) -> Self {
        Self { line: Some(line), message }
    }
}

/// Collects defects, lists the first few and counts the rest.
#[derive(Default)]
pub(super) struct DefectList {
    listed: Vec<Defect>,
    more: usize,
    cut_short: bool,
}

impl DefectList {
    /// Takes the message as a function, so that a million defects do not cost a million messages.
    pub(super) fn add(&mut self, line: Option<usize>, message: impl FnOnce() -> String) {
        if self.listed.len() < MAX_DEFECTS {
            self.listed.push(Defect { line, message: message() });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.listed.len() + self.more
    }

    /// The search ended early: what is counted is only the least there can be.
    pub(super) fn cut_short(&mut self) {
        self.cut_short = true;
    }

    pub(super) fn list(self) -> Vec<Defect> {
        let mut defects = self.listed;
        match (self.more, self.cut_short) {
            (0, _) => {}
            (more, false) => defects.push(Defect::of_file(format!("and {more} more"))),
            (more, true) => defects.push(Defect::of_file(format!("and at least {more} more"))),
        }
        defects
    }
}

/// Defects of one file as feedback, ``docs/a.md:12: placeholder text `TODO`; line 14: …``; empty without defects.
pub fn feedback(path: &str, defects: &[Defect]) -> String {
    let Some((first, rest)) = defects.split_first() else {
        return String::new();
    };
    let path = visible(path, MAX_PATH_CHARS);
    let mut said = match first.line {
        Some(line) => format!("{path}:{line}: {}", first.message),
        None => format!("{path}: {}", first.message),
    };
    for defect in rest {
        said.push_str("; ");
        if let Some(line) = defect.line {
            said.push_str(&format!("line {line}: "));
        }
        said.push_str(&defect.message);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(count: usize) -> DefectList {
        let mut found = DefectList::default();
        for i in 1..=count {
            found.add(Some(i), || format!("d{i}"));
        }
        found
    }

    #[test]
    fn feedback_names_path_and_lines() {
        for (defects, said) in [
            (vec![], ""),
            (vec![Defect::of_file("is empty".into())], "a.md: is empty"),
            (vec![Defect::at(12, "x".into()), Defect::at(14, "y".into())], "a.md:12: x; line 14: y"),
            (vec![Defect::at(1, "x".into()), Defect::of_file("and 3 more".into())], "a.md:1: x; and 3 more"),
        ] {
            assert_eq!(feedback("a.md", &defects), said);
        }
        assert_eq!(feedback("a\n\u{1b}b", &found(1).list()), "a \\u{1b}b:1: d1");
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        assert_eq!(found(5).list().len(), 5);
        let listed = found(7).list();
        assert_eq!(listed.last(), Some(&Defect::of_file("and 2 more".into())));
        assert_eq!(listed.len(), MAX_DEFECTS + 1);

        let mut cut = found(7);
        cut.cut_short();
        assert_eq!(cut.list().last(), Some(&Defect::of_file("and at least 2 more".into())));
    }
}
