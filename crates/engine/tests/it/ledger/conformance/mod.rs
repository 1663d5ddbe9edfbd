//! What every store must do, run against each of them. A new store is a variant of [`StoreKind`] and a row in
//! [`on_every_store`].

use super::fixture::scratch;
use countersign_engine::ledger::Ledger;
use tempfile::TempDir;

/// What a ledger is kept in.
#[derive(Clone, Copy, Debug)]
pub enum StoreKind {
    Sqlite,
    Memory,
}

impl StoreKind {
    /// A new ledger, and the folder that goes with it.
    pub async fn scratch(self) -> (Option<TempDir>, Ledger) {
        match self {
            Self::Sqlite => {
                let (dir, ledger) = scratch().await;
                (Some(dir), ledger)
            }
            Self::Memory => (None, Ledger::in_memory()),
        }
    }
}

/// Makes each of these a test of every store.
macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test] async fn $name() { super::$name(super::StoreKind::Sqlite).await })*
        }
        mod memory {
            $(#[tokio::test] async fn $name() { super::$name(super::StoreKind::Memory).await })*
        }
    };
}

mod calls;
mod export;
mod failures;
mod faults;
mod holders;
mod notes;
mod prune;
mod reading;
mod row_is_fold;
pub mod rulings;
pub mod watching;
mod writing;
