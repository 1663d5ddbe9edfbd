//! The places of all values in a JSON text, by jsonc-parser.

use super::edit::Fault;
use countersign_engine::programs::Dialect;
use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind as Why};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::ops::Range;

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

#[derive(Debug)]
pub struct Member {
    /// Without escapes.
    pub name: String,
    pub key: Range<usize>,
    pub value: Node,
    /// The place of the comma after it.
    pub comma: Option<usize>,
}

impl Node {
    /// The value, for comparing; null where serde_json cannot represent it.
    pub fn value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Scalar => serde_json::from_str(&text[self.span.clone()]).unwrap_or(Value::Null),
            Kind::Array(items) => items.iter().map(|item| item.value(text)).collect(),
            Kind::Object(members) => {
                let pair = |member: &Member| (member.name.clone(), member.value.value(text));
                Value::Object(members.iter().map(pair).collect::<Map<_, _>>())
            }
        }
    }
}

pub fn scan(text: &str, dialect: Dialect) -> Result<Node, Fault> {
    let options = ParseOptions {
        allow_comments: dialect.comments,
        allow_trailing_commas: dialect.trailing_commas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = parse_to_ast(text, &collect, &options).map_err(|error| fault(text, &error))?;
    let tokens = parsed.tokens.unwrap_or_default();
    match &parsed.value {
        Some(value) => Placed { text, tokens: &tokens }.node(value),
        None => Err(Fault::syntax(text.len()..text.len(), "a value is expected here")),
    }
}

fn fault(text: &str, error: &ParseError) -> Fault {
    let range = error.range();
    let behind = |at: usize| text.len() - text[at..].trim_start().len();
    let (at, message) = match error.kind() {
        Why::CommentsNotAllowed => (range.start, "this file cannot have comments"),
        Why::UnterminatedCommentBlock => (range.start, "this comment does not end"),
        Why::TrailingCommasNotAllowed => (behind(range.end), "this file cannot have a comma before this"),
        Why::ExpectedComma => (behind(range.start), "a `,` is expected here"),
        Why::ExpectedColonAfterObjectKey => (range.start, "a `:` is expected here"),
        Why::ExpectedStringObjectProperty | Why::UnexpectedTokenInObject => {
            (range.start, "a name in double quotes is expected here")
        }
        Why::UnterminatedObject => (text.len(), "the file ends before its `}`"),
        Why::UnterminatedArray => (text.len(), "the file ends before its `]`"),
        Why::MultipleRootJsonValues => (range.start, "nothing more is expected here"),
        Why::NestingDepthExceeded => (range.start, "this is nested too deeply"),
        Why::String(_) => (range.start, NO_TEXT),
        Why::UnexpectedToken | Why::UnexpectedWord => (range.start, NO_VALUE),
        _ => (range.start, "a value is expected here"),
    };
    let len = text[at..].chars().next().map_or(0, char::len_utf8);
    Fault::syntax(at..at + len, message)
}

const NO_TEXT: &str = "this text has an escape or a character that JSON does not allow";
const NO_VALUE: &str = "this is not a JSON value";

struct Placed<'t> {
    text: &'t str,
    tokens: &'t [TokenAndRange<'t>],
}

impl Placed<'_> {
    fn node(&self, value: &Ast<'_>) -> Result<Node, Fault> {
        let span = value.start()..value.end();
        let kind = match value {
            Ast::Object(object) => {
                let member = |prop: &ObjectProp<'_>| self.member(prop);
                Kind::Object(object.properties.iter().map(member).collect::<Result<_, _>>()?)
            }
            Ast::Array(array) => {
                Kind::Array(array.elements.iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            Ast::StringLit(_) => self.valid(&span, NO_TEXT)?,
            _ => self.valid(&span, NO_VALUE)?,
        };
        Ok(Node { span, kind })
    }

    fn member(&self, prop: &ObjectProp<'_>) -> Result<Member, Fault> {
        let key = prop.name.start()..prop.name.end();
        self.valid(&key, NO_TEXT)?;
        let value = self.node(&prop.value)?;
        let next = self.tokens.partition_point(|token| token.range.start < value.span.end);
        let next = self.tokens.get(next).filter(|next| next.token == Token::Comma);
        Ok(Member {
            name: prop.name.as_str().to_owned(),
            key,
            value,
            comma: next.map(|next| next.range.start),
        })
    }

    /// The parser accepts characters in texts that JSON forbids.
    fn valid(&self, span: &Range<usize>, message: &str) -> Result<Kind, Fault> {
        match serde_json::from_str::<IgnoredAny>(&self.text[span.clone()]) {
            Ok(_) => Ok(Kind::Scalar),
            Err(_) => Err(Fault::syntax(span.clone(), message)),
        }
    }
}

/// The end of the comments that follow on the same line; `from` if there are none.
pub fn end_of_line_comments(text: &str, from: usize) -> usize {
    let (mut at, mut end) = (from, from);
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        let rest = &text[at..];
        let len = match rest {
            _ if rest.starts_with("//") => rest.find(['\n', '\r']).or(Some(rest.len())),
            _ if rest.starts_with("/*") => rest[2..].find("*/").map(|close| close + 4),
            _ => None,
        };
        let Some(len) = len else { return end };
        at += len;
        end = at;
    }
}
