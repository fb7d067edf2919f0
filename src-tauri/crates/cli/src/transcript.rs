//! Formats a session as lines for a person: messages, and calls with their effects and the reason why they were
//! allowed.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use protocol::event::AnswerCheck;
use protocol::rule::verdict::RuleTrace;
use protocol::text::display_text::format_count;
use protocol::text::redact;
use protocol::{
    At, CallState, CallView, Decision, Entry, EntryBody, Notice, NoticeLevel, Preview, ToolMode,
    Trail, UserError, Verdict,
};

use crate::limits::{DIFF_LINES_MAX, OUTPUT_LINES_MAX};
use crate::output::{OutputWriter, TextStyle};
use crate::previews::add_preview_lines;

/// Formats one entry of a transcript, followed by an empty line.
pub(crate) fn format_entry(out: &OutputWriter, entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Person { text, images, .. } => {
            format_person_message(out, text, u64::from(*images))
        }
        EntryBody::SubAgentTask {
            title,
            text,
            failed,
            ..
        } => format_sub_agent_task(out, title, text, *failed),
        EntryBody::Agent {
            text,
            error,
            checked,
            ..
        } => {
            let mut lines = String::new();
            if !text.trim().is_empty() {
                lines.push_str(&out.apply_style(TextStyle::Plain, text.trim_end()));
                lines.push_str("\n\n");
            }
            if let Some(checked) = checked {
                lines.push_str(&format_answer_problems(out, checked));
            }
            if let Some(error) = error {
                lines.push_str(&format_turn_error(out, error));
            }
            lines
        }
        EntryBody::Call(view) => format_call(out, view),
        EntryBody::Notice(notice) => self::format_notice(out, notice),
    }
}

/// Formats the person's message, with the number of its images.
pub(crate) fn format_person_message(out: &OutputWriter, text: &str, images: u64) -> String {
    let mark = out.apply_style(TextStyle::Strong, "›");
    let text = out.apply_style(TextStyle::Strong, text.trim_end());
    let beside = match images {
        0 => String::new(),
        count => out.apply_style(
            TextStyle::Faint,
            &format!("  with {}", format_count(count, "image")),
        ),
    };
    format!("{mark} {text}{beside}\n\n")
}

/// Formats the result of a sub-agent task.
fn format_sub_agent_task(out: &OutputWriter, title: &str, text: &str, failed: bool) -> String {
    let (mark, ink) = match failed {
        true => ("✗", TextStyle::Bad),
        false => ("✓", TextStyle::Good),
    };
    format!(
        "{} {}\n{}\n\n",
        out.apply_style(ink, mark),
        out.apply_style(TextStyle::Strong, &format!("In the background: {title}")),
        out.apply_style(TextStyle::Plain, text.trim_end()),
    )
}

/// Formats the error that cut off an answer.
pub(crate) fn format_turn_error(out: &OutputWriter, fault: &UserError) -> String {
    format!(
        "{} {}\n\n",
        out.apply_style(TextStyle::Bad, "✗"),
        out.apply_style(TextStyle::Bad, &fault.to_string())
    )
}

/// Formats the problems of an answer that does not match its requested schema; empty if it does.
pub(crate) fn format_answer_problems(out: &OutputWriter, checked: &AnswerCheck) -> String {
    let problem = checked.problem.as_deref().map(|problem| {
        let text = out.apply_style(TextStyle::Warn, &format!("! Not taken: {problem}"));
        format!("{text}\n\n")
    });
    problem.unwrap_or_default()
}

/// Formats the start or the end of planning in a session.
pub(crate) fn format_planning(out: &OutputWriter, on: bool) -> String {
    let text = match on {
        true => "Planning: nothing is changed before the plan is accepted.",
        false => "No longer planning.",
    };
    format!("{}\n\n", out.apply_style(TextStyle::Faint, text))
}

/// Formats a notice.
pub(crate) fn format_notice(out: &OutputWriter, notice: &Notice) -> String {
    let ink = match notice.level {
        NoticeLevel::Note => TextStyle::Faint,
        NoticeLevel::Warning => TextStyle::Warn,
        NoticeLevel::Error => TextStyle::Bad,
    };
    format!(
        "{}\n\n",
        out.apply_style(ink, &format!("! {}", notice.fault))
    )
}

/// Formats a call: its heading, why it was allowed or not, its preview, the person's decision, and its result.
pub(crate) fn format_call(out: &OutputWriter, view: &CallView) -> String {
    let mut lines = vec![format_call_heading(out, view)];
    let mut add = |ink, text: &str| {
        let text = out.apply_style(ink, text);
        lines.extend(text.lines().map(|line| format!("  {line}")));
    };
    if let Some(reasoning) = &view.reasoning {
        add(TextStyle::Faint, &format!("“{}”", reasoning.trim()));
    }
    if let Some(trail) = &view.trail
        && (trail.verdict != Verdict::Allow || view.decision.is_some())
    {
        add(TextStyle::Faint, &trail.lead);
    }
    add_preview_lines(view, DIFF_LINES_MAX, &mut add);
    if let Some(decided) = &view.decision {
        add(
            TextStyle::Strong,
            &format!("You {}", format_decision(&decided.decision)),
        );
    }
    add_result_lines(view, &mut add);
    lines.join("\n") + "\n\n"
}

/// Formats a verdict with every gate and every rule.
pub(crate) fn format_trail(out: &OutputWriter, trail: &Trail) -> String {
    let mut lines = Vec::new();
    add_gate_lines(trail, &mut |ink, text: &str| {
        lines.push(out.apply_style(ink, text))
    });
    lines.join("\n") + "\n"
}

pub(crate) fn add_gate_lines(trail: &Trail, add: &mut impl FnMut(TextStyle, &str)) {
    add(TextStyle::Strong, &trail.lead);
    for step in &trail.steps {
        let verdict = step.verdict.map_or("", verdict_name);
        let gate = format!("{:?}", step.gate).to_lowercase();
        add(
            TextStyle::Plain,
            &format!("{gate:<12}{verdict:<6}{}", step.text),
        );
        for trace in &step.rules {
            add(
                TextStyle::Faint,
                &format!("{:<18}{}", "", format_rule_trace(trace)),
            );
        }
    }
    if !trail.otherwise.is_empty() {
        add(TextStyle::Faint, &trail.otherwise);
    }
}

/// Formats a matched rule, with its place in a file and its effect on the verdict.
fn format_rule_trace(trace: &RuleTrace) -> String {
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

/// Formats a call with every gate that it passed and its whole result, for a query of a single call.
pub(crate) fn format_full_call(out: &OutputWriter, view: &CallView) -> String {
    let mut lines = vec![format_call_heading(out, view)];
    let mut add = |ink, text: &str| {
        let text = out.apply_style(ink, text);
        lines.extend(text.lines().map(|line| format!("  {line}")));
    };
    add_preview_lines(view, DIFF_LINES_MAX, &mut add);
    if let Some(trail) = &view.trail {
        add_gate_lines(trail, &mut add);
    }
    if let Some(undo) = &view.undo {
        add(
            TextStyle::Plain,
            &format!("undo: countersign undo {}", undo.id),
        );
    }
    let mut text = lines.join("\n") + "\n";
    if let Some(outcome) = &view.outcome {
        text.push('\n');
        text.push_str(&out.apply_style(
            TextStyle::Plain,
            outcome.model_text().trim_end_matches('\n'),
        ));
        text.push('\n');
    }
    text
}

fn format_call_heading(out: &OutputWriter, view: &CallView) -> String {
    let (mark, ink) = state_mark(view.state);
    let mut head = format!(
        "{} {}",
        out.apply_style(ink, mark),
        out.apply_style(TextStyle::Strong, &view.title)
    );
    if !view.target.is_empty() {
        let target = redact::text(&view.target).0.replace('\n', "⏎");
        head.push_str(&format!(" {}", out.apply_style(TextStyle::Plain, &target)));
    }
    let mode = view.mode.map_or("", mode_name);
    let facts: Vec<&str> = [mode, view.state.as_str()]
        .into_iter()
        .filter(|f| !f.is_empty())
        .collect();
    head.push_str(&out.apply_style(TextStyle::Faint, &format!("  {}", facts.join(" · "))));
    head
}

/// Returns the mark of a state, and its style.
pub(crate) fn state_mark(state: CallState) -> (&'static str, TextStyle) {
    match state {
        CallState::Proposed | CallState::Running => ("·", TextStyle::Plain),
        CallState::Waiting => ("◐", TextStyle::Warn),
        CallState::Done => ("✓", TextStyle::Good),
        CallState::Failed | CallState::Expired => ("✗", TextStyle::Bad),
        CallState::Denied | CallState::Rejected => ("⊘", TextStyle::Bad),
        CallState::Interrupted | CallState::Skipped => ("–", TextStyle::Faint),
        CallState::Undone => ("↶", TextStyle::Plain),
    }
}

/// Returns the display name of a mode.
pub(crate) fn mode_name(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Read => "read",
        ToolMode::SafeWrite => "safe write",
        ToolMode::Destructive => "destructive",
        ToolMode::Local => "local",
        ToolMode::External => "external",
    }
}

/// Returns the display name of a verdict.
pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

fn format_decision(decision: &Decision) -> String {
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
        Decision::DryRun => "asked for a dry run first.".to_owned(),
        Decision::WithNetwork { hosts } => format!("gave it access to {}.", hosts.join(", ")),
        Decision::InPlace { hosts } if hosts.is_empty() => "let it run for real.".to_owned(),
        Decision::InPlace { hosts } => {
            format!("let it run for real with access to {}.", hosts.join(", "))
        }
        Decision::Edit { .. } => "changed its arguments.".to_owned(),
    }
}

/// Adds the result's line for the person; for commands and failures, the beginning of the text as well.
fn add_result_lines(view: &CallView, add: &mut impl FnMut(TextStyle, &str)) {
    let Some(outcome) = &view.outcome else {
        return;
    };
    let well = matches!(outcome.state, CallState::Done);
    // The message to the model about a denial is the reason that stands above.
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
            add(TextStyle::Plain, &format!("│ {line}"));
        }
        let more = text.lines().count().saturating_sub(OUTPUT_LINES_MAX);
        if more > 0 {
            add(TextStyle::Faint, &format!("│ … {more} more lines"));
        }
    }
    let summary = outcome.ui_summary();
    if !summary.is_empty() {
        let ink = if well {
            TextStyle::Faint
        } else {
            TextStyle::Bad
        };
        add(ink, &format!("→ {summary}"));
    }
}

/// Formats the progress that a call reports.
pub(crate) fn format_progress(out: &OutputWriter, tool: &str, message: &str) -> String {
    let text = format!("… {tool}: {}", message.replace('\n', "⏎"));
    out.apply_style(TextStyle::Faint, &text) + "\n"
}

/// Formats a time in the machine's time zone.
pub(crate) fn format_time(at: At) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| format!("{at} ms"),
        |time| {
            time.to_zoned(TimeZone::system())
                .strftime("%Y-%m-%d %H:%M")
                .to_string()
        },
    )
}
