//! Tables of texts before and after, and the laws that hold for every text.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

const STRICT: Dialect = Dialect { comments: false, trailing_commas: false };
const LOOSE: Dialect = Dialect { comments: true, trailing_commas: true };
const PATH: [&str; 2] = ["servers", "ours"];

fn members() -> Members {
    vec![("command", json!("c")), ("args", json!(["a", "b"]))]
}

fn put(text: &str) -> String {
    insert(text, LOOSE, &PATH, Content::Members(&members())).unwrap()
}

#[test]
fn a_member_is_written_as_its_neighbours_are() {
    let lines = "{\n  \"a\": 1,\n  \"servers\": {\n    \"ours\": {\n      \"command\": \"c\",\n      \"args\": [\"a\", \"b\"]\n    }\n  }\n}\n";
    let one_line = r#""ours": { "command": "c", "args": ["a", "b"] }"#;
    let table = [
        ("{\n  \"a\": 1\n}\n", lines.to_owned()),
        ("{\r\n\t\"a\": 1\r\n}", lines.trim_end().replace('\n', "\r\n").replace("  ", "\t")),
        ("{\"a\":1}", format!("{{\"a\":1, \"servers\": {{ {one_line} }}}}")),
        ("{}", format!("{{\"servers\": {{ {one_line} }}}}")),
        ("{\n}\n", format!("{{\"servers\": {{ {one_line} }}\n}}\n")),
        ("{\"servers\": {}}", format!("{{\"servers\": {{{one_line}}}}}")),
        ("{\"servers\": { \"x\": {} }}", format!("{{\"servers\": {{ \"x\": {{}}, {one_line} }}}}")),
        (
            "{\n    \"servers\": {\n        \"x\": {}\n    },\n    \"z\": 0\n}",
            "{\n    \"servers\": {\n        \"x\": {},\n        \"ours\": {\n            \"command\": \"c\",\n            \
             \"args\": [\"a\", \"b\"]\n        }\n    },\n    \"z\": 0\n}"
                .to_owned(),
        ),
        ("{\"\\u0073ervers\": {\"x\":1}} ", format!("{{\"\\u0073ervers\": {{\"x\":1, {one_line}}}}} ")),
        // Comments stay with what they are about, and trailing commas stay the habit of the file.
        (
            "{\n  \"servers\": {\"x\": 1}, // \"}\n}",
            format!("{{\n  \"servers\": {{\"x\": 1, {one_line}}}, // \"}}\n}}"),
        ),
        ("{\n  \"a\": 1 /* one */ // two\n}", lines.trim_end().replace("1,", "1, /* one */ // two")),
        ("{\n  \"a\": 1, // one\n}", lines.trim_end().replace("1,", "1, // one").replace("\n  }\n", "\n  },\n")),
        ("{\"a\": 1 // one\n}", lines.trim_end().replace("{\n  \"a\": 1,", "{\"a\": 1, // one")),
        ("{ /* none */ }", format!("{{\"servers\": {{ {one_line} }} /* none */ }}")),
    ];
    for (before, after) in table {
        assert_eq!(put(before), after, "{before}");
        assert_eq!(put(&after), after, "twice is once");
        assert_eq!(remove(&after, LOOSE, &PATH).unwrap().as_deref(), Some(before), "and back");
    }
}

#[test]
fn a_file_that_is_only_ours_is_nothing_without_us() {
    let made = create(&PATH, Content::Members(&members()));
    assert_eq!(made.lines().collect::<Vec<_>>()[..3], ["{", "  \"servers\": {", "    \"ours\": {"]);
    assert_eq!(remove(&made, STRICT, &PATH), Ok(None));
    assert_eq!(remove(&format!("// mine\n{made}"), LOOSE, &PATH), Ok(Some("// mine\n{}\n".to_owned())));
}

#[test]
fn what_others_did_around_it_stays() {
    let table = [
        // They added something behind it, before it, a comment in the object we made.
        (
            "{\n  \"servers\": {\n    \"ours\": 1,\n    \"x\": 2\n  }\n}",
            "{\n  \"servers\": {\n    \"x\": 2\n  }\n}",
        ),
        ("{\"servers\": {\"ours\": 1, \"x\": 2}}", "{\"servers\": {\"x\": 2}}"),
        ("{\"servers\": {\"x\": 2, \"ours\": 1, \"y\": 3}}", "{\"servers\": {\"x\": 2, \"y\": 3}}"),
        (
            "{\n  \"servers\": {\n    // mine\n    \"ours\": 1\n  }\n}",
            "{\n  \"servers\": {\n    // mine\n  }\n}",
        ),
        ("{\n  \"servers\": {\n    \"ours\": 1,\n  },\n  \"a\": 2,\n}", "{\n  \"a\": 2,\n}"),
        ("{\"servers\": {\"x\": 1}}", "{\"servers\": {\"x\": 1}}"),
    ];
    for (before, after) in table {
        assert_eq!(remove(before, LOOSE, &PATH).unwrap().as_deref(), Some(after), "{before}");
    }
    let swallowing = "{\"servers\": {\"x\": 1, // one\n \"ours\": 2, \"y\": 3}}";
    assert_eq!(remove(swallowing, LOOSE, &PATH).unwrap_err().code, "shape");
}

#[test]
fn what_cannot_be_edited_is_named_with_its_place() {
    let deep = "[".repeat(600);
    let table = [
        (STRICT, "", "a value is expected here", 0),
        (STRICT, "[]", "the file does not hold an object", 0),
        (STRICT, "{\"servers\": []}", "`servers` is not an object", 12),
        (STRICT, "{\"servers\": null}", "`servers` is not an object", 12),
        (STRICT, "{\"servers\": {}, \"servers\": {}}", "`servers` is here for the second time", 16),
        (STRICT, "{\"a\": 1,}", "this file cannot have a comma before this", 8),
        (STRICT, "{\"a\": [1,]}", "this file cannot have a comma before this", 9),
        (STRICT, "{\"a\": 1 // x\n}", "this file cannot have comments", 8),
        (STRICT, "{\"a\": 1 \"b\": 2}", "a `,` is expected here", 8),
        (STRICT, "{\"a\": 1", "the file ends before its `}`", 7),
        (STRICT, "{\"a\" 1}", "a `:` is expected here", 5),
        (STRICT, "{a: 1}", "a name in double quotes is expected here", 1),
        (STRICT, "{\"a\": 01}", "a `,` is expected here", 7),
        (STRICT, "{\"a\": nul}", "this is not a JSON value", 6),
        (STRICT, "{\"a\": \"x\n\"}", "this text has an escape or a character that JSON does not allow", 6),
        (STRICT, "{\"a\": \"\\x\"}", "this text has an escape or a character that JSON does not allow", 7),
        (STRICT, "{} {}", "nothing more is expected here", 3),
        (LOOSE, "{,}", "a name in double quotes is expected here", 1),
        (LOOSE, "{} /* x", "this comment does not end", 3),
        (LOOSE, &deep, "this is nested too deeply", 512),
    ];
    for (dialect, text, message, at) in table {
        let fault = look(text, dialect, &PATH).unwrap_err();
        assert_eq!((fault.message.as_str(), fault.span.start), (message, at), "{text}");
        assert_eq!(insert(text, dialect, &PATH, Content::Members(&members())).unwrap_err(), fault);
        assert_eq!(remove(text, dialect, &PATH).unwrap_err(), fault);
    }
}

/// White space, with comments where they are allowed.
fn gap(dialect: Dialect) -> BoxedStrategy<String> {
    let white = prop::sample::select(vec!["", "", " ", "\n", "\n  ", "\r\n\t", "\n\n    "]);
    let comment = prop::sample::select(vec!["/* , } */", "// \" {\n", "//\r\n", " /**/ "]);
    match dialect.comments {
        true => prop_oneof![4 => white.prop_map(String::from), 1 => comment.prop_map(String::from)].boxed(),
        false => white.prop_map(String::from).boxed(),
    }
}

fn name() -> impl Strategy<Value = String> {
    let names = ["a", "ourz", "servers", "\\u0073ervers", "\\\"", "é{", "//", ""];
    prop::sample::select(names.to_vec()).prop_map(|name| format!("\"{name}\""))
}

/// Any value, in any layout.
fn written(dialect: Dialect) -> BoxedStrategy<String> {
    let scalars = ["1", "-0.5e9", "true", "null", "\"x\"", "\"\\\\\"", "\"}, {\"", "{}", "[]", "1e999"];
    let leaf = prop::sample::select(scalars.to_vec()).prop_map(String::from);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![items(dialect, inner.clone().boxed(), '[', ']'), an_object(dialect, inner.boxed())]
    })
    .boxed()
}

fn an_object(dialect: Dialect, value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let member = (name(), gap(dialect), gap(dialect), value);
    let member = member.prop_map(|(name, before, after, value)| format!("{name}{before}:{after}{value}"));
    items(dialect, member.boxed(), '{', '}')
}

fn items(dialect: Dialect, item: BoxedStrategy<String>, open: char, close: char) -> BoxedStrategy<String> {
    let spaced = (gap(dialect), item, gap(dialect)).prop_map(|(a, item, b)| a + &item + &b);
    let all = (prop::collection::vec(spaced, 0..4), gap(dialect), any::<bool>());
    all.prop_map(move |(items, end, trailing)| {
        let comma = if trailing && dialect.trailing_commas && !items.is_empty() { "," } else { "" };
        format!("{open}{}{comma}{end}{close}", items.join(","))
    })
    .boxed()
}

fn file() -> impl Strategy<Value = (Dialect, String)> {
    prop::sample::select(vec![STRICT, LOOSE]).prop_flat_map(|dialect| {
        let text = (gap(dialect), an_object(dialect, written(dialect)), gap(dialect));
        text.prop_map(move |(a, text, b)| (dialect, a + &text + &b))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 50_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn putting_in_and_taking_out_leaves_every_byte((dialect, text) in file()) {
        // A name that stands twice, or holds something else, is refused before anything is edited.
        prop_assume!(matches!(look(&text, dialect, &PATH), Ok(None)));
        let put = insert(&text, dialect, &PATH, Content::Members(&members())).unwrap();
        prop_assert_eq!(insert(&put, dialect, &PATH, Content::Members(&members())).unwrap(), &put[..]);

        let mut expected = scan(&text, dialect).unwrap().value(&text);
        expected["servers"]["ours"] = json!({"command": "c", "args": ["a", "b"]});
        prop_assert_eq!(scan(&put, dialect).unwrap().value(&put), expected.clone());
        if dialect == STRICT && !put.contains("1e999") {
            prop_assert_eq!(serde_json::from_str::<Value>(&put).unwrap(), expected);
        }
        prop_assert_eq!(remove(&put, dialect, &PATH).unwrap(), Some(text));
    }

    #[test]
    fn strict_texts_are_those_that_serde_reads(text in "[\\[\\]{}:,\"a1 \\\\/n-]{0,12}") {
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        prop_assert_eq!(scan(&text, STRICT).is_ok(), theirs);
    }
}
