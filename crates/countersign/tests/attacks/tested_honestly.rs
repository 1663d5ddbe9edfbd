//! Honest projects whose tests run in the checkout, with `setup` and `keep` as `init` proposes them.

use countersign_testkit::{Project, Repository, honest_row};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const TASKS: &str = "# Tasks\n\n### TASK-001: Write one\nP0 | TODO\n";

struct Honest {
    project: Project,
    repository: Repository,
}

impl Honest {
    /// A project with these files, the configuration of `init`, and a task that writes `done.txt`.
    fn new(files: &[(&str, &str)], test: &str) -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_countersign")).trusting();
        let repository = Repository::at(project.root());
        for (path, text) in files {
            project.write(path, text);
        }
        project.run(&["init"]).exits(0);
        // Nobody is asked: a rule that is about all files.
        let rule = "rules:\n  - name: all\n    for: [\"**\"]\n    criteria: [{name: All merged, check: no_conflict_markers}]\n";
        let configuration = project.read("countersign.yml").replacen("rules:\n", rule, 1);
        project.write("countersign.yml", configuration);
        let agent = project.home().join("agent.sh");
        fs::write(&agent, "#!/bin/sh\ncat >/dev/null\necho done >done.txt\necho TASK_COMPLETE\n").unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!(
            "claude_command: {}\nretry_delay_seconds: 0\nmax_retries: 1\ncommands: {{test: {test:?}}}\n",
            agent.display()
        );
        project.write("spec/tasks.md", TASKS).write("spec-runner.config.yaml", settings);
        repository.commit("first");
        Self { project, repository }
    }

    #[track_caller]
    fn proposes(&self, line: &str) {
        let file = self.project.read("countersign.yml");
        assert!(file.lines().any(|written| written.trim() == line), "{line}\n{file}");
    }

    #[track_caller]
    fn passes(&self, flow: &str) {
        let ran = self.project.run(&["run", "--all"]);
        let log = self.project.run(&["output", "TASK-001"]).stdout;
        assert_eq!(ran.code, 0, "{ran:?}\n{log}");
        assert_eq!(self.repository.git(["show", "main:done.txt"]), "done");
        honest_row(flow, 0, 0);
    }
}

#[test]
fn honest_18_slow_an_npm_project_is_tested_in_the_checkout() {
    let manifest = r#"{"name": "x", "version": "1.0.0", "private": true, "scripts": {"test": "node test.js"}, "dependencies": {"own": "file:./own"}}"#;
    let lock = r#"{"name": "x", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
        "": {"name": "x", "version": "1.0.0", "dependencies": {"own": "file:./own"}},
        "node_modules/own": {"resolved": "own", "link": true}, "own": {"name": "own", "version": "1.0.0"}}}"#;
    let honest = Honest::new(
        &[
            ("package.json", manifest),
            ("package-lock.json", lock),
            ("own/package.json", r#"{"name": "own", "version": "1.0.0", "main": "index.js"}"#),
            ("own/index.js", "module.exports = 42;\n"),
            (
                "test.js",
                "if (require('own') !== 42 || !require('fs').existsSync('done.txt')) process.exit(1);\n",
            ),
            (".gitignore", "node_modules/\n"),
        ],
        "npm test",
    );
    honest.proposes("setup: \"npm ci\"");
    honest.proposes("keep: [\"node_modules\"]");
    honest.passes("npm: run with tests");
}

#[test]
fn honest_18_slow_a_cargo_project_is_tested_in_the_checkout() {
    let honest = Honest::new(
        &[
            ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n"),
            (
                "src/lib.rs",
                "#[test]\nfn done() {\n    assert!(std::path::Path::new(\"done.txt\").exists());\n}\n",
            ),
            (".gitignore", "/target/\n"),
        ],
        "env -u CARGO_TARGET_DIR PATH=$(dirname $CARGO):$PATH cargo test --offline",
    );
    honest.proposes("keep: [\"target\"]");
    honest.passes("cargo: run with tests");
    // What was built is there for the next use, and not in the project.
    let checkouts = honest.project.home().join(".cache/countersign/checkouts");
    let built = |entry: fs::DirEntry| entry.path().join("files/target/debug").is_dir();
    assert!(fs::read_dir(checkouts).unwrap().flatten().any(built));
    assert!(!honest.project.path("target").exists());
}

#[test]
fn honest_18_a_python_project_is_tested_in_the_checkout() {
    let test = "import os, unittest\nimport app\n\nclass All(unittest.TestCase):\n    def test_done(self):\n        \
                self.assertTrue(os.path.exists('done.txt') and app.ONE == 1)\n";
    let honest = Honest::new(
        &[
            ("pyproject.toml", "[project]\nname = \"x\"\nversion = \"1\"\n"),
            ("app.py", "ONE = 1\n"),
            ("test_app.py", test),
            (".gitignore", "__pycache__/\n.venv/\n"),
        ],
        "python3 -m unittest -q",
    );
    honest.proposes("keep: [\".venv\"]");
    honest.passes("Python: run with tests");
}

#[test]
fn honest_18_a_project_with_lfs_files_is_tested_in_the_checkout() {
    let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n");
    let honest = Honest::new(
        &[(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"), ("big.bin", &pointer)],
        "grep -q git-lfs big.bin && [ -e done.txt ]",
    );
    honest.passes("LFS without its program: run with tests");
}
