//! Files that configure the gate: an unseen change of them would choose the judge of all later work.

use super::Change;
use crate::programs::PROGRAMS;

/// Their paths beside those of agent programs; one that ends in `/` stands for everything below it.
const GATE_FILES: [&str; 6] = [
    "countersign.yml",
    "spec-runner.config.yaml",
    "spec/executor.config.yaml",
    "spec/prompts/",
    ".countersign/",
    ".deepwork/jobs/",
];

impl Change {
    /// The gate files among what changed, under their old names too.
    pub fn gate_files(&self) -> Vec<&str> {
        let names = self.files.iter().flat_map(|file| [Some(&file.path), file.old_path.as_ref()]);
        names.flatten().map(String::as_str).filter(|path| is_gate_file(path)).collect()
    }
}

fn is_gate_file(path: &str) -> bool {
    let of_programs = PROGRAMS.all().flat_map(|program| program.gate_files);
    GATE_FILES.iter().chain(of_programs).any(|gate| match gate.ends_with('/') {
        true => path.starts_with(gate),
        false => path == *gate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_the_gate_is_known_by_its_path() {
        for (path, is) in [
            ("countersign.yml", true),
            ("docs/countersign.yml", false),
            ("spec/prompts/review.md", true),
            ("spec/prompts", false),
            (".claude/settings.json", true),
            (".claude/settings.json.bak", false),
            (".codex/hooks.json", true),
            (".mcp.json", true),
            ("opencode.jsonc", true),
            ("src/main.rs", false),
        ] {
            assert_eq!(is_gate_file(path), is, "{path}");
        }
    }
}
