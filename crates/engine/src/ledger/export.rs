//! The ledger as files: a copy that can take its place, and lines of JSON that other programs and other ledgers read.

use super::calls::{Call, CallRow, CallState};
use super::chain::Chain;
use super::entry::Line;
use super::store::{Lines, Session, Store};
use super::{LedgerError, Result, sqlite, verify};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The version of the lines.
pub(super) const VERSION: u32 = 1;
/// How many rows are in memory at once.
const PAGE_ROWS: u32 = 256;

/// A line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Exported {
    Event(ExportedEvent),
    Call(ExportedCall),
    /// The last line.
    Totals(Totals),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportedEvent {
    pub seq: u64,
    pub stream: String,
    pub n: u64,
    pub at_ms: i64,
    pub kind: String,
    /// As it is chained, byte for byte.
    pub body: String,
    /// In hex.
    pub chain: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportedCall {
    id: String,
    /// The review it belongs to, or the stream of a door.
    review: String,
    round: u32,
    assignment: Option<u32>,
    reviewer: String,
    model: Option<String>,
    state: String,
    asked_ms: i64,
    reserved_tokens: u64,
    reserved_microusd: u64,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    cost_microusd: Option<u64>,
    reply: Option<String>,
}

/// What an export has, so that one that was cut off is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// The version of the lines.
    pub version: u32,
    pub events: u64,
    pub calls: u64,
    /// The hash of the last event, in hex; empty where there is none.
    pub head: String,
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl From<CallRow> for ExportedCall {
    fn from(row: CallRow) -> Self {
        let CallRow { call, stream, asked_ms, reserved } = row;
        let Call { id, round, assignment, reviewer, state, report } = call;
        let state = match state {
            CallState::Asked => "asked",
            CallState::Answered => "answered",
            CallState::Failed => "failed",
        };
        Self {
            id: id.to_string(),
            review: stream,
            round,
            assignment,
            reviewer,
            model: report.model,
            state: state.to_owned(),
            asked_ms,
            reserved_tokens: reserved.tokens,
            reserved_microusd: reserved.microusd,
            tokens_in: report.tokens_in,
            tokens_out: report.tokens_out,
            cost_microusd: report.cost_microusd,
            reply: report.reply,
        }
    }
}

fn put(to: &mut (dyn Write + Send), line: &Exported) -> Result<()> {
    let mut text = serde_json::to_string(line).map_err(|error| LedgerError::Other(error.to_string()))?;
    text.push('\n');
    Ok(to.write_all(text.as_bytes())?)
}

/// Writes all events and calls of one state. The chain is checked on the way: nothing that was edited is passed on.
pub(super) async fn export(session: &mut Session, to: &mut (dyn Write + Send)) -> Result<Totals> {
    let (mut chain, mut head) = (Chain::default(), String::new());
    loop {
        let page = session.lines(Lines::After(chain.last()), PAGE_ROWS).await?;
        if page.is_empty() {
            break;
        }
        for line in page {
            chain.add(&line)?;
            head = hex(&line.chain);
            let (n, Line { seq, stream, at_ms, kind, body, .. }) = (line.number()?, line);
            put(
                to,
                &Exported::Event(ExportedEvent { seq, stream, n, at_ms, kind, body, chain: head.clone() }),
            )?;
        }
    }
    let events = chain.last();
    chain.end()?;
    if session.highest().await? != events {
        return Err(LedgerError::Tampered { seq: events + 1 });
    }
    let (mut calls, mut last) = (0, String::new());
    loop {
        let page = session.calls_after(&last, PAGE_ROWS).await?;
        let Some(end) = page.last() else { break };
        last = end.call.id.to_string();
        for row in page {
            calls += 1;
            put(to, &Exported::Call(row.into()))?;
        }
    }
    let totals = Totals { version: VERSION, events, calls, head };
    put(to, &Exported::Totals(totals.clone()))?;
    to.flush()?;
    Ok(totals)
}

/// Copies one state beside the file, checks the copy, and gives it its name; never over another file.
pub(super) async fn backup(store: &Store, file: &Path) -> Result<u64> {
    let exists = || LedgerError::Exists(file.display().to_string());
    if file.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new().prefix(".countersign-backup-").tempdir_in(folder)?;
    let copy = beside.path().join(sqlite::LEDGER_FILE);
    store.copy_to(&copy).await?;
    let copied = sqlite::Sqlite::open_existing(beside.path()).await?;
    let copied = Store::Sqlite(copied.ok_or_else(|| LedgerError::Other("the copy is empty".to_owned()))?);
    let events = verify::all(copied.snapshot().await?, &mut |_, _| {}).await?;
    copied.close().await;
    // It has the words of reviewers in it.
    fs::set_permissions(&copy, Permissions::from_mode(0o600))?;
    File::open(&copy)?.sync_all()?;
    let named = tempfile::TempPath::try_from_path(&copy)?.persist_noclobber(file);
    named.map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(),
        _ => error.error.into(),
    })?;
    File::open(folder)?.sync_all()?;
    Ok(events)
}
