//! The terminal of a person: a full screen that is given back however it ends, keys, and rows of text.

mod input;
pub mod keys;
pub mod wrap;

pub use input::Input;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::io::{self, IsTerminal, Stdout, stdin, stdout};
use std::sync::{Mutex, Once, PoisonError};

/// How the terminal was before a screen was opened, for whoever has to give it back.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Narrower terminals wrap by themselves.
const COLUMNS_MIN: usize = 40;

/// Stands for no code at all.
const NO_CODE: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

/// Whether somebody can be asked here.
pub fn is_there() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// How many columns a line of an answer may have; without a terminal as many as it needs.
pub fn columns() -> usize {
    let size = tcgetwinsize(stdout()).ok().filter(|size| size.ws_col > 0 && stdout().is_terminal());
    size.map_or(usize::MAX, |size| usize::from(size.ws_col).max(COLUMNS_MIN))
}

/// Whether this is how writing to a terminal fails that was closed.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || Errno::from_io_error(error) == Some(Errno::IO)
}

/// Whether colours are wanted.
pub fn is_coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A full screen. The terminal is as it was when this is gone.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal.
    pub fn open() -> io::Result<Self> {
        restore_on_panic();
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // Ctrl-C stays the signal it is everywhere else, so that it works whatever this program is busy with. Being
        // suspended or dumped with this screen open would leave the shell with it.
        raw.local_modes |= LocalModes::ISIG;
        for code in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
            raw.special_codes[code] = NO_CODE;
        }
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let opened = || -> io::Result<Self> {
            tcsetattr(stdin(), OptionalActions::Now, &raw)?;
            execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
            Ok(Self { terminal: Terminal::new(CrosstermBackend::new(stdout()))? })
        };
        opened().inspect_err(|_| restore())
    }

    /// Draws, at whatever size the terminal has now.
    pub fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// How many columns and rows there are.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, if it was taken. For ends at which nothing is dropped.
pub fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(before) = before else { return };
    // A terminal that is gone needs nothing back.
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
}

/// What a panic says must be readable, and the shell usable.
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
