//! The demo's project: what is in it, what is wrong with it, and how its author fixes it.

use std::io;
use std::path::Path;

pub const PROLOGUE: &str = "\
An agent says its documents are done. Countersign judges them against the rules of the project's
countersign.yml, sends them back with findings, and lets them through when everything that blocks passes.
The reviewer here is `checks`: no model, no network.";

const CONFIG: &str = "\
# The rules of the demo. Each has deterministic checks; a rule with `ask:` would go to a reviewer.
version: 1
rules:
  - name: guides
    for: [\"docs/*.md\"]
    each: file
    criteria:
      - {name: Finished, check: no_placeholders}
      - {name: Usage, check: {required_headings: [\"Usage\"]}}
      - {name: No first person, check: {forbidden_pattern: '\\bI think\\b'}, severity: may}
  - name: readme
    for: [\"README.md\"]
    criteria:
      - {name: Merged, check: no_conflict_markers}
      - {name: Licence, check: {required_pattern: '(?i)licen[cs]e'}, severity: should}
  - name: settings
    for: [\"data/*.json\"]
    each: file
    criteria:
      - {name: Valid, check: valid_json}
policy:
  max_attempts: 5
";

const README: &str = "\
# Weather station

<<<<<<< HEAD
Measures once a minute.
=======
Measures twice a minute.
>>>>>>> faster
";

const README_FIXED: &str = "\
# Weather station

Measures twice a minute. Licence: MIT.
";

const INSTALL: &str = "\
# Install

TODO: write this before the release.

## Usage

Plug it in.
";

const INSTALL_FIXED: &str = "\
# Install

Screw the station to the wall, two metres above the ground.

## Usage

Plug it in.
";

const CALIBRATE: &str = "\
# Calibrate

Hold it next to a thermometer you trust. I think ten minutes are enough.
";

const CALIBRATE_FIXED: &str = "\
# Calibrate

Hold it next to a thermometer you trust. I think ten minutes are enough.

## Usage

Turn the screw until both show the same.
";

const CLEAN: &str = "\
# Clean

## Usage

Wipe the sensor with a dry cloth.
";

const SETTINGS: &str = "{\n  \"interval_seconds\": 30,\n}\n";
const SETTINGS_FIXED: &str = "{\n  \"interval_seconds\": 30\n}\n";
const LIMITS: &str = "{\n  \"max_celsius\": 60\n}\n";

pub struct Edit {
    pub file: &'static str,
    pub words: &'static str,
    pub content: &'static str,
}

pub type Act = Vec<Edit>;

/// Writes the project as it is first submitted.
pub fn write_project(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder.join("docs"))?;
    std::fs::create_dir_all(folder.join("data"))?;
    let files = [
        ("countersign.yml", CONFIG),
        ("README.md", README),
        ("docs/install.md", INSTALL),
        ("docs/calibrate.md", CALIBRATE),
        ("docs/clean.md", CLEAN),
        ("data/settings.json", SETTINGS),
        ("data/limits.json", LIMITS),
    ];
    files.iter().try_for_each(|(file, content)| std::fs::write(folder.join(file), content))
}

/// What the author does after each verdict that sends the work back.
pub fn acts() -> impl Iterator<Item = Act> {
    let first = vec![
        Edit { file: "docs/install.md", words: "writes the missing text", content: INSTALL_FIXED },
        Edit { file: "data/settings.json", words: "removes the extra comma", content: SETTINGS_FIXED },
    ];
    let second = vec![
        Edit { file: "docs/calibrate.md", words: "adds the missing section", content: CALIBRATE_FIXED },
        Edit {
            file: "README.md",
            words: "resolves the merge conflict and names the licence",
            content: README_FIXED,
        },
    ];
    [first, second].into_iter()
}
