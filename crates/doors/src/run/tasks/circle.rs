//! Circles of dependencies: tasks that wait for each other, so that none of them can ever run.

use super::TaskList;
use countersign_engine::yaml::MAX_PROBLEMS;

#[derive(Clone, Copy)]
enum Visit {
    No,
    OnPath,
    Done,
}

/// The circles, each once, as indexes into the list; no more than are shown.
pub(super) fn circles(list: &TaskList) -> Vec<Vec<usize>> {
    let dependencies: Vec<Vec<usize>> = list
        .tasks()
        .iter()
        .map(|task| task.depends_on.iter().filter_map(|id| list.place_of(id)).collect())
        .collect();
    let mut circles = Vec::new();
    let mut visits = vec![Visit::No; dependencies.len()];
    for start in 0..dependencies.len() {
        if !matches!(visits[start], Visit::No) {
            continue;
        }
        visits[start] = Visit::OnPath;
        // Each task of the path with its next dependency. No recursion: a chain may be as long as the file.
        let mut path = vec![(start, 0)];
        while let Some((task, next)) = path.last_mut() {
            let Some(&other) = dependencies[*task].get(*next) else {
                visits[*task] = Visit::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match visits[other] {
                Visit::No => {
                    visits[other] = Visit::OnPath;
                    path.push((other, 0));
                }
                Visit::OnPath if circles.len() <= MAX_PROBLEMS => {
                    let from = path.iter().position(|(task, _)| *task == other).unwrap_or_default();
                    circles.push(path.iter().skip(from).map(|(task, _)| *task).collect());
                }
                _ => {}
            }
        }
    }
    circles
}
