//! Every text of the product that is longer than a word, listed by file, so that a changed message is a changed line, and
//! read for words that make readers translate (issue 16). `UPDATE_GOLDEN=1` writes the list again.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that hide who does what, and images in place of the words of the field.
const RIDDLES: [&str; 10] =
    ["nobody", "somebody", "whoever", "whom", "anybody", "mend", "mends", "mended", "homecoming", "errand"];

/// Texts with such a word for a reason: file, part of the text, reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("app/src/doctor/ask.rs", "Nobody was there to see it.", "the material of a question to a model"),
    ("core/src/answer/reviewed.rs", "before anybody works on", PROMPT),
    ("core/src/prompt/schema.rs", "how to mend it", PROMPT),
    ("core/src/prompt/self_review.rs", "", PROMPT),
    ("core/src/prompt/system.rs", "", PROMPT),
    ("doors/src/qr/prompts.rs", "", PROMPT),
    ("doors/src/service/command.rs", "You are an independent reviewer", PROMPT),
    ("engine/src/engine/two_call.rs", "You read the review", PROMPT),
];

/// A prompt is part of the key of a ruling: another word asks every question again.
const PROMPT: &str = "a prompt; its words change with the next version of the prompts";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The product's sources, without tests.
fn sources() -> Vec<PathBuf> {
    let (mut found, mut folders) = (vec![], vec![]);
    folders.extend(
        ["core", "engine", "doors", "app", "countersign"].map(|name| crates().join(name).join("src")),
    );
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && !name.contains("made_up") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The string literals of code, and of `#[error]`; without other attributes (comments are
/// attributes here) and without test modules.
fn texts(code: TokenStream, into: &mut Vec<String>) {
    let mut tokens = code.into_iter().peekable();
    let mut is_test = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let inner = tokens
                    .peek()
                    .is_some_and(|next| matches!(next, TokenTree::Punct(p) if p.as_char() == '!'));
                if inner {
                    tokens.next();
                }
                if let Some(TokenTree::Group(group)) = tokens.next() {
                    let attribute = group.stream().to_string();
                    is_test |= attribute == "cfg (test)";
                    if attribute.starts_with("error") {
                        texts(group.stream(), into);
                    }
                }
            }
            TokenTree::Group(group) => {
                let skipped = is_test && group.delimiter() == Delimiter::Brace;
                if skipped {
                    is_test = false;
                } else {
                    texts(group.stream(), into);
                }
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") {
                    into.push(one_line(&text));
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => is_test = false,
            _ => {}
        }
    }
}

/// A literal on one line, as it stands in the source, without its continuations.
fn one_line(literal: &str) -> String {
    let mut text = String::new();
    for (n, line) in literal.lines().enumerate() {
        let line = if n == 0 { line } else { line.trim_start() };
        text.push_str(line.strip_suffix('\\').unwrap_or(line));
        if !line.ends_with('\\') {
            text.push_str("\\n");
        }
    }
    text.trim_end_matches("\\n").to_owned()
}

fn is_message(text: &str) -> bool {
    let words =
        text.split_whitespace().filter(|word| word.chars().filter(char::is_ascii_alphabetic).count() > 1);
    let sql = ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"CREATE ", "\"DELETE ", "\"PRAGMA "];
    words.count() > 1 && !sql.iter().any(|begin| text.starts_with(begin))
}

fn riddle(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| RIDDLES.into_iter().find(|riddle| *riddle == word))
}

#[test]
fn issue_16_every_message_is_listed_and_plain() {
    let (mut list, mut wrong) = (String::new(), vec![]);
    for path in sources() {
        let code: TokenStream = fs::read_to_string(&path).unwrap().parse().unwrap();
        let mut all = vec![];
        texts(code, &mut all);
        let messages: Vec<String> = all.into_iter().filter(|text| is_message(text)).collect();
        if messages.is_empty() {
            continue;
        }
        let name = path.strip_prefix(crates()).unwrap().display().to_string();
        writeln!(list, "# {name}").unwrap();
        for message in messages {
            let allowed = ALLOWED.iter().any(|(file, part, _)| name == *file && message.contains(part));
            if let Some(word) = riddle(&message).filter(|_| !allowed) {
                wrong.push(format!("{name}: `{word}` in {message}"));
            }
            writeln!(list, "{message}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "say who does what:\n{}", wrong.join("\n"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/messages.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &list).unwrap();
    }
    let known = fs::read_to_string(&golden).unwrap_or_default();
    let changed: Vec<&str> = list.lines().filter(|line| !known.lines().any(|known| known == *line)).collect();
    assert!(
        known == list,
        "read these once more, then UPDATE_GOLDEN=1 writes the list:\n{}",
        changed.join("\n")
    );
}

/// Comments too: at most a handful in the whole product.
#[test]
fn issue_16_comments_are_plain() {
    let mut found = vec![];
    for path in sources() {
        for (n, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if let (true, Some(word)) = (line.trim_start().starts_with("//"), riddle(line)) {
                found.push(format!("{}:{}: {word}", path.display(), n + 1));
            }
        }
    }
    assert!(found.len() <= 40, "{} riddles:\n{}", found.len(), found.join("\n"));
}
