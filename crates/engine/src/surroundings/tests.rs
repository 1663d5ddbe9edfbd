//! Lines at a gate, looked through and started with real processes.

use super::*;
use crate::programs::gate_environment;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

mod beside;

/// A project whose trusted commit has the same files, a trusted folder with tools, and one that is not trusted.
struct Fixture {
    _outer: tempfile::TempDir,
    project: PathBuf,
    copy: PathBuf,
    tools: PathBuf,
    fakes: PathBuf,
    /// Where a reviewer runs that does not see the project.
    private: PathBuf,
    home: PathBuf,
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let outer = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = outer.path().canonicalize().unwrap().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let (project, copy) = (folder("project"), folder("copy"));
        for (name, text) in files {
            write(&project.join(name), text);
            write(&copy.join(name), text);
        }
        let (tools, fakes) = (folder("tools"), folder("fakes"));
        let (private, home) = (folder("private"), folder("home"));
        Self { _outer: outer, project, copy, tools, fakes, private, home }
    }

    fn edit(&self, name: &str, text: &str) -> &Self {
        write(&self.project.join(name), text);
        self
    }

    /// The surroundings of a gate in a process with these variables more.
    fn gate(&self, variables: &[(&str, &str)]) -> Surroundings {
        let path =
            std::env::join_paths([&self.fakes, &self.project, &self.tools, Path::new("/usr/bin")]).unwrap();
        let mut current = vec![("PATH".into(), path), ("HOME".into(), self.home.clone().into())];
        current.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
        let places = TrustedPlaces::new(&self.project, [self.tools.clone()]);
        let gate = Some(GateSurroundings { places, scripts: Some(self.copy.clone()), stamp: None });
        Surroundings { environment: gate_environment(&current, &[]).0, gate }
    }

    /// What a reviewer with these words says, where it does not see the project.
    fn review(&self, surroundings: &Surroundings, words: &[&str]) -> Result<String, String> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let line = surroundings.line(&words, &self.project, &self.private)?;
        Ok(started(surroundings, &line.words, &line.variables, &self.private))
    }

    /// What a check says that runs in the project.
    fn check(&self, text: &str) -> Result<String, String> {
        let surroundings = self.gate(&[]);
        let line = surroundings.shell_line(text, &self.project)?;
        let words = [line.words[0].clone(), "-c".to_owned(), line.words[1].clone()];
        Ok(started(&surroundings, &words, &line.variables, &self.project))
    }
}

fn started(surroundings: &Surroundings, words: &[String], own: &Variables, folder: &Path) -> String {
    let (variables, only) = surroundings.variables(folder, own.clone());
    assert!(only, "at a gate nothing else is in the environment");
    let mut command = Command::new(&words[0]);
    let ended = command.args(&words[1..]).env_clear().envs(variables).current_dir(folder).output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(&ended.stdout).trim(),
        if ended.status.success() { "" } else { &errors }
    )
}

const JUDGE: &str = "import helper\nprint(helper.WORD)\n";

#[test]
fn attack_17_edited_judges_and_helpers_do_not_judge() {
    let fixture = Fixture::new(&[
        ("judge.py", JUDGE),
        ("helper.py", "WORD = 'trusted'\n"),
        ("tool/__main__.py", JUDGE),
    ]);
    write(&fixture.copy.join("tool/helper.py"), "WORD = 'trusted'\n");
    fixture.edit("helper.py", "WORD = 'edited'\n").edit("judge.py", "print('edited')\n");
    fixture.edit("tool/helper.py", "WORD = 'edited'\n").edit("json.py", "print('edited')\n");
    // Its folder has copies of the judged files.
    write(&fixture.private.join("helper.py"), "WORD = 'edited'\n");
    let absolute = fixture.project.join("judge.py").to_string_lossy().into_owned();
    let gate = fixture.gate(&[]);
    let table: &[&[&str]] = &[
        &["python3", "judge.py"],
        &["python3", "-u", "./judge.py"],
        &["python3", "tool/../judge.py"],
        &["python3", &absolute],
        &["env", "python3", "judge.py"],
        &["sh", "-c", "python3 judge.py"],
        &["sh", "-c", "true && exec python3 ./judge.py"],
        &["python3", "-m", "judge"],
        &["python3", "tool"],
    ];
    for words in table {
        assert_eq!(fixture.review(&gate, words).as_deref(), Ok("trusted"), "{words:?}");
    }
}

#[test]
fn attack_17_scripts_that_only_the_work_has_are_refused() {
    let fixture = Fixture::new(&[("README.md", "text\n"), ("lib/x.sh", "echo trusted\n")]);
    fixture
        .edit("judge.py", "print('edited')\n")
        .edit("check.sh", "echo edited\n")
        .edit("pkg/__init__.py", "");
    fixture.edit("venv/bin/python3", "#!/bin/sh\necho edited\n");
    std::os::unix::fs::symlink(fixture.project.join("check.sh"), fixture.copy.join("link.sh")).unwrap();
    let gate = fixture.gate(&[]);
    let table: &[&[&str]] = &[
        &["python3", "judge.py"],
        &["./judge.py"],
        &["sh", "check.sh"],
        &["sh", "-c", "./check.sh"],
        &["sh", "-c", "cat && . ./check.sh"],
        &["sh", "link.sh"],
        &["env", "A=1", "sh", "check.sh"],
        &["timeout", "5", "./check.sh"],
        &["venv/bin/python3", "lib/x.sh"],
        &["cat", "check.sh"],
        &["cat", "--number", "--file=check.sh"],
        &["python3", "-m", "pkg"],
        &["make", "judge"],
        &["npm", "run", "judge"],
        &["npx", "judge"],
    ];
    for words in table {
        let said = fixture.review(&gate, words);
        assert!(said.is_err(), "{words:?}: {said:?}");
    }
    for text in [
        "./check.sh",
        "sh check.sh",
        "true; bash ./check.sh",
        "if true; then ./check.sh; fi",
        "echo $(./check.sh)",
        "sh < check.sh",
        ". ./check.sh",
        "cd lib && ../check.sh",
        "(cd lib && true); ./check.sh",
        "$PWD/check.sh",
        "\"$(pwd)/check.sh\"",
        "X=check.sh; sh $X",
        "find . -name README.md -exec ./check.sh {} ;",
        "xargs -n 1 ./check.sh < README.md",
        "sh -c './check.sh'",
        "eval ./check.sh",
        "trap ./check.sh EXIT",
        "cat check.sh | sh",
        "cat check.sh | sh -s x",
        "bash -s x < check.sh",
        "python3 - x < judge.py",
        "parallel ./check.sh",
        "lib/../check.sh",
        "env PYTHONPATH=pkg true",
        "venv/bin/python3 -c 1",
    ] {
        let said = fixture.check(text);
        assert!(said.is_err(), "{text}: {said:?}");
    }
}

#[test]
fn attack_17_an_edited_check_is_replaced_or_gives_no_verdict() {
    let own_place = "cd \"$(dirname \"$0\")\" && ls\n";
    let files = [
        ("check.sh", "echo trusted; cat work.md\n"),
        ("own.sh", own_place),
        ("tools/own.sh", "cd \"$(dirname \"$0\")/..\" && cat work.md\n"),
        ("tools/tree.sh", "cat \"$COUNTERSIGN_TREE/work.md\" # not $0\n"),
        ("tools/check.py", JUDGE),
        ("tools/helper.py", "WORD = 'trusted'\n"),
        ("uses.sh", "sh tools/part.sh\n"),
        ("tools/part.sh", "echo trusted\n"),
        ("tests.py", "import unittest\nprint('tests')\n"),
        ("work.md", "old\n"),
    ];
    let fixture = Fixture::new(&files);
    fixture.edit("work.md", "new\n");
    // Nothing of them was edited: they run where they are.
    for (text, said) in [
        ("./check.sh", "trusted\nnew"),
        ("sh tools/own.sh", "new"),
        ("sh tools/tree.sh", "new"),
        ("python3 tools/check.py", "trusted"),
        ("sh uses.sh", "trusted"),
        ("python3 tests.py", "tests"),
    ] {
        assert_eq!(fixture.check(text).as_deref(), Ok(said), "{text}");
    }
    for (name, _) in files.iter().filter(|(name, _)| *name != "work.md") {
        fixture.edit(name, "echo edited\n");
    }
    for (text, said) in [
        ("./check.sh", Some("trusted\nnew")),
        ("sh 'check.sh' || true", Some("trusted\nnew")),
        ("sh tools/tree.sh", Some("new")),
    ] {
        assert_eq!(fixture.check(text).ok().as_deref(), said, "{text}");
    }
    assert_eq!(fixture.check("python3 tools/check.py").as_deref(), Ok("trusted"));
    // They would look at the trusted files, or run another one that was edited.
    for text in ["sh own.sh", "sh tools/own.sh", "sh uses.sh", "python3 tests.py"] {
        let said = fixture.check(text);
        assert!(said.is_err(), "{text}: {said:?}");
    }
}

#[test]
fn checks_that_run_what_is_tested_run() {
    let fixture = Fixture::new(&[("README.md", "text\n"), ("src/a.py", "x = 1\n")]);
    fixture.edit("README.md", "new\n").edit("src/a.py", "x = 2\n").edit("Makefile", "test:\n\t@echo made\n");
    for (text, said) in [
        ("grep -c new README.md", "1"),
        ("test -z \"$(grep -rl TODO src)\" && echo fine", "fine"),
        ("cd src && python3 -c 'print(open(\"a.py\").read())'", "x = 2"),
        ("python3 -m py_compile src/a.py && echo fine", "fine"),
        ("for f in README.md; do cat \"$f\"; done", "new"),
        ("! grep -q old README.md; echo $?", "0"),
        ("cat < README.md | tr a-z A-Z", "NEW"),
        ("sed -n 1p README.md", "new"),
        ("python3 --version >/dev/null && echo fine", "fine"),
        ("cat README.md | sed s/new/old/ | awk '{print}'", "old"),
        ("awk '{print $1}' README.md", "new"),
        ("test \"$COUNTERSIGN_TREE\" = \"$PWD\" && echo here", "here"),
        ("make -s test 2>/dev/null || echo made", "made"),
    ] {
        assert_eq!(fixture.check(text).as_deref(), Ok(said), "{text}");
    }
    for text in
        ["npm test", "cargo test --quiet", "python3 -m pytest -q", "[ -f README.md ]", "pytest tests/*.py"]
    {
        let line = fixture.gate(&[]).shell_line(text, &fixture.project);
        assert_eq!(line.map(|line| line.words[1].clone()).as_deref(), Ok(text));
    }
}

#[test]
fn attack_17_programs_of_other_places_are_not_started() {
    let fixture = Fixture::new(&[("judge.sh", "name\n")]);
    for folder in [&fixture.fakes, &fixture.project] {
        write(&folder.join("name"), "#!/bin/sh\necho fake\n");
    }
    let gate = fixture.gate(&[]);
    assert!(fixture.review(&gate, &["name"]).is_err_and(|words| words.contains("fakes/name")));
    let fake = fixture.fakes.join("name").to_string_lossy().into_owned();
    assert!(fixture.review(&gate, &[&fake]).is_err_and(|words| words.contains(&fake)));
    // A link in a trusted folder that leads into the project.
    std::os::unix::fs::symlink(fixture.project.join("name"), fixture.tools.join("name")).unwrap();
    assert!(fixture.review(&gate, &["name"]).is_err());
    assert!(fixture.review(&gate, &["env", "name"]).is_err());
    assert!(fixture.check("true && name").is_err());
    std::fs::remove_file(fixture.tools.join("name")).unwrap();
    write(&fixture.tools.join("name"), "#!/bin/sh\necho tool\n");
    assert_eq!(fixture.review(&gate, &["name"]).as_deref(), Ok("tool"));
    // What a script calls by name is found in the same places.
    assert_eq!(fixture.review(&gate, &["sh", "judge.sh"]).as_deref(), Ok("tool"));
    // An interpreter is a program too.
    write(&fixture.fakes.join("interpreter"), "#!/bin/sh\necho fake\n");
    let script = format!("#!{}\n", fixture.fakes.join("interpreter").display());
    write(&fixture.tools.join("by-path"), &script);
    write(&fixture.tools.join("by-env"), "#!/usr/bin/env interpreter\n");
    std::os::unix::fs::symlink(fixture.fakes.join("interpreter"), fixture.tools.join("interpreter")).unwrap();
    for name in ["by-path", "by-env"] {
        assert!(gate.program(name).is_err_and(|words| words.contains("interpreter")), "{name}");
    }
    assert_eq!(gate.program("name"), Ok(fixture.tools.join("name").into()));
    // Without a gate everything is as the process finds it.
    let own = Surroundings { gate: None, ..gate };
    assert_eq!(own.program("name"), Ok("name".into()));
    assert_eq!(own.variables(&fixture.private, vec![]), (vec![], false));
}

#[test]
fn attack_17_variables_do_not_reach_programs() {
    let fixture =
        Fixture::new(&[("judge.py", "import os\nprint(sorted(n for n in os.environ if 'X_' in n))\n")]);
    write(&fixture.project.join("lib/os.py"), "raise SystemExit('loaded')\n");
    write(&fixture.fakes.join("env.sh"), "exit 3\n");
    let lib = fixture.project.join("lib").to_string_lossy().into_owned();
    let env = fixture.fakes.join("env.sh").to_string_lossy().into_owned();
    let gate = fixture.gate(&[
        ("PYTHONPATH", &lib),
        ("PYTHONHOME", &lib),
        ("BASH_ENV", &env),
        ("ENV", &env),
        ("LD_PRELOAD", &env),
        ("NODE_OPTIONS", "--require=/x.js"),
        ("X_BASE_URL", "http://127.0.0.1:1"),
        ("X_API_KEY", "key"),
        ("BASH_FUNC_python3%%", "() { echo edited; }"),
    ]);
    assert_eq!(fixture.review(&gate, &["python3", "judge.py"]).as_deref(), Ok("['X_API_KEY']"));
    assert_eq!(fixture.review(&gate, &["bash", "-c", "python3 judge.py"]).as_deref(), Ok("['X_API_KEY']"));
}

#[test]
fn attack_17_packages_of_the_work_are_not_loaded() {
    let mut fixture = Fixture::new(&[]);
    // The checkout is inside of the project, where Node.js looks for packages in the folders above.
    fixture.copy = fixture.project.join(".git/trusted");
    write(&fixture.copy.join("judge.js"), "console.log(require('pkg'))\n");
    write(&fixture.copy.join("plain.js"), "console.log('trusted')\n");
    fixture.edit("judge.js", "x\n").edit("plain.js", "x\n");
    fixture.edit("node_modules/pkg/index.js", "module.exports = 'edited'\n");
    let gate = fixture.gate(&[]);
    assert!(fixture.review(&gate, &["node", "judge.js"]).is_err_and(|words| words.contains("node_modules")));
    assert_eq!(fixture.review(&gate, &["node", "plain.js"]).as_deref(), Ok("trusted"));
    // Inside of the project and trusted: it is the checkout.
    write(&fixture.copy.join("judge.sh"), "echo trusted\n");
    assert_eq!(fixture.review(&gate, &["sh", "judge.sh"]).as_deref(), Ok("trusted"));
}

#[test]
fn a_reviewer_that_sees_the_project_runs_where_it_is_unless_edited() {
    let fixture = Fixture::new(&[
        ("tools/review.sh", "cd \"$(dirname \"$0\")/..\" && cat work.md\n"),
        ("work.md", "old\n"),
    ]);
    fixture.edit("work.md", "new\n");
    let gate = fixture.gate(&[]);
    let line = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let line = gate.line(&words, &fixture.project, &fixture.project)?;
        Ok::<_, String>(started(&gate, &line.words, &line.variables, &fixture.project))
    };
    assert_eq!(line(&["sh", "tools/review.sh"]).as_deref(), Ok("new"));
    fixture.edit("tools/review.sh", "echo edited\n");
    assert!(line(&["sh", "tools/review.sh"]).is_err());
}

#[test]
fn attack_17_compiled_modules_of_the_work_are_not_loaded() {
    let files = [("tools/check.py", JUDGE), ("tools/helper.py", "WORD = 'trusted'\n")];
    let fixture = Fixture::new(&files);
    // A compiled file that says that it was made from the helper as it is.
    let helper = fixture.project.join("tools/helper.py");
    let times = std::fs::metadata(&helper).unwrap().modified().unwrap();
    std::fs::write(&helper, "WORD = 'edited!'\n").unwrap();
    let compile = "import py_compile\nprint(py_compile.compile('tools/helper.py', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH))";
    let made = Command::new("python3")
        .args(["-c", compile])
        .current_dir(&fixture.project)
        .env_remove("PYTHONPYCACHEPREFIX")
        .output();
    assert!(made.unwrap().status.success());
    std::fs::write(&helper, files[1].1).unwrap();
    std::fs::File::options().write(true).open(&helper).unwrap().set_modified(times).unwrap();
    assert!(fixture.project.join("tools/__pycache__").is_dir());
    assert_eq!(fixture.check("/usr/bin/python3 tools/check.py").as_deref(), Ok("trusted"));
    // One that lies beside the script would be loaded for a module of Python's own; the trusted commit lacks it.
    fixture.edit("tools/json.so", "x");
    assert_eq!(fixture.check("/usr/bin/python3 tools/check.py").as_deref(), Ok("trusted"));
    let line = fixture.gate(&[]).shell_line("python3 tools/check.py", &fixture.project).unwrap();
    assert!(line.words[1].contains(&*fixture.copy.to_string_lossy()), "{line:?}");
}

/// A shim that looks for the version as asdf does: a variable, then a file in the working folder and above it.
const SHIM: &str = "#!/bin/sh\n[ -n \"$ASDF_JUDGE_VERSION\" ] && { echo \"$ASDF_JUDGE_VERSION\"; exit; }\n\
    file=\"${ASDF_TOOL_VERSIONS_FILENAME:-.tool-versions}\"\nwhile :; do\n  [ -f \"$PWD/$file\" ] && { cat \"$PWD/$file\"; exit; }\n\
      [ \"$PWD\" = / ] && break\n  cd ..\ndone\necho none\n";

#[test]
fn attack_17_settings_of_version_managers_in_the_work_do_not_choose() {
    let fixture = Fixture::new(&[]);
    write(&fixture.tools.join("judge"), SHIM);
    fixture.edit(".tool-versions", "judge path:./evil\n");
    write(&fixture.private.join(".tool-versions"), "judge path:./evil\n");
    let gate = fixture.gate(&[]);
    assert_eq!(fixture.review(&gate, &["judge"]).as_deref(), Ok("none"));
    assert_eq!(fixture.check("judge").as_deref(), Ok("none"));
    write(&fixture.home.join(".tool-versions"), "judge 1.2\n");
    assert_eq!(fixture.review(&gate, &["judge"]).as_deref(), Ok("1.2"));
}
