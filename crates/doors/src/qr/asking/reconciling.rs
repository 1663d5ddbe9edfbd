//! Reconciling: whether each milestone of the plan is implemented, with evidence on the disk.

use super::{AskError, Asking};
use crate::qr::material::Materials;
use crate::qr::modules::{Module, When};
use crate::qr::plan::{Kind, Part, criteria};
use crate::qr::prompts::{self, shown};
use crate::qr::replies::{self, MilestoneStatus, Reconciled};
use countersign_core::outcome::Outcome;
use countersign_core::text::counted;
use countersign_engine::engine::Consultation;
use countersign_engine::reviewer::Failed;
use countersign_engine::workspace::Root;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

const NAMED_FILES_MAX: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    pub id: String,
    pub found: Result<(MilestoneStatus, Vec<Reconciled>), Failed>,
}

impl Milestone {
    pub fn outcome(&self) -> Outcome {
        match &self.found {
            Ok((MilestoneStatus::Yes, _)) => Outcome::Passed,
            Ok(_) => Outcome::NeedsWork,
            Err(failed) => failed.why.outcome(),
        }
    }
}

/// The question about a milestone, with what its reply is held against.
pub struct MilestoneQuestion {
    pub id: String,
    pub question: Consultation,
    criteria: Vec<String>,
    /// The files that are shown and may be evidence.
    shown: Vec<String>,
}

impl Asking<'_> {
    pub fn reconciliation(&self, plan: &Materials) -> Result<Vec<MilestoneQuestion>, AskError> {
        let milestones: Vec<&Part> =
            plan.plan.parts.iter().filter(|part| part.kind == Kind::Milestone).collect();
        if milestones.is_empty() {
            return Err(AskError::material(
                "the plan has no milestones: headings like `## Milestone M1: …`, or `milestones` in a plan.json",
            ));
        }
        let modules: Vec<&Module> = self.modules.used(When::Reconciliation).collect();
        let question = |milestone: &&Part| {
            let built = self.built(milestone, plan)?;
            let criteria = criteria::of(&milestone.text, &milestone.id);
            let mut files = vec![shown(&milestone.name(), &milestone.text), prompts::criteria(&criteria)];
            files.extend(built.iter().map(|(name, text)| shown(name, text)));
            let question = Consultation {
                name: format!("reconcile:{}", milestone.id),
                about: self.qr.stream(),
                system_prompt: prompts::reconcile(milestone, &modules),
                files,
                shape: prompts::MILESTONE,
            };
            let shown = built.into_iter().map(|(name, _)| name).collect();
            Ok(MilestoneQuestion { id: milestone.id.clone(), question, criteria, shown })
        };
        milestones.iter().map(question).collect()
    }

    /// The implementation: the named files, else those the milestone names. The plan is no part of it.
    fn built(&self, milestone: &Part, plan: &Materials) -> Result<Vec<(String, String)>, AskError> {
        let root = &self.engine.planner().root;
        let is_plan = |path: &str| plan.artifacts.iter().any(|file| file.path == path);
        let named = &self.materials.artifacts;
        if !named.is_empty() {
            let files = named.iter().filter(|file| !is_plan(&file.path));
            return Ok(files.map(|file| (file.path.clone(), file.text.clone())).collect());
        }
        let paths: Vec<_> = paths_in(&milestone.text)
            .into_iter()
            .filter(|path| self.exists(path))
            .take(NAMED_FILES_MAX)
            .map(|path| root.join(&path))
            .collect();
        let files = super::read(root, &paths)?.into_iter().filter(|file| !is_plan(&file.path));
        Ok(files.map(|file| (file.path, file.text)).collect())
    }

    pub async fn reconcile(
        &self,
        plan: &Materials,
        cancel: &CancellationToken,
    ) -> Result<Vec<Milestone>, AskError> {
        let root = &self.engine.planner().root;
        let mut milestones = vec![];
        for MilestoneQuestion { id, question, criteria, shown } in self.reconciliation(plan)? {
            let accept = |value: &serde_json::Value| replies::milestone(value, &criteria);
            let consulted = self.engine.consult(&question, accept, cancel).await?;
            let counts = |path: &str, line: u32| has_line(root, &shown, path, line);
            let found = consulted.result.map(|criteria| replies::with_evidence(criteria, &counts));
            milestones.push(Milestone { id, found });
        }
        Ok(milestones)
    }
}

fn has_line(root: &Root, shown: &[String], path: &str, line: u32) -> Result<(), String> {
    let path = root.relative(root.path(), path.as_ref()).map_err(|problem| problem.to_string())?;
    let read = super::read(root, &[root.join(&path)]).unwrap_or_default();
    let file = read.first().ok_or_else(|| format!("there is no file `{path}`"))?;
    if !shown.contains(&path) {
        return Err(format!("`{path}` is the plan, or was not shown to the reviewer"));
    }
    match file.text.lines().count() {
        lines if line as usize <= lines => Ok(()),
        lines => Err(format!("`{path}` has only {}", counted(lines, "line", "lines"))),
    }
}

fn paths_in(text: &str) -> BTreeSet<String> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let words = text.split(|c: char| !inner(c));
    let words = words.map(|word| word.trim_start_matches("./").trim_end_matches('.'));
    words.filter(|word| word.contains(['.', '/']) && word.len() < 300).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_text_are_found_whatever_stands_around_them() {
        let found = paths_in("See `src/a.rs`, (docs/b.md). \"file\": \"c_d.py:12\" e.g. ./x/y");
        let expected = ["c_d.py", "docs/b.md", "e.g", "src/a.rs", "x/y"];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
