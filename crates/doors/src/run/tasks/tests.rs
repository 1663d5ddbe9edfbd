//! The grammar and its mistakes as tables, and edits on random documents.

use super::*;
use countersign_engine::yaml::Source;
use proptest::prelude::*;

const WHOLE: &str = "\
---
spec_stage: tasks
---
# Tasks

## Milestone 1: MVP

### TASK-001: Set up the project
🔴 P0 | ✅ DONE   Est: 1d

**Description:** Make the skeleton.
With a second line.

**Checklist:**
- [x] Make folders
- [ ] Write `Cargo.toml`

**Tests (Definition of Done):**
- [ ] It builds

**Traces to:** [REQ-001], [DESIGN-002]
**Depends on:** —
**Blocks:** [TASK-002], [KAP-7]

### TASK-002: Parse
- P1 | ⬜ IN_PROGRESS

Such a task looks like this:
```markdown
### TASK-900: Not a task
P0 | TODO
```
#### Notes
Mind the gap.

**Traces to:** [FR-01, FR-02]
**Depends on:** [TASK-001]

## Milestone 2: Later
Some words that belong to no task.

### KAP-7: Polish
* 🟢 P3 | ⏸️ blocked | Est: 2-3d
**Depends on:** [TASK-001, TASK-002]
";

fn read(text: &str) -> Reading {
    parse(&Source::new("spec/tasks.md", text))
}

fn good(text: &str) -> TaskList {
    let (list, warnings) = read(text).valid().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(warnings, []);
    list
}

#[test]
fn the_whole_grammar_is_read() {
    let list = good(WHOLE);
    let [first, second, third] = list.tasks() else { panic!("{list:?}") };
    let item = |text: &str, done| ChecklistItem { text: text.into(), done };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let expect = Task {
        id: "TASK-001".into(),
        name: "Set up the project".into(),
        priority: Priority::P0,
        status: Status::Done,
        estimate: Some("1d".into()),
        checklist: vec![
            item("Make folders", true),
            item("Write `Cargo.toml`", false),
            item("It builds", false),
        ],
        traces: words(&["REQ-001", "DESIGN-002"]),
        depends_on: vec![],
        milestone: Some("Milestone 1: MVP".into()),
        description: "Make the skeleton.\nWith a second line.".into(),
        line: 8,
    };
    assert_eq!(first, &expect);
    // The word wins over the sign.
    assert_eq!((second.status, second.priority, second.line), (Status::InProgress, Priority::P1, 25));
    assert_eq!(second.traces, words(&["FR-01", "FR-02"]));
    let told = "Such a task looks like this:\n```markdown\n### TASK-900: Not a task\nP0 | TODO\n```\n#### Notes\nMind the gap.";
    assert_eq!(second.description, told);
    assert_eq!((third.status, third.estimate.as_deref()), (Status::Blocked, Some("2-3d")));
    assert_eq!(third.depends_on, words(&["TASK-001", "TASK-002"]));
    assert_eq!(third.milestone.as_deref(), Some("Milestone 2: Later"));
    assert_eq!(list.get("KAP-7"), Some(third));
}

#[test]
fn other_line_endings_and_a_byte_order_mark_change_nothing() {
    let plain = good(WHOLE);
    assert_eq!(good(&WHOLE.replace('\n', "\r\n")), plain);
    assert_eq!(good(&format!("\u{feff}{WHOLE}")), plain);
    assert_eq!(good(WHOLE.trim_end()), plain);
}

#[test]
fn every_mistake_is_named_at_its_place() {
    let task = |body: &str| format!("### A-1: One\n{body}\n### A-2: Two\nP0 | TODO\n");
    for (text, expect) in [
        (
            task("P0 | TODO\n### A-1: Again\nP0 | TODO"),
            "3:5 duplicate-id the id `A-1` is already used on line 1",
        ),
        (
            task("P0 | TODO\n**Depends on:** [A-9]"),
            "3:18 unknown-task A-1 depends on `A-9`, which does not exist",
        ),
        (
            task("P0 | TODO\n**Depends on:** [a-2]"),
            "3:18 unknown-task A-1 depends on `a-2`, which does not exist",
        ),
        (task("P0 | TODO\n**Depends on:** [A-1]"), "3:18 circle A-1 depends on itself"),
        (task("Only words."), "1:5 no-meta `A-1` has no line with priority and status"),
        (task("P4 | TODO"), "2:1 bad-priority `P4` is not a valid priority"),
        (task("High | TODO"), "2:1 bad-priority `High` is not a valid priority"),
        (task("P1 | 🔄 DOING"), "2:8 bad-status `DOING` is no status"),
        (task("P1 | ⬜"), "2:7 bad-status the status is missing"),
        (task("P1 | TODO\nP0 | DONE"), "3:1 second-meta `A-1` has a second line with priority and status"),
        (format!("{}```\n### A-3: x\n", task("P0 | TODO")), "5:1 open-fence this code fence is never closed"),
    ] {
        let problems = read(&text).valid().unwrap_err();
        let all: Vec<_> = problems
            .listed
            .iter()
            .map(|one| format!("{}:{} {} {}", one.place.line(), one.place.column(), one.code, one.message))
            .collect();
        assert_eq!(all, [expect], "{text}");
        assert!(problems.listed.iter().all(|one| one.hint.is_some()), "{text}");
    }
}

#[test]
fn issue_19_what_only_people_read_and_a_fence_around_the_list_are_warnings() {
    let task = |body: &str| format!("### A-1: One\n{body}\n### A-2: Two\nP0 | TODO\n");
    let fenced = |text: &str, end: &str| format!("Here it is:\n\n```markdown\n{text}{end}");
    let in_fence = "3:1 fenced-list the whole list is in a code fence and is read without it";
    let plain = task("P0 | TODO\n```sh\n### A-9: code\n```");
    for (text, expect) in [
        (
            task("P0 | TODO\n**Blocks:** [A-2, A-3]"),
            "3:19 unknown-task A-1 blocks `A-3`, which does not exist",
        ),
        (task("P1 | TODO Est: 30m"), "2:16 bad-estimate `30m` is no estimate"),
        (task("P1 | TODO Est: 3-2d"), "2:16 bad-estimate `3-2d` is no estimate"),
        (task("P1 | TODO Est:"), "2:15 bad-estimate the estimate is missing"),
        (fenced(&task("P0 | TODO"), "```\n"), in_fence),
        (fenced(&task("P0 | TODO"), "```\nThat is all.\n"), in_fence),
        (fenced(&task("P0 | TODO"), ""), in_fence),
        // A fence in the list would close the one around it.
        (
            format!("````md\n{plain}````\n"),
            "1:1 fenced-list the whole list is in a code fence and is read without it",
        ),
        (
            format!("```Markdown\n{plain}```\n"),
            "1:1 fenced-list the whole list is in a code fence and is read without it",
        ),
    ] {
        let reading = read(&text);
        let warnings: Vec<_> = reading
            .warnings
            .iter()
            .map(|one| format!("{}:{} {} {}", one.place.line(), one.place.column(), one.code, one.message))
            .collect();
        assert_eq!(warnings, [expect], "{text}");
        let list = reading.valid().unwrap().0;
        let ids: Vec<_> = list.tasks().iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["A-1", "A-2"], "{text}");
        // It is written back where it stands, and the fence stays.
        let done = set_status(&text, "A-2", Status::Done).unwrap();
        assert_eq!(done, text.replace("A-2: Two\nP0 | TODO", "A-2: Two\nP0 | DONE"), "{text}");
    }
    assert_eq!(good(&task("P1 | TODO")).tasks()[0].estimate, None);
    for text in ["", "# Tasks\n", "```rust\n### A-1: One\nP0 | TODO\n```\n"] {
        let reading = read(text);
        assert_eq!((reading.warnings.len(), reading.warnings[0].code), (1, "no-tasks"), "{text}");
    }
    // A fence before tasks that stand outside of it is an example.
    let example =
        format!("# Form\n\n```markdown\n### A-8: Like this\nP0 | TODO\n```\n\n{}", task("P0 | TODO"));
    assert_eq!(good(&example).tasks().len(), 2);
}

#[test]
fn circles_are_named_once_and_all_mistakes_come_together() {
    let text = "\
### A-1: One
P0 | TODO
**Depends on:** [A-3]
### A-2: Two
P0 | TODO
**Depends on:** [A-1]
### A-3: Three
P0 | TODO
**Depends on:** [A-2], [A-4], [A-2]
### A-4: Four
P7 | TODO
### A-4: Five
";
    let problems = read(text).valid().unwrap_err();
    assert_eq!(
        problems.to_string(),
        "\
spec/tasks.md:6:18: these tasks wait for each other: A-1 → A-3 → A-2 → A-1
  remove one of these dependencies
spec/tasks.md:11:1: `P7` is not a valid priority
  the priorities are `P0`, `P1`, `P2` and `P3`
spec/tasks.md:12:5: the id `A-4` is already used on line 10
  give one of them another id
spec/tasks.md:12:5: `A-4` has no line with priority and status
  write `P0 | TODO` on a line of its own: P0 to P3, and TODO, IN_PROGRESS, REVIEW, DONE or BLOCKED",
    );
}

#[test]
fn what_is_doubtful_is_a_warning() {
    for (text, code) in [
        ("### A-1: One\nP0 | TODO\n**Depends on:** [REQ-001]\n", "foreign-id"),
        ("### A-1: One\nP0 | TODO\n**Depends on:** everything above\n", "no-ids"),
        ("### A-1: One\nP0 | TODO\n### A-2 — Two\n", "almost-a-task"),
        ("### A-1: One\nP0 | TODO\n## A-2: Two\nP0 | TODO\n", "almost-a-task"),
    ] {
        let (list, warnings) = read(text).valid().unwrap();
        assert_eq!(warnings.iter().map(|one| one.code).collect::<Vec<_>>(), [code], "{text}");
        assert_eq!(list.ready().len(), 1, "{text}");
    }
}

#[test]
fn a_long_chain_and_no_tasks_are_fine() {
    let chain: String = (1..5000)
        .map(|n| format!("### T-{n}: n\nP0 | TODO\n**Depends on:** [T-{}]\n", n + 1))
        .chain(["### T-5000: n\nP0 | TODO\n".to_owned()])
        .collect();
    let list = good(&chain);
    assert_eq!(list.ready().iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["T-5000"]);
    assert_eq!(read("").valid().unwrap().0.tasks(), []);
}

#[test]
fn tasks_are_ready_by_progress_priority_and_place() {
    let of = |tasks: &[(&str, &str, &str)]| {
        let one = |(n, (priority, status, after)): (usize, &(&str, &str, &str))| {
            format!("## Milestone {}\n### T-{n}: n\n{priority} | {status}\n**Depends on:** {after}\n", n % 2)
        };
        good(&tasks.iter().enumerate().map(one).collect::<String>())
    };
    for (tasks, expect) in [
        (vec![("P2", "TODO", "—"), ("P0", "TODO", "—"), ("P0", "TODO", "—")], "T-1 T-2 T-0"),
        (vec![("P0", "TODO", "—"), ("P3", "IN_PROGRESS", "[T-0]")], "T-1 T-0"),
        (vec![("P0", "REVIEW", "—"), ("P0", "BLOCKED", "—"), ("P0", "DONE", "—")], ""),
        // A diamond: both sides at once, the end only after both.
        (
            vec![
                ("P0", "DONE", "—"),
                ("P1", "TODO", "[T-0]"),
                ("P1", "TODO", "[T-0]"),
                ("P0", "TODO", "[T-1, T-2]"),
            ],
            "T-1 T-2",
        ),
        (
            vec![
                ("P0", "DONE", "—"),
                ("P1", "DONE", "[T-0]"),
                ("P1", "TODO", "[T-0]"),
                ("P0", "TODO", "[T-1, T-2]"),
            ],
            "T-2",
        ),
        (
            vec![
                ("P0", "DONE", "—"),
                ("P1", "DONE", "[T-0]"),
                ("P1", "DONE", "[T-0]"),
                ("P0", "TODO", "[T-1, T-2]"),
            ],
            "T-3",
        ),
    ] {
        let list = of(&tasks);
        let ids: Vec<_> = list.ready().iter().map(|task| task.id.clone()).collect();
        assert_eq!(ids.join(" "), expect);
    }
    let list = of(&[("P0", "TODO", "—"), ("P0", "TODO", "—"), ("P0", "TODO", "[T-1]")]);
    let ids = |wanted: &str| -> Vec<_> {
        let ready = list.ready().into_iter().filter(|task| task.in_milestone(wanted));
        ready.map(|task| task.id.clone()).collect()
    };
    assert_eq!(ids("mileSTONE 0"), ["T-0"]);
    assert_eq!((ids("1"), ids("stone").len(), ids("x").len()), (vec!["T-1".to_owned()], 2, 0));
}

#[test]
fn a_status_is_written_with_its_sign_and_nothing_else() {
    for (before, status, after) in [
        ("🔴 P0 | ⬜ TODO   Est: 1d", Status::Done, "🔴 P0 | ✅ DONE   Est: 1d"),
        ("P0 | TODO", Status::InProgress, "P0 | IN_PROGRESS"),
        ("- P0 |⏸️ blocked | Est: 2d  ", Status::Review, "- P0 |🔍 REVIEW | Est: 2d  "),
        ("* P9 | 🔄 IN_PROGRESS", Status::Blocked, "* P9 | ⏸️ BLOCKED"),
        ("P0 | ✅ TODO", Status::Todo, "P0 | ⬜ TODO"),
    ] {
        for (open, close) in
            [("", ""), ("\u{feff}---\nx: 1\n---\n# T\r\n", "\r\n\r\n### A-11: b\r\nP0 | TODO\r\n\r\n")]
        {
            let whole = |meta: &str| format!("{open}### A-1: a\n\n{meta}{close}");
            assert_eq!(set_status(&whole(before), "A-1", status).as_deref(), Ok(whole(after).as_str()));
        }
    }
    let missing = |id: &str| EditError::Missing(id.into());
    assert_eq!(set_status(WHOLE, "TASK-900", Status::Done), Err(missing("TASK-900")));
    assert_eq!(set_status(WHOLE, "TASK-1", Status::Done), Err(missing("TASK-1")));
    let twice = format!("{WHOLE}\n### KAP-7: again\nP0 | TODO\n");
    assert_eq!(set_status(&twice, "KAP-7", Status::Done), Err(EditError::Twice("KAP-7".into())));
    let bad = "### A-1: a\nP0 | WAITING\n### A-2: b\nP0 | TODO\n";
    assert_eq!(set_status(bad, "A-1", Status::Done), Err(EditError::NoStatus("A-1".into())));
}

#[test]
fn a_checklist_is_ticked_in_its_task_only() {
    let (text, count) = tick_checklist(WHOLE, "TASK-001").unwrap();
    let expect = WHOLE.replace("- [ ] Write", "- [x] Write").replace("- [ ] It", "- [x] It");
    assert_eq!((text.as_str(), count), (expect.as_str(), 2));
    assert_eq!(tick_checklist(&text, "TASK-001").unwrap(), (text, 0));
    assert_eq!(tick_checklist(WHOLE, "TASK-002").unwrap(), (WHOLE.to_owned(), 0));
}

/// Lines that mean something, and lines that only look like it.
fn lines() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "### A-1: One",
        "### A-2: Two",
        "### B-3: Three",
        "### A-1 no colon",
        "## Milestone x",
        "## Other",
        "#### Deep",
        "P0 | TODO",
        "🔴 P1 | ⬜ TODO   Est: 1d",
        "- P2 | ⏸️ BLOCKED",
        "P0 | NOPE",
        "| P0 | TODO |",
        "**Checklist:**",
        "**Tests:**",
        "- [ ] item",
        "  * [x] item",
        "- [ ] [ ] twice",
        "**Depends on:** [A-1], [A-2]",
        "**Blocks:** —",
        "**Traces to:** [FR-01, FR-02]",
        "```",
        "~~~~",
        "---",
        "",
        "Ordinary — words.",
        "**Bold",
        "\u{feff}",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => "[^\n]{0,20}"]
}

fn documents() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec!["\n", "\r\n", "\n\n"]);
    prop::collection::vec((lines(), ends), 0..40)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

fn statuses() -> impl Strategy<Value = Status> {
    prop::sample::select(Status::ALL.to_vec())
}

/// The lines with their ends.
fn by_line(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

proptest! {
    #[test]
    fn run_any_text_can_be_read_and_places_are_in_it(text in documents()) {
        let Reading { list, problems, warnings } = read(&text);
        let lines = text.split('\n').count();
        prop_assert!(list.tasks().iter().all(|task| task.line <= lines));
        for one in problems.iter().flat_map(|problems| &problems.listed).chain(&warnings) {
            prop_assert!(one.place.line() <= lines);
            prop_assert!(one.hint.is_some());
        }
        if problems.is_none() {
            // What can be read can be ordered, and something can run if anything is left to do.
            let left = list.tasks().iter().any(|task| task.status == Status::Todo);
            let waits = list.tasks().iter().any(|task| matches!(task.status, Status::Review | Status::Blocked));
            prop_assert!(!left || waits || !list.ready().is_empty());
        }
    }

    #[test]
    fn run_an_edit_changes_one_line_and_means_what_it_says(text in documents(), status in statuses()) {
        for id in ["A-1", "A-2", "B-3", "A-9"] {
            let Ok(edited) = set_status(&text, id, status) else { continue };
            let (before, after) = (by_line(&text), by_line(&edited));
            prop_assert_eq!(before.len(), after.len());
            let changed: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
            prop_assert!(changed.len() <= 1);
            for (a, b) in changed {
                // Before the bar and behind the word everything is as it was.
                let bar = a.find('|').unwrap();
                prop_assert_eq!(&a[..bar], &b[..bar]);
                let tail = |line: &str| {
                    let word = Status::ALL.into_iter().filter_map(|s| {
                        let at = line[bar..].to_uppercase().find(s.word())?;
                        Some(line[bar..].chars().skip(line[bar..].to_uppercase()[..at].chars().count() + s.word().len()).collect::<String>())
                    });
                    word.max_by_key(String::len)
                };
                prop_assert_eq!(tail(a), tail(b));
            }
            // The other tasks are what they were, this one has its new status, and a second time changes nothing.
            let (old, new) = (read(&text).list, read(&edited).list);
            for (a, b) in old.tasks().iter().zip(new.tasks()) {
                let expect = if a.id == id { Task { status, ..a.clone() } } else { a.clone() };
                prop_assert_eq!(b, &expect);
            }
            prop_assert_eq!(set_status(&edited, id, status), Ok(edited));
        }
    }

    #[test]
    fn run_ticking_changes_single_bytes_of_boxes(text in documents()) {
        for id in ["A-1", "A-2", "B-3"] {
            let Ok((ticked, count)) = tick_checklist(&text, id) else { continue };
            prop_assert_eq!(ticked.len(), text.len());
            let changed: Vec<_> = text.bytes().zip(ticked.bytes()).enumerate().filter(|(_, (a, b))| a != b).collect();
            prop_assert_eq!(changed.len(), count);
            for (at, (a, b)) in changed {
                prop_assert_eq!((a, b, &text[at - 1..at], &text[at + 1..at + 2]), (b' ', b'x', "[", "]"));
            }
            if let Some(task) = read(&ticked).list.get(id) {
                prop_assert!(task.checklist.iter().all(|item| item.done));
            }
        }
    }
}
