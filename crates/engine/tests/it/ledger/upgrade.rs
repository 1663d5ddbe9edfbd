//! A ledger of the format before is completed when somebody may write it, and is read as it is otherwise.

use super::damage::edit;
use super::fixture::{record_passed, scratch};
use countersign_core::cost::Spending;
use countersign_core::outcome::Outcome;
use countersign_engine::ledger::{Filter, Ledger, Scope};

/// What the format before did not have.
const OLDER: &str = "
    ALTER TABLE reviews DROP COLUMN pruned;
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

/// A ledger that an earlier command wrote, byte for byte in every column.
#[tokio::test]
async fn a_ledger_of_an_earlier_command_opens_verifies_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".countersign");
    std::fs::create_dir(&folder).unwrap();
    edit(dir.path(), include_str!("written/format_2.sql")).await;
    let ledger = Ledger::open(&folder).await.unwrap();
    assert_eq!(ledger.verify().await.unwrap(), 23);
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 9 }).await.unwrap();
    let ends: Vec<_> = rows.iter().map(|row| (row.standing, row.round, row.n)).collect();
    let passed = Some(Outcome::Passed);
    assert_eq!(ends, [(passed, 1, 8), (passed, 1, 6), (Some(Outcome::NeedsWork), 1, 9)]);
    let first = ledger.review(&rows[2].id).await.unwrap().unwrap();
    let round = first.review.round().unwrap();
    assert_eq!(ledger.calls(&rows[2].id).await.unwrap().len(), 2);
    assert_eq!(ledger.costs(0).await.unwrap()[0].questions, 3);
    let candidates = round.assignments.iter().flat_map(|assignment| assignment.candidates.clone());
    let candidates: Vec<_> = candidates.collect();
    assert_eq!(ledger.rulings(&candidates, 0).await.unwrap().len(), 2, "its rulings stand");
    let submission = &round.submission;
    let standing = ledger.standing(&first.review.rules, submission, &round.assignments).await.unwrap();
    assert!(standing.len() == 1 && standing[0].fails(), "its failure stands on its bytes: {standing:?}");
    record_passed(&ledger, "next").await;
    assert_eq!(ledger.verify().await.unwrap(), 31, "the chain goes on");
}
