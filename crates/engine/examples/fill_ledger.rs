//! Fills a ledger with settled reviews, to measure how it does when it is large.
//!
//! `cargo run --release -p countersign-engine --example fill_ledger -- DIR N`; DIR is a `.countersign` folder.

#[path = "../tests/it/ledger/fixture.rs"]
#[expect(dead_code, clippy::expect_used, reason = "it belongs to the tests, which use all of it")]
mod fixture;

use countersign_core::policy::Attempts;
use countersign_core::review::Submit;
use countersign_engine::ledger::{Filter, Ledger, LedgerError, Stored};
use std::path::Path;
use std::time::Instant;

/// How many reviews are written in one transaction.
const BATCH: u32 = 1_000;

#[tokio::main]
async fn main() -> Result<(), LedgerError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, count] = &arguments[..] else { return usage() };
    let Ok(count) = count.parse::<u32>() else { return usage() };
    let started = Instant::now();
    let ledger = Ledger::open(Path::new(dir)).await?;
    report("open", started);
    let started = Instant::now();
    for from in (0..count).step_by(BATCH as usize) {
        fill(&ledger, from..count.min(from + BATCH)).await?;
    }
    report("fill", started);
    measure(&ledger).await?;
    ledger.close().await;
    Ok(())
}

fn usage() -> Result<(), LedgerError> {
    eprintln!("usage: fill_ledger DIR N");
    std::process::exit(2)
}

async fn fill(ledger: &Ledger, range: std::ops::Range<u32>) -> Result<(), LedgerError> {
    let mut transaction = ledger.transaction().await?;
    for i in range {
        let id = fixture::review_id();
        let name = format!("{}-{i}", fixture::review_id());
        let events = fixture::judged(&id, settling(&name), i % 10 != 0);
        transaction.append(Stored::unopened(id), &events, i64::from(i)).await?;
    }
    transaction.commit().await
}

/// Work that is over after its first round, whatever the verdict.
fn settling(name: &str) -> Submit {
    let mut submit = fixture::work(name, name, 1);
    submit.opening.policy.attempts = Attempts::Once;
    submit
}

/// What a person or an agent waits for.
async fn measure(ledger: &Ledger) -> Result<(), LedgerError> {
    for _ in 0..2 {
        let started = Instant::now();
        let counts = ledger.counts().await?;
        report(&format!("counts of {} reviews", counts.iter().map(|c| c.reviews).sum::<u64>()), started);
        let started = Instant::now();
        ledger.list(Filter { open_only: true, before: None, limit: 50 }).await?;
        report("list open", started);
        let started = Instant::now();
        let page = ledger.list(Filter { open_only: false, before: None, limit: 50 }).await?;
        report("list 50", started);
        let started = Instant::now();
        for row in &page {
            ledger.review(&row.id).await?;
        }
        report("read those", started);
    }
    let started = Instant::now();
    for i in 0..100 {
        fixture::record_passed(ledger, &format!("{}-{i}", fixture::review_id())).await;
    }
    report("append 100 reviews, one by one", started);
    let started = Instant::now();
    let events = ledger.verify().await?;
    report(&format!("verify {events} events"), started);
    Ok(())
}

fn report(what: &str, started: Instant) {
    println!("{what}: {:.2} ms", started.elapsed().as_secs_f64() * 1_000.0);
}
