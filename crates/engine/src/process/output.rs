//! Reading what a program writes, within bounds.

use super::Tap;
use tokio::io::{AsyncRead, AsyncReadExt};

const PIECE_BYTES: usize = 64 * 1024;

/// Reads up to the limit. True if that is not all there was: more was written, or it could not be read to its
/// end. What is not whole is no reply, even where its beginning would be one.
pub(super) async fn read_limited(
    mut from: impl AsyncRead + Unpin,
    limit_bytes: usize,
    tap: Option<&Tap>,
    into: &mut Vec<u8>,
) -> bool {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let Ok(n) = from.read(&mut piece).await else { return true };
        if n == 0 {
            return false;
        }
        if let Some(tap) = tap {
            tap.hear(&piece[..n]);
        }
        let room = limit_bytes - into.len();
        into.extend_from_slice(&piece[..n.min(room)]);
        if n > room {
            return true;
        }
    }
}

/// Reads all and keeps the end.
pub(super) async fn read_tail(
    mut from: impl AsyncRead + Unpin,
    tail_bytes: usize,
    tap: Option<&Tap>,
    into: &mut Vec<u8>,
) {
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(n) = from.read(&mut piece).await {
        if n == 0 {
            return;
        }
        if let Some(tap) = tap {
            tap.hear(&piece[..n]);
        }
        into.extend_from_slice(&piece[..n]);
        let surplus = into.len().saturating_sub(tail_bytes);
        into.drain(..surplus);
    }
}
