//! A session as a story in Markdown. What people and tools wrote stays inside quotes and fences, so that nothing of it
//! can end the document or pass for a part of it, and hidden characters are named.

mod marks;

use jiff::Timestamp;
use protocol::entry::SessionView;
use protocol::preview::{CommandPreview, FileDiff, LineKind, LossPreview};
use protocol::shown::{counted, plain};
use protocol::{
    At, CallView, Decision, Effects, Entry, EntryBody, NoticeLevel, Preview, UndoState,
};

use self::marks::{code, fence, inline, quote};

/// Title and facts of a session.
pub(crate) fn head(view: &SessionView) -> String {
    let mut text = format!("# {}\n\n", inline(&view.title));
    text.push_str(&format!("- Session: {}\n", code(view.id.as_str())));
    text.push_str(&format!("- Workspace: {}\n", code(&view.workspace)));
    let model = match view.model.model.as_str() {
        "" => view.model.provider.clone(),
        model => format!("{} · {model}", view.model.provider),
    };
    text.push_str(&format!("- Model: {}\n", inline(&model)));
    text.push_str(&format!("- Opened: {}\n", time(view.opened_at)));
    text.push_str(&format!("- State: {}\n", view.state.as_str()));
    let usage = view.usage;
    let mut used = format!(
        "{}, {} in, {} out",
        counted(view.turns.into(), "turn"),
        counted(usage.input_tokens, "token"),
        counted(usage.output_tokens, "token")
    );
    if let Some(cost) = usage.cost_usd {
        used.push_str(&format!(", {cost:.4} USD"));
    }
    text.push_str(&format!("- Used: {used}\n"));
    text
}

/// One entry as a section.
pub(crate) fn entry(entry: &Entry) -> String {
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
            section(&head, entry.at, &quote(text))
        }
        EntryBody::Errand {
            title,
            text,
            failed,
            ..
        } => {
            let how = if *failed { "failed" } else { "ended" };
            let head = format!("In the background {how}: {}", inline(title));
            section(&head, entry.at, &quote(text))
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
                body.push_str(&fence("", reasoning));
            }
            body.push_str(&quote(text));
            if let Some(error) = error {
                body.push_str(&format!("**Cut off:** {}\n\n", inline(&error.to_string())));
            }
            if let Some(problem) = checked
                .as_ref()
                .and_then(|checked| checked.problem.as_ref())
            {
                body.push_str(&format!("**Not taken:** {}\n\n", inline(problem)));
            }
            if let Some(output) = checked.as_ref().and_then(|checked| checked.output.as_ref()) {
                body.push_str("Output:\n\n");
                body.push_str(&fence("json", &format!("{output:#}")));
            }
            match body.is_empty() {
                true => String::new(),
                false => section("Agent", entry.at, &body),
            }
        }
        EntryBody::Call(view) => call(view, entry.at),
        EntryBody::Notice(notice) => {
            let level = match notice.level {
                NoticeLevel::Note => "Note",
                NoticeLevel::Warning => "Warning",
                NoticeLevel::Error => "Error",
            };
            section(level, entry.at, &quote(&notice.fault.to_string()))
        }
    }
}

fn section(title: &str, at: At, body: &str) -> String {
    format!(
        "\n## {title} · {}\n\n{}\n",
        time(at),
        body.trim_end_matches('\n')
    )
}

fn call(view: &CallView, at: At) -> String {
    let target = match view.target.as_str() {
        "" => String::new(),
        target => format!(" {}", code(target)),
    };
    let title = format!("{}{target} · {}", inline(&view.title), view.state.as_str());
    let mut body = String::new();
    if let Some(reasoning) = &view.reasoning {
        body.push_str("The agent's reason:\n\n");
        body.push_str(&quote(reasoning));
    }
    if let Some(trail) = &view.trail {
        body.push_str(&format!("Why: {}\n\n", inline(&trail.lead)));
    }
    preview(&mut body, view);
    if let Some(decided) = &view.decision {
        let said = decision(&decided.decision);
        body.push_str(&format!("You {said} · {}\n\n", time(decided.at)));
        if let Decision::Allow { note, .. } | Decision::Reject { note, .. } = &decided.decision {
            body.push_str(&quote(note));
        }
        if let Decision::Answer { answers } = &decided.decision {
            let lines: Vec<String> = answers.iter().map(|chosen| chosen.join(", ")).collect();
            body.push_str(&quote(&lines.join("\n")));
        }
    }
    if let Some(outcome) = &view.outcome {
        if !outcome.message.is_empty() {
            let took = match outcome.duration_ms {
                0 => String::new(),
                ms => format!(" · {ms} ms"),
            };
            body.push_str(&format!("Result: {}{took}\n\n", inline(&outcome.message)));
        }
        body.push_str(&fence("text", &outcome.text));
        if let Some(truncated) = &outcome.truncated {
            let bytes = truncated.bytes;
            body.push_str(&match &truncated.output_path {
                Some(path) => {
                    let file = code(path);
                    format!("Cut: the whole output of {bytes} bytes is in {file}.\n\n")
                }
                None => format!("Cut: this is the head of {bytes} bytes.\n\n"),
            });
        }
    } else {
        body.push_str(&fence("text", &view.output));
    }
    if let Some(place) = &view.kept {
        let of = place
            .instance
            .as_ref()
            .map_or(String::new(), |name| format!(" of instance {}", code(name)));
        body.push_str(&format!(
            "Kept in the session's state as {}{of}.\n\n",
            code(&place.path)
        ));
    }
    if let Some(undo) = &view.undo {
        let state = match undo.state {
            UndoState::Prepared => "a copy was taken",
            UndoState::Applied => "can be taken back",
            UndoState::Undone => "was taken back",
        };
        body.push_str(&format!("Undo: {state} ({})\n\n", code(undo.id.as_str())));
    }
    section(&title, at, &body)
}

fn preview(body: &mut String, view: &CallView) {
    match &view.preview {
        Preview::Diff { files } => {
            for file in files {
                body.push_str(&fence("diff", &diff(file)));
            }
        }
        Preview::Command(shown) => command(body, shown),
        Preview::Effects(shown) => {
            command(body, &shown.command);
            effects(body, &shown.effects);
        }
        Preview::Loss(loss) => body.push_str(&losses(loss)),
        Preview::Form { questions } => {
            for question in questions {
                body.push_str(&quote(&question.question));
                for option in &question.options {
                    body.push_str(&format!("- {}\n", inline(&option.label)));
                }
                body.push('\n');
            }
        }
        Preview::Plan { text } => body.push_str(&quote(text)),
        // It is the result, if the agent was to read it.
        Preview::Came(came) => {
            body.push_str(&quote(&format!("It came from {}.", came.hosts.join(", "))));
        }
        Preview::Todo { items } => {
            for item in items {
                let mark = match item.status {
                    protocol::preview::TodoStatus::Pending => " ",
                    protocol::preview::TodoStatus::InProgress => "~",
                    protocol::preview::TodoStatus::Completed => "x",
                };
                body.push_str(&format!("- [{mark}] {}\n", inline(&item.content)));
            }
            body.push('\n');
        }
        Preview::Request(request) => body.push_str(&fence("http", &request.told())),
        Preview::Nothing => {
            let arguments = view.edited.as_ref().unwrap_or(&view.call.arguments);
            if !arguments.is_empty() {
                let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
                body.push_str(&fence("json", &text));
            }
        }
    }
}

fn command(body: &mut String, command: &CommandPreview) {
    let line = plain(&command.command);
    body.push_str(&format!("In {}:\n\n", code(&command.folder)));
    body.push_str(&fence("sh", &line));
}

fn effects(body: &mut String, effects: &Effects) {
    if effects.is_nothing() && effects.notes.is_empty() {
        body.push_str("It changed nothing and was refused nothing.\n\n");
        return;
    }
    for change in &effects.changes {
        body.push_str(&format!("- {}\n", inline(&change.to_string())));
    }
    for refused in &effects.refused {
        body.push_str(&format!("- {}\n", inline(&refused.to_string())));
    }
    for note in &effects.notes {
        body.push_str(&format!("- {}\n", inline(note)));
    }
    body.push('\n');
    for file in effects.changes.iter().filter_map(|it| it.diff.as_ref()) {
        body.push_str(&fence("diff", &diff(file)));
    }
}

fn losses(loss: &LossPreview) -> String {
    let mut text = format!(
        "Takes away {} and {}, {}:\n\n",
        counted(loss.files, "file"),
        counted(loss.folders, "folder"),
        counted(loss.bytes, "byte")
    );
    for item in &loss.shown {
        text.push_str(&format!(
            "- {} ({})\n",
            code(&item.path),
            inline(&item.kind)
        ));
    }
    text.push('\n');
    text
}

fn diff(file: &FileDiff) -> String {
    let named = |path, stands| if stands { path } else { "/dev/null" };
    let before = named(file.from.as_ref().unwrap_or(&file.path), file.exists);
    let after = named(&file.path, !file.gone);
    let mut text = format!("--- {before}\n+++ {after}\n");
    for hunk in file.hunks.iter().filter(|hunk| !hunk.lines.is_empty()) {
        let count = |without: LineKind| hunk.lines.iter().filter(|l| l.kind != without).count();
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@ {}\n",
            hunk.old_start,
            count(LineKind::Added),
            hunk.new_start,
            count(LineKind::Removed),
            hunk.section
        ));
        for line in &hunk.lines {
            text.push(match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
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

fn decision(decision: &Decision) -> String {
    match decision {
        Decision::Allow { hunks: None, .. } => "allowed it".to_owned(),
        Decision::Allow {
            hunks: Some(hunks), ..
        } => format!("allowed {} of its changes", hunks.len()),
        Decision::Reject { stop: false, .. } => "rejected it".to_owned(),
        Decision::Reject { stop: true, .. } => "rejected it and stopped the turn".to_owned(),
        Decision::Answer { .. } => "answered".to_owned(),
        Decision::Skip => "did not answer".to_owned(),
        Decision::DryRun => "let it run in a sealed copy first".to_owned(),
        Decision::WithNetwork { hosts } => format!("gave it a way to {}", hosts.join(", ")),
        Decision::InPlace { hosts } if hosts.is_empty() => "let it run for real".to_owned(),
        Decision::InPlace { hosts } => format!("let it run for real, to {}", hosts.join(", ")),
        Decision::Edit { .. } => "changed its arguments".to_owned(),
    }
}

fn time(at: At) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| format!("{at} ms"),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}
