//! What happened, as lines for a person: messages, calls with what they did and why they were let through.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use protocol::event::Checked;
use protocol::judge::RuleTrace;
use protocol::shown::counted;
use protocol::{
    At, CallState, CallView, Decision, Entry, EntryBody, Fault, Notice, NoticeLevel, Preview,
    ToolMode, Trail, Verdict, redact,
};

use crate::limits::{DIFF_LINES_MAX, OUTPUT_LINES_MAX};
use crate::out::{Ink, Out};
use crate::previews::preview;

/// One entry of a transcript, with an empty line after it.
pub(crate) fn entry(out: &Out, entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Person { text, images, .. } => person(out, text, u64::from(*images)),
        EntryBody::Errand {
            title,
            text,
            failed,
            ..
        } => errand(out, title, text, *failed),
        EntryBody::Agent {
            text,
            error,
            checked,
            ..
        } => {
            let mut lines = String::new();
            if !text.trim().is_empty() {
                lines.push_str(&out.ink(Ink::Plain, text.trim_end()));
                lines.push_str("\n\n");
            }
            if let Some(checked) = checked {
                lines.push_str(&not_taken(out, checked));
            }
            if let Some(error) = error {
                lines.push_str(&cut_off(out, error));
            }
            lines
        }
        EntryBody::Call(view) => call(out, view),
        EntryBody::Notice(notice) => self::notice(out, notice),
    }
}

/// What the person said, with so many images beside it.
pub(crate) fn person(out: &Out, text: &str, images: u64) -> String {
    let mark = out.ink(Ink::Strong, "›");
    let text = out.ink(Ink::Strong, text.trim_end());
    let beside = match images {
        0 => String::new(),
        count => out.ink(Ink::Faint, &format!("  with {}", counted(count, "image"))),
    };
    format!("{mark} {text}{beside}\n\n")
}

/// What came of work in the background.
fn errand(out: &Out, title: &str, text: &str, failed: bool) -> String {
    let (mark, ink) = match failed {
        true => ("✗", Ink::Bad),
        false => ("✓", Ink::Good),
    };
    format!(
        "{} {}\n{}\n\n",
        out.ink(ink, mark),
        out.ink(Ink::Strong, &format!("In the background: {title}")),
        out.ink(Ink::Plain, text.trim_end()),
    )
}

/// That an answer was cut off.
pub(crate) fn cut_off(out: &Out, fault: &Fault) -> String {
    format!(
        "{} {}\n\n",
        out.ink(Ink::Bad, "✗"),
        out.ink(Ink::Bad, &fault.to_string())
    )
}

/// That an answer does not fit the schema that it was asked for in; empty if it does.
pub(crate) fn not_taken(out: &Out, checked: &Checked) -> String {
    let problem = checked.problem.as_deref().map(|problem| {
        let text = out.ink(Ink::Warn, &format!("! Not taken: {problem}"));
        format!("{text}\n\n")
    });
    problem.unwrap_or_default()
}

/// That the session plans first, or does no more.
pub(crate) fn planning(out: &Out, on: bool) -> String {
    let text = match on {
        true => "Planning: nothing is changed before the plan is accepted.",
        false => "No longer planning.",
    };
    format!("{}\n\n", out.ink(Ink::Faint, text))
}

/// Something to know.
pub(crate) fn notice(out: &Out, notice: &Notice) -> String {
    let ink = match notice.level {
        NoticeLevel::Note => Ink::Faint,
        NoticeLevel::Warning => Ink::Warn,
        NoticeLevel::Error => Ink::Bad,
    };
    format!("{}\n\n", out.ink(ink, &format!("! {}", notice.fault)))
}

/// A call: its head, why it was let through or not, what it would do, what was said of it, and what came of it.
pub(crate) fn call(out: &Out, view: &CallView) -> String {
    let mut lines = vec![head(out, view)];
    let mut add = |ink, text: &str| {
        let text = out.ink(ink, text);
        lines.extend(text.lines().map(|line| format!("  {line}")));
    };
    if let Some(reasoning) = &view.reasoning {
        add(Ink::Faint, &format!("“{}”", reasoning.trim()));
    }
    if let Some(trail) = &view.trail
        && (trail.verdict != Verdict::Allow || view.decision.is_some())
    {
        add(Ink::Faint, &trail.lead);
    }
    preview(view, DIFF_LINES_MAX, &mut add);
    if let Some(decided) = &view.decision {
        add(Ink::Strong, &format!("You {}", decision(&decided.decision)));
    }
    result(view, &mut add);
    lines.join("\n") + "\n\n"
}

/// A verdict with every gate and every rule.
pub(crate) fn trail(out: &Out, trail: &Trail) -> String {
    let mut lines = Vec::new();
    gates(trail, &mut |ink, text: &str| lines.push(out.ink(ink, text)));
    lines.join("\n") + "\n"
}

pub(crate) fn gates(trail: &Trail, add: &mut impl FnMut(Ink, &str)) {
    add(Ink::Strong, &trail.lead);
    for step in &trail.steps {
        let verdict = step.verdict.map_or("", verdict_name);
        let gate = format!("{:?}", step.gate).to_lowercase();
        add(Ink::Plain, &format!("{gate:<12}{verdict:<6}{}", step.text));
        for trace in &step.rules {
            add(Ink::Faint, &format!("{:<18}{}", "", rule(trace)));
        }
    }
    if !trail.otherwise.is_empty() {
        add(Ink::Faint, &trail.otherwise);
    }
}

/// A rule that matched, where it stands, and what became of it.
fn rule(trace: &RuleTrace) -> String {
    let rule = &trace.rule;
    let pattern = rule.pattern.as_deref().unwrap_or("*");
    let says = verdict_name(Verdict::from(rule.action));
    let place = match (&rule.file, rule.line) {
        (Some(file), Some(line)) => format!(" ({file}, line {line})"),
        (Some(file), None) => format!(" ({file})"),
        (None, _) => String::new(),
    };
    let won = if trace.won { "won" } else { "lost" };
    format!(
        "{} {pattern} = {says}{place}: {won}, {}",
        rule.permission,
        trace.why.trim_start_matches("lost: ")
    )
}

/// A call with every gate that it passed and its whole result: for one call that was asked for by itself.
pub(crate) fn call_in_full(out: &Out, view: &CallView) -> String {
    let mut lines = vec![head(out, view)];
    let mut add = |ink, text: &str| {
        let text = out.ink(ink, text);
        lines.extend(text.lines().map(|line| format!("  {line}")));
    };
    preview(view, DIFF_LINES_MAX, &mut add);
    if let Some(trail) = &view.trail {
        gates(trail, &mut add);
    }
    if let Some(undo) = &view.undo {
        add(Ink::Plain, &format!("undo: countersign undo {}", undo.id));
    }
    let mut text = lines.join("\n") + "\n";
    if let Some(outcome) = &view.outcome {
        text.push('\n');
        text.push_str(&out.ink(Ink::Plain, outcome.model_text().trim_end_matches('\n')));
        text.push('\n');
    }
    text
}

fn head(out: &Out, view: &CallView) -> String {
    let (mark, ink) = mark(view.state);
    let mut head = format!(
        "{} {}",
        out.ink(ink, mark),
        out.ink(Ink::Strong, &view.title)
    );
    if !view.target.is_empty() {
        let target = redact::text(&view.target).0.replace('\n', "⏎");
        head.push_str(&format!(" {}", out.ink(Ink::Plain, &target)));
    }
    let mode = view.mode.map_or("", mode_name);
    let facts: Vec<&str> = [mode, view.state.as_str()]
        .into_iter()
        .filter(|f| !f.is_empty())
        .collect();
    head.push_str(&out.ink(Ink::Faint, &format!("  {}", facts.join(" · "))));
    head
}

/// The mark of a state, and its colour.
pub(crate) fn mark(state: CallState) -> (&'static str, Ink) {
    match state {
        CallState::Proposed | CallState::Running => ("·", Ink::Plain),
        CallState::Waiting => ("◐", Ink::Warn),
        CallState::Done => ("✓", Ink::Good),
        CallState::Failed | CallState::Expired => ("✗", Ink::Bad),
        CallState::Denied | CallState::Rejected => ("⊘", Ink::Bad),
        CallState::Interrupted | CallState::Skipped => ("–", Ink::Faint),
        CallState::Undone => ("↶", Ink::Plain),
    }
}

/// A mode as a person reads it.
pub(crate) fn mode_name(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Read => "read",
        ToolMode::SafeWrite => "safe write",
        ToolMode::Destructive => "destructive",
        ToolMode::Local => "local",
        ToolMode::External => "external",
    }
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

fn decision(decision: &Decision) -> String {
    let noted = |did: &str, note: &str| match note.trim() {
        "" => format!("{did}."),
        note => format!("{did}: {note}"),
    };
    match decision {
        Decision::Allow {
            hunks: None, note, ..
        } => noted("allowed it", note),
        Decision::Allow {
            hunks: Some(hunks),
            note,
            ..
        } => noted(&format!("allowed {} of its changes", hunks.len()), note),
        Decision::Reject {
            note, stop: false, ..
        } => noted("rejected it", note),
        Decision::Reject {
            note, stop: true, ..
        } => noted("rejected it and stopped the turn", note),
        Decision::Answer { answers } => {
            let answers: Vec<String> = answers.iter().map(|chosen| chosen.join(", ")).collect();
            format!("answered: {}", answers.join("; "))
        }
        Decision::Skip => "did not answer.".to_owned(),
        Decision::DryRun => "let it run in a sealed copy first.".to_owned(),
        Decision::WithNetwork { hosts } => format!("gave it a way to {}.", hosts.join(", ")),
        Decision::InPlace { hosts } if hosts.is_empty() => "let it run for real.".to_owned(),
        Decision::InPlace { hosts } => {
            format!("let it run for real with a way to {}.", hosts.join(", "))
        }
        Decision::Edit { .. } => "changed its arguments.".to_owned(),
    }
}

/// The person's line; for commands and for what failed, the beginning of the text as well.
fn result(view: &CallView, add: &mut impl FnMut(Ink, &str)) {
    let Some(outcome) = &view.outcome else {
        return;
    };
    let well = matches!(outcome.state, CallState::Done);
    // What the model is told of a denial is what stands above as the reason.
    let lead = view.trail.as_ref().map(|trail| trail.lead.trim());
    if lead == Some(outcome.message.trim()) {
        return;
    }
    let shows_text = !well || matches!(view.preview, Preview::Command(_) | Preview::Effects(_));
    // An empty output is said to be empty, not left out.
    let text = match (&outcome.empty, outcome.text.is_empty()) {
        (Some(words), true) => words,
        (_, false) | (None, true) => outcome.text.trim_end(),
    };
    if shows_text && text.trim() != outcome.message.trim() {
        for line in text.lines().take(OUTPUT_LINES_MAX) {
            add(Ink::Plain, &format!("│ {line}"));
        }
        let more = text.lines().count().saturating_sub(OUTPUT_LINES_MAX);
        if more > 0 {
            add(Ink::Faint, &format!("│ … {more} more lines"));
        }
    }
    let summary = outcome.ui_summary();
    if !summary.is_empty() {
        let ink = if well { Ink::Faint } else { Ink::Bad };
        add(ink, &format!("→ {summary}"));
    }
}

/// How far a call says that it is.
pub(crate) fn progress(out: &Out, tool: &str, message: &str) -> String {
    let text = format!("… {tool}: {}", message.replace('\n', "⏎"));
    out.ink(Ink::Faint, &text) + "\n"
}

/// A time in the machine's zone.
pub(crate) fn time(at: At) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| format!("{at} ms"),
        |time| {
            time.to_zoned(TimeZone::system())
                .strftime("%Y-%m-%d %H:%M")
                .to_string()
        },
    )
}
