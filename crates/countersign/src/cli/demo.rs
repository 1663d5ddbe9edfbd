//! temp
use super::Failure;
use super::arguments::DemoOptions;
use crate::output::{Answer, Printer};
use tokio_util::sync::CancellationToken;
pub async fn run(_o: DemoOptions, _p: &Printer, _c: &CancellationToken) -> Result<Answer, Failure> {
    Err(Failure::internal("x"))
}
