//! A ledger of the format before is completed when somebody may write it, and is read as it is otherwise.

use super::damage::edit;
use super::fixture::{record_passed, scratch};
use countersign_core::cost::Spending;
use countersign_engine::ledger::{Ledger, Scope};

/// What the format before did not have.
const OLDER: &str = "
    DROP INDEX calls_by_time;
    ALTER TABLE calls DROP COLUMN asked_ms;
    ALTER TABLE calls DROP COLUMN reserved_microusd;
    PRAGMA user_version = 1;
";

#[tokio::test]
async fn an_older_ledger_is_completed_and_nothing_in_it_changes() {
    let (dir, ledger) = scratch().await;
    let stored = record_passed(&ledger, "a").await;
    let (calls, costs) = (ledger.calls(&stored.review.id).await.unwrap(), ledger.costs(0).await.unwrap());
    assert_eq!(costs.len(), 1);
    ledger.close().await;
    edit(dir.path(), OLDER).await;
    let folder = dir.path().join(".countersign");
    for _ in 0..2 {
        let ledger = Ledger::open_existing(&folder).await.unwrap().unwrap();
        assert_eq!(ledger.review(&stored.review.id).await.unwrap().as_ref(), Some(&stored));
        assert_eq!(ledger.calls(&stored.review.id).await.unwrap(), calls);
        assert_eq!(ledger.costs(0).await.unwrap(), costs, "when they were asked is known from the events");
        ledger.verify().await.unwrap();
        ledger.close().await;
    }
    let ledger = Ledger::open(&folder).await.unwrap();
    let mut transaction = ledger.transaction().await.unwrap();
    assert_eq!(transaction.spent(Scope::Since(0)).await.unwrap(), Spending::default());
}
