//! Server-sent events: every event of every process, once, in order, whoever reconnects.

use super::{Server, handed_in, judged};
use countersign_engine::ledger::Ledger;
use countersign_testkit::{Project, eventually};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A stream that is being read.
struct Reader {
    lines: BufReader<TcpStream>,
}

/// An event as it came.
#[derive(Debug)]
struct Seen {
    id: u64,
    event: String,
    data: Value,
}

impl Reader {
    /// Connects, and waits until the stream has begun.
    fn connect(server: &Server, query: &str, last: Option<u64>) -> Self {
        let mut stream = server.connect();
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        // Without chunks, which the older version of the protocol does not have.
        let head = format!(
            "GET /v1/events{query} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: {}\r\n{last}\r\n",
            server.port,
            server.bearer()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = Self { lines: BufReader::new(stream) };
        assert!(reader.line().unwrap().contains(" 200 "));
        while reader.line().unwrap() != "retry: 1000" {}
        reader
    }

    /// The next line; none where the stream has ended.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    fn next(&mut self) -> Option<Seen> {
        let (mut id, mut event, mut data) = (0, String::new(), Value::Null);
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("id", text)) => id = text.parse().unwrap(),
                Some(("event", text)) => text.clone_into(&mut event),
                Some(("data", text)) => data = serde_json::from_str(text).unwrap(),
                _ if id > 0 => return Some(Seen { id, event, data }),
                _ => {}
            }
        }
    }
}

/// Writes events as another process would, so many at once.
fn write(project: &Project, many: u64, at_once: u64, bytes: usize, between: Duration) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let ledger = Ledger::open(&project.ledger_dir()).await.unwrap();
        let body = json!({ "text": "x".repeat(bytes) }).to_string();
        let events: Vec<_> = (0..at_once).map(|_| ("tick", body.clone())).collect();
        for _ in 0..many / at_once {
            let mut transaction = ledger.transaction().await.unwrap();
            let seen = transaction.last_note("test").await.unwrap().map_or(0, |note| note.n);
            transaction.note("test", seen, &events, 1).await.unwrap();
            transaction.commit().await.unwrap();
            tokio::time::sleep(between).await;
        }
        ledger.close().await;
    });
}

#[test]
fn an_event_is_what_watch_prints() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let mut live = Reader::connect(&server, "", None);
    let review = handed_in(&server, "s")["review"]["id"].clone();
    let first = live.next().unwrap();
    assert_eq!((first.id, first.event.as_str()), (1, "review_opened"));
    assert_eq!(
        (&first.data["id"], &first.data["kind"], &first.data["review"], &first.data["subject"]),
        (&json!(1), &json!("review_opened"), &review, &json!("http/s"))
    );
    let mut again = Reader::connect(&server, "?after=0", None);
    assert_eq!(again.next().unwrap().data, first.data);
    // Of two places the header's is the newer one.
    assert_eq!(Reader::connect(&server, "?after=0", Some(2)).next().unwrap().id, 3);
}

#[test]
fn nothing_is_lost_or_doubled_over_a_restart() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let mut reader = Reader::connect(&server, "", None);
    write(&project, 5, 1, 1, Duration::ZERO);
    let mut seen: Vec<u64> = (0..3).map(|_| reader.next().unwrap().id).collect();
    server.served.kill();
    write(&project, 4, 1, 1, Duration::ZERO);
    let server = Server::start(&project);
    let mut reader = Reader::connect(&server, "", seen.last().copied());
    write(&project, 3, 1, 1, Duration::ZERO);
    seen.extend((0..9).map(|_| reader.next().unwrap().id));
    assert_eq!(seen, (1..=12).collect::<Vec<_>>());
}

#[test]
fn ten_readers_get_everything_once() {
    ten_readers(100, Duration::ZERO);
}

/// Ten events a second to ten readers for a minute.
#[test]
fn slow_ten_readers_for_a_minute() {
    ten_readers(600, Duration::from_millis(100));
}

/// Ten readers, each of which loses its connection at another place and resumes.
fn ten_readers(many: u64, between: Duration) {
    let (project, _) = judged();
    let server = Server::start(&project);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..10)
            .map(|n| {
                let mut reader = Reader::connect(&server, "?after=0", None);
                let server = &server;
                scope.spawn(move || {
                    let mut seen = vec![];
                    while seen.last() != Some(&many) {
                        seen.push(reader.next().unwrap().id);
                        if (seen.len() as u64).is_multiple_of(7 + n) {
                            reader = Reader::connect(server, "", seen.last().copied());
                        }
                    }
                    seen
                })
            })
            .collect();
        write(&project, many, 1, 100, between);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), (1..=many).collect::<Vec<_>>());
        }
    });
}

/// Whoever does not read what it asked for costs a bounded amount of memory, and gets it all when it reads.
#[test]
fn a_reader_that_does_not_read_fills_no_memory() {
    const MANY: u64 = 5000;
    let (project, _) = judged();
    let server = Server::start(&project);
    let mut reader = Reader::connect(&server, "?after=0", None);
    let mut quick = Reader::connect(&server, "?after=0", None);
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = resident();
    std::thread::scope(|scope| {
        scope.spawn(|| write(&project, MANY, 100, 10_000, Duration::ZERO));
        while quick.next().unwrap().id < MANY {}
    });
    // Fifty megabytes went by.
    let grown = resident().saturating_sub(before);
    assert!(grown < 30_000, "{grown} kB");
    let ids: Vec<u64> = (0..MANY).map(|_| reader.next().unwrap().id).collect();
    assert_eq!(ids, (1..=MANY).collect::<Vec<_>>());
}

#[test]
fn readers_that_hang_up_are_let_go() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let open = || std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    drop(Reader::connect(&server, "", None));
    let before = open();
    let readers: Vec<Reader> = (0..50).map(|_| Reader::connect(&server, "", None)).collect();
    assert!(open() >= before + 40);
    drop(readers);
    eventually("their connections are gone", || open() < before + 10);
}

/// Streams have slots of their own: however many there are, others are answered.
#[test]
fn issue_19_any_number_of_streams_leaves_room_for_other_clients() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let head = format!(
        "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: {}\r\n\r\n",
        server.port,
        server.bearer()
    );
    let open = || {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        BufReader::new(stream)
    };
    let mut streams: Vec<_> = (0..450).map(|_| open()).collect();
    let status = |stream: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let served: Vec<u16> = streams.iter_mut().map(status).collect();
    let count = |wanted: u16| served.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(503)), (256, 450 - 256), "{served:?}");
    assert_eq!(server.get("/v1/status").status, 200);
    // A slot is free again when its client is gone.
    drop(streams);
    eventually("a slot is free", || status(&mut open()) == 200);
}
