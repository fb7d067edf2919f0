//! Renders a card as text: the action, its place, the reason for asking, the exact content, and the action of each key.
//!
//! Text from the agent, its files or external tools stands behind a bar on every row, so that it cannot look like a
//! line of ours.

use protocol::text::display_text::join_spans;
use protocol::view::preview::UndoAvailability;
use protocol::{CallView, Preview, ToolMode};

use super::card_keys::{CardKey, list_card_keys};
use super::text_wrap::{escape_to_one_line, wrap_untrusted, wrap_words};
use crate::output::{OutputWriter, TextStyle};
use crate::previews;
use crate::transcript::{self, mode_name};

/// Minimum number of rows of a body that are shown, however low the terminal is.
const BODY_ROWS_MIN: usize = 12;
/// Number of rows of a card besides its body.
const ROWS_AROUND_BODY: usize = 14;
/// Maximum length of an agent's reason on a card, in characters.
const REASON_CHARS_MAX: usize = 600;
/// Width of a key and its word, in columns.
const KEY_COLUMNS: usize = 12;

/// The size of the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct TerminalSize {
    pub columns: usize,
    pub rows: usize,
}

/// A rendered card.
pub(super) struct RenderedCard {
    pub text: String,
    /// Number of rows of the body that are not on the card.
    pub left_out: usize,
}

/// Renders the card of a call. `title` is the title of the session that the call belongs to, `others` the number of
/// other cards that wait.
pub(super) fn render_card(
    out: &OutputWriter,
    view: &CallView,
    title: &str,
    others: usize,
    size: TerminalSize,
) -> RenderedCard {
    let mut lines = render_heading(out, view, title, others, size);
    let all = render_rows(out, &build_body(view), size);
    let room = size
        .rows
        .saturating_sub(ROWS_AROUND_BODY)
        .max(BODY_ROWS_MIN);
    // One row more is no reason to leave it out: the row that says so takes as much.
    let shown = if all.len() <= room + 1 {
        all.len()
    } else {
        room
    };
    lines.extend(all.iter().take(shown).cloned());
    let left_out = all.len() - shown;
    if left_out > 0 {
        let text = format!("… {left_out} more lines: d shows all of it");
        lines.push(out.apply_style(TextStyle::Warn, &text));
    }
    if !all.is_empty() {
        lines.push(String::new());
    }
    for answer in list_card_keys(view, others) {
        lines.push(format_key(out, &answer, size));
    }
    RenderedCard {
        text: lines.join("\n") + "\n",
        left_out,
    }
}

/// Renders the complete card for a pager: the whole body and every gate.
pub(super) fn render_full_card(
    out: &OutputWriter,
    view: &CallView,
    title: &str,
    size: TerminalSize,
) -> String {
    let mut lines = render_heading(out, view, title, 0, size);
    lines.extend(render_rows(out, &build_body(view), size));
    if let Some(trail) = &view.trail {
        let mut gates = Vec::new();
        transcript::add_gate_lines(trail, &mut |ink, text: &str| {
            gates.push((ink, text.to_owned()))
        });
        lines.push(String::new());
        lines.extend(render_rows(out, &gates, size));
    }
    lines.join("\n") + "\n"
}

fn render_heading(
    out: &OutputWriter,
    view: &CallView,
    title: &str,
    others: usize,
    size: TerminalSize,
) -> Vec<String> {
    let more = match others {
        0 => String::new(),
        1 => " · 1 more waits".to_owned(),
        more => format!(" · {more} more wait"),
    };
    let mut lines = vec![
        String::new(),
        out.apply_style(TextStyle::Warn, &format!("◐ Waits for you{more}")),
    ];
    let mut add = |ink, text: &str| {
        let text = escape_to_one_line(text);
        lines.extend(render_rows(out, &[(ink, text)], size));
    };
    let what = format!("{} {}", view.title, view.target);
    add(TextStyle::Strong, what.trim_end());
    let mode = view.mode.map_or("", mode_name);
    let folder = match &view.preview {
        Preview::Command(command) => command.folder.as_str(),
        Preview::Effects(effects) => effects.command.folder.as_str(),
        _ => "",
    };
    let mut facts = vec![format_tool(view), mode.to_owned()];
    if !folder.is_empty() {
        facts.push(format!("in {folder}"));
    }
    if !title.is_empty() {
        facts.push(format!("for “{title}”"));
    }
    facts.retain(|fact| !fact.is_empty());
    add(TextStyle::Faint, &facts.join(" · "));
    if let Some(reasoning) = &view.reasoning {
        let reason: String = reasoning.trim().chars().take(REASON_CHARS_MAX).collect();
        add(TextStyle::Faint, &format!("“{reason}”"));
    }
    if let Some(trail) = &view.trail {
        add(TextStyle::Plain, &trail.lead);
    }
    let refreshed = view
        .pending
        .as_ref()
        .and_then(|waits| waits.refreshed.as_deref());
    if let Some(refreshed) = refreshed {
        add(TextStyle::Warn, &format!("! {refreshed}"));
    }
    if let UndoAvailability::Unsecured { reason } = &view.undo_availability {
        add(TextStyle::Bad, &format!("! It cannot be undone: {reason}"));
    }
    lines.push(String::new());
    lines
}

/// Formats the tool, with the server that it belongs to.
fn format_tool(view: &CallView) -> String {
    match view.tool.split_once("__") {
        Some((server, tool)) => format!("{tool} of {server}"),
        None => view.tool.clone(),
    }
}

/// Builds the exact content of the call, line by line.
fn build_body(view: &CallView) -> Vec<(TextStyle, String)> {
    let mut lines = Vec::new();
    let mut add = |ink, text: &str| lines.push((ink, text.to_owned()));
    match &view.preview {
        // The form is filled in below, question by question.
        Preview::Form { .. } => {}
        Preview::Nothing => add_argument_lines(view, &mut add),
        _ => previews::add_preview_lines(view, usize::MAX, &mut add),
    }
    match &view.preview {
        Preview::Command(command) => previews::add_command_facts(command, &mut add),
        Preview::Effects(effects) => previews::add_run_result(&effects.effects, &mut add),
        _ => {}
    }
    lines
}

/// Adds the arguments of a call without a preview.
fn add_argument_lines(view: &CallView, add: &mut impl FnMut(TextStyle, &str)) {
    let arguments = view.edited.as_ref().unwrap_or(&view.call.arguments);
    for (name, value) in arguments {
        let value = match value.as_str() {
            Some(text) => text.to_owned(),
            None => format!("{value:#}"),
        };
        add(TextStyle::Plain, &format!("{name}: {value}"));
    }
}

/// Renders lines as rows behind bars, each in its line's style, as wide as the terminal.
fn render_rows(
    out: &OutputWriter,
    lines: &[(TextStyle, String)],
    size: TerminalSize,
) -> Vec<String> {
    let bar = out.apply_style(TextStyle::Faint, "│");
    let mut rendered = Vec::new();
    for (ink, line) in lines {
        for row in wrap_untrusted(line, size.columns.saturating_sub(3)) {
            let text = format!("{bar} {}", out.apply_style(*ink, &row));
            rendered.push(text.trim_end().to_owned());
        }
    }
    rendered
}

fn format_key(out: &OutputWriter, answer: &CardKey, size: TerminalSize) -> String {
    let CardKey {
        key,
        label: word,
        description: does,
    } = answer;
    let indent = KEY_COLUMNS + 3;
    let word = out.apply_style(TextStyle::Plain, &format!("{word:<KEY_COLUMNS$}"));
    let does = wrap_words(
        &escape_to_one_line(does),
        size.columns.saturating_sub(indent),
    );
    let does: Vec<String> = does
        .iter()
        .map(|row| out.apply_style(TextStyle::Faint, row))
        .collect();
    let does = does.join(&format!("\n{}", " ".repeat(indent)));
    format!(
        "{}  {word}{does}",
        out.apply_style(TextStyle::Strong, &key.to_string())
    )
}

/// Whether allowing needs a second press: the call loses data or sends data away, and cannot be undone.
pub(super) fn needs_confirmation(view: &CallView) -> bool {
    let unsecured = matches!(view.undo_availability, UndoAvailability::Unsecured { .. });
    unsecured && matches!(view.mode, Some(ToolMode::Destructive | ToolMode::External))
}

/// Renders text, with its hidden characters named, as rows behind bars.
pub(super) fn render_untrusted_text(
    out: &OutputWriter,
    spans: &[protocol::text::display_text::DisplaySpan],
    size: TerminalSize,
) -> String {
    render_rows(out, &[(TextStyle::Plain, join_spans(spans))], size).join("\n")
}
