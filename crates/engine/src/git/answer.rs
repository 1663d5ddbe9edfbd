//! Commands whose exit code 1 is an answer with words of its own.

use super::{Git, GitError, Result};
use std::ffi::OsStr;

const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;

impl Git {
    /// Runs a command that ends with 0 or 1, and gives back which, with what it says.
    pub async fn exit_and_text<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Result<(i32, String)> {
        let mut said = vec![];
        let ended = self
            .stream(args, ANSWER_BYTES_MAX, |piece| {
                said.extend_from_slice(piece);
                Ok(())
            })
            .await;
        let code = match ended {
            Ok(_) => 0,
            Err(GitError::Failed { code: Some(1), .. }) => 1,
            Err(error) => return Err(error),
        };
        Ok((code, String::from_utf8_lossy(&said).into_owned()))
    }
}
