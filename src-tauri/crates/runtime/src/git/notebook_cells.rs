//! The cells of a notebook: a person writes them one by one, however little each is of the file.

use serde_json::Value;

use super::line_changes::LineChanges;

/// Whether a cell that no version has is gone from a notebook, or most of its lines are.
pub(super) fn loses_cells(before: &[u8], after: &[u8], versions: &[Vec<u8>]) -> bool {
    let (Some(before), Some(after)) = (read_sources(before), read_sources(after)) else {
        return true;
    };
    let known: Vec<String> = versions
        .iter()
        .filter_map(|version| read_sources(version))
        .flatten()
        .collect();
    let after = after.join("\n");
    let own = before.iter().filter(|source| !known.contains(source));
    own.into_iter().any(|source| {
        let changes = LineChanges::compare(source.as_bytes(), after.as_bytes());
        changes.kept * 2 < changes.lines
    })
}

/// Returns the texts of the cells; none if this is no notebook.
fn read_sources(content: &[u8]) -> Option<Vec<String>> {
    let notebook: Value = serde_json::from_slice(content).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let sources = cells.iter().map(|cell| match cell.get("source") {
        Some(Value::String(source)) => source.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => String::new(),
    });
    Some(sources.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notebook(sources: &[&str]) -> Vec<u8> {
        let cells: Vec<Value> = sources
            .iter()
            .map(|source| serde_json::json!({"cell_type": "code", "source": [source]}))
            .collect();
        serde_json::json!({ "cells": cells })
            .to_string()
            .into_bytes()
    }

    #[test]
    fn a_cell_that_git_does_not_have_is_missed() {
        let versions = [notebook(&["import a", "a.show()"])];
        let before = notebook(&["import a", "a.show()", "b = 1\nb += 2\nb"]);
        for (after, is_lost) in [
            (notebook(&["import a", "a.show()"]), true),
            (notebook(&["import a", "a.show()", "b"]), true),
            (b"{".to_vec(), true),
            (notebook(&["b = 1\nb += 2\nb"]), false),
            (
                notebook(&["import a", "a.show()", "b = 1\nb += 3\nb"]),
                false,
            ),
            (notebook(&["import a", "b = 1\nb += 2\nb\nc"]), false),
        ] {
            let text = String::from_utf8_lossy(&after);
            assert_eq!(loses_cells(&before, &after, &versions), is_lost, "{text}");
        }
    }
}
