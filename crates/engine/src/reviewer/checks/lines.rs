//! Line numbers for byte offsets.

/// Counts lines while it walks through a text. Ascending offsets cost one walk in all; an earlier one starts again.
pub(super) struct Lines<'t> {
    bytes: &'t [u8],
    offset: usize,
    line: usize,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), offset: 0, line: 1 }
    }

    /// The number, from 1, of the line that holds the byte.
    pub(super) fn line_of(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.bytes.len());
        if offset < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        let passed = self.bytes.get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_have_lines() {
        let mut lines = Lines::new("a\nb\r\n\nd");
        for (offset, line) in [(0, 1), (1, 1), (2, 2), (5, 3), (6, 4), (99, 4), (2, 2)] {
            assert_eq!(lines.line_of(offset), line, "{offset}");
        }
    }
}
