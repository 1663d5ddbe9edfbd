//! Reviewers in free text: what each text comes to. Only a pass that nothing contradicts passes.

use crate::{COMPLETE, project};
use std::os::unix::fs::PermissionsExt;

/// What the reviewer writes, `W` for the word of the question, and the exit code.
const TABLE: [(&str, i32); 14] = [
    ("Looks good.\nREVIEW_PASSED W", 0),
    ("REVIEW_FAILED W: no tests", 1),
    // A finding that has to be fixed, and a pass.
    ("MAJOR: the lock is never released (a.md:1)\nREVIEW_PASSED W", 4),
    ("**MAJOR** - no tests\n\nAll good otherwise.\nREVIEW_PASSED W", 4),
    ("REVIEW_PASSED W: MAJOR: no tests", 4),
    // A fix without an edit.
    ("I corrected it.\nREVIEW_FIXED W", 4),
    ("MAJOR: it was broken\nREVIEW_FIXED W", 4),
    // The same marker twice is no contradiction, another one is.
    ("REVIEW_PASSED W\nREVIEW_PASSED W", 0),
    ("REVIEW_FAILED W\nREVIEW_PASSED W", 4),
    // The words may be in any language, the marker may not.
    ("Alles in Ordnung, keine Einwände.\nREVIEW_PASSED W", 0),
    ("問題ありません。\nREVIEW_PASSED W", 0),
    ("テストがありません。\nREVIEW_FAILED W: テスト", 1),
    ("PRÜFUNG_BESTANDEN W", 4),
    ("ПРОВЕРКА ПРОЙДЕНА\nREVIEW_PASSED", 4),
];

#[test]
fn issue_19_every_free_text_has_its_result() {
    for (text, code) in TABLE {
        let project = project();
        project.write("a.md", "one\n");
        let script = "#!/bin/sh\nword=$(sed -n 's/^REVIEW_PASSED //p' | tail -n 1)\nsed \"s/ W/ $word/\" \"$HOME/said\"\n";
        let path = project.home().join("review.sh");
        std::fs::write(&path, script).unwrap();
        std::fs::write(project.home().join("said"), text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let reviewer = format!("text:{}", path.display());
        let ran = project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", &reviewer]);
        assert_eq!(ran.code, code, "{text}: {}{}", ran.stdout, ran.stderr);
    }
}
