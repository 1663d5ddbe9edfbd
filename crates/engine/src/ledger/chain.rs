//! The chain: every event carries a hash over itself and the one before it, so that an edit by hand is seen
//! by every reader of the event. It is no proof against a forger who computes the hashes anew.

pub(super) type Link = [u8; 32];

pub(super) const START: Link = [0; 32];

/// The hash of an event, by its columns.
pub(super) fn link(previous: &[u8], stream: &str, n: i64, at_ms: i64, kind: &str, body: &str) -> Link {
    let mut hash = blake3::Hasher::new();
    // Every part carries its length, so that no two events look alike when run together.
    for part in [b"event/1", previous, stream.as_bytes(), &n.to_le_bytes(), &at_ms.to_le_bytes()] {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    for part in [kind, body] {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_counts() {
        let all = [
            link(&START, "rv-a", 1, 5, "asked", "{}"),
            link(&[1; 32], "rv-a", 1, 5, "asked", "{}"),
            link(&START, "rv-b", 1, 5, "asked", "{}"),
            link(&START, "rv-a", 2, 5, "asked", "{}"),
            link(&START, "rv-a", 1, 6, "asked", "{}"),
            link(&START, "rv-a", 1, 5, "aske", "d{}"),
            link(&START, "rv-a", 1, 5, "asked", "{ }"),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
