//! A card in text: what would be done, where, why it is asked, what exactly, and what each key does.
//!
//! Whatever the agent, its files or other people's tools wrote stands behind a bar, on every row that it takes: no text of
//! theirs can look like a line of ours.

use protocol::preview::UndoOutlook;
use protocol::shown::plain;
use protocol::{CallView, Preview, ToolMode};

use super::answers::{Answer, answers};
use super::wrap::{one_line, rows, words_in};
use crate::out::{Ink, Out};
use crate::previews;
use crate::story::{self, mode_name};

/// Fewest rows of a body that are shown, however low the terminal is.
const ROWS_MIN: usize = 12;
/// Rows of a card beside its body.
const ROWS_BESIDE: usize = 14;
/// Longest reason of an agent's that a card shows, in characters.
const REASON_CHARS_MAX: usize = 600;
/// Columns of a key and its word.
const KEY_COLUMNS: usize = 12;

/// The size of the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// A card that was drawn.
pub(super) struct Drawn {
    pub text: String,
    /// How many rows of the body are not on it.
    pub left_out: usize,
}

/// Draws the card of a call. `title` is what the work is called that it belongs to, `others` how many more cards wait.
pub(super) fn draw(out: &Out, view: &CallView, title: &str, others: usize, size: Size) -> Drawn {
    let mut lines = head(out, view, title, others, size);
    let body = body(view);
    let all = wrapped(&body, size.columns);
    let room = size.rows.saturating_sub(ROWS_BESIDE).max(ROWS_MIN);
    // One row more is no reason to leave it out: the row that says so takes as much.
    let shown = if all.len() <= room + 1 {
        all.len()
    } else {
        room
    };
    lines.extend(
        all.iter()
            .take(shown)
            .map(|(ink, row)| barred(out, *ink, row)),
    );
    let left_out = all.len() - shown;
    if left_out > 0 {
        let text = format!("… {left_out} more lines: d shows all of it");
        lines.push(out.ink(Ink::Warn, &text));
    }
    if !all.is_empty() {
        lines.push(String::new());
    }
    for answer in answers(view, others) {
        lines.push(key(out, &answer, size));
    }
    Drawn {
        text: lines.join("\n") + "\n",
        left_out,
    }
}

/// All of a card for a pager: the whole body and every gate.
pub(super) fn whole(out: &Out, view: &CallView, title: &str, size: Size) -> String {
    let mut lines = head(out, view, title, 0, size);
    let body = wrapped(&body(view), size.columns);
    lines.extend(body.iter().map(|(ink, row)| barred(out, *ink, row)));
    if let Some(trail) = &view.trail {
        let mut gates = Vec::new();
        story::gates(trail, &mut |ink, text: &str| {
            gates.push((ink, text.to_owned()))
        });
        lines.push(String::new());
        let gates = wrapped(&gates, size.columns);
        lines.extend(gates.iter().map(|(ink, row)| barred(out, *ink, row)));
    }
    lines.join("\n") + "\n"
}

fn head(out: &Out, view: &CallView, title: &str, others: usize, size: Size) -> Vec<String> {
    let more = match others {
        0 => String::new(),
        1 => " · 1 more waits".to_owned(),
        more => format!(" · {more} more wait"),
    };
    let mut lines = vec![
        String::new(),
        out.ink(Ink::Warn, &format!("◐ Waits for you{more}")),
    ];
    let mut add = |ink, text: &str| {
        let text = one_line(text);
        let rows = wrapped(&[(ink, text)], size.columns);
        lines.extend(rows.iter().map(|(ink, row)| barred(out, *ink, row)));
    };
    let what = format!("{} {}", view.title, view.target);
    add(Ink::Strong, what.trim_end());
    let mode = view.mode.map_or("", mode_name);
    let folder = match &view.preview {
        Preview::Command(command) => command.folder.as_str(),
        Preview::Effects(effects) => effects.command.folder.as_str(),
        _ => "",
    };
    let facts = [
        tool(view),
        mode.to_owned(),
        if folder.is_empty() {
            String::new()
        } else {
            format!("in {folder}")
        },
        if title.is_empty() {
            String::new()
        } else {
            format!("for “{title}”")
        },
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    add(Ink::Faint, &facts.join(" · "));
    if let Some(reasoning) = &view.reasoning {
        let reason: String = reasoning.trim().chars().take(REASON_CHARS_MAX).collect();
        add(Ink::Faint, &format!("“{reason}”"));
    }
    if let Some(trail) = &view.trail {
        add(Ink::Plain, &trail.lead);
    }
    let refreshed = view
        .waits
        .as_ref()
        .and_then(|waits| waits.refreshed.as_deref());
    if let Some(refreshed) = refreshed {
        add(Ink::Warn, &format!("! {refreshed}"));
    }
    if let UndoOutlook::Unsecured { reason } = &view.outlook {
        add(Ink::Bad, &format!("! It cannot be undone: {reason}"));
    }
    lines.push(String::new());
    lines
}

/// The tool, with the server that it belongs to.
fn tool(view: &CallView) -> String {
    match view.tool.split_once("__") {
        Some((server, tool)) => format!("{tool} of {server}"),
        None => view.tool.clone(),
    }
}

/// What exactly would be done, line by line.
fn body(view: &CallView) -> Vec<(Ink, String)> {
    let mut lines = Vec::new();
    let mut add = |ink, text: &str| lines.push((ink, text.to_owned()));
    match &view.preview {
        // The form is filled in below, question by question.
        Preview::Form { .. } => {}
        Preview::Nothing => arguments(view, &mut add),
        _ => previews::preview(view, usize::MAX, &mut add),
    }
    match &view.preview {
        Preview::Command(command) => previews::facts(command, &mut add),
        Preview::Effects(effects) => previews::ran(&effects.effects, &mut add),
        _ => {}
    }
    lines
}

/// The arguments of a call of which nothing else is known.
fn arguments(view: &CallView, add: &mut impl FnMut(Ink, &str)) {
    let arguments = view.edited.as_ref().unwrap_or(&view.call.arguments);
    for (name, value) in arguments {
        let value = match value.as_str() {
            Some(text) => text.to_owned(),
            None => format!("{value:#}"),
        };
        add(Ink::Plain, &format!("{name}: {value}"));
    }
}

/// The rows of lines, each in its line's colour, as wide as the terminal less the bar.
fn wrapped(lines: &[(Ink, String)], columns: usize) -> Vec<(Ink, String)> {
    let each = lines.iter().flat_map(|(ink, line)| {
        let rows = rows(line, columns.saturating_sub(3));
        rows.into_iter().map(|row| (*ink, row))
    });
    each.collect()
}

fn barred(out: &Out, ink: Ink, row: &str) -> String {
    let text = format!("{} {}", out.ink(Ink::Faint, "│"), out.ink(ink, row));
    text.trim_end().to_owned()
}

fn key(out: &Out, answer: &Answer, size: Size) -> String {
    let Answer { key, word, does } = answer;
    let indent = KEY_COLUMNS + 3;
    let word = out.ink(Ink::Plain, &format!("{word:<KEY_COLUMNS$}"));
    let does = words_in(&one_line(does), size.columns.saturating_sub(indent));
    let does: Vec<String> = does.iter().map(|row| out.ink(Ink::Faint, row)).collect();
    let does = does.join(&format!("\n{}", " ".repeat(indent)));
    format!("{}  {word}{does}", out.ink(Ink::Strong, &key.to_string()))
}

/// Whether an answer that allows needs a second press: something is lost or leaves, and cannot be taken back.
pub(super) fn is_final(view: &CallView) -> bool {
    let unsecured = matches!(view.outlook, UndoOutlook::Unsecured { .. });
    unsecured && matches!(view.mode, Some(ToolMode::Destructive | ToolMode::External))
}

/// Text with hidden characters by name, as rows behind bars.
pub(super) fn foreign(out: &Out, spans: &[protocol::shown::Span], size: Size) -> String {
    let rows = wrapped(&[(Ink::Plain, plain(spans))], size.columns);
    let rows: Vec<String> = rows
        .iter()
        .map(|(ink, row)| barred(out, *ink, row))
        .collect();
    rows.join("\n")
}
