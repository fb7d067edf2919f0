//! Notebooks of Jupyter: one cell is replaced, inserted, or deleted, and everything else stays as it is.

use protocol::{Digest, ToolError};
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

/// Indentation of a notebook on disk, as Jupyter writes it.
const INDENT: &[u8] = b" ";

/// First version of the format whose cells have ids.
const FIRST_VERSION_WITH_IDS: (u64, u64) = (4, 5);

/// Length of the id of a new cell, in characters.
const ID_CHARS: usize = 12;

/// The change of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CellEdit {
    /// The source of this cell, and its type where one is given. What the cell put out before is removed.
    Replace {
        cell: String,
        source: String,
        cell_type: Option<String>,
    },
    /// A new cell after this one, or at the beginning.
    Insert {
        after: Option<String>,
        source: String,
        cell_type: String,
    },
    /// This cell is removed.
    Delete { cell: String },
}

/// Returns the text of a notebook after a change of one cell.
///
/// # Errors
/// The text is not a notebook, or has no such cell.
pub(super) fn edit_notebook(path: &str, text: &str, edit: CellEdit) -> Result<String, ToolError> {
    let mut notebook: Value = serde_json::from_str(text)
        .map_err(|error| not_a_notebook_error(path, &error.to_string()))?;
    let has_ids = format_version(&notebook) >= FIRST_VERSION_WITH_IDS;
    let Some(Value::Array(cells)) = notebook.get_mut("cells") else {
        return Err(not_a_notebook_error(path, "it has no list `cells`"));
    };
    match edit {
        CellEdit::Replace {
            cell,
            source,
            cell_type,
        } => {
            let place = find_cell(path, cells, &cell)?;
            let Some(cell) = cells.get_mut(place).and_then(Value::as_object_mut) else {
                return Err(not_a_notebook_error(path, "the cell is not an object"));
            };
            replace_source(cell, source, cell_type);
        }
        CellEdit::Insert {
            after,
            source,
            cell_type,
        } => {
            let place = match &after {
                Some(cell) => find_cell(path, cells, cell)? + 1,
                None => 0,
            };
            let id = has_ids.then(|| new_cell_id(cells, &source));
            cells.insert(place, new_cell(&cell_type, id, source));
        }
        CellEdit::Delete { cell } => {
            let place = find_cell(path, cells, &cell)?;
            cells.remove(place);
        }
    }
    write_notebook(path, &notebook, text.ends_with('\n'))
}

/// Returns the place of a cell that is named by its id, or as `cell-N` by its number from 0.
fn find_cell(path: &str, cells: &[Value], name: &str) -> Result<usize, ToolError> {
    let by_id = cells
        .iter()
        .position(|cell| cell.get("id").and_then(Value::as_str) == Some(name));
    let by_number = || name.strip_prefix("cell-")?.parse::<usize>().ok();
    let place = by_id.or_else(by_number);
    place.filter(|place| *place < cells.len()).ok_or_else(|| {
        ToolError::Failed(format!(
            "`{path}` has no cell `{name}`; it has {} cells. Read the notebook for their ids, or name one by its \
             number from 0, as `cell-0`.",
            cells.len()
        ))
    })
}

fn replace_source(cell: &mut Map<String, Value>, source: String, cell_type: Option<String>) {
    cell.insert("source".to_owned(), source.into());
    if let Some(cell_type) = cell_type {
        cell.insert("cell_type".to_owned(), cell_type.into());
    }
    match cell.get("cell_type").and_then(Value::as_str) {
        Some("code") => {
            cell.insert("execution_count".to_owned(), Value::Null);
            cell.insert("outputs".to_owned(), json!([]));
        }
        // The format allows neither in a cell of another type.
        Some(_) | None => {
            cell.shift_remove("execution_count");
            cell.shift_remove("outputs");
        }
    }
}

fn new_cell(cell_type: &str, id: Option<String>, source: String) -> Value {
    let mut cell = Map::from_iter([("cell_type".to_owned(), cell_type.into())]);
    if let Some(id) = id {
        cell.insert("id".to_owned(), id.into());
    }
    cell.insert("metadata".to_owned(), json!({}));
    replace_source(&mut cell, source, None);
    Value::Object(cell)
}

/// Returns an id that no cell has. It follows from the notebook, so that a difference that was shown stays the same.
fn new_cell_id(cells: &[Value], source: &str) -> String {
    let digest = Digest::from_json(&(cells, source)).0;
    let id = digest.chars().rev().take(ID_CHARS);
    id.collect()
}

/// Returns the version of the notebook's format; 0 for what is not said.
fn format_version(notebook: &Value) -> (u64, u64) {
    let number = |name: &str| notebook.get(name).and_then(Value::as_u64).unwrap_or(0);
    (number("nbformat"), number("nbformat_minor"))
}

fn write_notebook(path: &str, notebook: &Value, ends_line: bool) -> Result<String, ToolError> {
    let mut written = Vec::new();
    let formatter = PrettyFormatter::with_indent(INDENT);
    let mut serializer = Serializer::with_formatter(&mut written, formatter);
    let failed = |error: &dyn std::error::Error| not_a_notebook_error(path, &error.to_string());
    notebook
        .serialize(&mut serializer)
        .map_err(|error| failed(&error))?;
    if ends_line {
        written.push(b'\n');
    }
    String::from_utf8(written).map_err(|error| failed(&error))
}

fn not_a_notebook_error(path: &str, why: &str) -> ToolError {
    ToolError::Failed(format!(
        "`{path}` cannot be edited as a notebook: {why}. Look at it with read."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "Tides"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "plot",
   "metadata": {
    "tags": [
     "kept"
    ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1.52\n"
     ]
    }
   ],
   "source": [
    "print(1.52)"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

    fn edited(edit: CellEdit) -> Value {
        let text = edit_notebook("a.ipynb", NOTEBOOK, edit).unwrap();
        assert!(text.ends_with("}\n") && text.starts_with("{\n \"cells\""));
        serde_json::from_str(&text).unwrap()
    }

    fn replace(cell: &str, cell_type: Option<&str>) -> CellEdit {
        CellEdit::Replace {
            cell: cell.to_owned(),
            source: "print(2)".to_owned(),
            cell_type: cell_type.map(str::to_owned),
        }
    }

    fn insert(after: Option<&str>, cell_type: &str) -> CellEdit {
        CellEdit::Insert {
            after: after.map(str::to_owned),
            source: "new".to_owned(),
            cell_type: cell_type.to_owned(),
        }
    }

    #[test]
    fn a_replaced_cell_loses_what_it_put_out_and_nothing_else() {
        let before: Value = serde_json::from_str(NOTEBOOK).unwrap();
        for name in ["plot", "cell-1"] {
            let after = edited(replace(name, None));
            assert_eq!(after["cells"][0], before["cells"][0]);
            assert_eq!(
                after["cells"][1],
                json!({
                    "cell_type": "code", "execution_count": null, "id": "plot", "metadata": { "tags": ["kept"] },
                    "outputs": [], "source": "print(2)",
                })
            );
            assert_eq!(after["metadata"], before["metadata"]);
        }
    }

    #[test]
    fn a_cell_of_another_type_has_the_members_of_that_type() {
        let text = edited(replace("plot", Some("markdown")));
        assert_eq!(
            text["cells"][1],
            json!({ "cell_type": "markdown", "id": "plot", "metadata": { "tags": ["kept"] }, "source": "print(2)" })
        );
        let code = edited(replace("intro", Some("code")));
        assert_eq!(code["cells"][0]["outputs"], json!([]));
        assert_eq!(code["cells"][0]["execution_count"], Value::Null);
    }

    #[test]
    fn a_new_cell_stands_after_the_one_that_is_named_or_first() {
        let first = edited(insert(None, "markdown"));
        assert_eq!(first["cells"].as_array().unwrap().len(), 3);
        assert_eq!(first["cells"][0]["source"], "new");
        assert_eq!(first["cells"][0].get("outputs"), None);
        let last = edited(insert(Some("plot"), "code"));
        let cell = &last["cells"][2];
        assert_eq!(cell["source"], "new");
        assert_eq!(cell["outputs"], json!([]));
        assert_eq!(cell["id"].as_str().unwrap().len(), ID_CHARS);
        // Cells of an older format have no ids.
        let older = NOTEBOOK.replace("\"nbformat_minor\": 5", "\"nbformat_minor\": 4");
        let older = edit_notebook("a.ipynb", &older, insert(None, "code")).unwrap();
        let older: Value = serde_json::from_str(&older).unwrap();
        assert_eq!(older["cells"][0].get("id"), None);
    }

    #[test]
    fn a_deleted_cell_is_gone_and_the_others_stay() {
        let after = edited(CellEdit::Delete {
            cell: "intro".to_owned(),
        });
        assert_eq!(after["cells"].as_array().unwrap().len(), 1);
        assert_eq!(after["cells"][0]["id"], "plot");
    }

    #[test]
    fn what_is_no_notebook_and_a_cell_that_is_not_there_are_errors() {
        for (text, cell, why) in [
            ("print(1)", "plot", "cannot be edited as a notebook"),
            ("{\"cells\": {}}", "plot", "no list `cells`"),
            (NOTEBOOK, "other", "no cell `other`; it has 2 cells"),
            (NOTEBOOK, "cell-2", "no cell `cell-2`"),
        ] {
            let error = edit_notebook("a.ipynb", text, replace(cell, None)).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
