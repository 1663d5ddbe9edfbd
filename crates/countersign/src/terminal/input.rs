//! Typed input, as lines or keys. A thread reads it, and only while it is needed: the terminal is never made
//! non-blocking, since other programs share it, and an editor that is started must have it to itself.

use super::keys::{Key, Keys};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long after an escape the rest of a sequence may take.
const ESCAPE_MILLISECONDS: u64 = 50;
/// The longest line that is accepted; a longer one is dropped.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// How much is read at once, and how many such chunks are buffered.
const PIECE_BYTES: usize = 4096;
const PIECES_MAX: usize = 16;

pub struct Input {
    reader: Option<Reader>,
    keys: Keys,
    known: VecDeque<Key>,
    typed: Vec<u8>,
}

impl Input {
    pub fn new() -> io::Result<Self> {
        let reader = Some(Reader::start()?);
        Ok(Self { reader, keys: Keys::default(), known: VecDeque::new(), typed: vec![] })
    }

    /// The next line, without its end; none at the end of the input. A dropped future loses no input.
    pub async fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.typed.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.typed.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            if self.typed.len() > LINE_BYTES_MAX {
                self.typed.clear();
            }
            let piece = self.piece().await?;
            if piece.is_empty() {
                return Ok(None);
            }
            self.typed.extend(piece);
        }
    }

    /// The next key; none once the terminal is closed. A dropped future loses no input.
    pub async fn key(&mut self) -> io::Result<Option<Key>> {
        loop {
            if let Some(key) = self.known.pop_front() {
                return Ok(Some(key));
            }
            let more = match self.keys.is_within() {
                false => Some(self.piece().await?),
                true => {
                    let wait = Duration::from_millis(ESCAPE_MILLISECONDS);
                    tokio::time::timeout(wait, self.piece()).await.ok().transpose()?
                }
            };
            match more {
                Some(piece) if piece.is_empty() => return Ok(None),
                Some(piece) => self.known.extend(self.keys.feed(&piece)),
                None => self.known.extend(self.keys.give_up()),
            }
        }
    }

    /// Drops input that was typed and not read yet: it was meant for something else.
    pub fn forget(&mut self) {
        self.typed.clear();
        self.known.clear();
        self.keys = Keys::default();
    }

    /// Stops reading, so that another program can, until the next call. Input read before is kept.
    pub fn pause(&mut self) {
        if let Some(mut reader) = self.reader.take() {
            reader.stop();
            while let Ok(Ok(piece)) = reader.pieces.try_recv() {
                self.typed.extend(piece);
            }
        }
    }

    /// The next bytes; none once the terminal is closed.
    async fn piece(&mut self) -> io::Result<Vec<u8>> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(Reader::start()?),
        };
        reader.pieces.recv().await.unwrap_or(Ok(vec![]))
    }
}

struct Reader {
    pieces: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// The thread ends when this is closed.
    wake: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn start() -> io::Result<Self> {
        let (woken, wake) = rustix::pipe::pipe()?;
        let (send, pieces) = mpsc::channel(PIECES_MAX);
        let read = move || {
            loop {
                let piece = read(&woken).transpose();
                let Some(piece) = piece else { return };
                let last = piece.as_ref().map_or(true, Vec::is_empty);
                if send.blocking_send(piece).is_err() || last {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("typed".to_owned()).spawn(read)?;
        Ok(Self { pieces, wake: Some(wake), thread: Some(thread) })
    }

    fn stop(&mut self) {
        // Frees a thread that waits for room in the channel, before it is joined.
        self.pieces.close();
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits for bytes; none once `woken` is closed, empty where the terminal is closed.
fn read(woken: &OwnedFd) -> io::Result<Option<Vec<u8>>> {
    let stdin = io::stdin();
    loop {
        let mut polled = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut polled, None) {
            Ok(_) if !polled[1].revents().is_empty() => return Ok(None),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut piece = vec![0; PIECE_BYTES];
        match rustix::io::read(&stdin, &mut piece[..]) {
            Ok(bytes) => {
                piece.truncate(bytes);
                return Ok(Some(piece));
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            // A terminal that was closed.
            Err(Errno::IO) => return Ok(Some(vec![])),
            Err(error) => return Err(error.into()),
        }
    }
}
