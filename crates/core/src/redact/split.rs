//! Tokens in pieces: over the lines of a text that was wrapped, of a folded value, or of strings that are put together.

use super::table;
use std::ops::Range;

/// How many lines one token may have.
const LINES_MAX: usize = 8;
/// A piece is no shorter.
const PIECE_BYTES: usize = 4;
/// The same where no sign says that the line before goes on.
const PLAIN_PIECE_BYTES: usize = 8;

/// What stands behind a piece in its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// The end of a string, so that only another string goes on with it.
    Quote,
    /// A backslash: the line goes on.
    Backslash,
    Nothing,
}

struct Piece {
    range: Range<usize>,
    joint: Joint,
}

/// Finds the tokens that are in several lines, each as one range, with its row.
pub(super) fn find(text: &str, mut found: impl FnMut(Range<usize>, usize)) {
    let mut from = 0;
    while let Some(end) = text[from..].find('\n').map(|at| from + at) {
        let pieces = pieces(text, from, end);
        from = end + 1;
        if pieces.len() < 2 {
            continue;
        }
        let joined: String = pieces.iter().map(|piece| &text[piece.range.clone()]).collect();
        let first = pieces[0].range.len();
        // Without a sign that it goes on, a token that is whole ends with its line.
        let mut is_whole = false;
        if pieces[0].joint == Joint::Nothing {
            table::tokens(&joined[..first], |_, _| is_whole = true);
        }
        table::tokens(&joined, |range, row| {
            if range.start < first && range.end > first && !is_whole {
                found(place(&pieces, range.start)..place(&pieces, range.end - 1) + 1, row);
            }
        });
    }
}

/// Where a byte of the joined pieces is in the text.
fn place(pieces: &[Piece], mut at: usize) -> usize {
    for Piece { range, .. } in pieces {
        if at < range.len() {
            return range.start + at;
        }
        at -= range.len();
    }
    pieces.last().map_or(0, |last| last.range.end)
}

/// The piece at the end of a line and those of the lines behind it that go on with it.
fn pieces(text: &str, start: usize, end: usize) -> Vec<Piece> {
    let Some(first) = last_piece(text, start, end) else { return vec![] };
    let (mut pieces, mut from) = (vec![first], end + 1);
    while pieces.len() < LINES_MAX {
        let end = text[from..].find('\n').map_or(text.len(), |at| from + at);
        let before = pieces.last().map_or(Joint::Nothing, |piece| piece.joint);
        let Some((next, is_whole)) = first_piece(text, from, end, before) else { break };
        pieces.push(next);
        if !is_whole || end == text.len() {
            break;
        }
        from = end + 1;
    }
    pieces
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.".contains(&byte)
}

/// The last piece of a line, where nothing but the end of a string and a sign that goes on stands behind it.
fn last_piece(text: &str, start: usize, end: usize) -> Option<Piece> {
    let line = text[start..end].trim_end_matches([' ', '\t', '\r']);
    let without_sign = line.trim_end_matches(['+', '.', ',', '&', '\\']).trim_end_matches([' ', '\t']);
    let (word, joint) = if let Some(string) = without_sign.strip_suffix(['"', '\'', '`']) {
        (string, Joint::Quote)
    } else if line.ends_with('\\') {
        (without_sign, Joint::Backslash)
    } else {
        (line, Joint::Nothing)
    };
    let length = word.bytes().rev().take_while(|byte| is_of_token(*byte)).count();
    let end = start + word.len();
    (length >= PIECE_BYTES).then_some(Piece { range: end - length..end, joint })
}

/// The first piece of a line that goes on with another one, and whether it is all of the line.
fn first_piece(text: &str, start: usize, end: usize, before: Joint) -> Option<(Piece, bool)> {
    let line = &text[start..end];
    // The sign of a line in a diff, and what stands before each line of a quotation or a comment.
    let line = line.strip_prefix(['+', '-']).unwrap_or(line);
    let line = line.trim_start_matches([' ', '\t', '>', '|', '*', '#']);
    let line = match before {
        Joint::Quote => line.strip_prefix(['"', '\'', '`'])?,
        Joint::Backslash | Joint::Nothing => line,
    };
    let begin = end - line.len();
    let length = line.bytes().take_while(|byte| is_of_token(*byte)).count();
    let piece = &line.as_bytes()[..length];
    let is_plain = length >= PLAIN_PIECE_BYTES
        && piece.iter().any(u8::is_ascii_digit)
        && piece.iter().any(u8::is_ascii_alphabetic);
    if length < PIECE_BYTES || before == Joint::Nothing && !is_plain {
        return None;
    }
    let last = last_piece(text, begin, end).filter(|last| last.range.start == begin);
    let joint = last.as_ref().map_or(Joint::Nothing, |last| last.joint);
    Some((Piece { range: begin..begin + length, joint }, last.is_some()))
}
