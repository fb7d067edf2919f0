//! Prints the planned or actual effects of a call as lines for a person: one format for each kind of preview.

use protocol::text::display_text::{format_count, join_spans};
use protocol::view::effects::{EffectKind, Effects};
use protocol::view::preview::{CommandPreview, DiffLineKind, FileDiff, TodoStatus};
use protocol::{CallView, Preview, Verdict};

use crate::output::TextStyle;

/// Adds the lines of a preview or a result; at most `diff_lines_max` lines of each file's diff.
pub(crate) fn add_preview_lines(
    view: &CallView,
    diff_lines_max: usize,
    add: &mut impl FnMut(TextStyle, &str),
) {
    match &view.preview {
        Preview::Nothing => {}
        Preview::Diff { files } => {
            for file in files {
                // Of one file that stays the head of the call says enough.
                if files.len() > 1 || file.gone || file.from.is_some() {
                    add(TextStyle::Plain, &format_file_heading(file));
                }
                add_diff_lines(file, diff_lines_max, add);
            }
        }
        Preview::Command(shown) => add_command_lines(view, shown, add),
        Preview::Effects(shown) => {
            add_command_lines(view, &shown.command, add);
            add_effect_lines(&shown.effects, diff_lines_max, add);
        }
        Preview::Loss(loss) => {
            let (files, folders) = (
                format_count(loss.files, "file"),
                format_count(loss.folders, "folder"),
            );
            add(
                TextStyle::Bad,
                &format!("- {files}, {folders}, {}", format_count(loss.bytes, "byte")),
            );
            for item in &loss.shown {
                add(TextStyle::Bad, &format!("- {}", item.path));
            }
        }
        Preview::Form { questions } => {
            for question in questions {
                add(TextStyle::Plain, &format!("? {}", question.question));
                for option in &question.options {
                    add(TextStyle::Faint, &format!("  ○ {}", option.label));
                }
            }
        }
        Preview::Plan { text } => {
            for line in text.lines() {
                add(TextStyle::Plain, line);
            }
        }
        Preview::Response(response) => {
            add(
                TextStyle::Warn,
                &format!(
                    "It came from {}; the agent has not read it:",
                    response.hosts.join(", ")
                ),
            );
            for line in join_spans(&response.text).lines() {
                add(TextStyle::Faint, &format!("│ {line}"));
            }
        }
        Preview::Todo { items } => {
            for item in items {
                let mark = match item.status {
                    TodoStatus::Pending => "☐",
                    TodoStatus::InProgress => "◐",
                    TodoStatus::Completed => "☑",
                };
                add(TextStyle::Plain, &format!("{mark} {}", item.content));
            }
        }
        Preview::Request(request) => {
            request
                .summary()
                .lines()
                .for_each(|line| add(TextStyle::Plain, line));
        }
    }
}

fn add_command_lines(
    view: &CallView,
    command: &CommandPreview,
    add: &mut impl FnMut(TextStyle, &str),
) {
    let line = join_spans(&command.command);
    if line != view.target {
        add(TextStyle::Plain, &format!("$ {line}"));
    }
    if command.delegated && view.pending.is_some() {
        add(
            TextStyle::Warn,
            "! The agent runs it itself, outside the sandbox, and may do something else than in a dry run.",
        );
    }
}

/// Adds the facts found in a command, and this machine's guarantees for it.
pub(crate) fn add_command_facts(command: &CommandPreview, add: &mut impl FnMut(TextStyle, &str)) {
    for fact in &command.facts {
        let ink = match fact.verdict {
            Some(Verdict::Deny) => TextStyle::Bad,
            Some(Verdict::Ask) => TextStyle::Warn,
            Some(Verdict::Allow) => TextStyle::Good,
            None => TextStyle::Faint,
        };
        add(
            ink,
            format!("{}: {}", fact.what, fact.text).trim_end_matches([':', ' ']),
        );
    }
    for sentence in &command.assured {
        add(TextStyle::Faint, sentence);
    }
    add(
        TextStyle::Faint,
        &format!("It may run for {} s.", command.timeout_ms / 1000),
    );
}

/// Adds the exit status of a command in a dry run, its output, and its notes.
pub(crate) fn add_run_result(effects: &Effects, add: &mut impl FnMut(TextStyle, &str)) {
    let ended = match effects.exit_code {
        Some(code) => format!("It ended with exit code {code}."),
        None => format!("It was ended by {}.", effects.ended),
    };
    add(TextStyle::Faint, &ended);
    for line in join_spans(&effects.output).lines() {
        add(TextStyle::Faint, &format!("│ {line}"));
    }
    for note in &effects.notes {
        add(TextStyle::Warn, &format!("! {note}"));
    }
}

/// Adds the effects of a command in a dry run, a line each.
pub(crate) fn add_effect_lines(
    effects: &Effects,
    diff_lines_max: usize,
    add: &mut impl FnMut(TextStyle, &str),
) {
    for change in &effects.changes {
        let ink = match change.kind {
            EffectKind::Deleted => TextStyle::Bad,
            EffectKind::Added
            | EffectKind::Changed
            | EffectKind::Renamed
            | EffectKind::Mode
            | EffectKind::Link
            | EffectKind::Special => TextStyle::Plain,
        };
        add(ink, &format!("* {change}"));
        if let Some(file) = &change.diff {
            add_diff_lines(file, diff_lines_max, add);
        }
    }
    for refused in &effects.refused {
        add(TextStyle::Faint, &format!("* {refused}"));
    }
    for reached in &effects.reached {
        let (sent, received) = (reached.sent, reached.received);
        let line = format!("* {reached}, sent {sent} bytes, received {received} bytes");
        add(TextStyle::Faint, &line);
    }
    for read in effects.outside_read_lines() {
        add(TextStyle::Warn, &format!("* {read}"));
    }
    for note in &effects.notes {
        add(TextStyle::Faint, &format!("* {note}"));
    }
    if effects.is_empty() && effects.notes.is_empty() {
        add(
            TextStyle::Faint,
            "* It changed nothing and was refused nothing.",
        );
    }
}

/// Returns the heading for the change of a whole file.
fn format_file_heading(file: &FileDiff) -> String {
    let path = &file.path;
    match (&file.from, file.exists) {
        (Some(from), _) => format!("* moved {from} -> {path}"),
        (None, _) if file.gone => format!("* deleted {path}"),
        (None, true) => format!("* changed {path}"),
        (None, false) => format!("* added {path}"),
    }
}

fn add_diff_lines(file: &FileDiff, lines_max: usize, add: &mut impl FnMut(TextStyle, &str)) {
    for change in &file.summary {
        add(TextStyle::Strong, &change.to_string());
    }
    if file.summary_more > 0 {
        add(TextStyle::Faint, &format!("and {} more", file.summary_more));
    }
    let mut room = lines_max;
    let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    for hunk in &file.hunks {
        let place = match hunk.lines.is_empty() {
            true => format!("@@ {}", hunk.section),
            false => format!("@@ line {} @@ {}", hunk.new_start, hunk.section),
        };
        add(TextStyle::Faint, place.trim_end());
        for line in hunk.lines.iter().take(room) {
            let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            match line.kind {
                DiffLineKind::Context => add(TextStyle::Plain, &format!("  {text}")),
                DiffLineKind::Added => add(TextStyle::Good, &format!("+ {text}")),
                DiffLineKind::Removed => add(TextStyle::Bad, &format!("- {text}")),
            }
        }
        room = room.saturating_sub(hunk.lines.len());
    }
    if lines > lines_max {
        add(
            TextStyle::Faint,
            &format!("… {} more lines", lines - lines_max),
        );
    }
    if let Some(cut) = &file.cut {
        add(TextStyle::Faint, cut);
    }
}
