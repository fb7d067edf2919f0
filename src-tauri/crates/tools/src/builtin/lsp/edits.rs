//! Turns the edits that a language server proposes into file changes: shown as a whole, or rejected with the reason.

use std::collections::BTreeMap;
use std::path::Path;

use protocol::call::plan::FileChange;
use protocol::{Capability, ToolError};
use runtime::Workspace;

use super::resolve_in_workspace;
use crate::builtin::fs::file_access::{as_text, read_content};
use crate::builtin::fs::patch_plan::assemble_changes;
use crate::language_service::{
    EncodedRange, FileEdits, LanguageResponse, LanguageResult, PositionEncoding, SourceLines,
};
use crate::limits::{LSP_LINE_CHARS_MAX, RENAME_EDITS_MAX, RENAME_FILES_MAX};
use crate::text::{escape_invisible, truncate_chars};
use crate::tool::PreviewedPlan;

type FileEditRefs<'a> = Vec<&'a (EncodedRange, String)>;

/// Plans the changes that the server's answer makes.
pub(super) fn plan_edits(
    workspace: &Workspace,
    response: &LanguageResponse,
) -> Result<PreviewedPlan, ToolError> {
    let server = escape_invisible(&response.server);
    let LanguageResult::Edits(files) = &response.result else {
        return Err(refused_edit_error(
            &server,
            "answered with something that is not a renaming",
        ));
    };
    let all: usize = files.iter().map(|file| file.edits.len()).sum();
    if files.len() > RENAME_FILES_MAX || all > RENAME_EDITS_MAX {
        let why = format!(
            "wants to change {all} places in {} files, and at most {RENAME_EDITS_MAX} in {RENAME_FILES_MAX} can be shown",
            files.len()
        );
        return Err(refused_edit_error(&server, &why));
    }
    let mut by_path: BTreeMap<String, FileEditRefs<'_>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.edits.is_empty()) {
        let path = resolve_edited_path(workspace, file)
            .map_err(|why| refused_edit_error(&server, &why))?;
        by_path.entry(path).or_default().extend(&file.edits);
    }
    let mut changes = Vec::new();
    for (path, edits) in by_path {
        let Some(before) = read_content(workspace, &path)? else {
            let why = format!("wants to change `{path}`, which is not there");
            return Err(refused_edit_error(&server, &why));
        };
        let text = as_text(&path, &before, "can be changed")?;
        let after = apply_edits(text, edits, response.encoding).map_err(|why| {
            let why = format!("{why} in `{path}`: it may have seen another state of the file");
            refused_edit_error(&server, &why)
        })?;
        if after != text {
            changes.push(FileChange {
                path,
                before: Some(before),
                after: Some(after.into_bytes()),
                from: None,
            });
        }
    }
    if changes.is_empty() {
        return Err(ToolError::Failed(format!(
            "{server} has nothing to change for this name. Look at the symbol again with `lsp`."
        )));
    }
    assemble_changes(changes)
}

fn refused_edit_error(server: &str, why: &str) -> ToolError {
    ToolError::Failed(format!(
        "{server} {why}, so nothing was changed. Use edit or apply_patch."
    ))
}

/// Resolves the real path of a file to be changed, relative to the workspace root.
fn resolve_edited_path(workspace: &Workspace, file: &FileEdits) -> Result<String, String> {
    let Some(path) = file.file.as_deref().and_then(Path::to_str) else {
        let address = truncate_chars(&escape_invisible(&file.address), LSP_LINE_CHARS_MAX);
        return Err(format!(
            "wants to change `{address}`, which is not a file here"
        ));
    };
    resolve_in_workspace(workspace, Capability::FsWrite, path)
        .ok_or_else(|| format!("wants to change `{path}`, which is not in the workspace"))
}

/// Applies all edits to a text. The error describes the invalid edits, as a clause.
fn apply_edits(
    text: &str,
    edits: FileEditRefs<'_>,
    encoding: PositionEncoding,
) -> Result<String, String> {
    let lines = SourceLines::new(text);
    let mut placed = Vec::with_capacity(edits.len());
    for (span, new) in edits {
        let byte = |point| lines.byte_offset(point, encoding);
        match (byte(span.start), byte(span.end)) {
            (Some(start), Some(end)) if start <= end => placed.push((start, end, new.as_str())),
            (_, _) => {
                let line = span.start.line.saturating_add(1);
                return Err(format!("names a place at line {line} that is not there"));
            }
        }
    }
    // Insertions at the same place keep the order in which they were given.
    placed.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut after, mut done) = (String::with_capacity(text.len()), 0);
    let mut last = None;
    for (start, end, new) in placed {
        let again = last.replace((start, end, new)) == Some((start, end, new)) && start != end;
        // Some servers say the same change twice.
        if again {
            continue;
        }
        let between = text.get(done..start).filter(|_| start >= done);
        let Some(between) = between else {
            return Err("wants to change the same place twice".to_owned());
        };
        after.push_str(between);
        after.push_str(new);
        done = end;
    }
    after.push_str(text.get(done..).unwrap_or_default());
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language_service::EncodedPosition;

    fn edit(start: (u32, u32), end: (u32, u32), new: &str) -> (EncodedRange, String) {
        let point = |(line, unit)| EncodedPosition { line, unit };
        let span = EncodedRange {
            start: point(start),
            end: point(end),
        };
        (span, new.to_owned())
    }

    #[test]
    fn edits_are_applied_together_or_refused() {
        let text = "let a = 1;\r\nlet \u{1f600}b = a;\n";
        for (edits, after) in [
            (
                vec![edit((0, 4), (0, 5), "xy"), edit((1, 10), (1, 11), "xy")],
                Ok("let xy = 1;\r\nlet \u{1f600}b = xy;\n"),
            ),
            // Whatever their order.
            (
                vec![edit((1, 10), (1, 11), ""), edit((0, 4), (0, 5), "")],
                Ok("let  = 1;\r\nlet \u{1f600}b = ;\n"),
            ),
            (
                vec![edit((0, 0), (0, 0), "1"), edit((0, 0), (0, 0), "2")],
                Ok("12let a = 1;\r\nlet \u{1f600}b = a;\n"),
            ),
            (
                vec![edit((0, 4), (0, 5), "x"), edit((0, 4), (0, 5), "x")],
                Ok("let x = 1;\r\nlet \u{1f600}b = a;\n"),
            ),
            (
                vec![edit((0, 4), (0, 5), "x"), edit((0, 4), (0, 5), "y")],
                Err("wants to change the same place twice"),
            ),
            (
                vec![edit((0, 4), (0, 8), "x"), edit((0, 6), (0, 9), "y")],
                Err("wants to change the same place twice"),
            ),
            (
                vec![edit((0, 5), (0, 4), "x")],
                Err("names a place at line 1 that is not there"),
            ),
            (
                vec![edit((1, 5), (1, 6), "x")],
                Err("names a place at line 2 that is not there"),
            ),
            (
                vec![edit((7, 0), (7, 0), "x")],
                Err("names a place at line 8 that is not there"),
            ),
            (
                vec![edit((0, 90), (0, 91), "x")],
                Err("names a place at line 1 that is not there"),
            ),
        ] {
            let done = apply_edits(text, edits.iter().collect(), PositionEncoding::Utf16);
            let after = after.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(done, after, "{edits:?}");
        }
    }
}
