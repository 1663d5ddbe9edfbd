//! Plans as they are found.

use super::*;
use proptest::prelude::*;

const MARKDOWN: &str = "\
# Plan

Intro. ## Milestone M9: not a heading

## Milestone M1: Parse

Do it.

- CI-M1-1: read the file
  and more of it
- **CC-M1-1**: a change
- Milestone M2 comes later

### Details

```diff
## Milestone M8: in a block
```

## Milestone 2. Write

### M-003: below

## Risks
";

fn plan(file: &str, text: &str) -> Plan {
    let mut plan = Plan::default();
    plan.add(file, text).unwrap();
    plan
}

type Row<'p> = (&'p str, &'p str, Option<(u32, u32)>);

fn rows(plan: &Plan) -> Vec<Row<'_>> {
    plan.parts.iter().map(|part| (part.kind.name(), part.id.as_str(), part.lines)).collect()
}

#[test]
fn markdown_has_its_parts_with_their_lines() {
    let plan = plan("plan.md", MARKDOWN);
    assert_eq!(
        rows(&plan),
        [
            ("milestone", "M1", Some((5, 18))),
            ("code_intent", "CI-M1-1", Some((9, 10))),
            ("code_change", "CC-M1-1", Some((11, 11))),
            ("milestone", "M2", Some((20, 22))),
            ("milestone", "M-003", Some((22, 22))),
        ]
    );
    assert_eq!(plan.parts[1].text, "- CI-M1-1: read the file\n  and more of it");
    assert!(plan.parts[0].text.starts_with("## Milestone M1") && plan.parts[0].text.ends_with("```"));
}

const JSON: &str = r#"{
  "overview": {"id": "x1"},
  "milestones": [
    {"id": "M-002", "name": "second", "code_intents": [{"id": "CI-M-002-001", "behavior": "b"}]},
    {"number": 1},
    {"id": "M-001", "code_changes": {"CC-M-001-001": {"diff": "d"}}}
  ],
  "nested": {"deeper": {"code_intents": [{"intent_id": "CI-9"}]}}
}"#;

#[test]
fn json_has_its_parts_in_the_order_of_the_file() {
    let plan = plan("plan.json", JSON);
    assert_eq!(
        rows(&plan),
        [
            ("milestone", "M-002", Some((4, 4))),
            ("code_intent", "CI-M-002-001", Some((4, 4))),
            ("milestone", "M-001", Some((6, 6))),
            ("code_change", "CC-M-001-001", Some((6, 6))),
            ("code_intent", "CI-9", Some((8, 8))),
        ]
    );
    assert!(plan.parts[3].text.contains("\"diff\": \"d\""));
    let mut broken = Plan::default();
    let error = broken.add("plan.json", "{\"a\": 1,\n \"a\": 2}").unwrap_err();
    assert!(error.starts_with("`plan.json` is not JSON: the key `a` is there twice at line 2"), "{error}");
}

#[test]
fn a_name_means_one_part_or_says_what_there_is() {
    let plan = plan("plan.md", MARKDOWN);
    for (name, id) in [("M1", "M1"), ("m1", "M1"), ("1", "M1"), ("M-003", "M-003")] {
        assert_eq!(plan.find(Kind::Milestone, name).map(|part| part.id.as_str()), Ok(id));
    }
    for (kind, name, words) in [
        (Kind::Milestone, "M4", "the plan has no milestone `M4`; it has: "),
        (Kind::Milestone, "CI-M1-1", "the plan has no milestone `CI-M1-1`; it has: "),
        (Kind::CodeChange, "CC-7", "the plan has no code_change `CC-7`; it has: "),
    ] {
        let error = plan.find(kind, name).unwrap_err();
        assert!(error.starts_with(words), "{error}");
    }
    let mut twice = plan.clone();
    twice.add("other.md", "# Milestone M1\n").unwrap();
    let error = twice.find(Kind::Milestone, "M1").unwrap_err();
    assert_eq!(error, "the plan has milestone `M1` twice, in plan.md:5 and in other.md:1");
    let none = Plan::default().find(Kind::Milestone, "M1").unwrap_err();
    assert_eq!(none, "the plan has no milestone `M1` and no other milestone");
}

proptest! {
    #[test]
    fn whatever_is_written_every_part_is_a_piece_of_it(text in "([#`*\\- \n:.]|M1|CI-2|CC-3|Milestone |é){0,60}") {
        for part in plan("plan.md", &text).parts {
            prop_assert!(text.replace("\r\n", "\n").contains(part.text.trim_end()));
            let (first, last) = part.lines.unwrap();
            prop_assert!(1 <= first && first <= last && last as usize <= text.lines().count());
            prop_assert!(is_id(&part.id));
        }
    }

    #[test]
    fn whatever_is_json_is_a_plan_or_none(text in "[\\[\\]{}\",:a-z0-9 \n]{0,60}") {
        let _ = Plan::default().add("plan.json", &text);
    }
}
