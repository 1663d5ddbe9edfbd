//! Choosing the judge: its script, its modules, its program, its surroundings.

use crate::kit::{Case, TAME, config, held, judged, row};
use countersign_testkit::{Running, Terminal};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn executable(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn attack_17_editing_the_judge() {
    let case = Case::new();
    case.project.write("judge.py", TAME);
    judged(&case.gate());
    held(&case.hook());
    case.repository.commit("the judge is part of the work");
    judged(&case.gate());
    row("the change edits judge.py", "review --gate, hook", "judged by the trusted script", "the findings");
}

#[test]
fn attack_17_editing_a_module_of_the_judge() {
    let case = Case::new();
    case.project.write("words.py", "BAD = 'nothing has this word'\n");
    judged(&case.gate());
    held(&case.hook());
    row(
        "the change edits a module that judge.py imports",
        "review --gate, hook",
        "judged by the trusted module",
        "the findings",
    );
}

#[test]
fn attack_17_a_module_that_shadows_the_library() {
    let case = Case::new();
    let text = format!("import sys\nsys.stdin.read()\nprint('''{}''')\nsys.exit()\n", tame_reply());
    case.project.write("json.py", text).write("sitecustomize.py", "raise SystemExit\n");
    judged(&case.gate());
    row("json.py beside judge.py", "review --gate", "judged by the trusted script", "the findings");
}

fn tame_reply() -> &'static str {
    r#"{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true, "feedback": "fine"}]}"#
}

#[test]
fn attack_17_the_judge_becomes_a_link() {
    let case = Case::new();
    let other = case.project.home().join("tame.py");
    std::fs::write(&other, TAME).unwrap();
    std::fs::remove_file(case.project.path("judge.py")).unwrap();
    std::os::unix::fs::symlink(&other, case.project.path("judge.py")).unwrap();
    judged(&case.gate());
    row(
        "judge.py becomes a link to another script",
        "review --gate",
        "judged by the trusted script",
        "the findings",
    );
}

#[test]
fn attack_17_deleting_the_judge() {
    let case = Case::new();
    std::fs::remove_file(case.project.path("judge.py")).unwrap();
    judged(&case.gate());
    row("judge.py is deleted", "review --gate", "judged by the trusted script", "the findings");
}

#[test]
fn attack_17_the_checkout_of_the_judge_is_edited() {
    let case = Case::new();
    judged(&case.gate());
    let cache = case.project.home().join(".cache/countersign/trusted");
    let mut edited = 0;
    for file in files(&cache) {
        if file.ends_with("judge.py") {
            let _ = std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644));
            std::fs::write(&file, TAME).unwrap();
            edited += 1;
        }
    }
    assert_eq!(edited, 1);
    case.project.write("a.md", "BAD again\n");
    judged(&case.gate());
    row(
        "the cached checkout of the trusted files is edited",
        "review --gate",
        "checked out again",
        "the findings",
    );
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = vec![];
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

/// What a plain review records must not be what a gate uses later, where the author could choose a module of the judge.
#[test]
fn attack_17_a_module_that_is_edited_only_while_a_plain_review_asks() {
    let case = Case::new();
    case.project.write("words.py", "BAD = 'nothing has this word'\n");
    for more in [&[][..], &["--subject", "x"], &["--no-cache"]] {
        let plain = [&["review", "--change"], more].concat();
        let ran = Running::start(&mut case.agent(&plain)).wait().exits(0);
        assert!(ran.stdout.contains("gates do not count it"), "{ran:?}");
    }
    case.repository.git(["checkout", "-q", "words.py"]);
    judged(&case.gate_with(&["--subject", "x"], |_| {}));
    judged(&case.gate());
    held(&case.hook());
    row(
        "a module of the judge edited while a plain review asks, then put back",
        "review --gate, hook",
        "asked again by the trusted script",
        "review and show say that gates do not count it",
    );
}

#[test]
fn attack_17_a_run_check_is_edited() {
    let case = Case::untrusted();
    case.project.write("check.sh", "#!/bin/sh\n! grep -q BAD a.md\n");
    executable(&case.project.path("check.sh"), "#!/bin/sh\n! grep -q BAD a.md\n");
    case.project.write(
        "countersign.yml",
        "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: Clean, check: {run: ./check.sh}}]}]\n",
    );
    case.repository.commit("a check");
    case.project.trust();
    case.project.write("a.md", "BAD\n");
    executable(&case.project.path("check.sh"), "#!/bin/sh\ntrue\n");
    let ran = case.gate().exits(1);
    assert!(ran.stdout.contains("Clean"), "{ran:?}");
    row(
        "the change edits the script of a run check",
        "review --gate",
        "the trusted script runs",
        "the findings",
    );
}

/// A part of a `run` check is edited, and the script that the check names is not.
#[test]
fn attack_17_a_part_of_a_run_check_is_edited() {
    let table = [
        (". tools/common\nok\n", "tools/common", "ok() { ! grep -q BAD a.md; }\n", "ok() { true; }\n"),
        ("exec tools/lint a.md\n", "tools/lint", "#!/bin/sh\n! grep -q BAD \"$1\"\n", "#!/bin/sh\ntrue\n"),
        ("! grep -qf tools/words.txt a.md\n", "tools/words.txt", "BAD\n", "nothing\n"),
    ];
    for (script, part, text, edited) in table {
        let case = Case::untrusted();
        executable(&case.project.path("tools/check.sh"), &format!("#!/bin/sh\n{script}"));
        executable(&case.project.path(part), text);
        case.project.write(
            "countersign.yml",
            "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: Clean, check: {run: sh tools/check.sh}}]}]\n",
        );
        case.repository.commit("a check");
        case.project.trust();
        case.project.write("a.md", "BAD\n");
        case.gate().exits(1);
        case.project.write(part, edited);
        let ran = case.gate_with(&["--no-cache"], |_| {});
        assert!(ran.code != 0 && format!("{ran:?}").contains(part), "{ran:?}");
    }
    row(
        "the change edits a part of a run check's script: sourced, run, or its data",
        "review --gate",
        "no verdict",
        "the answer names the file",
    );
}

/// Does something to the folder of caches while the judge is asked. No answer may come of it.
fn while_the_judge_runs(trick: impl Fn(&Path)) {
    let case = Case::untrusted();
    let judge = case.project.read("judge.py");
    // It stands for the time of a question: it waits until the attacker was there.
    let waits = "import os, pathlib\nhome = pathlib.Path(os.environ['HOME'])\n(home / 'asked').touch()\n\
        while (home / 'wait').exists() and not (home / 'edited').exists(): pass\nimport words\n";
    case.project.write("judge.py", judge.replace("import words\n", waits));
    case.repository.commit("a judge that takes its time");
    case.project.trust();
    case.project.write("a.md", "BAD\n");
    let home = case.project.home().to_owned();
    judged(&case.gate());
    std::fs::remove_file(home.join("asked")).unwrap();
    std::fs::write(home.join("wait"), "").unwrap();
    case.project.write("a.md", "BAD again\n");
    let running = Running::start(&mut case.agent(&["review", "--change", "--gate"]));
    while !home.join("asked").exists() {
        std::thread::yield_now();
    }
    trick(&home.join(".cache"));
    std::fs::write(home.join("edited"), "").unwrap();
    let ran = running.wait().exits(4);
    assert!(format!("{ran:?}").contains("edited while it ran"), "{ran:?}");
    // The next question is asked with files that are compared again.
    judged(&case.gate());
}

#[test]
fn attack_17_the_checkout_is_edited_while_it_is_used() {
    while_the_judge_runs(|cache| {
        let words = files(cache).into_iter().find(|file| file.ends_with("words.py")).unwrap();
        let good = std::fs::read(&words).unwrap();
        std::fs::write(&words, "BAD = 'nothing has this word'\n").unwrap();
        std::fs::write(&words, good).unwrap();
    });
    for level in [".", "countersign", "countersign/trusted"] {
        while_the_judge_runs(|cache| {
            let (folder, away) = (cache.join(level).canonicalize().unwrap(), cache.with_file_name("away"));
            std::fs::rename(&folder, &away).unwrap();
            std::fs::rename(&away, &folder).unwrap();
        });
    }
    row(
        "the checkout of the trusted files is edited or replaced while a reviewer is asked, and put back",
        "review --gate",
        "no verdict",
        "the answer says so",
    );
}

#[test]
fn attack_17_a_program_on_a_changed_path() {
    let case = Case::new();
    let bin = case.project.home().join("evil");
    executable(&bin.join("python3"), &format!("#!/bin/sh\ncat >/dev/null\necho '{}'\n", tame_reply()));
    executable(&bin.join("git"), "#!/bin/sh\nexit 0\n");
    executable(&bin.join("sh"), "#!/bin/dash\nexit 0\n");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    judged(&case.gate_with(&[], |command| {
        command.env("PATH", &path);
    }));
    held(&case.hook_with(|command| {
        command.env("PATH", &path);
    }));
    row(
        "PATH leads to another python3, git and sh",
        "review --gate, hook",
        "the trusted program runs",
        "the findings",
    );
}

/// What the variable would do, and that it is named.
fn steered(name: &str, value: &str) {
    let case = Case::new();
    let ran = case.gate_with(&[], |command| {
        command.env(name, value);
    });
    judged(&ran);
    assert!(ran.stderr.contains(name), "{ran:?}");
    let ran = case.hook_with(|command| {
        command.env(name, value);
    });
    held(&ran);
    row(&format!("{name} is set"), "review --gate, hook", "not used", "a warning names the variable");
}

#[test]
fn attack_17_pythonpath() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("sitecustomize.py"),
        format!(
            "import sys\nsys.stdin.read()\nprint('''{}''', flush=True)\nimport os\nos._exit(0)\n",
            tame_reply()
        ),
    )
    .unwrap();
    steered("PYTHONPATH", folder.path().to_str().unwrap());
}

#[test]
fn attack_17_variables_that_load_code() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("start.py");
    std::fs::write(&file, "raise SystemExit\n").unwrap();
    steered("PYTHONSTARTUP", file.to_str().unwrap());
    steered("BASH_ENV", file.to_str().unwrap());
    steered("NODE_OPTIONS", "--require /tmp/none.js");
    steered("OPENSSL_CONF", file.to_str().unwrap());
    steered("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    steered("HTTPS_PROXY", "http://127.0.0.1:9");
    steered("CODEX_HOME", folder.path().to_str().unwrap());
    steered("GCONV_PATH", folder.path().to_str().unwrap());
}

/// The list of what steers is never complete, so what nobody knows does not reach the judge.
#[test]
fn attack_17_a_variable_that_nobody_knows() {
    let case = Case::untrusted();
    let judge = case.project.read("judge.py");
    let lenient =
        "import os\nif os.environ.get('MY_JUDGE_MODE') == 'weak': words.BAD = 'nothing has this word'\n";
    let judge = judge.replace("import words\n", &format!("import words\n{lenient}"));
    case.project.write("judge.py", judge);
    case.repository.commit("a judge with a variable");
    case.project.trust();
    case.project.write("a.md", "BAD\n");
    let set = |value: &'static str| {
        move |command: &mut std::process::Command| {
            command.env("MY_JUDGE_MODE", value);
        }
    };
    let ran = case.gate_with(&[], set("weak"));
    judged(&ran);
    assert!(!ran.stderr.contains("MY_JUDGE_MODE"), "a shell has dozens of such variables: {ran:?}");
    held(&case.hook_with(set("weak")));
    // A person needs it: its value at that time counts, and another one is named.
    let mut trust = case.project.command(&["trust", "--keep-variable", "MY_JUDGE_MODE"]);
    let mut terminal = Terminal::start(trust.env("MY_JUDGE_MODE", "strict"), 200, 60);
    terminal.until("[y/N]");
    assert!(terminal.written().contains("MY_JUDGE_MODE"), "{}", terminal.written());
    terminal.send("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
    // Trusted again without a word about it, it is kept.
    case.project.trust();
    case.project.write("a.md", "BAD again\n");
    let ran = case.gate_with(&[], set("weak"));
    judged(&ran);
    assert!(ran.stderr.contains("MY_JUDGE_MODE not used"), "{ran:?}");
    row(
        "a variable that nobody knows is set",
        "review --gate, hook",
        "not used",
        "named where trust recorded it",
    );
}

#[test]
fn attack_17_makeflags() {
    let case = Case::untrusted();
    case.project.write("Makefile", "check:\n\t@! grep -q BAD a.md\n");
    case.project.write(
        "countersign.yml",
        "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: Clean, check: {run: make -s check}}]}]\n",
    );
    case.repository.commit("a check");
    case.project.trust();
    case.project.write("a.md", "BAD\n");
    for (name, value) in [("MAKEFLAGS", "-i"), ("GNUMAKEFLAGS", "-n"), ("MAKEFILES", "/nowhere")] {
        let ran = case.gate_with(&[], |command| {
            command.env(name, value);
        });
        let ran = ran.exits(1);
        assert!(ran.stdout.contains("Clean") && ran.stderr.contains(name), "{ran:?}");
    }
    row(
        "MAKEFLAGS, GNUMAKEFLAGS, MAKEFILES are set",
        "review --gate",
        "not used",
        "a warning names the variable",
    );
}

#[test]
fn attack_17_the_home_is_another_one() {
    let case = Case::new();
    let home = tempfile::tempdir().unwrap();
    let settings = home.path().join(".config/countersign");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(
        settings.join("config.yml"),
        "version: 1\nreviewers: [{name: judge, use: command, command: ['true']}]\n",
    )
    .unwrap();
    judged(&case.gate_with(&[], |command| {
        command.env("HOME", home.path());
    }));
    judged(&case.gate_with(&[], |command| {
        command.env("XDG_CONFIG_HOME", home.path().join(".config"));
    }));
    row(
        "HOME or XDG_CONFIG_HOME lead to another configuration",
        "review --gate",
        "the trusted one counts",
        "a warning",
    );
}

#[test]
fn attack_17_naming_a_reviewer() {
    let case = Case::new();
    let tame = case.project.home().join("tame.sh");
    executable(&tame, &format!("#!/bin/sh\ncat >/dev/null\necho '{}'\n", tame_reply()));
    let reviewer = format!("command:{}", tame.display());
    let ran = case.gate_with(&["--reviewer", &reviewer], |_| {});
    judged(&ran);
    assert!(ran.stderr.contains("--reviewer is ignored"), "{ran:?}");
    let ran = case.gate_with(&[], |command| {
        command.env("COUNTERSIGN_REVIEWER", &reviewer);
    });
    judged(&ran);
    assert!(ran.stderr.contains("COUNTERSIGN_REVIEWER is ignored"), "{ran:?}");
    held(&case.hook_with(|command| {
        command.env("COUNTERSIGN_REVIEWER", &reviewer);
    }));
    row("--reviewer command:tame.sh", "review --gate", "ignored", "a warning");
    row("COUNTERSIGN_REVIEWER", "review --gate, hook", "ignored", "a warning");
}

#[test]
fn attack_17_a_judge_that_is_only_in_the_working_tree() {
    let case = Case::untrusted();
    case.project.write("countersign.yml", config("[python3, new.py]")).write(".gitignore", "new.py\n");
    case.project.write("new.py", TAME);
    case.repository.commit("a judge that is ignored");
    case.project.trust();
    case.project.write("a.md", "BAD\n");
    let ran = case.gate().exits(4);
    assert!(format!("{ran:?}").contains("new.py"), "{ran:?}");
    row("the judge is a file that git ignores", "review --gate", "no verdict", "the answer names the file");
}

#[test]
fn attack_17_a_program_in_a_folder_that_others_can_write() {
    let case = Case::untrusted();
    let folder = case.project.home().join("open");
    let judge = folder.join("judge");
    executable(&judge, &format!("#!/bin/sh\ncat >/dev/null\necho '{}'\n", tame_reply()));
    case.project.write("countersign.yml", config(&format!("[{}]", judge.display())));
    case.repository.commit("a judge elsewhere");
    case.project.trust();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    case.project.write("a.md", "BAD\n");
    let ran = case.gate().exits(4);
    assert!(format!("{ran:?}").contains("other accounts may write"), "{ran:?}");
    row(
        "the judge's folder can be written by all",
        "review --gate",
        "no verdict",
        "the answer names the folder",
    );
}

#[test]
fn attack_17_a_version_manager_chooses() {
    let case = Case::new();
    case.project.write(".tool-versions", "python 1.0\n").write("mise.toml", "[tools]\npython = '1.0'\n");
    case.project.write(".envrc", "export PATH=$PWD:$PATH\n");
    judged(&case.gate());
    row(".tool-versions, mise.toml, .envrc", "review --gate", "not read", "the findings");
}

#[test]
fn attack_17_an_agent_does_not_hide_by_a_clean_environment() {
    let case = Case::new();
    case.project.write("judge.py", TAME);
    // Without any mark the files of the trusted commit judge all the same.
    let mut command = case.project.command(&["review", "--change", "--gate"]);
    judged(&Running::start(&mut command).wait());
    row("no mark in the environment", "review --gate", "judged by the trusted script", "the findings");
}

/// The variable of a shell does not make the hook let the agent go: it could stand in the local settings of the program.
#[test]
fn attack_17_the_mark_of_a_shell_in_the_settings_of_the_agent() {
    let case = Case::new();
    held(&case.hook_with(|command| {
        command.env("CLAUDECODE", "1");
    }));
    row("the env of an agent's local settings has a mark", "hook", "judged, without new attempts", "a note");
}

/// A program of a trusted folder is updated in its place, so another one there judges. Its digest tells them apart.
#[test]
fn attack_17_a_program_of_a_trusted_folder_is_overwritten() {
    let case = Case::untrusted();
    let judge = case.project.home().join(".local/bin/judge");
    let reply = tame_reply().replace("true", "false").replace("fine", crate::kit::FINDING);
    executable(&judge, &format!("#!/bin/sh\ncat >/dev/null\necho '{reply}'\n"));
    case.project.write("countersign.yml", config(&format!("[{}]", judge.display())));
    case.repository.commit("a judge of the user");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case.project.write("a.md", "BAD\n");
    // The events of the review as text: `asked` has the place of the program with its digest.
    let place = || {
        let reviews = case.project.run(&["log", "--json"]).exits(0).json();
        let log = case
            .project
            .run(&["log", reviews["reviews"][0]["id"].as_str().unwrap(), "--json"])
            .exits(0)
            .json();
        let asked = log["events"].as_array().unwrap().iter().find(|event| event["event"]["kind"] == "asked");
        asked.unwrap_or_else(|| panic!("{log}"))["event"]["place"].to_string()
    };
    judged(&case.gate());
    let first = place();
    executable(&judge, &format!("#!/bin/sh\ncat >/dev/null\necho '{}'\n", tame_reply()));
    case.project.write("a.md", "BAD again\n");
    case.gate().exits(0);
    assert!(first.contains("bin/judge") && first.contains("digest") && first != place(), "{first}");
    row(
        "a program in ~/.local/bin is overwritten",
        "review --gate",
        "judges",
        "the digest of the program in the ledger",
    );
}
