//! The acceptance criteria of a milestone, as the plan words them. Pure.

use countersign_core::markdown::{self, entry, heading};
use serde_json::Value;

const CRITERIA_MAX: usize = 200;
const WORD: &str = "acceptance";

/// The criteria of a milestone; where it lists none, its own title is the one criterion.
pub fn of(text: &str, id: &str) -> Vec<String> {
    let mut criteria = match serde_json::from_str::<Value>(text) {
        Ok(value) => in_json(&value),
        Err(_) => in_markdown(text),
    };
    criteria.retain(|criterion| !criterion.is_empty());
    criteria.truncate(CRITERIA_MAX);
    let mut seen: Vec<String> = vec![];
    criteria.retain(|criterion| {
        let folded = folded(criterion);
        let is_new = !seen.contains(&folded);
        seen.push(folded);
        is_new
    });
    if criteria.is_empty() {
        criteria.push(title(text).unwrap_or_else(|| id.to_owned()));
    }
    criteria
}

/// A criterion without differences in case, white space, marks of Markdown and a final dot.
pub fn folded(criterion: &str) -> String {
    let plain: String = criterion.chars().filter(|c| !matches!(c, '*' | '`' | '_')).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    words.trim_end_matches(['.', ';']).to_owned()
}

fn title(text: &str) -> Option<String> {
    let first = text.lines().next()?;
    let (_, words) = heading(first)?;
    Some(plain(first.get(words)?)).filter(|title| !title.is_empty())
}

/// The words of a line without emphasis and a box before it.
fn plain(line: &str) -> String {
    let line = line.trim();
    let line = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    line.trim().to_owned()
}

fn in_json(value: &Value) -> Vec<String> {
    let Some(members) = value.as_object() else { return vec![] };
    let listed = members.iter().filter(|(key, _)| key.to_lowercase().contains(WORD));
    listed.flat_map(|(_, value)| texts(value)).collect()
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.trim().to_owned()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(members) => {
            let known = ["criterion", "text", "description", "title"];
            let found = known.iter().find_map(|key| members.get(*key)?.as_str());
            found.map(|text| text.trim().to_owned()).into_iter().collect()
        }
        _ => vec![],
    }
}

/// The entries below a line about acceptance, or the words after its colon. Below a list entry, only entries inside it.
fn in_markdown(text: &str) -> Vec<String> {
    let mut criteria: Vec<String> = vec![];
    let mut least_indent: Option<usize> = None;
    for line in markdown::lines(text).filter(|line| !line.is_code) {
        let indent = line.text.len() - line.text.trim_start().len();
        let listed =
            entry(line.text).or_else(|| numbered(line.text)).and_then(|start| line.text.get(start..));
        let words = heading(line.text).and_then(|(_, words)| line.text.get(words));
        let is_below = least_indent.is_some_and(|least| indent >= least);
        if let Some(after) = after_label(words.or(listed).unwrap_or(line.text)) {
            least_indent = Some(if listed.is_some() { indent + 1 } else { 0 });
            criteria.extend(Some(plain(after)).filter(|after| !after.is_empty()));
        } else if line.text.trim().is_empty() {
            continue;
        } else if let Some(listed) = listed.filter(|_| is_below) {
            criteria.push(plain(listed));
        } else if is_below && indent > 0 && words.is_none() {
            // An entry that goes on.
            if let Some(last) = criteria.last_mut() {
                last.push(' ');
                last.push_str(line.text.trim());
            }
        } else {
            least_indent = None;
        }
    }
    criteria
}

/// Where the words of an entry such as `1. It parses` begin.
fn numbered(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let words = rest.strip_prefix(['.', ')']).filter(|_| rest.len() < text.len())?;
    words.starts_with(' ').then(|| line.len() - words.trim_start().len())
}

/// What follows a label such as `**Acceptance criteria:**`; empty where nothing does.
fn after_label(line: &str) -> Option<&str> {
    const LABEL_CHARS_MAX: usize = 40;
    let line = line.trim().trim_start_matches(['*', '_', '`']);
    let (label, after) = line.split_once(':').unwrap_or((line, ""));
    let label = label.trim_end_matches(['*', '_', '`', ' ']).to_lowercase();
    let is_label = label.starts_with(WORD) && label.chars().count() <= LABEL_CHARS_MAX;
    is_label.then(|| after.trim_start_matches(['*', '_', '`', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_found_as_plans_write_them() {
        let table: [(&str, &[&str]); 8] = [
            ("## Milestone M1: Parse\n\nAcceptance: it parses\n", &["it parses"]),
            (
                "## M1\n\n### Acceptance Criteria\n\n- [ ] It parses\n- It writes\n  two lines\n\n### Tests\n- no\n",
                &["It parses", "It writes two lines"],
            ),
            ("## M1\n**Acceptance criteria:**\n1. a\n2. b\n\nOther words.\n- no\n", &["a", "b"]),
            ("## M1\n- **Acceptance**:\n  - it is red.\n- **Tests**: none\n", &["it is red."]),
            ("## Milestone M1: Parse\n\nIn src/a.rs.\n", &["Milestone M1: Parse"]),
            (r#"{"id": "M1", "acceptance_criteria": ["a", {"criterion": "b"}]}"#, &["a", "b"]),
            (r#"{"id": "M1", "acceptance": "a"}"#, &["a"]),
            (r#"{"id": "M1"}"#, &["M1"]),
        ];
        for (text, expected) in table {
            assert_eq!(of(text, "M1"), expected, "{text}");
        }
        assert_eq!(folded(" **It** `parses`.\n"), "it parses");
    }
}
