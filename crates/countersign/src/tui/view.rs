//! The state of the screen (selection, focus, scrolling) and the meaning of keys. Pure.

use super::board::Board;
use super::screen;
use crate::terminal::keys::Key;
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::Verb;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    #[default]
    Tasks,
    /// Rounds, verdicts and findings of the selected task.
    Review,
    Output,
}

impl Pane {
    fn next(self) -> Self {
        match self {
            Self::Tasks => Self::Review,
            Self::Review => Self::Output,
            Self::Output => Self::Tasks,
        }
    }
}

/// A decision that is not confirmed yet: about exactly the work that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    pub task: String,
    pub review: ReviewId,
    pub digest: Digest,
    pub verb: Verb,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Draw,
    Select,
    Decide(OpenQuestion),
    Quit,
}

#[derive(Clone, Debug, Default)]
pub struct View {
    pub size: (u16, u16),
    pub coloured: bool,
    pub selected: Option<String>,
    pub focus: Pane,
    /// The first visible row of the review.
    pub review_top: usize,
    /// Whether the change is shown instead of everything else.
    pub shows_diff: bool,
    /// How many rows the output is scrolled back; 0 follows the end of the file.
    pub output_back: usize,
    pub asked: Option<OpenQuestion>,
    pub note: Option<String>,
}

impl View {
    /// Takes a new board. The selection stays, wherever its task moved to; the output stays while it is scrolled back.
    pub fn take(&mut self, before: &Board, now: &mut Board) {
        if self.selected.as_ref().is_none_or(|id| now.place(id).is_none()) {
            self.selected = now.tasks.first().map(|row| row.id.clone());
        }
        if self.output_back > 0
            && let (Some(before), Some(now)) = (&before.detail, &mut now.detail)
            && before.task == now.task
        {
            now.output_from.clone_from(&before.output_from);
            now.output.clone_from(&before.output);
        }
        self.bound(now);
    }

    pub fn resize(&mut self, board: &Board, size: (u16, u16)) {
        self.size = size;
        self.bound(board);
    }

    fn bound(&mut self, board: &Board) {
        let has_diff = |task: &String| board.waiting(task).is_some_and(|(review, _)| !review.diff.is_empty());
        self.shows_diff &= self.selected.as_ref().is_some_and(has_diff);
        self.review_top = self.review_top.min(screen::hidden(board, self, Pane::Review));
        self.output_back = self.output_back.min(screen::hidden(board, self, Pane::Output));
    }

    pub fn key(&mut self, board: &Board, key: Key) -> Act {
        self.note = None;
        if let Some(asked) = self.asked.take() {
            if key == Key::Char('y') {
                return Act::Decide(asked);
            }
            self.note = Some("Nothing was decided.".to_owned());
            return Act::Draw;
        }
        match key {
            Key::Char('q') => return Act::Quit,
            Key::Char('d') => self.toggle_diff(board),
            Key::Esc if self.shows_diff => self.toggle_diff(board),
            Key::Tab if !self.shows_diff => self.focus = self.focus.next(),
            Key::BackTab if !self.shows_diff => self.focus = self.focus.next().next(),
            Key::Char('a') => self.ask(board, Verb::Approve),
            Key::Char('r') => self.ask(board, Verb::Reject),
            Key::Char('f') => self.ask(board, Verb::Fix),
            Key::Char('s') => self.ask(board, Verb::Skip),
            key => return self.scroll(board, key),
        }
        Act::Draw
    }

    fn toggle_diff(&mut self, board: &Board) {
        let task = self.selected.as_deref().unwrap_or_default();
        let has_diff = board.waiting(task).is_some_and(|(review, _)| !review.diff.is_empty());
        if !self.shows_diff && !has_diff {
            self.note = Some(format!("There is no diff of {task}: it is shown while a task waits for you."));
            return;
        }
        self.shows_diff = !self.shows_diff;
        (self.focus, self.review_top) = (Pane::Review, 0);
    }

    fn ask(&mut self, board: &Board, verb: Verb) {
        let Some(task) = &self.selected else { return };
        let Some((review, digest)) = board.waiting(task) else {
            self.note = Some(format!("{task} does not wait for a decision."));
            return;
        };
        let (review, digest) = (review.id.clone(), digest.clone());
        self.asked = Some(OpenQuestion { task: task.clone(), review, digest, verb });
        // The findings must be in sight before a decision.
        self.focus = Pane::Review;
    }

    fn scroll(&mut self, board: &Board, key: Key) -> Act {
        let Some(by) = key.scrolls(screen::height(self, self.focus)) else { return Act::Draw };
        match self.focus {
            Pane::Tasks => return self.select(board, by),
            Pane::Review => self.review_top = self.review_top.saturating_add_signed(by),
            // Counted from the end.
            Pane::Output => self.output_back = self.output_back.saturating_add_signed(by.saturating_neg()),
        }
        self.bound(board);
        Act::Draw
    }

    fn select(&mut self, board: &Board, by: isize) -> Act {
        let place = self.selected.as_ref().and_then(|id| board.place(id)).unwrap_or(0);
        let place = place.saturating_add_signed(by).min(board.tasks.len().saturating_sub(1));
        let Some(row) = board.tasks.get(place) else { return Act::Draw };
        if self.selected.as_ref() == Some(&row.id) {
            return Act::Draw;
        }
        self.selected = Some(row.id.clone());
        (self.review_top, self.output_back, self.shows_diff) = (0, 0, false);
        Act::Select
    }
}
