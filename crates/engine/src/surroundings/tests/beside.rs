//! What lies beside a script, and scripts that are edited for a moment.

use super::*;
use crate::stamp::Around;

/// A check, its files, the one that is edited and its new text, and what the check says then.
type Part<'a> = (&'a str, &'a [(&'a str, &'a str)], (&'a str, &'a str), Result<&'a str, ()>);

/// A script that is not edited uses a part that the author of the work edits or adds.
#[test]
fn attack_17_parts_of_a_check_that_its_text_does_not_name_plainly() {
    let judged = Ok("judged");
    let table: &[Part<'_>] = &[
        (
            "sh tools/check.sh",
            &[("tools/check.sh", ". tools/common\nok\n"), ("tools/common", "ok() { echo judged; }\n")],
            ("tools/common", "ok() { echo passed; }\n"),
            Err(()),
        ),
        (
            "sh tools/check.sh",
            &[("tools/check.sh", "exec tools/lint src\n"), ("tools/lint", "#!/bin/sh\necho judged\n")],
            ("tools/lint", "#!/bin/sh\necho passed\n"),
            Err(()),
        ),
        (
            "sh check.sh",
            &[("check.sh", ". lib/parts.txt\n"), ("lib/parts.txt", "echo judged\n")],
            ("lib/parts.txt", "echo passed\n"),
            Err(()),
        ),
        (
            "python3 tools/check.py",
            &[
                (
                    "tools/check.py",
                    "import importlib,sys\nsys.path.insert(0, 'tools')\nimportlib.import_module('lint').run()\n",
                ),
                ("tools/lint.py", "def run(): print('judged')\n"),
            ],
            ("tools/lint.py", "def run(): print('passed')\n"),
            Err(()),
        ),
        (
            "python3 tools/check.py",
            &[("tools/check.py", "import subprocess\nprint('judged')\n")],
            ("tools/signal.py", "import os\nprint('passed', flush=True)\nos._exit(0)\n"),
            judged,
        ),
        (
            "python3 check.py",
            &[("check.py", "import subprocess\nprint('judged')\n")],
            ("signal.py", "import os\nprint('passed', flush=True)\nos._exit(0)\n"),
            Err(()),
        ),
        (
            "perl tools/check.pl",
            &[
                ("tools/check.pl", "use lib 'tools'; require Lint; Lint::run();\n"),
                ("tools/Lint.pm", "package Lint; sub run { print 'judged' } 1;\n"),
            ],
            ("tools/Lint.pm", "package Lint; sub run { print 'passed' } 1;\n"),
            Err(()),
        ),
        (
            "sh tools/check.sh",
            &[("tools/check.sh", "! grep -rqf tools/words.txt src\n"), ("tools/words.txt", "BAD\n")],
            ("tools/words.txt", "nothing\n"),
            Err(()),
        ),
        (
            "sh check.sh",
            &[("check.sh", "! grep -rqf words.txt src\n"), ("words.txt", "BAD\n")],
            ("words.txt", "nothing\n"),
            Err(()),
        ),
        (
            "cd tools && sh check.sh",
            &[("tools/check.sh", "for f in *.part; do . ./$f; done\n"), ("tools/a.part", "echo judged\n")],
            ("tools/a.part", "echo passed\n"),
            Err(()),
        ),
        // Its own text names nothing of it, so its trusted copy does.
        (
            "sh tools/check.sh",
            &[("tools/check.sh", "echo judged\n"), ("tools/other.sh", "echo\n")],
            ("tools/other.sh", "echo other\n"),
            judged,
        ),
    ];
    for (text, files, (name, edited), wanted) in table {
        let fixture = Fixture::new(files);
        fixture.edit("src/a.txt", "BAD\n");
        let before = fixture.gate(&[]).shell_line(text, &fixture.project);
        assert!(before.is_ok_and(|line| !line.stamps.is_empty()), "{text}");
        fixture.edit(name, edited);
        let said = fixture.check(text);
        assert_eq!(said.as_deref().map_err(|_| ()), *wanted, "{text}, {name}: {said:?}");
    }
}

#[test]
fn what_a_check_looks_at_may_change() {
    let files = [
        ("tools/check.sh", "[ -f README.md ] && cat README.md; ls src/\n"),
        ("check.sh", "# use README.md\n[ -f README.md ] && cat README.md; ls src\n"),
        ("check.py", "import os\nprint(open('README.md').read() + os.listdir('src')[0])\n"),
        ("README.md", "old\n"),
        ("src/a.txt", "old\n"),
    ];
    let fixture = Fixture::new(&files);
    fixture.edit("README.md", "new\n").edit("src/a.txt", "new\n").edit("other.py", "x = 1\n");
    fixture.edit("tools/__pycache__/x.pyc", "cache");
    for text in ["sh tools/check.sh", "sh check.sh", "python3 check.py", "CARGO_TARGET_DIR=src sh check.sh"] {
        assert_eq!(fixture.check(text).as_deref(), Ok("new\na.txt"), "{text}");
        let line = fixture.gate(&[]).shell_line(text, &fixture.project).unwrap();
        assert_eq!(line.stamps.len(), 1, "{text} runs where it is");
    }
}

/// Who edits a script after it was compared, and puts it back before the answer, is noticed.
#[test]
fn attack_17_scripts_that_are_edited_for_a_moment() {
    let files = [
        ("tools/check.sh", "echo trusted\n"),
        ("tools/part.sh", "echo part\n"),
        ("judge.py", JUDGE),
        ("helper.py", "x\n"),
    ];
    let fixture = Fixture::new(&files);
    let mut gate = fixture.gate(&[]);
    gate.gate.as_mut().unwrap().stamp = Some(Stamp::of(&fixture.copy, Around::Ours(0)).unwrap());
    let words = ["python3".to_owned(), "judge.py".to_owned()];
    let check = || gate.shell_line("sh tools/check.sh", &fixture.project);
    let review = || gate.line(&words, &fixture.project, &fixture.private);
    let (before, asked) = (check().unwrap(), review().unwrap());
    assert_eq!((check().as_ref(), review().as_ref()), (Ok(&before), Ok(&asked)));
    for name in ["tools/check.sh", "tools/part.sh"] {
        let before = check().unwrap();
        // Until the clock of the file system has moved on.
        while check().as_ref() == Ok(&before) {
            fixture.edit(name, "echo edited\n");
            fixture.edit(name, files.iter().find(|(known, _)| known == &name).unwrap().1);
        }
    }
    assert_eq!(review().as_ref(), Ok(&asked), "the project is not where a reviewer runs");
    while review().is_ok() {
        write(&fixture.copy.join("helper.py"), "y\n");
        write(&fixture.copy.join("helper.py"), "x\n");
    }
    assert!(check().is_err_and(|words| words.contains("checkout of the trusted scripts")));
}
