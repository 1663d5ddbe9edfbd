//! Parses the bytes of a terminal into keys. Pure. Pasted text gives no keys: a decision must be typed.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Tab,
    BackTab,
    Esc,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Other,
}

impl Key {
    /// How many rows the key scrolls on a page of this height, negative upwards; none for other keys.
    pub fn scrolls(self, height: usize) -> Option<isize> {
        let page = isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1);
        match self {
            Self::Up | Self::Char('k') => Some(-1),
            Self::Down | Self::Char('j') => Some(1),
            Self::PageUp | Self::Char('b') => Some(-page),
            Self::PageDown | Self::Char(' ') => Some(page),
            Self::Home | Self::Char('g') => Some(isize::MIN),
            Self::End | Self::Char('G') => Some(isize::MAX),
            _ => None,
        }
    }
}

/// The longest escape sequence; a longer one is `Key::Other`.
const SEQUENCE_BYTES_MAX: usize = 32;
const ESC: u8 = 0x1b;
const PASTE_BEGINS: &[u8] = b"200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Parses keys from chunks, wherever those were cut.
#[derive(Debug, Default)]
pub struct Keys {
    pending: Vec<u8>,
    pasting: bool,
}

impl Keys {
    /// The complete keys up to the end of this chunk.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(piece);
        let mut keys = vec![];
        let mut done = 0;
        while done < self.pending.len() {
            let rest = &self.pending[done..];
            if self.pasting {
                match rest.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS) {
                    Some(end) => {
                        self.pasting = false;
                        done += end + PASTE_ENDS.len();
                        continue;
                    }
                    // Only bytes that may begin the end mark are kept.
                    None => {
                        done += rest.len().saturating_sub(PASTE_ENDS.len() - 1);
                        break;
                    }
                }
            }
            match read(rest) {
                Read::Key(key, bytes) => {
                    keys.push(key);
                    done += bytes;
                }
                Read::Paste(bytes) => {
                    self.pasting = true;
                    done += bytes;
                }
                Read::Incomplete => break,
            }
        }
        self.pending.drain(..done);
        keys
    }

    /// Whether a sequence is incomplete: the next bytes may belong to it.
    pub fn is_within(&self) -> bool {
        !self.pasting && !self.pending.is_empty()
    }

    /// No bytes followed an incomplete sequence: it was the escape key, or an unknown one.
    pub fn give_up(&mut self) -> Option<Key> {
        let pending = std::mem::take(&mut self.pending);
        match pending.as_slice() {
            [] => None,
            [ESC] => Some(Key::Esc),
            _ => Some(Key::Other),
        }
    }
}

enum Read {
    Key(Key, usize),
    Paste(usize),
    Incomplete,
}

fn read(bytes: &[u8]) -> Read {
    match bytes {
        [] | [ESC] => Read::Incomplete,
        [ESC, b'[', rest @ ..] => sequence(rest),
        [ESC, b'O'] => Read::Incomplete,
        [ESC, b'O', last, ..] => Read::Key(by_last(*last), 3),
        [ESC, ESC, ..] => Read::Key(Key::Esc, 1),
        // A key with alt.
        [ESC, _, ..] => Read::Key(Key::Other, 2),
        [b'\r' | b'\n', ..] => Read::Key(Key::Enter, 1),
        [b'\t', ..] => Read::Key(Key::Tab, 1),
        [byte, ..] if *byte < 0x20 || *byte == 0x7f => Read::Key(Key::Other, 1),
        _ => letter(bytes),
    }
}

fn sequence(rest: &[u8]) -> Read {
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return match rest.len() < SEQUENCE_BYTES_MAX {
            true => Read::Incomplete,
            false => Read::Key(Key::Other, rest.len() + 2),
        };
    };
    let bytes = end + 3;
    if &rest[..=end] == PASTE_BEGINS {
        return Read::Paste(bytes);
    }
    let number = rest[..end].split(|byte| *byte == b';').next().unwrap_or_default();
    let key = match (rest[end], number) {
        (b'~', b"1" | b"7") => Key::Home,
        (b'~', b"4" | b"8") => Key::End,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        (b'~', _) => Key::Other,
        (last, _) => by_last(last),
    };
    Read::Key(key, bytes)
}

fn by_last(last: u8) -> Key {
    match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'Z' => Key::BackTab,
        _ => Key::Other,
    }
}

fn letter(bytes: &[u8]) -> Read {
    let length = match bytes[0] {
        ..0x80 => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Read::Key(Key::Other, 1),
    };
    match std::str::from_utf8(&bytes[..length.min(bytes.len())]) {
        Ok(text) => Read::Key(text.chars().next().map_or(Key::Other, Key::Char), length),
        Err(error) if error.error_len().is_none() => Read::Incomplete,
        Err(_) => Read::Key(Key::Other, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_what_terminals_send() {
        let mut keys = Keys::default();
        let sent = "aé\r\t\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[1;5B\x1b[H\x1b[4~\x1b[Z\x1ba\x03\x1b[?1;2c";
        use Key::*;
        let expect = [
            Char('a'),
            Char('é'),
            Enter,
            Tab,
            Up,
            Down,
            Up,
            PageUp,
            PageDown,
            Down,
            Home,
            End,
            BackTab,
            Other,
            Other,
            Other,
        ];
        assert_eq!(keys.feed(sent.as_bytes()), expect);
        assert!(!keys.is_within());
        assert_eq!(keys.feed(b"\x1b"), []);
        assert!(keys.is_within());
        assert_eq!((keys.give_up(), keys.give_up()), (Some(Esc), None));
        assert_eq!(keys.feed(b"\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1"), [Other], "no end in sight");
    }

    #[test]
    fn what_is_pasted_decides_nothing() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"j\x1b[200~ay\ray"), [Key::Char('j')]);
        assert_eq!(keys.feed(b"ay\x1b[20"), []);
        assert!(!keys.is_within(), "a paste has no end of its own");
        assert_eq!(keys.feed(b"1~q"), [Key::Char('q')]);
    }

    proptest! {
        #[test]
        fn where_pieces_are_cut_does_not_matter(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(ESC), Just(b'['), Just(b'~'), Just(b'A')], 0..40),
            cut in 0..40usize,
        ) {
            let cut = cut.min(bytes.len());
            let mut whole = Keys::default();
            let together = whole.feed(&bytes);
            let mut cut_up = Keys::default();
            let mut apart = cut_up.feed(&bytes[..cut]);
            apart.extend(cut_up.feed(&bytes[cut..]));
            // A sequence without an end is given up where it is seen to be too long, which depends on the cut.
            if bytes.len() < SEQUENCE_BYTES_MAX {
                prop_assert_eq!(together, apart);
                prop_assert_eq!(whole.give_up(), cut_up.give_up());
            }
        }
    }
}
