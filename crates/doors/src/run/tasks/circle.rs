//! Tasks that wait for each other, so that none of them can ever run.

use super::TaskList;
use countersign_engine::yaml::MAX_PROBLEMS;

/// The circles of dependencies, each once, as places in the list; no more than are shown.
pub(super) fn circles(list: &TaskList) -> Vec<Vec<usize>> {
    let after: Vec<Vec<usize>> = list
        .tasks()
        .iter()
        .map(|task| task.depends_on.iter().filter_map(|id| list.place_of(id)).collect())
        .collect();
    let mut found = Vec::new();
    // Not seen, on the way here, or known to lead nowhere new. No recursion: a chain may be as long as the file.
    let mut seen = vec![Seen::Not; after.len()];
    for start in 0..after.len() {
        let mut way = vec![(start, 0)];
        while let Some((task, next)) = way.last_mut() {
            if *next == 0 {
                match seen.get(*task) {
                    Some(Seen::Not) => set(&mut seen, *task, Seen::OnTheWay),
                    _ => {
                        way.pop();
                        continue;
                    }
                }
            }
            let Some(&other) = after.get(*task).and_then(|others| others.get(*next)) else {
                set(&mut seen, *task, Seen::Done);
                way.pop();
                continue;
            };
            *next += 1;
            match seen.get(other) {
                Some(Seen::Not) => way.push((other, 0)),
                Some(Seen::OnTheWay) if found.len() <= MAX_PROBLEMS => {
                    let from = way.iter().position(|(task, _)| *task == other).unwrap_or_default();
                    found.push(way.iter().skip(from).map(|(task, _)| *task).collect());
                }
                _ => {}
            }
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Not,
    OnTheWay,
    Done,
}

fn set(seen: &mut [Seen], task: usize, to: Seen) {
    if let Some(one) = seen.get_mut(task) {
        *one = to;
    }
}
