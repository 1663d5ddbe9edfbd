//! Ten watchers and several writers: nothing is lost, nothing comes twice, and who comes back resumes by id.

use super::Watch;
use crate::project;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Project, eventually};
use std::time::Duration;

const WATCHERS: usize = 10;
const WRITERS: usize = 3;
const STEPS: usize = 12;

/// Writes events of a stream of its own, with a pause before each.
async fn write(project: &Project, writer: usize, events: usize, pause: Duration) {
    let ledger = Ledger::open(&project.ledger_dir()).await.unwrap();
    let stream = format!("test/{writer}");
    for n in 0..events as u64 {
        tokio::time::sleep(pause).await;
        let body = format!("{{\"title\":\"{n} {}\"}}", "x".repeat(n as usize % 700));
        let mut transaction = ledger.transaction().await.unwrap();
        transaction.note(&stream, n, &[("written", body)], n.cast_signed()).await.unwrap();
        transaction.commit().await.unwrap();
    }
    ledger.close().await;
}

/// A watcher of which one incarnation after the other is killed, each beginning where the one before left off.
struct Follower<'a> {
    project: &'a Project,
    seen: Vec<u64>,
    now: Watch,
}

impl<'a> Follower<'a> {
    fn new(project: &'a Project) -> Self {
        Self { project, seen: vec![], now: Watch::start(project, &["--json", "--after", "0"]) }
    }

    fn dies_and_comes_back(&mut self) {
        self.now.child.kill().unwrap();
        self.now.ends();
        self.seen.extend(self.now.ids());
        let last = self.seen.last().copied().unwrap_or_default().to_string();
        self.now = Watch::start(self.project, &["--json", "--after", &last]);
    }

    fn count(&self) -> usize {
        self.seen.len() + self.now.lines().len()
    }

    fn all(mut self) -> Vec<u64> {
        self.seen.extend(self.now.ids());
        std::mem::take(&mut self.seen)
    }
}

/// Lets `events` happen in each writer, while every second watcher dies `deaths` times.
fn watched(events: usize, pause: Duration, deaths: usize) {
    let project = project();
    let total = WRITERS * events;
    std::thread::scope(|scope| {
        let (project, runtime) = (&project, tokio::runtime::Runtime::new().unwrap());
        let writers = scope.spawn(move || {
            runtime.block_on(async {
                let writer = |n| write(project, n, events, pause);
                tokio::join!(writer(0), writer(1), writer(2));
            });
        });
        let followers: Vec<_> = (0..WATCHERS)
            .map(|n| {
                scope.spawn(move || {
                    let mut follower = Follower::new(project);
                    // In steps, so that nobody waits for long: the writers take their time.
                    for step in 1..=STEPS {
                        eventually("more is seen", || follower.count() >= total * step / STEPS);
                        if n % 2 == 1 && step % 2 == 1 && step / 2 < deaths {
                            follower.dies_and_comes_back();
                        }
                    }
                    follower
                })
            })
            .collect();
        writers.join().unwrap();
        let expected: Vec<u64> = (1..=total as u64).collect();
        for (n, follower) in followers.into_iter().enumerate() {
            assert_eq!(follower.join().unwrap().all(), expected, "watcher {n}");
        }
    });
    // What might still come would come twice.
    let late = Watch::start(&project, &["--json", "--after", &(total as u64 - 1).to_string()]);
    eventually("the last one", || late.lines().len() == 1);
    project.run(&["log", "--verify"]).exits(0);
}

#[test]
fn nobody_misses_anything_or_gets_it_twice() {
    watched(30, Duration::from_millis(5), 2);
}

/// Ten events a second for a minute.
#[test]
fn slow_ten_events_a_second_to_ten_watchers_for_a_minute() {
    watched(200, Duration::from_millis(300), 5);
}
