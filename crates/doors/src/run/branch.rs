//! How the branch of a task is called. Pure.

/// The branch of a task: `task/<id>-<slug>`.
pub fn branch_name(id: &str, name: &str) -> String {
    const SLUG_CHARS: usize = 40;
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= SLUG_CHARS {
            break;
        }
    }
    format!("task/{}-{}", id.to_lowercase(), slug.trim_matches('-')).trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_after_its_task() {
        for (id, name, branch) in [
            ("TASK-001", "Add API endpoints", "task/task-001-add-api-endpoints"),
            ("BUG-7", "  Größe & Maß!! ", "task/bug-7-gr-e-ma"),
            ("T-1", "日本語", "task/t-1"),
            ("T-1", "..lock ~^: @{", "task/t-1-lock"),
        ] {
            assert_eq!(branch_name(id, name), branch);
        }
        assert!(branch_name("T-1", &"x".repeat(200)).len() < 60);
    }
}
