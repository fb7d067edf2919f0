//! What a card shows of a call, as an editor can show it: differences of files, and text.

use std::path::Path;

use agent_client_protocol::v1::schema::{Diff, ToolCallContent};
use protocol::Preview;
use protocol::text::display_text::{format_count, join_spans};
use protocol::text::fence::fence;
use protocol::view::effects::Effects;
use protocol::view::preview::{DiffLine, DiffLineKind, FileDiff, Hunk, LossPreview};

/// Returns the content of a card. Paths are made absolute by the workspace root.
pub(super) fn describe_preview(preview: &Preview, root: &Path) -> Vec<ToolCallContent> {
    match preview {
        Preview::Nothing | Preview::Form { .. } | Preview::Todo { .. } => Vec::new(),
        Preview::Diff { files } => files
            .iter()
            .flat_map(|file| describe_file(file, root))
            .collect(),
        Preview::Command(command) => vec![fence(&join_spans(&command.command)).into()],
        Preview::Effects(shown) => {
            let command = fence(&join_spans(&shown.command.command));
            let changes = shown.effects.changes.iter();
            let files = changes.filter_map(|change| change.diff.as_ref());
            let mut content = vec![command.into(), describe_effects(&shown.effects).into()];
            content.extend(files.flat_map(|file| describe_file(file, root)));
            content
        }
        Preview::Loss(loss) => vec![describe_loss(loss).into()],
        Preview::Response(response) => vec![
            format!(
                "It came from {}; the agent has not read it:",
                response.hosts.join(", ")
            )
            .into(),
            fence(&join_spans(&response.text)).into(),
        ],
        Preview::Plan { text } => vec![text.clone().into()],
        Preview::Request(request) => vec![fence(&request.summary()).into()],
    }
}

/// Returns the change of a file: each hunk as a difference, and in words what no difference shows.
fn describe_file(file: &FileDiff, root: &Path) -> Vec<ToolCallContent> {
    let path = root.join(&file.path);
    let words = match &file.from {
        Some(from) => Some(format!("moved {from} -> {}", file.path)),
        None => file.gone.then(|| format!("deleted {}", file.path)),
    };
    let hunks = file.hunks.iter().filter(|hunk| !hunk.lines.is_empty());
    let diffs = hunks.map(|hunk| {
        let old = file.exists.then(|| side_text(hunk, DiffLineKind::Removed));
        Diff::new(&path, side_text(hunk, DiffLineKind::Added))
            .old_text(old)
            .into()
    });
    let words = words.into_iter().chain(file.cut.clone());
    words.map(Into::into).chain(diffs).collect()
}

/// Returns the text of a hunk before or after the change: its context with the removed or the added lines.
fn side_text(hunk: &Hunk, side: DiffLineKind) -> String {
    let is_shown = |line: &&DiffLine| line.kind == DiffLineKind::Context || line.kind == side;
    let lines = hunk.lines.iter().filter(is_shown).map(|line| {
        let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
        text + if line.no_newline { "" } else { "\n" }
    });
    lines.collect()
}

/// Returns the effects of a dry run, a line each.
fn describe_effects(effects: &Effects) -> String {
    let changes = effects.changes.iter().map(ToString::to_string);
    let refused = effects.refused.iter().map(ToString::to_string);
    let reached = effects.reached.iter().map(ToString::to_string);
    let notes = effects.notes.iter().cloned();
    let attempts = refused.chain(reached).chain(effects.outside_read_lines());
    let lines: Vec<String> = changes.chain(attempts).chain(notes).collect();
    match lines.is_empty() {
        true => "In a dry run it changed nothing and was refused nothing.".to_owned(),
        false => format!("Effects in a dry run:\n{}", fence(&lines.join("\n"))),
    }
}

fn describe_loss(loss: &LossPreview) -> String {
    let (files, folders) = (
        format_count(loss.files, "file"),
        format_count(loss.folders, "folder"),
    );
    let paths: Vec<&str> = loss.shown.iter().map(|item| item.path.as_str()).collect();
    format!("Removes {files}, {folders}:\n{}", fence(&paths.join("\n")))
}

#[cfg(test)]
mod tests {
    use protocol::text::display_text::to_spans;
    use serde_json::{Value, json};

    use super::*;

    /// The content of a preview, as an editor gets it.
    fn content(preview: Value) -> Value {
        let preview: Preview = serde_json::from_value(preview).unwrap();
        serde_json::to_value(describe_preview(&preview, Path::new("/w"))).unwrap()
    }

    fn text(text: &str) -> Value {
        json!({ "type": "content", "content": { "type": "text", "text": text } })
    }

    fn line(kind: &str, text: &str) -> Value {
        json!({ "kind": kind, "old": null, "new": null, "parts": [{ "text": text }] })
    }

    fn file(path: &str, exists: bool, lines: Value) -> Value {
        let hunk = json!({ "id": 0, "old_start": 1, "new_start": 1, "section": "", "added": 0, "removed": 0, "lines": lines });
        json!({ "path": path, "exists": exists, "language": "", "added": 0, "removed": 0, "hunks": [hunk] })
    }

    #[test]
    fn a_file_is_a_difference_for_each_hunk() {
        let lines = json!([
            line("context", "a"),
            line("removed", "b"),
            line("added", "c")
        ]);
        let mut moved = file("new", true, lines);
        moved["from"] = json!("old");
        moved["cut"] = json!("The rest is too long.");
        let made = file("made", false, json!([line("added", "x")]));
        let mut gone = file("gone", true, json!([]));
        gone["gone"] = json!(true);
        assert_eq!(
            content(json!({ "type": "diff", "files": [moved, made, gone] })),
            json!([
                text("moved old -> new"),
                text("The rest is too long."),
                { "type": "diff", "path": "/w/new", "oldText": "a\nb\n", "newText": "a\nc\n" },
                { "type": "diff", "path": "/w/made", "newText": "x\n" },
                text("deleted gone"),
            ])
        );
    }

    #[test]
    fn effects_are_named_one_by_one_before_their_differences() {
        let command =
            json!({ "folder": "/w", "command": to_spans("make"), "facts": [], "timeout_ms": 1 });
        let change = json!({ "id": 0, "path": "made", "kind": "added", "before": null, "after": null,
            "diff": file("made", false, json!([line("added", "x")])) });
        let effects = |changes: Value, refused: Value| {
            json!({ "assurance": "speculative", "exit_code": 0, "ended": "", "output": [], "output_bytes": 0,
                "changes": changes, "refused": refused, "notes": [], "digest": "d" })
        };
        let refused = json!([{ "kind": "network", "target": "packages.example:443" }]);
        let shown = effects(json!([change]), refused);
        assert_eq!(
            content(json!({ "type": "effects", "command": command, "effects": shown })),
            json!([
                text("```\nmake\n```"),
                text("Effects in a dry run:\n```\nadded made\nrefused network packages.example:443\n```"),
                { "type": "diff", "path": "/w/made", "newText": "x\n" },
            ])
        );
        let nothing = effects(json!([]), json!([]));
        assert_eq!(
            content(json!({ "type": "effects", "command": command, "effects": nothing }))[1],
            text("In a dry run it changed nothing and was refused nothing.")
        );
    }

    #[test]
    fn what_is_lost_and_what_came_are_told() {
        let item = json!({ "path": "a", "kind": "file", "bytes": 1 });
        let loss = json!({ "type": "loss", "files": 1, "folders": 0, "lines": 1, "bytes": 1, "shown": [item] });
        assert_eq!(
            content(loss),
            json!([text("Removes 1 file, 0 folders:\n```\na\n```")])
        );
        let response =
            json!({ "type": "response", "hosts": ["docs.example"], "text": to_spans("Hello.") });
        assert_eq!(content(response)[1], text("```\nHello.\n```"));
    }
}
