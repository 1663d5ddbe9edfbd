//! Files that configure the gate or its agents: an unseen change of them would choose the judge of all later work.

use super::Change;
use crate::programs::PROGRAMS;
use std::collections::BTreeSet;
use std::path::Path;

/// Our own. Those of agent programs come beside them; one that ends in `/` stands for everything below it.
const GATE_FILES: [&str; 7] = [
    "countersign.yml",
    BASELINE,
    "countersign.signers",
    "spec-runner.config.yaml",
    "spec/executor.config.yaml",
    ".countersign/",
    ".deepwork/jobs/",
];
/// The findings of a project that are accepted as they are.
pub const BASELINE: &str = "countersign.baseline.json";
/// The folder of a run, and the ending of its folders of prompts: a prefix of the settings comes before it.
const SPEC: &str = "spec/";
const PROMPTS: &str = "prompts";
/// How deep, and how many places, a gate folder is searched for links.
const LINKS_DEPTH: usize = 4;
const LINKS_PLACES_MAX: usize = 5_000;

impl Change {
    /// The gate files among what changed, under their old names too, without those that a person has seen.
    pub fn gate_files(&self) -> Vec<&str> {
        let names = self.files.iter().flat_map(|file| [Some(&file.path), file.old_path.as_ref()]);
        let steers = |path: &str| is_gate_file(path) || is_of_project_below(path) || self.is_linked(path);
        let unseen = |path: &&String| steers(path) && !self.seen.contains(path);
        names.flatten().filter(unseen).map(String::as_str).collect()
    }

    fn is_linked(&self, path: &str) -> bool {
        self.linked.iter().any(|place| is_at_or_below(path, place))
    }
}

fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| place.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// Whether a changed path is a gate file of this project, lies below a gate folder, or stands where such a folder or one above
/// it was: a link in place of `.claude` or `spec` brings other gate files with it. Some disks do not tell `.Claude` from
/// `.claude`.
pub fn is_gate_file(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let mut of_programs = PROGRAMS.all().flat_map(|program| program.gate_files);
    is_own(&path) || of_programs.any(|gate| is_place_of(&path, gate))
}

/// Whether a path is one of our own files in a folder below: it would begin a project of its own there, whose later work goes
/// by it.
fn is_of_project_below(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.match_indices('/').any(|(at, _)| is_own(&path[at + 1..]))
}

fn is_own(path: &str) -> bool {
    let prompts = path.strip_prefix(SPEC).and_then(|rest| rest.split('/').next());
    prompts.is_some_and(|folder| folder.ends_with(PROMPTS))
        || GATE_FILES.iter().any(|gate| is_place_of(path, gate))
}

fn is_place_of(path: &str, gate: &str) -> bool {
    let gate = gate.to_ascii_lowercase();
    match gate.strip_prefix(path) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => gate.ends_with('/') && path.starts_with(&gate),
    }
}

/// What links in place of gate files, above them or in gate folders lead to inside of the project, relative to it: what is
/// changed there steers as well. A change of a link itself is that of a gate file.
pub(super) fn linked(root: &Path) -> Vec<String> {
    let Ok(root) = root.canonicalize() else { return vec![] };
    let of_programs = PROGRAMS.all().flat_map(|program| program.gate_files);
    let prompts = names_in(&root.join(SPEC)).into_iter().filter(|name| name.ends_with(PROMPTS));
    let prompts = prompts.map(|name| format!("{SPEC}{name}/"));
    // Our own state has no links that steer, and many files.
    let own = GATE_FILES.iter().filter(|gate| **gate != ".countersign/");
    let gates = own.chain(of_programs).map(|gate| (*gate).to_owned()).chain(prompts);
    let mut found = Links { root: &root, places: 0, targets: BTreeSet::new() };
    for gate in gates {
        found.on_the_way_to(&gate);
    }
    found.targets.into_iter().collect()
}

struct Links<'r> {
    root: &'r Path,
    places: usize,
    targets: BTreeSet<String>,
}

impl Links<'_> {
    fn on_the_way_to(&mut self, gate: &str) {
        let mut place = self.root.to_owned();
        for part in gate.split('/').filter(|part| !part.is_empty()) {
            place.push(part);
            if place.is_symlink() {
                return self.note(&place);
            }
        }
        if gate.ends_with('/') {
            self.below(&place, LINKS_DEPTH);
        }
    }

    fn below(&mut self, folder: &Path, depth: usize) {
        for name in names_in(folder) {
            let place = folder.join(name);
            self.places += 1;
            if self.places > LINKS_PLACES_MAX {
                return;
            }
            if place.is_symlink() {
                self.note(&place);
            } else if depth > 0 && place.is_dir() {
                self.below(&place, depth - 1);
            }
        }
    }

    fn note(&mut self, link: &Path) {
        let target = link.canonicalize().ok();
        let inside = target.as_deref().and_then(|target| target.strip_prefix(self.root).ok());
        self.targets.extend(inside.and_then(Path::to_str).map(str::to_owned));
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_17_what_steers_the_gate_is_known_by_its_path() {
        for (path, is) in [
            ("countersign.yml", true),
            ("countersign.baseline.json", true),
            ("docs/countersign.yml", false),
            ("spec/prompts/review.md", true),
            // It became a link, a file or a submodule.
            ("spec/prompts", true),
            ("spec", true),
            (".claude", true),
            (".github", true),
            ("spe", false),
            ("spec/prompts.md", false),
            // The settings of the run have `spec_prefix: phase5-`.
            ("spec/phase5-prompts/review.md", true),
            ("spec/phase5-prompts", true),
            ("spec/phase5-tasks.md", false),
            ("countersign.signers", true),
            (".Claude/Settings.json", true),
            (".claude/agents/judge.md", true),
            (".claude/skills/x/SKILL.md", true),
            (".claude/hooks/stop.sh", true),
            (".claude/CLAUDE.md", false),
            (".opencode/plugin/x.ts", true),
            (".qwen/settings.json", true),
            (".gemini/extensions/x/gemini-extension.json", true),
            (".github/hooks/x.json", true),
            (".github/workflows/ci.yml", false),
            ("AGENTS.md", false),
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

    #[test]
    fn attack_17_our_own_files_steer_in_folders_below_too() {
        for (path, is) in [
            ("docs/countersign.yml", true),
            ("packages/b/countersign.yml", true),
            ("packages/b/spec/prompts/review.md", true),
            ("packages/b/.deepwork/jobs/x/job.yml", true),
            // Agent programs take these from the folder they are started in.
            ("packages/b/.claude/settings.json", false),
            ("countersign.yml.d/x", false),
            ("docs/my-countersign.yml", false),
        ] {
            assert_eq!(is_of_project_below(path), is, "{path}");
        }
    }

    #[test]
    fn attack_17_what_links_among_gate_files_lead_to_steers_as_well() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        let link = |target: &str, place: &str| {
            let place = root.join(place);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, place).unwrap();
        };
        std::fs::create_dir_all(root.join("shared/prompts")).unwrap();
        std::fs::create_dir_all(root.join("tools/skill")).unwrap();
        std::fs::write(root.join("shared/mcp.json"), "{}").unwrap();
        link("../shared/prompts", "spec/phase5-prompts");
        link("../../tools/skill", ".claude/skills/x");
        link("shared/mcp.json", ".mcp.json");
        link("/etc", ".opencode");
        link("nowhere", ".qwen");
        link("../docs", "src/docs");
        assert_eq!(linked(root), ["shared/mcp.json", "shared/prompts", "tools/skill"]);
        assert!(is_at_or_below("tools/skill/SKILL.md", "tools/skill"));
        assert!(!is_at_or_below("tools/skills", "tools/skill"));
    }
}
