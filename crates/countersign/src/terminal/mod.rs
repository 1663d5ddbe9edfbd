//! The terminal: a full screen that is always restored, typed input, and wrapping of text.

mod input;
pub mod keys;
pub mod wrap;

pub use input::Input;

use countersign_core::criterion::Severity;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::style::Color;
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::io::{self, IsTerminal, Stdout, stdin, stdout};
use std::mem::ManuallyDrop;
use std::sync::{Mutex, Once, PoisonError};

/// The modes of the terminal before a screen was opened.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Text is not wrapped below this width; the terminal does it.
const COLUMNS_MIN: usize = 40;

/// The value that disables a special code.
const NO_CODE: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

pub fn is_there() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// How many columns a line of an answer may have; without a terminal as many as it needs.
pub fn columns() -> usize {
    let size = tcgetwinsize(stdout()).ok().filter(|size| size.ws_col > 0 && stdout().is_terminal());
    size.map_or(usize::MAX, |size| usize::from(size.ws_col).max(COLUMNS_MIN))
}

/// Whether the terminal was closed. Errors of other crates do not tell: then the terminal itself is asked.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
        || Errno::from_io_error(error) == Some(Errno::IO)
        || tcgetattr(stdin()).is_err()
}

pub fn is_coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

pub fn severity_color(severity: Severity) -> Color {
    match severity {
        Severity::Must => Color::Red,
        Severity::Should => Color::Yellow,
        Severity::May => Color::Cyan,
    }
}

/// A full screen. Dropping it restores the terminal.
pub struct Screen {
    /// Never dropped: where the terminal was closed, its own drop panics, because it cannot say so.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

impl Screen {
    pub fn open() -> io::Result<Self> {
        restore_on_panic();
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // Ctrl-C stays a signal, so that it works while this program is busy. Suspending or dumping with this screen
        // open would leave the shell in these modes.
        raw.local_modes |= LocalModes::ISIG;
        for code in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
            raw.special_codes[code] = NO_CODE;
        }
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let opened = || -> io::Result<Self> {
            tcsetattr(stdin(), OptionalActions::Now, &raw)?;
            execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
            Ok(Self { terminal: ManuallyDrop::new(Terminal::new(CrosstermBackend::new(stdout()))?) })
        };
        opened().inspect_err(|_| restore())
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal if a screen is open. For exits at which nothing is dropped.
pub fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(before) = before else { return };
    // This fails only where the terminal was closed.
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
}

/// The message of a panic must be readable, and the shell usable.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let say = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            say(panic);
        }));
    });
}
