//! A session as a story in Markdown. What people and tools wrote stays inside quotes and fences, so that nothing of it
//! can end the document or pass for a part of it, and hidden characters are named.

pub(super) mod escape;

use jiff::Timestamp;
use protocol::text::display_text::{format_count, join_spans};
use protocol::view::entry::SessionView;
use protocol::view::preview::{CommandPreview, DiffLineKind, FileDiff, LossPreview};
use protocol::{
    At, CallView, Decision, Effects, Entry, EntryBody, NoticeLevel, Preview, UndoState,
};

use crate::export::markdown::escape::{block_quote, code_fence, code_span, escape_inline};

/// Title and facts of a session.
pub(crate) fn render_head(view: &SessionView) -> String {
    let mut text = format!("# {}\n\n", escape_inline(&view.title));
    text.push_str(&format!("- Session: {}\n", code_span(view.id.as_str())));
    text.push_str(&format!("- Workspace: {}\n", code_span(&view.workspace)));
    let model = match view.model.model.as_str() {
        "" => view.model.provider.clone(),
        model => format!("{} · {model}", view.model.provider),
    };
    text.push_str(&format!("- Model: {}\n", escape_inline(&model)));
    text.push_str(&format!("- Opened: {}\n", format_time(view.opened_at)));
    text.push_str(&format!("- State: {}\n", view.state.as_str()));
    let usage = view.usage;
    let mut used = format!(
        "{}, {} in, {} out",
        format_count(view.turns.into(), "turn"),
        format_count(usage.input_tokens, "token"),
        format_count(usage.output_tokens, "token")
    );
    if let Some(cost) = usage.cost_usd {
        used.push_str(&format!(", {cost:.4} USD"));
    }
    text.push_str(&format!("- Used: {used}\n"));
    text
}

/// One entry as a section.
pub(crate) fn render_entry(entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Person {
            text,
            images,
            steering,
        } => {
            let while_working = if *steering {
                " (while the agent worked)"
            } else {
                ""
            };
            let with_images = match images {
                0 => String::new(),
                1 => ", with an image".to_owned(),
                count => format!(", with {count} images"),
            };
            let head = format!("You{while_working}{with_images}");
            render_section(&head, entry.at, &block_quote(text))
        }
        EntryBody::SubAgentTask {
            title,
            text,
            failed,
            ..
        } => {
            let how = if *failed { "failed" } else { "ended" };
            let head = format!("In the background {how}: {}", escape_inline(title));
            render_section(&head, entry.at, &block_quote(text))
        }
        EntryBody::Agent {
            text,
            reasoning,
            error,
            checked,
            ..
        } => {
            let mut body = String::new();
            if !reasoning.is_empty() {
                body.push_str("Reasoning:\n\n");
                body.push_str(&code_fence("", reasoning));
            }
            body.push_str(&block_quote(text));
            if let Some(error) = error {
                body.push_str(&format!(
                    "**Cut off:** {}\n\n",
                    escape_inline(&error.to_string())
                ));
            }
            if let Some(problem) = checked
                .as_ref()
                .and_then(|checked| checked.problem.as_ref())
            {
                body.push_str(&format!("**Not taken:** {}\n\n", escape_inline(problem)));
            }
            if let Some(output) = checked.as_ref().and_then(|checked| checked.output.as_ref()) {
                body.push_str("Output:\n\n");
                body.push_str(&code_fence("json", &format!("{output:#}")));
            }
            match body.is_empty() {
                true => String::new(),
                false => render_section("Agent", entry.at, &body),
            }
        }
        EntryBody::Call(view) => render_call(view, entry.at),
        EntryBody::Notice(notice) => {
            let level = match notice.level {
                NoticeLevel::Note => "Note",
                NoticeLevel::Warning => "Warning",
                NoticeLevel::Error => "Error",
            };
            render_section(level, entry.at, &block_quote(&notice.fault.to_string()))
        }
    }
}

fn render_section(title: &str, at: At, body: &str) -> String {
    format!(
        "\n## {title} · {}\n\n{}\n",
        format_time(at),
        body.trim_end_matches('\n')
    )
}

fn render_call(view: &CallView, at: At) -> String {
    let target = match view.target.as_str() {
        "" => String::new(),
        target => format!(" {}", code_span(target)),
    };
    let title = format!(
        "{}{target} · {}",
        escape_inline(&view.title),
        view.state.as_str()
    );
    let mut body = String::new();
    if let Some(reasoning) = &view.reasoning {
        body.push_str("The agent's reason:\n\n");
        body.push_str(&block_quote(reasoning));
    }
    if let Some(trail) = &view.trail {
        body.push_str(&format!("Why: {}\n\n", escape_inline(&trail.lead)));
    }
    render_preview(&mut body, view);
    if let Some(decided) = &view.decision {
        let decision_text = render_decision(&decided.decision);
        body.push_str(&format!(
            "You {decision_text} · {}\n\n",
            format_time(decided.at)
        ));
        if let Decision::Allow { note, .. } | Decision::Reject { note, .. } = &decided.decision {
            body.push_str(&block_quote(note));
        }
        if let Decision::Answer { answers } = &decided.decision {
            let lines: Vec<String> = answers.iter().map(|chosen| chosen.join(", ")).collect();
            body.push_str(&block_quote(&lines.join("\n")));
        }
    }
    if let Some(outcome) = &view.outcome {
        if !outcome.message.is_empty() {
            let took = match outcome.duration_ms {
                0 => String::new(),
                ms => format!(" · {ms} ms"),
            };
            body.push_str(&format!(
                "Result: {}{took}\n\n",
                escape_inline(&outcome.message)
            ));
        }
        body.push_str(&code_fence("text", &outcome.text));
        if let Some(truncated) = &outcome.truncated {
            let bytes = truncated.bytes;
            body.push_str(&match &truncated.output_path {
                Some(path) => {
                    let file = code_span(path);
                    format!("Cut: the whole output of {bytes} bytes is in {file}.\n\n")
                }
                None => format!("Cut: this is the head of {bytes} bytes.\n\n"),
            });
        }
    } else {
        body.push_str(&code_fence("text", &view.output));
    }
    if let Some(place) = &view.stored_at {
        let of = place.instance.as_ref().map_or(String::new(), |name| {
            format!(" of instance {}", code_span(name))
        });
        body.push_str(&format!(
            "Kept in the session's state as {}{of}.\n\n",
            code_span(&place.path)
        ));
    }
    if let Some(undo) = &view.undo {
        let state = match undo.state {
            UndoState::Prepared => "a copy was taken",
            UndoState::Applied => "can be undone",
            UndoState::Undone => "was undone",
        };
        body.push_str(&format!(
            "Undo: {state} ({})\n\n",
            code_span(undo.id.as_str())
        ));
    }
    render_section(&title, at, &body)
}

fn render_preview(body: &mut String, view: &CallView) {
    match &view.preview {
        Preview::Diff { files } => {
            for file in files {
                body.push_str(&code_fence("diff", &render_diff(file)));
            }
        }
        Preview::Command(shown) => render_command(body, shown),
        Preview::Effects(shown) => {
            render_command(body, &shown.command);
            render_effects(body, &shown.effects);
        }
        Preview::Loss(loss) => body.push_str(&render_losses(loss)),
        Preview::Form { questions } => {
            for question in questions {
                body.push_str(&block_quote(&question.question));
                for option in &question.options {
                    body.push_str(&format!("- {}\n", escape_inline(&option.label)));
                }
                body.push('\n');
            }
        }
        Preview::Plan { text } => body.push_str(&block_quote(text)),
        // It is the result, if the agent was to read it.
        Preview::Response(response) => {
            body.push_str(&block_quote(&format!(
                "It came from {}.",
                response.hosts.join(", ")
            )));
        }
        Preview::Todo { items } => {
            for item in items {
                let mark = match item.status {
                    protocol::view::preview::TodoStatus::Pending => " ",
                    protocol::view::preview::TodoStatus::InProgress => "~",
                    protocol::view::preview::TodoStatus::Completed => "x",
                };
                body.push_str(&format!("- [{mark}] {}\n", escape_inline(&item.content)));
            }
            body.push('\n');
        }
        Preview::Request(request) => body.push_str(&code_fence("http", &request.summary())),
        Preview::Nothing => {
            let arguments = view.edited.as_ref().unwrap_or(&view.call.arguments);
            if !arguments.is_empty() {
                let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
                body.push_str(&code_fence("json", &text));
            }
        }
    }
}

fn render_command(body: &mut String, command: &CommandPreview) {
    let line = join_spans(&command.command);
    body.push_str(&format!("In {}:\n\n", code_span(&command.folder)));
    body.push_str(&code_fence("sh", &line));
}

fn render_effects(body: &mut String, effects: &Effects) {
    if effects.is_empty() && effects.notes.is_empty() {
        body.push_str("It changed nothing and was refused nothing.\n\n");
        return;
    }
    for change in &effects.changes {
        body.push_str(&format!("- {}\n", escape_inline(&change.to_string())));
    }
    for refused in &effects.refused {
        body.push_str(&format!("- {}\n", escape_inline(&refused.to_string())));
    }
    for note in &effects.notes {
        body.push_str(&format!("- {}\n", escape_inline(note)));
    }
    body.push('\n');
    for file in effects.changes.iter().filter_map(|it| it.diff.as_ref()) {
        body.push_str(&code_fence("diff", &render_diff(file)));
    }
}

fn render_losses(loss: &LossPreview) -> String {
    let mut text = format!(
        "Takes away {} and {}, {}:\n\n",
        format_count(loss.files, "file"),
        format_count(loss.folders, "folder"),
        format_count(loss.bytes, "byte")
    );
    for item in &loss.shown {
        text.push_str(&format!(
            "- {} ({})\n",
            code_span(&item.path),
            escape_inline(&item.kind)
        ));
    }
    text.push('\n');
    text
}

fn render_diff(file: &FileDiff) -> String {
    let named = |path, stands| if stands { path } else { "/dev/null" };
    let before = named(file.from.as_ref().unwrap_or(&file.path), file.exists);
    let after = named(&file.path, !file.gone);
    let mut text = format!("--- {before}\n+++ {after}\n");
    for hunk in file.hunks.iter().filter(|hunk| !hunk.lines.is_empty()) {
        let count = |without: DiffLineKind| hunk.lines.iter().filter(|l| l.kind != without).count();
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@ {}\n",
            hunk.old_start,
            count(DiffLineKind::Added),
            hunk.new_start,
            count(DiffLineKind::Removed),
            hunk.section
        ));
        for line in &hunk.lines {
            text.push(match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            });
            line.parts.iter().for_each(|part| text.push_str(&part.text));
            text.push('\n');
            if line.no_newline {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    if let Some(cut) = &file.cut {
        text.push_str(&format!("({cut})\n"));
    }
    text
}

fn render_decision(decision: &Decision) -> String {
    match decision {
        Decision::Allow { hunks: None, .. } => "allowed it".to_owned(),
        Decision::Allow {
            hunks: Some(hunks), ..
        } => format!("allowed {} of its changes", hunks.len()),
        Decision::Reject { stop: false, .. } => "rejected it".to_owned(),
        Decision::Reject { stop: true, .. } => "rejected it and stopped the turn".to_owned(),
        Decision::Answer { .. } => "answered".to_owned(),
        Decision::Skip => "did not answer".to_owned(),
        Decision::DryRun => "asked for a dry run first".to_owned(),
        Decision::WithNetwork { hosts } => format!("gave it access to {}", hosts.join(", ")),
        Decision::InPlace { hosts } if hosts.is_empty() => "let it run for real".to_owned(),
        Decision::InPlace { hosts } => format!("let it run for real, to {}", hosts.join(", ")),
        Decision::Edit { .. } => "changed its arguments".to_owned(),
    }
}

fn format_time(at: At) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| format!("{at} ms"),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}
