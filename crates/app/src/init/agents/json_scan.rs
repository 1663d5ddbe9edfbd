//! JSON text → where everything in it stands. Nothing is interpreted more than an edit needs.

use super::edit::Fault;
use countersign_engine::programs::Dialect;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::ops::Range;

/// Deeper than any settings file; a hostile one must not use up the stack.
const MAX_DEPTH: usize = 128;

/// A value and where it stands.
#[derive(Debug)]
pub struct Node {
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

/// One member of an object.
#[derive(Debug)]
pub struct Member {
    /// Its name as it is meant; none where that is no text, as with half a surrogate pair.
    pub name: Option<String>,
    pub key: Range<usize>,
    pub value: Node,
    /// Where the comma after it is.
    pub comma: Option<usize>,
}

impl Node {
    /// The value itself, for comparing. What serde_json does not represent is null.
    pub fn value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Scalar => serde_json::from_str(&text[self.span.clone()]).unwrap_or(Value::Null),
            Kind::Array(items) => items.iter().map(|item| item.value(text)).collect(),
            Kind::Object(members) => {
                let pair = |member: &Member| Some((member.name.clone()?, member.value.value(text)));
                Value::Object(members.iter().filter_map(pair).collect::<Map<_, _>>())
            }
        }
    }
}

/// Reads a whole text.
pub fn scan(text: &str, dialect: Dialect) -> Result<Node, Fault> {
    let mut scanner = Scanner { text, dialect, at: 0 };
    scanner.skip()?;
    let node = scanner.node(0)?;
    scanner.skip()?;
    match scanner.peek() {
        None => Ok(node),
        Some(_) => Err(scanner.fault("nothing more is expected here")),
    }
}

/// Where the comments that follow on the same line end; `from` itself if there are none.
pub fn end_of_line_comments(text: &str, from: usize, dialect: Dialect) -> usize {
    let mut scanner = Scanner { text, dialect, at: from };
    let mut end = from;
    loop {
        scanner.at += spaces(&text[scanner.at..], &[' ', '\t']);
        match scanner.comment() {
            Ok(true) => end = scanner.at,
            _ => return end,
        }
    }
}

fn spaces(text: &str, of: &[char]) -> usize {
    text.len() - text.trim_start_matches(of).len()
}

struct Scanner<'t> {
    text: &'t str,
    dialect: Dialect,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        let len = self.peek().map_or(0, char::len_utf8);
        Fault::syntax(self.at..self.at + len, message)
    }

    /// Passes over white space and comments.
    fn skip(&mut self) -> Result<(), Fault> {
        loop {
            self.at += spaces(self.rest(), &[' ', '\t', '\n', '\r']);
            if !self.comment()? {
                return Ok(());
            }
        }
    }

    /// Passes over a comment, if one begins here.
    fn comment(&mut self) -> Result<bool, Fault> {
        let rest = self.rest();
        let line = rest.starts_with("//");
        if !line && !rest.starts_with("/*") {
            return Ok(false);
        }
        if !self.dialect.comments {
            return Err(self.fault("this file cannot have comments"));
        }
        let len = match line {
            true => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            false => 4 + rest[2..].find("*/").ok_or_else(|| self.fault("this comment does not end"))?,
        };
        self.at += len;
        Ok(true)
    }

    fn node(&mut self, depth: usize) -> Result<Node, Fault> {
        if depth > MAX_DEPTH {
            return Err(self.fault(format!("this is nested deeper than {MAX_DEPTH} levels")));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => Kind::Object(self.object(depth)?),
            Some('[') => Kind::Array(self.array(depth)?),
            Some('"') => {
                self.string()?;
                Kind::Scalar
            }
            _ => {
                self.word()?;
                Kind::Scalar
            }
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, Fault> {
        let mut members: Vec<Member> = vec![];
        self.at += 1;
        loop {
            self.skip()?;
            if self.closes('}', members.last().is_none_or(|last| last.comma.is_none()), members.is_empty())? {
                return Ok(members);
            }
            if self.peek() != Some('"') {
                return Err(self.fault("a name in double quotes is expected here"));
            }
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(':') {
                return Err(self.fault("a `:` is expected here"));
            }
            self.at += 1;
            self.skip()?;
            let value = self.node(depth + 1)?;
            self.skip()?;
            let name = serde_json::from_str(&self.text[key.clone()]).ok();
            let comma = self.comma();
            members.push(Member { name, key, value, comma });
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, Fault> {
        let mut items = vec![];
        let mut ended = true;
        self.at += 1;
        loop {
            self.skip()?;
            if self.closes(']', ended, items.is_empty())? {
                return Ok(items);
            }
            items.push(self.node(depth + 1)?);
            self.skip()?;
            ended = self.comma().is_none();
        }
    }

    /// Whether this is the end of an object or a list; `ended` if no comma came before.
    fn closes(&mut self, close: char, ended: bool, empty: bool) -> Result<bool, Fault> {
        match self.peek() {
            Some(c) if c == close => {
                if !ended && !self.dialect.trailing_commas {
                    return Err(self.fault("this file cannot have a comma before this"));
                }
                self.at += 1;
                Ok(true)
            }
            None => Err(self.fault(format!("the file ends before its `{close}`"))),
            Some(_) if ended && !empty => Err(self.fault(format!("a `,` or `{close}` is expected here"))),
            Some(_) => Ok(false),
        }
    }

    fn comma(&mut self) -> Option<usize> {
        (self.peek() == Some(',')).then(|| {
            self.at += 1;
            self.at - 1
        })
    }

    fn string(&mut self) -> Result<Range<usize>, Fault> {
        let start = self.at;
        let mut escaped = false;
        for (i, c) in self.text[start + 1..].char_indices() {
            match c {
                '\n' | '\r' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.at = start + 1 + i + 1;
                    return self
                        .valid(start, "this text has an escape or a character that JSON does not allow");
                }
                _ => {}
            }
        }
        Err(self.fault("this text does not end on its line"))
    }

    /// `true`, `null`, a number: whatever stands between punctuation.
    fn word(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        self.at += self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        if start == self.at {
            return Err(self.fault("a value is expected here"));
        }
        self.valid(start, "this is no JSON value").map(|_| ())
    }

    fn valid(&self, start: usize, message: &str) -> Result<Range<usize>, Fault> {
        let span = start..self.at;
        match serde_json::from_str::<IgnoredAny>(&self.text[span.clone()]) {
            Ok(_) => Ok(span),
            Err(_) => Err(Fault::syntax(span, message)),
        }
    }
}
