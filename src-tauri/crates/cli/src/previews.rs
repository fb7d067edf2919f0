//! What a call would do, or did, as lines for a person: one shape for each kind of preview.

use protocol::effects::{EffectKind, Effects};
use protocol::preview::{CommandPreview, FileDiff, LineKind, TodoStatus};
use protocol::shown::{counted, plain};
use protocol::{CallView, Preview, Verdict};

use crate::out::Ink;

/// What a call would do, or did, a line each; of each file's difference at most so many lines.
pub(crate) fn preview(view: &CallView, diff_lines_max: usize, add: &mut impl FnMut(Ink, &str)) {
    match &view.preview {
        Preview::Nothing => {}
        Preview::Diff { files } => {
            for file in files {
                // Of one file that stays the head of the call says enough.
                if files.len() > 1 || file.gone || file.from.is_some() {
                    add(Ink::Plain, &head(file));
                }
                diff(file, diff_lines_max, add);
            }
        }
        Preview::Command(shown) => command(view, shown, add),
        Preview::Effects(shown) => {
            command(view, &shown.command, add);
            effects(&shown.effects, diff_lines_max, add);
        }
        Preview::Loss(loss) => {
            let (files, folders) = (counted(loss.files, "file"), counted(loss.folders, "folder"));
            add(
                Ink::Bad,
                &format!("- {files}, {folders}, {}", counted(loss.bytes, "byte")),
            );
            for item in &loss.shown {
                add(Ink::Bad, &format!("- {}", item.path));
            }
        }
        Preview::Form { questions } => {
            for question in questions {
                add(Ink::Plain, &format!("? {}", question.question));
                for option in &question.options {
                    add(Ink::Faint, &format!("  ○ {}", option.label));
                }
            }
        }
        Preview::Plan { text } => {
            for line in text.lines() {
                add(Ink::Plain, line);
            }
        }
        Preview::Came(came) => {
            add(
                Ink::Warn,
                &format!(
                    "It came from {}; the agent has not read it:",
                    came.hosts.join(", ")
                ),
            );
            for line in plain(&came.text).lines() {
                add(Ink::Faint, &format!("│ {line}"));
            }
        }
        Preview::Todo { items } => {
            for item in items {
                let mark = match item.status {
                    TodoStatus::Pending => "☐",
                    TodoStatus::InProgress => "◐",
                    TodoStatus::Completed => "☑",
                };
                add(Ink::Plain, &format!("{mark} {}", item.content));
            }
        }
        Preview::Request(request) => {
            request
                .told()
                .lines()
                .for_each(|line| add(Ink::Plain, line));
        }
    }
}

fn command(view: &CallView, command: &CommandPreview, add: &mut impl FnMut(Ink, &str)) {
    let line = plain(&command.command);
    if line != view.target {
        add(Ink::Plain, &format!("$ {line}"));
    }
}

/// What was found in a command, and what this machine can promise of it.
pub(crate) fn facts(command: &CommandPreview, add: &mut impl FnMut(Ink, &str)) {
    for fact in &command.facts {
        let ink = match fact.verdict {
            Some(Verdict::Deny) => Ink::Bad,
            Some(Verdict::Ask) => Ink::Warn,
            Some(Verdict::Allow) => Ink::Good,
            None => Ink::Faint,
        };
        add(
            ink,
            format!("{}: {}", fact.what, fact.text).trim_end_matches([':', ' ']),
        );
    }
    for sentence in &command.assured {
        add(Ink::Faint, sentence);
    }
    add(
        Ink::Faint,
        &format!("It may run for {} s.", command.timeout_ms / 1000),
    );
}

/// How a command that ran for show ended, what it printed, and what else to know of it.
pub(crate) fn ran(effects: &Effects, add: &mut impl FnMut(Ink, &str)) {
    let ended = match effects.exit_code {
        Some(code) => format!("It ended with exit code {code}."),
        None => format!("It was ended by {}.", effects.ended),
    };
    add(Ink::Faint, &ended);
    for line in plain(&effects.output).lines() {
        add(Ink::Faint, &format!("│ {line}"));
    }
    for note in &effects.notes {
        add(Ink::Warn, &format!("! {note}"));
    }
}

/// What a command did in the sealed copy, a line each.
pub(crate) fn effects(effects: &Effects, diff_lines_max: usize, add: &mut impl FnMut(Ink, &str)) {
    for change in &effects.changes {
        let ink = match change.kind {
            EffectKind::Deleted => Ink::Bad,
            EffectKind::Added
            | EffectKind::Changed
            | EffectKind::Renamed
            | EffectKind::Mode
            | EffectKind::Link
            | EffectKind::Special => Ink::Plain,
        };
        add(ink, &format!("* {change}"));
        if let Some(file) = &change.diff {
            diff(file, diff_lines_max, add);
        }
    }
    for refused in &effects.refused {
        add(Ink::Faint, &format!("* {refused}"));
    }
    for reached in &effects.reached {
        let (sent, received) = (reached.sent, reached.received);
        let told = format!("* {reached}, sent {sent} bytes, received {received} bytes");
        add(Ink::Faint, &told);
    }
    for note in &effects.notes {
        add(Ink::Faint, &format!("* {note}"));
    }
    if effects.is_nothing() && effects.notes.is_empty() {
        add(Ink::Faint, "* It changed nothing and was refused nothing.");
    }
}

/// What becomes of a file as a whole.
fn head(file: &FileDiff) -> String {
    let path = &file.path;
    match (&file.from, file.exists) {
        (Some(from), _) => format!("* moved {from} -> {path}"),
        (None, _) if file.gone => format!("* deleted {path}"),
        (None, true) => format!("* changed {path}"),
        (None, false) => format!("* added {path}"),
    }
}

fn diff(file: &FileDiff, lines_max: usize, add: &mut impl FnMut(Ink, &str)) {
    let mut room = lines_max;
    let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    for hunk in &file.hunks {
        let place = match hunk.lines.is_empty() {
            true => format!("@@ {}", hunk.section),
            false => format!("@@ line {} @@ {}", hunk.new_start, hunk.section),
        };
        add(Ink::Faint, place.trim_end());
        for line in hunk.lines.iter().take(room) {
            let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            match line.kind {
                LineKind::Context => add(Ink::Plain, &format!("  {text}")),
                LineKind::Added => add(Ink::Good, &format!("+ {text}")),
                LineKind::Removed => add(Ink::Bad, &format!("- {text}")),
            }
        }
        room = room.saturating_sub(hunk.lines.len());
    }
    if lines > lines_max {
        add(Ink::Faint, &format!("… {} more lines", lines - lines_max));
    }
    if let Some(cut) = &file.cut {
        add(Ink::Faint, cut);
    }
}
