//! A program on a terminal of its own, driven by keys and seen as on a screen.

use crate::eventually;
use rexpect::process::{PtyProcess, Signal, WaitStatus};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A terminal with a program in it. The program is ended with this value.
pub struct Terminal {
    process: PtyProcess,
    file: File,
    seen: Arc<Mutex<Seen>>,
    modes: LocalModes,
    ended: Cell<Option<i32>>,
    reader: JoinHandle<()>,
}

struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

impl Terminal {
    /// Starts a command on a terminal of this size.
    pub fn start(command: &Command, columns: u16, rows: u16) -> Self {
        // It begins when the terminal has its size.
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", "read -r _ && exec \"$@\"", "sh"])
            .arg(command.get_program())
            .args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            shell.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let process = PtyProcess::new(shell).unwrap();
        let file = process.get_file_handle().unwrap();
        let seen = Seen { screen: vt100::Parser::new(cells(rows), cells(columns), 0), bytes: vec![] };
        let seen = Arc::new(Mutex::new(seen));
        let (reader, heard) = (process.get_file_handle().unwrap(), seen.clone());
        let reader = std::thread::spawn(move || read(reader, &heard));
        // Without an echo: the program that opens the terminal switches it off a moment later.
        eventually("the terminal is ready", || {
            tcgetattr(&file).is_ok_and(|modes| !modes.local_modes.contains(LocalModes::ECHO))
        });
        let modes = tcgetattr(&file).unwrap().local_modes;
        let mut terminal = Self { process, file, seen, reader, modes, ended: Cell::new(None) };
        terminal.resize(columns, rows);
        terminal.send("\n");
        terminal
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.file.write_all(keys.as_bytes()).unwrap();
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.seen.lock().unwrap().screen.screen_mut().set_size(cells(rows), cells(columns));
        tcsetwinsize(&self.file, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
            .unwrap();
    }

    /// What is on the screen now.
    pub fn contents(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    /// Everything that was written, as it was written.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    /// Waits until this is on the screen.
    #[track_caller]
    pub fn until(&self, words: &str) {
        self.until_seen(words, |screen| screen.contains(words));
    }

    /// Waits until the screen is so.
    #[track_caller]
    pub fn until_seen(&self, words: &str, is_so: impl Fn(&str) -> bool) {
        let last = RefCell::new(String::new());
        let mut gone = false;
        let mut look = || {
            // Looked at in this order: what it wrote last is there when it has ended.
            let ended = self.code().is_some();
            *last.borrow_mut() = self.contents();
            let so = is_so(&last.borrow());
            gone = ended && !so && !self.is_read_within_a_moment(&is_so);
            so || gone
        };
        eventually(words, &mut look);
        assert!(!gone, "the program has ended, and this was not seen: {words}\n{}", last.borrow());
    }

    /// The last words of a program that has ended may still be on their way to us.
    fn is_read_within_a_moment(&self, is_so: &impl Fn(&str) -> bool) -> bool {
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            if is_so(&self.contents()) {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    /// How the program ended, if it has.
    fn code(&self) -> Option<i32> {
        if self.ended.get().is_none() {
            self.ended.set(match self.process.status() {
                Some(WaitStatus::Exited(_, code)) => Some(code),
                Some(WaitStatus::Signaled(..)) => Some(-1),
                _ => None,
            });
        }
        self.ended.get()
    }

    /// Whether the program has the whole screen.
    pub fn is_taken(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().alternate_screen()
    }

    /// Whether everything is as it was before the program began.
    pub fn is_restored(&self) -> bool {
        let modes = tcgetattr(&self.file).unwrap().local_modes;
        let seen = self.seen.lock().unwrap();
        let screen = seen.screen.screen();
        modes == self.modes
            && !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
    }

    /// Sends SIGTERM to the program.
    pub fn terminate(&mut self) {
        self.process.signal(Signal::SIGTERM).unwrap();
    }

    /// Kills the program at once. If others run on this terminal, it is closed for them.
    pub fn kill(&mut self) {
        self.process.signal(Signal::SIGKILL).unwrap();
    }

    /// Waits for the end of the program: its exit code, or -1 for a signal. What it wrote is read then.
    pub fn ends(&mut self) -> i32 {
        eventually("the program ends", || self.code().is_some());
        // Others may hold the terminal open: then nothing tells that all is read.
        let until = Instant::now() + Duration::from_secs(2);
        while !self.reader.is_finished() && Instant::now() < until {
            std::thread::yield_now();
        }
        self.code().unwrap()
    }
}

fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

fn read(mut from: File, seen: &Mutex<Seen>) {
    let mut piece = [0; 4096];
    while let Ok(bytes @ 1..) = from.read(&mut piece) {
        let mut seen = seen.lock().unwrap();
        seen.screen.process(&piece[..bytes]);
        seen.bytes.extend_from_slice(&piece[..bytes]);
    }
}
