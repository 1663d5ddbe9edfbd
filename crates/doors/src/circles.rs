//! Circles of dependencies, which tasks and steps must not have.

#[derive(Clone, Copy)]
enum Visit {
    No,
    OnPath,
    Done,
}

/// The circles, each once and at most `most`, as indexes. The last of a circle depends on its first.
pub(crate) fn circles(dependencies: &[Vec<usize>], most: usize) -> Vec<Vec<usize>> {
    let mut circles = Vec::new();
    let mut visits = vec![Visit::No; dependencies.len()];
    for start in 0..dependencies.len() {
        if !matches!(visits[start], Visit::No) {
            continue;
        }
        visits[start] = Visit::OnPath;
        // Each one of the path with its next dependency. No recursion: a chain may be as long as the file.
        let mut path = vec![(start, 0)];
        while let Some((one, next)) = path.last_mut() {
            let Some(&other) = dependencies[*one].get(*next) else {
                visits[*one] = Visit::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match visits[other] {
                Visit::No => {
                    visits[other] = Visit::OnPath;
                    path.push((other, 0));
                }
                Visit::OnPath if circles.len() < most => {
                    let on_path = path.iter().map(|(one, _)| *one);
                    circles.push(on_path.skip_while(|one| *one != other).collect());
                }
                _ => {}
            }
        }
    }
    circles
}
