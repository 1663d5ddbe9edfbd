//! Server-sent events: bytes in, the data of whole events out. Pure, and bounded.

/// Splits a stream into events, however its bytes are cut.
#[derive(Debug)]
pub struct Events {
    line: Vec<u8>,
    data: String,
    has_data: bool,
    after_return: bool,
    begun: bool,
    limit_bytes: usize,
}

/// Why a stream is not read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    TooLong,
    /// A line is not valid UTF-8. With other characters in place of its bytes it could say something else.
    NotText,
}

impl Events {
    /// A splitter that holds at most this many bytes of an event.
    pub fn new(limit_bytes: usize) -> Self {
        let (line, data) = (vec![], String::new());
        Self { line, data, has_data: false, after_return: false, begun: false, limit_bytes }
    }

    /// Takes the next bytes and gives the data of every event that is complete with them.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, Unreadable> {
        let mut whole = vec![];
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    whole.extend(self.end_line()?);
                }
                byte => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
            if self.line.len() + self.data.len() > self.limit_bytes {
                return Err(Unreadable::TooLong);
            }
        }
        Ok(whole)
    }

    fn end_line(&mut self) -> Result<Option<String>, Unreadable> {
        let line = String::from_utf8(std::mem::take(&mut self.line)).map_err(|_| Unreadable::NotText)?;
        let first = !std::mem::replace(&mut self.begun, true);
        let line = line.strip_prefix('\u{feff}').filter(|_| first).unwrap_or(&line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return Ok(std::mem::take(&mut self.has_data).then_some(data));
        }
        // Names, ids and comments say nothing that the data does not say.
        let value = match line.strip_prefix("data") {
            Some("") => "",
            Some(rest) => match rest.strip_prefix(':') {
                Some(value) => value.strip_prefix(' ').unwrap_or(value),
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push('\n');
        }
        self.data.push_str(value);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(stream: &str) -> Vec<String> {
        Events::new(1000).push(stream.as_bytes()).unwrap()
    }

    #[test]
    fn events_are_what_stands_before_an_empty_line() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("data: a\n\n", &["a"]),
            ("data:a\n\ndata:  b\n\n", &["a", " b"]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("data: a\ndata: b\n\n", &["a\nb"]),
            ("data\n\n", &[""]),
            ("event: x\nid: 1\nretry: 5\n: comment\ndata: a\n\n", &["a"]),
            ("event: ping\n\n: comment\n\n\n\n", &[]),
            ("database: a\n\n data: b\n\n", &[]),
            ("data: half", &[]),
            ("data: half\n", &[]),
            ("data: ü€\n\n", &["ü€"]),
        ];
        for (stream, expected) in table {
            assert_eq!(events(stream), *expected, "{stream:?}");
        }
    }

    #[test]
    fn an_event_has_a_limit_and_a_stream_has_none() {
        let mut bounded = Events::new(10);
        assert_eq!(bounded.push(&b"data: abc\n\n".repeat(50)).unwrap().len(), 50);
        assert_eq!(bounded.push(b"data: abcde\n\n"), Err(Unreadable::TooLong));
        assert_eq!(Events::new(10).push(b"data: abcd\ndata: efgh\n\n"), Err(Unreadable::TooLong));
        assert_eq!(Events::new(10).push(b": no data at all, no end"), Err(Unreadable::TooLong));
    }

    #[test]
    fn attack_bytes_that_are_no_text_are_not_read_as_something_else() {
        let streams: [&[u8]; 4] =
            [b"data: a\xff\n\n", b": \xff\n\ndata: a\n\n", b"data: \xe2\x82\n\n", b"event: \xc0\x80\n"];
        for stream in streams {
            assert_eq!(Events::new(1000).push(stream), Err(Unreadable::NotText), "{stream:?}");
        }
    }

    proptest! {
        #[test]
        fn however_it_is_cut_it_is_the_same(
            stream in "(data|event|:|\n|\r\n|\r|ü| |a){0,40}",
            cuts in prop::collection::vec(0..120_usize, 0..6),
        ) {
            let whole = events(&stream);
            let bytes = stream.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut cut = Events::new(1000);
            let mut parts = vec![];
            let mut from = 0;
            for to in cuts.into_iter().chain([bytes.len()]) {
                parts.extend(cut.push(&bytes[from..to]).unwrap());
                from = to;
            }
            prop_assert_eq!(&parts, &whole);
            let mut single = Events::new(1000);
            let bytewise: Vec<String> =
                bytes.iter().flat_map(|byte| single.push(&[*byte]).unwrap()).collect();
            prop_assert_eq!(bytewise, whole);
        }
    }
}
