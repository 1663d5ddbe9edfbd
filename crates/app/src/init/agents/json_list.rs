//! Appends one element to a list of a JSON text and removes it again, without changing another byte.
//!
//! As with members of objects, the ambiguous cases are written differently: an element goes *directly* behind the
//! bracket of an empty list that was there, while a new list has a space behind its bracket.

use super::edit::{Fault, SpannedValue, cut, inline};
use super::json_edit::{self, Content, WHITE, insert, remove, spliced, walk};
use super::json_scan::{Kind, Node, end_of_line_comments, scan};
use countersign_engine::programs::Dialect;
use serde_json::Value;

/// The elements of the list at a path; none where there is no list.
pub fn elements(text: &str, dialect: Dialect, path: &[&str]) -> Result<Vec<SpannedValue>, Fault> {
    let root = scan(text, dialect)?;
    let Some((_, items)) = list(&root, path)? else { return Ok(vec![]) };
    let element = |item: &Node| SpannedValue { value: item.value(text), span: item.span.clone() };
    Ok(items.iter().map(element).collect())
}

pub fn create(path: &[&str], element: &Value) -> String {
    json_edit::create(path, Content::Line(&own_list(element)))
}

pub fn append(text: &str, dialect: Dialect, path: &[&str], element: &Value) -> Result<String, Fault> {
    let root = scan(text, dialect)?;
    let Some((list, items)) = list(&root, path)? else {
        return insert(text, dialect, path, Content::Line(&own_list(element)));
    };
    let element = inline(element);
    let Some(last) = items.last() else {
        return Ok(spliced(text, &[(list.span.start + 1, &element)]));
    };
    let end = last.span.end;
    let before = &text[..last.span.start];
    let lead = &before[before.trim_end_matches(WHITE).len()..];
    let at = end_of_line_comments(text, end);
    // After a comment that ends with its line, a new line is needed.
    let gap = match lead {
        lead if lead.contains('\n') => lead,
        _ if text[end..at].contains("//") => "\n",
        _ => " ",
    };
    Ok(match text[end..].trim_start_matches(WHITE).starts_with(',') && dialect.trailing_commas {
        true => spliced(text, &[(end, &format!(",{gap}{element}"))]),
        false => spliced(text, &[(end, ","), (at, &format!("{gap}{element}"))]),
    })
}

/// The text without the element at an index; none if the file was only made for it.
pub fn take_out(text: &str, dialect: Dialect, path: &[&str], place: usize) -> Result<Option<String>, Fault> {
    let root = scan(text, dialect)?;
    let found = list(&root, path)?.and_then(|(list, items)| Some((list, items, items.get(place)?)));
    let Some((list, items, item)) = found else { return Ok(Some(text.to_owned())) };
    if items.len() == 1 && text[list.span.start + 1..].starts_with(WHITE) {
        return remove(text, dialect, path);
    }
    let range = match (place.checked_sub(1).and_then(|before| items.get(before)), items.get(place + 1)) {
        (Some(before), _) => before.span.end..item.span.end,
        (None, Some(next)) => item.span.start..next.span.start,
        (None, None) => item.span.clone(),
    };
    let out = cut(text, vec![range.clone()]);
    // A comment between the elements must stay.
    let between = text[range.clone()].replacen(&text[item.span.clone()], "", 1);
    let clean = between.trim_matches(WHITE).trim_matches(',').trim_matches(WHITE).is_empty();
    let left =
        scan(&out, dialect).and_then(|root| Ok(self::list(&root, path)?.map(|(_, items)| items.len())));
    if clean && left.is_ok_and(|left| left == Some(items.len() - 1)) {
        return Ok(Some(out));
    }
    let words = "this cannot be removed without a change to the text around it";
    Err(Fault::shape(item.span.clone(), words))
}

fn own_list(element: &Value) -> String {
    format!("[ {} ]", inline(element))
}

fn list<'n>(root: &'n Node, path: &[&str]) -> Result<Option<(&'n Node, &'n [Node])>, Fault> {
    let (trail, node) = walk(root, path)?;
    match &node.kind {
        _ if trail.len() < path.len() => Ok(None),
        Kind::Array(items) => Ok(Some((node, items))),
        _ => {
            let name = path.last().copied().unwrap_or_default();
            Err(Fault::shape(node.span.clone(), format!("`{name}` is not a list")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const STRICT: Dialect = Dialect { comments: false, trailing_commas: false };
    const LOOSE: Dialect = Dialect { comments: true, trailing_commas: false };
    const PATH: [&str; 2] = ["hooks", "Stop"];

    #[test]
    fn what_goes_in_comes_out_again() {
        let table = [
            ("{}", "{\"hooks\": { \"Stop\": [ 7 ] }}"),
            ("{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [ 7 ]\n  }\n}\n"),
            (
                "{\n  \"hooks\": {\n    \"x\": []\n  }\n}",
                "{\n  \"hooks\": {\n    \"x\": [],\n    \"Stop\": [ 7 ]\n  }\n}",
            ),
            ("{\"hooks\": {\"Stop\": []}}", "{\"hooks\": {\"Stop\": [7]}}"),
            ("{\"hooks\": {\"Stop\": [1]}}", "{\"hooks\": {\"Stop\": [1, 7]}}"),
            (
                "{\"hooks\": {\"Stop\": [\n    {\"a\": [1, 2]}\n  ]}}",
                "{\"hooks\": {\"Stop\": [\n    {\"a\": [1, 2]},\n    7\n  ]}}",
            ),
            ("{\"hooks\": {\"Stop\": [\n  1 // one\n]}}", "{\"hooks\": {\"Stop\": [\n  1, // one\n  7\n]}}"),
        ];
        for (before, after) in table {
            let put = append(before, LOOSE, &PATH, &json!(7)).unwrap();
            assert_eq!(put, after);
            let place = elements(&put, LOOSE, &PATH).unwrap().len() - 1;
            match take_out(&put, LOOSE, &PATH, place) {
                Ok(out) => assert_eq!(out.as_deref(), Some(before), "{after}"),
                // The comment stands between the two.
                Err(fault) => assert!(before.contains("//"), "{fault:?}"),
            }
        }
        let new = create(&PATH, &json!({"a": [1, "b"]}));
        assert_eq!(new, "{\n  \"hooks\": {\n    \"Stop\": [ {\"a\": [1, \"b\"]} ]\n  }\n}\n");
        assert_eq!(take_out(&new, STRICT, &PATH, 0), Ok(None));
    }

    #[test]
    fn what_others_put_around_it_stays() {
        let table = [
            ("{\"hooks\": {\"Stop\": [7, 1, 2]}}", 0, "{\"hooks\": {\"Stop\": [1, 2]}}"),
            ("{\"hooks\": {\"Stop\": [1, 7, 2]}}", 1, "{\"hooks\": {\"Stop\": [1, 2]}}"),
            ("{\"hooks\": {\"Stop\": [ 7, 1 ]}}", 0, "{\"hooks\": {\"Stop\": [ 1 ]}}"),
        ];
        for (before, place, after) in table {
            assert_eq!(take_out(before, STRICT, &PATH, place), Ok(Some(after.to_owned())));
        }
        let other = append("{\"hooks\": {\"Stop\": {}}}", STRICT, &PATH, &json!(7)).unwrap_err();
        assert_eq!(other.message, "`Stop` is not a list");
    }
}
