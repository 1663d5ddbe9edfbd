//! Calls: what they cost, what is put aside for them, and sums of both.

use super::super::fixture::{append, asking, call_id, decide, question, record_open};
use super::StoreKind;
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId};
use countersign_engine::ledger::{CallState, Cost, Ledger, Report, Scope};

const DAY_MS: i64 = 86_400_000;

/// Asks a question of the round of a new review.
async fn asked(ledger: &Ledger, subject: &str, at_ms: i64) -> (ReviewId, CallId) {
    let open = record_open(ledger, subject).await;
    let (key, reviewer) = question(&open.review).unwrap();
    let call = call_id();
    let events = decide(&open.review, asking(&call, &key, reviewer));
    (append(ledger, open, &events, at_ms).await.unwrap().review.id, call)
}

fn report(tokens_in: Option<u64>, tokens_out: Option<u64>, cost_microusd: Option<u64>) -> Report {
    Report { model: Some("m".to_owned()), tokens_in, tokens_out, cost_microusd, reply: None }
}

async fn told(ledger: &Ledger, call: &CallId, reserved: Spending, report: Report) {
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.reserve(call, reserved).await.unwrap();
    transaction.record_call(call, &report).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn spent(ledger: &Ledger, scope: Scope<'_>) -> (u64, u64) {
    let spending = ledger.transaction().await.unwrap().spent(scope).await.unwrap();
    (spending.tokens, spending.microusd)
}

async fn what_is_not_known_counts_as_what_was_reserved(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let reserved = Spending { tokens: 1_000, microusd: 500 };
    let (review, call) = asked(&ledger, "a", 10).await;
    assert_eq!(spent(&ledger, Scope::Review(&review, 1)).await, (0, 0));
    for (report, expected) in [
        (report(None, None, None), (1_000, 500)),
        (report(Some(3), None, None), (1_000, 500)),
        (report(Some(3), Some(4), None), (7, 500)),
        (report(None, None, Some(9)), (1_000, 9)),
        (report(Some(3), Some(4), Some(9)), (7, 9)),
    ] {
        told(&ledger, &call, reserved, report.clone()).await;
        assert_eq!(spent(&ledger, Scope::Review(&review, 1)).await, expected, "{report:?}");
    }
    // Only from that round on, and only of that review.
    assert_eq!(spent(&ledger, Scope::Review(&review, 2)).await, (0, 0));
    let (_, later) = asked(&ledger, "b", 20).await;
    told(&ledger, &later, reserved, report(Some(1), Some(1), Some(1))).await;
    assert_eq!(spent(&ledger, Scope::Review(&review, 1)).await, (7, 9));
    assert_eq!(spent(&ledger, Scope::Since(10)).await, (9, 10));
    assert_eq!(spent(&ledger, Scope::Since(11)).await, (2, 1));
    assert_eq!(spent(&ledger, Scope::Since(21)).await, (0, 0));
}

async fn a_count_beyond_all_bounds_takes_nothing_back(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let (review, call) = asked(&ledger, "a", 10).await;
    let most = Spending { tokens: u64::MAX, microusd: u64::MAX };
    told(&ledger, &call, most, report(None, None, None)).await;
    let (tokens, microusd) = spent(&ledger, Scope::Review(&review, 1)).await;
    assert!(tokens >= i64::MAX.cast_unsigned() && microusd >= i64::MAX.cast_unsigned());
    told(&ledger, &call, most, report(Some(u64::MAX), Some(0), Some(u64::MAX))).await;
    let kept = ledger.calls(&review).await.unwrap().remove(0).report;
    assert_eq!(
        (kept.tokens_in, kept.cost_microusd),
        (Some(i64::MAX.cast_unsigned()), Some(i64::MAX.cast_unsigned()))
    );
}

async fn costs_are_summed_by_day_reviewer_and_model(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    for (subject, day, report) in [
        ("a", 1, report(Some(5), Some(7), Some(9))),
        ("b", 1, report(None, Some(7), None)),
        ("c", 2, report(Some(1), Some(1), Some(1))),
        ("d", 2, Report { model: None, ..report(Some(2), Some(2), Some(2)) }),
    ] {
        let (_, call) = asked(&ledger, subject, day * DAY_MS + 5).await;
        told(&ledger, &call, Spending::default(), report).await;
    }
    let cost = |day: &str, model: Option<&str>, sums: [u64; 6]| {
        let [questions, tokens_in, tokens_out, tokens_unknown, microusd, cost_unknown] = sums;
        let (day, reviewer, model) = (day.to_owned(), "main".to_owned(), model.map(str::to_owned));
        Cost {
            day,
            reviewer,
            model,
            questions,
            tokens_in,
            tokens_out,
            tokens_unknown,
            microusd,
            cost_unknown,
        }
    };
    let (of_second_unknown, of_second, of_first) = (
        cost("1970-01-03", None, [1, 2, 2, 0, 2, 0]),
        cost("1970-01-03", Some("m"), [1, 1, 1, 0, 1, 0]),
        cost("1970-01-02", Some("m"), [2, 5, 14, 1, 9, 1]),
    );
    let all = [of_second_unknown.clone(), of_second.clone(), of_first];
    assert_eq!(ledger.costs(0).await.unwrap(), all);
    assert_eq!(ledger.costs(2 * DAY_MS).await.unwrap(), [of_second_unknown, of_second]);
}

async fn a_call_of_a_door_belongs_to_its_stream(store: StoreKind) {
    let (_dir, ledger) = store.scratch().await;
    let (first, second) = (call_id(), call_id());
    let mut transaction = ledger.transaction().await.unwrap();
    transaction.begin_call("session/one", &first, "main", 7).await.unwrap();
    transaction.begin_call("session/one", &second, "main", 8).await.unwrap();
    transaction.reserve(&first, Spending { tokens: 4, microusd: 2 }).await.unwrap();
    transaction.end_call(&second, false).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(ledger.is_under_way(&first).await.unwrap());
    assert!(!ledger.is_under_way(&second).await.unwrap());
    assert_eq!(spent(&ledger, Scope::Since(7)).await, (4, 2));
    let stream = ReviewId::from_text("session/one");
    let states: Vec<_> = ledger.calls(&stream).await.unwrap().into_iter().map(|call| call.state).collect();
    assert_eq!(states, [CallState::Asked, CallState::Failed]);
}

on_every_store!(
    what_is_not_known_counts_as_what_was_reserved,
    a_count_beyond_all_bounds_takes_nothing_back,
    costs_are_summed_by_day_reviewer_and_model,
    a_call_of_a_door_belongs_to_its_stream
);
