//! A pager for texts longer than the screen.

use crate::terminal::keys::Key;
use crate::terminal::{Input, Screen, wrap};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use std::io;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Read,
    Closed,
    Interrupted,
}

pub async fn page(
    text: Vec<(String, Style)>,
    input: &mut Input,
    cancel: &CancellationToken,
) -> io::Result<Left> {
    input.forget();
    let mut resized = signal(SignalKind::window_change())?;
    let mut screen = Screen::open()?;
    let mut pager = Pager::new(text);
    loop {
        let (columns, rows) = screen.size()?;
        pager.resize(columns, rows);
        screen.draw(|frame| pager.draw(frame))?;
        let key = tokio::select! {
            () = cancel.cancelled() => return Ok(Left::Interrupted),
            _ = resized.recv() => continue,
            key = input.key() => key?,
        };
        match key {
            None => return Ok(Left::Closed),
            Some(key) if pager.key(key) => return Ok(Left::Read),
            Some(_) => {}
        }
    }
}

pub fn diff(text: &str, coloured: bool) -> Vec<(String, Style)> {
    let style = |line: &str| match line {
        line if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => {
            Style::new().add_modifier(Modifier::BOLD)
        }
        _ if !coloured => Style::new(),
        line if line.starts_with('+') => Style::new().fg(Color::Green),
        line if line.starts_with('-') => Style::new().fg(Color::Red),
        line if line.starts_with("@@") => Style::new().fg(Color::Cyan),
        _ => Style::new(),
    };
    text.lines().map(|line| (line.to_owned(), style(line))).collect()
}

/// A text and the position in it. Pure.
struct Pager {
    text: Vec<(String, Style)>,
    rows: Vec<Line<'static>>,
    columns: u16,
    height: usize,
    top: usize,
}

impl Pager {
    fn new(text: Vec<(String, Style)>) -> Self {
        Self { text, rows: vec![], columns: 0, height: 0, top: 0 }
    }

    /// Wraps the text for a size of the screen, whose last row shows the position. Stays at about the same place.
    fn resize(&mut self, columns: u16, rows: u16) {
        self.height = usize::from(rows.saturating_sub(1)).max(1);
        if self.columns != columns {
            let (top, before) = (self.top, self.rows.len());
            let row = |(line, style): &(String, Style)| {
                let rows = match line.is_empty() {
                    true => vec![String::new()],
                    false => wrap::rows(line, usize::from(columns)),
                };
                rows.into_iter().map(|row| Line::styled(row, *style)).collect::<Vec<_>>()
            };
            self.rows = self.text.iter().flat_map(row).collect();
            self.top = (top * self.rows.len()).checked_div(before).unwrap_or(0);
            self.columns = columns;
        }
        self.top = self.top.min(self.last_top());
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.height)
    }

    /// Handles a key. True where it leaves the pager.
    fn key(&mut self, key: Key) -> bool {
        let by = match key {
            Key::Char('q') | Key::Esc => return true,
            Key::Enter => 1,
            key => key.scrolls(self.height).unwrap_or(0),
        };
        self.top = self.top.saturating_add_signed(by).min(self.last_top());
        false
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let [text, foot] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
        let shown = self.rows.iter().skip(self.top).take(usize::from(text.height)).cloned();
        frame.render_widget(Text::from_iter(shown), text);
        let end = (self.top + self.height).min(self.rows.len());
        let place = format!(
            " {}-{end} of {} · ↑ ↓ PgUp PgDn space · q: back",
            (self.top + 1).min(end),
            self.rows.len()
        );
        frame.render_widget(Line::styled(place, Style::new().add_modifier(Modifier::REVERSED)), foot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pager(lines: usize, columns: u16, rows: u16) -> Pager {
        let text = (1..=lines).map(|n| (format!("line {n} of many"), Style::new())).collect();
        let mut pager = Pager::new(text);
        pager.resize(columns, rows);
        pager
    }

    #[test]
    fn keys_move_and_ends_hold() {
        let mut pager = pager(100, 80, 24);
        for (key, top) in [
            (Key::Up, 0),
            (Key::Down, 1),
            (Key::PageDown, 23),
            (Key::Char(' '), 45),
            (Key::PageUp, 23),
            (Key::End, 77),
            (Key::PageDown, 77),
            (Key::Char('x'), 77),
            (Key::Home, 0),
        ] {
            assert!(!pager.key(key));
            assert_eq!(pager.top, top, "{key:?}");
        }
        assert!(pager.key(Key::Char('q')) && pager.key(Key::Esc));
    }

    #[test]
    fn a_resize_keeps_about_the_place() {
        let mut pager = pager(100, 80, 24);
        pager.key(Key::End);
        pager.resize(8, 24);
        assert_eq!(pager.rows.len(), 201);
        assert_eq!(pager.top, 154);
        pager.resize(80, 200);
        assert_eq!(pager.top, 0);
    }

    proptest! {
        #[test]
        fn whatever_is_pressed_there_is_something_to_see(
            lines in 0..50usize,
            steps in proptest::collection::vec((0..5u8, 1..120u16, 0..60u16), 0..20),
        ) {
            let mut pager = pager(lines, 80, 24);
            for (step, columns, rows) in steps {
                match step {
                    0 => { pager.key(Key::PageDown); }
                    1 => { pager.key(Key::Up); }
                    2 => { pager.key(Key::End); }
                    _ => pager.resize(columns, rows),
                }
                prop_assert!(pager.top == 0 || pager.top + pager.height <= pager.rows.len());
            }
        }
    }
}
