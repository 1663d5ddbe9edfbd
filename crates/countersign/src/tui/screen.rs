//! Draws the screen from a board and a view. Pure. Escape sequences in foreign text have no effect.

use super::board::{Board, Detail, Group, Reviewed, TaskRow};
use super::view::{Pane, View};
use crate::ask::diff;
use crate::terminal::{severity_color, wrap};
use countersign_core::answer::severity_word;
use countersign_core::text::visible_line;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Paragraph};

const SMALLEST: (u16, u16) = (40, 10);
/// From this width on everything is shown side by side.
const WIDE_COLUMNS: u16 = 80;
/// How wide the tasks are then.
const TASKS_PERCENT: u16 = 42;

/// The areas of the parts; a pane that is not shown has none.
struct Areas {
    head: Rect,
    /// In the order of [`Pane`].
    panes: [Option<Rect>; 3],
    note: Rect,
    keys: Rect,
}

fn areas(view: &View) -> Option<Areas> {
    let (columns, rows) = view.size;
    if columns < SMALLEST.0 || rows < SMALLEST.1 {
        return None;
    }
    let one = Constraint::Length(1);
    let [head, body, note, keys] =
        Layout::vertical([one, Constraint::Fill(1), one, one]).areas(Rect::new(0, 0, columns, rows));
    let mut panes = [None; 3];
    if view.shows_diff {
        panes[Pane::Review as usize] = Some(body);
    } else if columns >= WIDE_COLUMNS {
        let [tasks, right] =
            Layout::horizontal([Constraint::Percentage(TASKS_PERCENT), Constraint::Fill(1)]).areas(body);
        let [review, output] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(right);
        panes = [tasks, review, output].map(Some);
    } else {
        panes[view.focus as usize] = Some(body);
    }
    Some(Areas { head, panes, note, keys })
}

fn inner(view: &View, pane: Pane) -> Rect {
    let area = areas(view).and_then(|areas| areas.panes[pane as usize]);
    Block::bordered().inner(area.unwrap_or_default())
}

pub fn height(view: &View, pane: Pane) -> usize {
    usize::from(inner(view, pane).height)
}

pub fn hidden(board: &Board, view: &View, pane: Pane) -> usize {
    let area = inner(view, pane);
    let rows = match pane {
        Pane::Tasks => return 0,
        _ if area.is_empty() => return 0,
        Pane::Review => review(board, view, usize::from(area.width)).len(),
        Pane::Output => output(board, view, usize::from(area.width)).len(),
    };
    rows.saturating_sub(usize::from(area.height))
}

pub fn draw(frame: &mut Frame<'_>, board: &Board, view: &View) {
    let Some(areas) = areas(view) else {
        let words = format!("too small: {}×{} are needed · q: quit", SMALLEST.0, SMALLEST.1);
        frame.render_widget(Paragraph::new(words), frame.area());
        return;
    };
    frame.render_widget(head(board, view), areas.head);
    let block = |pane: Pane, title: String| {
        let focused = view.focus == pane;
        let (style, border, mark) = match focused {
            true => (Style::new().add_modifier(Modifier::BOLD), BorderType::Double, "▶ "),
            false => (Style::new(), BorderType::Plain, ""),
        };
        let title = Span::styled(format!(" {mark}{title} "), style);
        Block::bordered().border_type(border).title(title).border_style(style)
    };
    let [tasks_area, review_area, output_area] = areas.panes;
    if let Some(area) = tasks_area {
        let block = block(Pane::Tasks, "Tasks".to_owned());
        let rows = tasks(board, view, block.inner(area));
        frame.render_widget(Paragraph::new(rows).block(block), area);
    }
    if let Some(area) = review_area {
        let inner = Block::bordered().inner(area);
        let rows = review(board, view, usize::from(inner.width));
        let below = rows.len().saturating_sub(view.review_top + usize::from(inner.height));
        let more = if below > 0 { format!(" ({below} more ↓)") } else { String::new() };
        let what = if view.shows_diff { "Diff" } else { "Review" };
        let block = block(Pane::Review, titled(view, what) + &more);
        let shown = rows.into_iter().skip(view.review_top).take(usize::from(inner.height));
        frame.render_widget(Paragraph::new(Text::from_iter(shown)).block(block), area);
    }
    if let Some(area) = output_area {
        let from = selected(board, view).and_then(|detail| detail.output_from.as_deref());
        let name = from.map_or_else(|| "Output".to_owned(), |from| format!("Output: {}", visible_line(from)));
        let name = if view.output_back > 0 { format!("{name} (End: follow)") } else { name };
        let block = block(Pane::Output, name);
        let inner = block.inner(area);
        let rows = output(board, view, usize::from(inner.width));
        let top = rows.len().saturating_sub(usize::from(inner.height)).saturating_sub(view.output_back);
        let shown = rows.into_iter().skip(top).take(usize::from(inner.height)).map(Line::raw);
        frame.render_widget(Paragraph::new(Text::from_iter(shown)).block(block), area);
    }
    frame.render_widget(note(board, view), areas.note);
    frame.render_widget(keys(board, view), areas.keys);
}

fn titled(view: &View, what: &str) -> String {
    match &view.selected {
        Some(id) => format!("{what} of {}", visible_line(id)),
        None => what.to_owned(),
    }
}

fn coloured(view: &View, colour: Color) -> Style {
    if view.coloured { Style::new().fg(colour) } else { Style::new() }
}

fn of_group(view: &View, group: Group) -> Style {
    match group {
        Group::Waiting => coloured(view, Color::Cyan).add_modifier(Modifier::BOLD),
        Group::Running => coloured(view, Color::Blue),
        Group::Failed => coloured(view, Color::Red),
        Group::Done => coloured(view, Color::Green),
        Group::Pending | Group::Skipped => Style::new(),
    }
}

fn head(board: &Board, view: &View) -> Line<'static> {
    let count = |group: Group, word: &str| match board.count(group) {
        0 => None,
        n => Some(format!("{n} {word}")),
    };
    let parts = [
        Some(board.title.clone()),
        count(Group::Waiting, "waiting"),
        count(Group::Failed, "failed"),
        Some(format!("{} of {} done", board.count(Group::Done), board.tasks.len())),
        board.cost.clone(),
        Some(if board.under_way { "a run is under way" } else { "no run is active" }.to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let text = wrap::head(&format!(" {}", parts.join(" · ")), usize::from(view.size.0));
    Line::styled(text, Style::new().add_modifier(Modifier::REVERSED)).alignment(Alignment::Left)
}

/// The tasks by state, the selected one in sight.
fn tasks(board: &Board, view: &View, area: Rect) -> Text<'static> {
    enum Entry<'e> {
        Group(Group),
        Task(&'e TaskRow),
    }
    if board.tasks.is_empty() {
        return Text::raw("no tasks");
    }
    let mut entries = vec![];
    let mut last = None;
    let mut selected = 0;
    for row in &board.tasks {
        if last != Some(row.group) {
            entries.push(Entry::Group(row.group));
            last = Some(row.group);
        }
        if view.selected.as_ref() == Some(&row.id) {
            selected = entries.len();
        }
        entries.push(Entry::Task(row));
    }
    let height = usize::from(area.height);
    let top = selected.saturating_sub(height / 2).min(entries.len().saturating_sub(height));
    let columns = usize::from(area.width);
    let line = |entry: &Entry<'_>| match entry {
        Entry::Group(group) => {
            let text = format!("{} ({})", group.word(), board.count(*group));
            Line::styled(wrap::head(&text, columns), of_group(view, *group).add_modifier(Modifier::BOLD))
        }
        Entry::Task(row) => task(row, view, columns),
    };
    Text::from_iter(entries.iter().skip(top).take(height).map(line))
}

fn task(row: &TaskRow, view: &View, columns: usize) -> Line<'static> {
    let selected = view.selected.as_ref() == Some(&row.id);
    let words = visible_line(&row.words);
    let words = if words.is_empty() { String::new() } else { format!(" {words}") };
    let words = wrap::head(&words, columns / 2);
    let room = columns.saturating_sub(Span::raw(words.as_str()).width());
    let mark = if selected { "▶ " } else { "  " };
    let mut left = mark.to_owned();
    left.push_str(&wrap::head(&format!("{} {}", row.id, row.name), room.saturating_sub(2)));
    let fill = room.saturating_sub(Span::raw(left.as_str()).width());
    left.push_str(&" ".repeat(fill));
    let style = of_group(view, row.group);
    let line = Line::from(vec![Span::raw(left), Span::styled(words, style)]);
    if selected { line.style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

fn review(board: &Board, view: &View, columns: usize) -> Vec<Line<'static>> {
    let Some(detail) = selected(board, view) else { return vec![] };
    if let Some(review) = detail.review.as_ref().filter(|_| view.shows_diff) {
        let rows = |(line, style): (String, Style)| {
            let rows = wrap::rows(&line, columns).into_iter();
            rows.map(move |row| Line::styled(row, style)).collect::<Vec<_>>()
        };
        return diff(&review.diff, view.coloured).into_iter().flat_map(rows).collect();
    }
    let name =
        board.place(&detail.task).and_then(|place| board.tasks.get(place)).map(|row| row.name.as_str());
    let mut lines = vec![];
    let mut push = |text: &str, style: Style| {
        let text = visible_line(text);
        lines.extend(wrap::rows(&text, columns).into_iter().map(|row| Line::styled(row, style)));
    };
    let bold = Style::new().add_modifier(Modifier::BOLD);
    push(name.unwrap_or_default(), bold);
    let Some(Reviewed { id, standing, digest, rounds, issues, decisions, cost, .. }) = &detail.review else {
        push("not judged yet", Style::new());
        return lines;
    };
    // The work to decide about comes first, then the history.
    match digest {
        Some(digest) => push(&format!("{standing} · work {}", digest.short()), bold),
        None => push(standing, bold),
    }
    for issue in issues {
        let style = coloured(view, severity_color(issue.severity));
        let place = issue.place.as_deref().map(|place| format!(" ({place})")).unwrap_or_default();
        push(&format!("{}: {}{place}", severity_word(issue.severity), issue.text), style);
    }
    decisions.iter().for_each(|decision| push(&format!("decided: {decision}"), Style::new()));
    rounds.iter().for_each(|round| push(round, Style::new()));
    push(&format!("{id} · {cost}"), Style::new());
    lines
}

fn output(board: &Board, view: &View, columns: usize) -> Vec<String> {
    match selected(board, view) {
        Some(detail) if detail.output_from.is_some() => wrap::rows(&detail.output, columns),
        _ => vec!["nothing was written yet".to_owned()],
    }
}

/// The detail of the selected task. Right after another was selected, it may not be read yet.
fn selected<'b>(board: &'b Board, view: &View) -> Option<&'b Detail> {
    board.detail.as_ref().filter(|detail| view.selected.as_ref() == Some(&detail.task))
}

fn note(board: &Board, view: &View) -> Line<'static> {
    let columns = usize::from(view.size.0);
    let style = coloured(view, Color::Yellow);
    if let Some(asked) = &view.asked {
        let answers = if is_wide(view) { "y: yes · any other key: no" } else { "y/N" };
        let question = format!("{} {} ({})? {answers}", asked.verb.name(), asked.task, asked.digest.short());
        return Line::styled(wrap::head(&question, columns), style.add_modifier(Modifier::BOLD));
    }
    let words = view.note.as_ref().or(board.trouble.as_ref());
    Line::styled(wrap::head(words.map_or("", String::as_str), columns), style)
}

fn is_wide(view: &View) -> bool {
    view.size.0 >= WIDE_COLUMNS
}

fn keys(board: &Board, view: &View) -> Line<'static> {
    let waits = view.selected.as_ref().is_some_and(|id| board.waiting(id).is_some());
    let text = match (waits, is_wide(view)) {
        (true, true) if view.shows_diff => {
            "[a]pprove [r]eject [f]ix-and-retry [s]kip · ↑↓ PgUp PgDn · d: back · q: quit"
        }
        (true, true) => "[a]pprove [r]eject [f]ix-and-retry [s]kip [d]iff · ↑↓ · Tab · q: quit",
        (true, false) => "a r f s: decide · d: diff · ↑↓ · q: quit",
        (false, true) => "↑ ↓ PgUp PgDn Home End: move · Tab: next part · q: quit",
        (false, false) => "↑↓ PgUp PgDn · Tab: next · q: quit",
    };
    Line::styled(text, Style::new().add_modifier(Modifier::REVERSED))
}
