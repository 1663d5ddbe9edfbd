//! Reads the output of a program within bounds.

use super::{Surplus, Tap};
use tokio::io::{AsyncRead, AsyncReadExt};

const PIECE_BYTES: usize = 64 * 1024;

/// Reads to the end, or up to the limit where a surplus ends the program. True if `into` is not all of the output:
/// more was written, or reading failed. An incomplete output is no reply, even where its beginning would be one.
pub(super) async fn read(
    mut from: impl AsyncRead + Unpin,
    limit_bytes: usize,
    surplus: Surplus,
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
        into.extend_from_slice(&piece[..n]);
        let surplus_bytes = into.len().saturating_sub(limit_bytes);
        match surplus {
            Surplus::Forgets => drop(into.drain(..surplus_bytes)),
            Surplus::Ends if surplus_bytes > 0 => {
                into.truncate(limit_bytes);
                return true;
            }
            Surplus::Ends => {}
        }
    }
}
