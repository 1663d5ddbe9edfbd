//! Plans: what they mean, what is wrong with them, and what writing back leaves alone.

use super::super::task::TaskStatus;
use super::*;
use countersign_engine::yaml::Source;
use proptest::prelude::*;

const PLAN: &str = "\
# Project

Some words.

### Phase 1: Ground

- [x] **Lay the floor** `[complete]`
  - Spec: docs/floor.md
- [ ] **Build walls** `[IN_PROGRESS]`
  - **Scope:** all four walls
    and the door
  - **Acceptance:** they stand
  - **Depends:** 1.1
  - **Session:** abc
  - **Review:**
    - **Attempt:** 2
    - **Last Result:** NEEDS_REVISION
    - **Issues:**
      - too thin
      - no door
    - **Reviewed At:** 2026-01-15T10:30:00Z

```
- [ ] **Not a task** `[pending]`
```

### Phase 2: Roof

- [ ] **Roof** `[pending]`
  words

- [ ] an ordinary box
## Notes
";

fn read(text: &str) -> Reading {
    parse(&Source::new("PLAN.md", text))
}

fn block(attempt: u32, issues: &[&str]) -> ReviewBlock {
    ReviewBlock {
        attempt,
        last_result: ReviewResult::NeedsRevision,
        issues: issues.iter().map(|issue| (*issue).to_owned()).collect(),
        reviewed_at: "2026-01-15T10:30:00Z".to_owned(),
    }
}

/// SVC-14.
#[test]
fn svc_14_a_plan_has_phases_tasks_and_reviews() {
    let plan = read(PLAN).valid().unwrap();
    let seen: Vec<_> = plan.tasks.iter().map(|t| (t.id.as_str(), t.title.as_str(), t.status)).collect();
    assert_eq!(
        seen,
        [
            ("1.1", "Lay the floor", TaskStatus::Complete),
            ("1.2", "Build walls", TaskStatus::InProgress),
            ("2.1", "Roof", TaskStatus::Pending),
        ]
    );
    let walls = plan.find("build  WALLS").unwrap();
    assert_eq!(plan.find("1.2"), Some(walls));
    assert_eq!(walls.scope.as_deref(), Some("all four walls\nand the door"));
    assert_eq!(walls.acceptance.as_deref(), Some("they stand"));
    assert_eq!(walls.review, Some(block(2, &["too thin", "no door"])));
}

#[test]
fn a_file_of_this_name_that_is_no_plan_has_nothing_wrong() {
    for text in ["", "# Plan\n- [ ] **A**\n", "## Phase 1: x\ntext\n", "### Phase 1: x\n- [ ] a\n"] {
        assert!(read(text).warnings.is_empty(), "{text}");
        assert_eq!(read(text).valid().unwrap(), Plan::default(), "{text}");
    }
}

#[test]
fn everything_wrong_is_said_at_once_with_its_place() {
    let text = "### Phase 1: a\n- [ ] **A** `[pendin]`\n- [ ] **B** `[pending]`\n  - Depends: 1.9, 1.2\n\
        - [ ] **a ** `[pending]`\n### Phase 1: c\n- [ ] **D** `[pending]`\n  - Scope: x\n  - Scope: y\n\
        \x20 - **Review:**\n    - **Attempt:** two\n    - **Last Result:** good\n### Phase 0: d\n```\n";
    let problems = read(text).valid().unwrap_err().listed;
    let said: Vec<_> = problems.iter().map(|p| (p.code, p.place.line())).collect();
    assert_eq!(
        said,
        [
            ("bad-status", 2),
            ("unknown-task", 4),
            ("unknown-task", 4),
            ("duplicate-title", 5),
            ("duplicate-phase", 6),
            ("duplicate-field", 9),
            ("bad-attempt", 11),
            ("bad-result", 12),
            ("bad-phase", 13),
            ("open-fence", 14),
        ]
    );
    assert!(problems.iter().all(|problem| problem.hint.is_some()));
}

/// As the parser of existing plans reads them: every heading but `### Phase N: Title` is text, and so is a box without
/// a status.
#[test]
fn issue_19_what_only_looks_like_a_phase_or_a_task_is_text_with_a_warning() {
    let text = "- [ ] **Before** `[pending]`\n### Phase 1: a\n- [x] **A** `[complete]`\n- [ ] **Box**\n\
        ## Phase 2: b\n### 2.1 Part\n- [ ] **B** `[pending]`\n- [ ] **A**\n## Notes\n- [ ] **C** `[pending]`\n\
        #### Deep\n- [ ] **Question**: why?\n### Phase 3: c\n- [ ] **D** `[pending]`\n";
    let reading = read(text);
    let said: Vec<_> = reading.warnings.iter().map(|p| (p.code, p.place.line())).collect();
    assert_eq!(said, [("bad-phase", 5), ("no-status", 4), ("no-phase", 1), ("other-heading", 7)]);
    assert_eq!(reading.warnings[1].message, "`Box` has no status, so it is no task (and 2 more like it)");
    let plan = reading.valid().unwrap();
    let seen: Vec<_> = plan.tasks.iter().map(|t| (t.id.as_str(), t.title.as_str())).collect();
    assert_eq!(seen, [("1.1", "A"), ("1.2", "B"), ("1.3", "C"), ("3.1", "D")]);
    // A box with the title of a task is not the task.
    let edited = write_back(text, "A", TaskStatus::Blocked, None).unwrap();
    assert_eq!(edited, text.replace("- [x] **A** `[complete]`", "- [ ] **A** `[blocked]`"));
    // Without a phase there is no task, and that is said.
    let reading = read("## Phase 1: a\n- [ ] **A** `[pending]`\n");
    let said: Vec<_> = reading.warnings.iter().map(|p| (p.code, p.place.line())).collect();
    assert_eq!(said, [("bad-phase", 1), ("no-phase", 2)]);
    assert_eq!(reading.valid().unwrap(), Plan::default());
}

#[test]
fn a_status_is_written_back_and_nothing_else() {
    let expect = PLAN.replace("- [ ] **Build walls** `[IN_PROGRESS]`", "- [x] **Build walls** `[complete]`");
    assert_eq!(write_back(PLAN, "Build walls", TaskStatus::Complete, None).unwrap(), expect);
    // What stands so already stays as it is written.
    assert_eq!(write_back(PLAN, "Build walls", TaskStatus::InProgress, None).unwrap(), PLAN);
    let back = write_back(&expect, "Build walls", TaskStatus::Blocked, None).unwrap();
    assert_eq!(back, PLAN.replace("IN_PROGRESS", "blocked"));
    let missing = write_back(PLAN, "Not a task", TaskStatus::Complete, None);
    assert_eq!(missing, Err(EditError::Missing("Not a task".to_owned())));
}

/// SVC-8.
#[test]
fn svc_8_a_review_replaces_the_one_before_or_is_added_below() {
    let edited =
        write_back(PLAN, "Build walls", TaskStatus::InProgress, Some(&block(3, &["a\n### b"]))).unwrap();
    let expect = PLAN
        .replace("**Attempt:** 2", "**Attempt:** 3")
        .replace("NEEDS_REVISION", "needs_revision")
        .replace("      - too thin\n      - no door\n", "      - a ### b\n");
    assert_eq!(edited, expect);
    let edited = write_back(PLAN, "Roof", TaskStatus::InProgress, Some(&block(1, &["leaks"]))).unwrap();
    let added = "- [ ] **Roof** `[in_progress]`\n  words\n  - **Review:**\n    - **Attempt:** 1\n    - **Last Result:** \
        needs_revision\n    - **Issues:**\n      - leaks\n    - **Reviewed At:** 2026-01-15T10:30:00Z\n\n";
    assert_eq!(edited, PLAN.replace("- [ ] **Roof** `[pending]`\n  words\n\n", added));
    // The last line of a file has no end, and gets none.
    let short = "### Phase 1: a\r\n- [ ] **A** `[pending]`";
    let edited = write_back(short, "A", TaskStatus::InProgress, Some(&block(1, &[]))).unwrap();
    assert_eq!(
        edited,
        "### Phase 1: a\r\n- [ ] **A** `[in_progress]`\r\n  - **Review:**\r\n    - **Attempt:** 1\r\n    - **Last \
         Result:** needs_revision\r\n    - **Reviewed At:** 2026-01-15T10:30:00Z"
    );
}

fn arbitrary_plan() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("### Phase 1: a".to_owned()),
        Just("### Phase 2: b".to_owned()),
        Just("## Other".to_owned()),
        Just("## Phase 3: c".to_owned()),
        Just("- [ ] **A**".to_owned()),
        Just("```".to_owned()),
        Just(String::new()),
        Just("  - **Review:**".to_owned()),
        Just("    - **Attempt:** 1".to_owned()),
        Just("    - **Last Result:** approved".to_owned()),
        Just("      - an issue".to_owned()),
        ("[A-D]", "[ x]", "(pending|COMPLETE|blocked|nope)")
            .prop_map(|(title, tick, status)| format!("- [{tick}] **{title}** `[{status}]`")),
        "[ ]{0,4}[-#*` a-z\u{e9}\u{200b}]{0,12}",
    ];
    (proptest::collection::vec(line, 0..24), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(lines, crlf, ends, mark)| {
            let newline = if crlf { "\r\n" } else { "\n" };
            let text = lines.join(newline) + if ends { newline } else { "" };
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

proptest! {
    #[test]
    fn reading_never_panics_and_places_are_inside(text in "\\PC{0,200}|(.|\n){0,200}") {
        for problem in read(&text).problems {
            prop_assert!(problem.place.line() >= 1);
        }
    }

    /// Whatever is written back is read again as it was meant, every other task as before, and every line that is not
    /// of this task is still there.
    #[test]
    fn writing_back_touches_one_task(
        text in arbitrary_plan(),
        issues in proptest::collection::vec("\\PC{0,30}|- \\*\\*Attempt:\\*\\* 9|### Phase 3: x|```", 0..4),
        status in proptest::sample::select(TaskStatus::ALL.to_vec()),
    ) {
        let Ok(before) = read(&text).valid() else { return Ok(()) };
        for task in &before.tasks {
            let issues: Vec<&str> = issues.iter().map(String::as_str).collect();
            let review = block(7, &issues);
            let edited = write_back(&text, &task.title, status, Some(&review)).unwrap();
            let after = read(&edited).valid().unwrap();
            prop_assert_eq!(after.tasks.len(), before.tasks.len());
            for (old, new) in before.tasks.iter().zip(&after.tasks) {
                if old.title == task.title {
                    prop_assert_eq!(new.status, status);
                    let found = new.review.as_ref().unwrap();
                    prop_assert_eq!((found.attempt, found.last_result), (7, ReviewResult::NeedsRevision));
                    prop_assert_eq!(found.issues.len(), issues.len());
                    prop_assert_eq!(&new.scope, &old.scope);
                } else {
                    prop_assert_eq!((&new.status, &new.review), (&old.status, &old.review));
                }
            }
            // A second write changes nothing.
            prop_assert_eq!(&write_back(&edited, &task.title, status, Some(&review)).unwrap(), &edited);
            let changed = text.len().abs_diff(edited.len());
            prop_assert!(changed < 4096);
            let status_alone = write_back(&text, &task.title, task.status, None).unwrap();
            prop_assert_eq!(status_alone.lines().count(), text.lines().count());
        }
    }
}
