//! What is known of the tasks of a plan without believing the plan of the worktree: the plan of the trusted commit, and
//! the statuses in the ledger. It reads no files.

use super::plan::{Plan, PlanTask, folded};
use super::task::{Basis, Home, Task, TaskStatus};
use countersign_engine::ledger::Note;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

pub(super) const GIVEN: &str = "plan_given";
pub(super) const STATUS: &str = "task_status";

/// The plan as a commit has it that a person trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedPlan {
    pub commit: String,
    pub tasks: Vec<PlanTask>,
}

/// Titles that a plan must not bring as its own when it is first seen: those of other plans and of added tasks.
#[derive(Clone, Debug, Default)]
pub struct Titles {
    folded: HashSet<String>,
    /// There are more than are read: then every title counts as one of them.
    pub too_many: bool,
    /// A person has trusted files without this plan, so nothing in it is done because it says so.
    pub none_done: bool,
}

impl Titles {
    pub fn add(&mut self, title: &str) {
        self.folded.insert(folded(title));
    }

    /// The status of a task that is seen for the first time.
    fn first(&self, status: TaskStatus) -> TaskStatus {
        match status {
            TaskStatus::Complete | TaskStatus::Skipped if self.none_done => TaskStatus::Pending,
            status => status,
        }
    }

    fn has(&self, title: &str) -> bool {
        self.too_many || self.folded.contains(&folded(title))
    }
}

/// The body of `plan_given`: the tasks of a plan that no trusted commit has, as they were when they were first seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Given {
    pub tasks: Vec<GivenTask>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GivenTask {
    id: String,
    title: String,
    status: TaskStatus,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    acceptance: Option<String>,
}

impl Given {
    /// The tasks that are really new. The others stay without a person's word.
    pub fn of(plan: &Plan, known: &KnownPlan) -> Self {
        let task = |task: &PlanTask| GivenTask {
            id: task.id.clone(),
            title: task.title.clone(),
            status: known.elsewhere.first(task.status),
            scope: task.scope.clone(),
            acceptance: task.acceptance.clone(),
        };
        let new = plan.tasks.iter().filter(|task| !known.elsewhere.has(&task.title));
        Self { tasks: new.map(task).collect() }
    }
}

/// The body of `task_status` in the stream of a plan.
#[derive(Serialize, Deserialize)]
pub(super) struct Moved {
    pub title: String,
    pub status: TaskStatus,
    /// The trusted commit that has this status, where no review led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_by: Option<String>,
}

/// All that is known of a plan. By default nothing: then its file is seen for the first time, and believed.
#[derive(Clone, Debug, Default)]
pub struct KnownPlan {
    pub trusted: Option<TrustedPlan>,
    given: Option<Vec<PlanTask>>,
    /// By folded title.
    recorded: HashMap<String, TaskStatus>,
    pub elsewhere: Titles,
}

impl KnownPlan {
    pub fn new(trusted: Option<TrustedPlan>, elsewhere: Titles) -> Self {
        Self { trusted, elsewhere, ..Self::default() }
    }

    pub(super) fn add_notes(&mut self, notes: &[Note]) {
        for note in notes {
            if note.kind == GIVEN
                && let Ok(given) = serde_json::from_str::<Given>(&note.body)
            {
                self.given = Some(given.tasks.into_iter().map(of_given).collect());
            }
            if note.kind == STATUS
                && let Ok(moved) = serde_json::from_str::<Moved>(&note.body)
            {
                self.recorded.insert(folded(&moved.title), moved.status);
            }
        }
    }

    /// Adds the status after the last review of a title. Ledgers of earlier versions have no other record.
    pub(super) fn add_reviewed(&mut self, title: &str, status: TaskStatus) {
        self.recorded.entry(folded(title)).or_insert(status);
    }

    /// Whether the plan of the worktree is the only source so far.
    pub(super) fn is_first_sight(&self) -> bool {
        self.trusted.is_none() && self.given.is_none()
    }

    pub(super) fn recorded(&self, title: &str) -> Option<TaskStatus> {
        self.recorded.get(&folded(title)).copied()
    }

    /// The tasks of the plan in the worktree, with the statuses and texts that may be believed.
    pub fn tasks(&self, file: &str, plan: &Plan) -> Vec<Task> {
        plan.tasks.iter().map(|task| self.task(file, plan, task)).collect()
    }

    pub fn task(&self, file: &str, plan: &Plan, task: &PlanTask) -> Task {
        let trusted = self.trusted.as_ref().map_or(&[][..], |trusted| &trusted.tasks);
        let given = self.given.as_deref().unwrap_or_default();
        let by_trusted = counterpart(trusted, plan, task);
        let known = by_trusted.or_else(|| counterpart(given, plan, task));
        let is_new = self.is_first_sight() && !self.elsewhere.has(&task.title);
        let basis = match known {
            None if is_new => Basis::Own,
            None => Basis::Unknown,
            Some(known) if is_same(known, task) => Basis::Own,
            Some(_) => Basis::Kept(match (&self.trusted, by_trusted) {
                (Some(trusted), Some(_)) => format!("commit {}", short(&trusted.commit)),
                _ => "the time when it was first seen".to_owned(),
            }),
        };
        let text = known.unwrap_or(task);
        let before = given.iter().find(|given| folded(&given.title) == folded(&text.title));
        let before = before.map(|given| given.status);
        let first = is_new.then(|| self.elsewhere.first(task.status));
        let recorded = self.recorded(&text.title).or(before).or(first);
        Task {
            id: task.id.clone(),
            title: task.title.clone(),
            known_as: text.title.clone(),
            scope: text.scope.clone(),
            acceptance: text.acceptance.clone(),
            status: believed(task.status, recorded, by_trusted.map(|trusted| trusted.status)),
            in_file: Some(task.status),
            recorded,
            basis,
            home: Home::Plan { file: file.to_owned() },
        }
    }
}

/// The titles in the notes of a plan.
pub(super) fn titles(notes: &[Note]) -> impl Iterator<Item = String> {
    notes.iter().flat_map(|note| match note.kind.as_str() {
        GIVEN => serde_json::from_str::<Given>(&note.body)
            .map(|given| given.tasks.into_iter().map(|task| task.title).collect())
            .unwrap_or_default(),
        STATUS => {
            serde_json::from_str::<Moved>(&note.body).map(|moved| vec![moved.title]).unwrap_or_default()
        }
        _ => vec![],
    })
}

fn of_given(given: GivenTask) -> PlanTask {
    let GivenTask { id, title, status, scope, acceptance } = given;
    PlanTask { id, title, status, scope, acceptance, review: None }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn is_same(known: &PlanTask, task: &PlanTask) -> bool {
    folded(&known.title) == folded(&task.title)
        && (&known.scope, &known.acceptance) == (&task.scope, &task.acceptance)
}

/// The known task that a task of the worktree is: by its title, or, where it was renamed, by its text or its place among
/// the known tasks whose titles are gone.
fn counterpart<'k>(known: &'k [PlanTask], plan: &Plan, task: &PlanTask) -> Option<&'k PlanTask> {
    let named = |other: &PlanTask, title: &str| folded(&other.title) == folded(title);
    if let Some(same) = known.iter().find(|other| named(other, &task.title)) {
        return Some(same);
    }
    let gone: Vec<&PlanTask> =
        known.iter().filter(|known| !plan.tasks.iter().any(|here| named(here, &known.title))).collect();
    let has_text = task.scope.is_some() || task.acceptance.is_some();
    let by_text =
        |other: &&&PlanTask| has_text && (&other.scope, &other.acceptance) == (&task.scope, &task.acceptance);
    let found = gone.iter().find(by_text).or_else(|| gone.iter().find(|other| other.id == task.id));
    found.copied()
}

/// The status that counts. A file alone neither releases a task nor unblocks it; among the open statuses it may move.
fn believed(file: TaskStatus, recorded: Option<TaskStatus>, trusted: Option<TaskStatus>) -> TaskStatus {
    use TaskStatus::{Blocked, Complete, Pending, Skipped};
    match (file, recorded) {
        (Complete | Skipped, recorded) if recorded == Some(file) || trusted == Some(file) => file,
        (Complete | Skipped, Some(recorded)) => recorded,
        (Complete | Skipped, None) => trusted.unwrap_or(Pending),
        (_, Some(Blocked)) => Blocked,
        (_, _) => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskStatus::{AwaitingReview, Blocked, Complete, InProgress, Pending, Skipped};

    #[test]
    fn attack_17_a_file_alone_never_releases_a_task() {
        let table = [
            (Complete, None, None, Pending),
            (Complete, Some(InProgress), None, InProgress),
            (Complete, Some(Blocked), None, Blocked),
            (Complete, Some(Complete), None, Complete),
            (Complete, Some(InProgress), Some(Complete), Complete),
            (Complete, None, Some(InProgress), InProgress),
            (Skipped, None, None, Pending),
            (Skipped, Some(Complete), None, Complete),
            (Skipped, None, Some(Skipped), Skipped),
            (InProgress, Some(Blocked), None, Blocked),
            (InProgress, Some(Complete), Some(Complete), InProgress),
            (AwaitingReview, Some(Pending), None, AwaitingReview),
            (Blocked, Some(Pending), None, Blocked),
        ];
        for (file, recorded, trusted, expected) in table {
            assert_eq!(believed(file, recorded, trusted), expected, "{file:?} {recorded:?} {trusted:?}");
        }
    }

    fn task(id: &str, title: &str, acceptance: &str) -> PlanTask {
        PlanTask {
            id: id.into(),
            title: title.into(),
            status: Pending,
            scope: None,
            acceptance: (!acceptance.is_empty()).then(|| acceptance.to_owned()),
            review: None,
        }
    }

    #[test]
    fn attack_17_a_renamed_task_is_found_by_its_text_or_its_place() {
        let known =
            [task("1.1", "Walls", "they stand"), task("1.2", "Roof", "it is dry"), task("1.3", "Door", "")];
        let table = [
            // As it was, in another case, with another text.
            (task("1.1", "walls", "anything"), Some("Walls")),
            // Renamed: by its place, by its text after a line was added.
            (task("1.1", "Wall", "anything"), Some("Walls")),
            (task("1.4", "Roofing", "it is dry"), Some("Roof")),
            (task("1.9", "New", ""), None),
        ];
        for (here, expected) in table {
            let plan = Plan { tasks: vec![here.clone()] };
            let found = counterpart(&known, &plan, &here).map(|task| task.title.as_str());
            assert_eq!(found, expected, "{here:?}");
        }
        // A title that is still there is no renamed task.
        let plan = Plan { tasks: vec![task("1.1", "New", "x"), task("1.2", "Walls", "they stand")] };
        let trusted = TrustedPlan { commit: "c".into(), tasks: known[..1].to_vec() };
        let found = KnownPlan::new(Some(trusted), Titles::default()).tasks("PLAN.md", &plan);
        assert_eq!((&found[0].basis, &found[1].basis), (&Basis::Unknown, &Basis::Own));
    }
}
