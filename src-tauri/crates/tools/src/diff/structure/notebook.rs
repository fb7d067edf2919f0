//! Notebooks of Jupyter: their cells by position, and the lines of each cell's source.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::json::{add_value, member_name, parse_value};
use super::tree::{Key, LineIndex, Node, TreeBuilder};

/// Reads a notebook. What a cell put out is part of no place but the cell.
pub(super) fn read_notebook(text: &str) -> Option<Node<'_>> {
    let Some(Value::Object(notebook)) = parse_value(text) else {
        return None;
    };
    let lines = LineIndex::new(text, 0);
    let mut builder = TreeBuilder::new();
    for member in &notebook.properties {
        let name = member_name(&member.name);
        if let (true, Value::Array(cells)) = (name == "cells", &member.value) {
            for cell in &cells.elements {
                let (first, last) = (lines.line_at(cell.start()), lines.line_at(cell.end()));
                builder.open(Key::Item("cell "), first)?;
                for line in source_range(cell)
                    .map(|range| &text[range])
                    .iter()
                    .flat_map(|s| s.lines())
                {
                    builder.push_line(line, first)?;
                }
                builder.close(last)?;
            }
        } else {
            builder.open_name(name, lines.line_at(member.start()))?;
            add_value(&mut builder, &member.value, &lines)?;
            builder.close(lines.line_at(member.end()))?;
        }
    }
    builder.finish()
}

/// Returns the range of a cell's source in the notebook's text.
fn source_range(cell: &Value<'_>) -> Option<std::ops::Range<usize>> {
    let source = cell.as_object()?.get("source")?;
    Some(source.value.start()..source.value.end())
}
