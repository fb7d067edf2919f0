//! Resolves a line and a text on it, as a model names a place, to an exact position in the file.

use std::path::Path;
use std::sync::Arc;

use protocol::{Capability, ToolError};
use runtime::Workspace;
use serde_json::{Map, Value};

use super::line_argument;
use crate::builtin::fs::file_access::{as_text, missing_file_error, read_content, resolve_inside};
use crate::builtin::{number_argument, optional_text_argument, reject_if};
use crate::language_service::{SourceDocument, SourceLines, TextPosition};
use crate::limits::{DOCUMENT_BYTES_MAX, SYMBOL_LINE_CHARS_MAX, SYMBOL_LINES_SHOWN_MAX};
use crate::text::{format_byte_size, quote_truncated};

/// Checks that the arguments name a position.
pub(super) fn check_position(arguments: &Map<String, Value>) -> Result<(), ToolError> {
    let names_one = arguments.contains_key("symbol") || arguments.contains_key("column");
    reject_if(
        !(arguments.contains_key("line") && names_one),
        "this action needs `line` and `symbol`: the line from 1, and a text that stands on it",
    )
}

/// Reads the current content of the file.
pub(super) fn read_document(
    workspace: &Workspace,
    named_path: &str,
) -> Result<SourceDocument, ToolError> {
    let path = resolve_inside(workspace, Capability::FsRead, named_path)?;
    if Path::new(&path).is_absolute() {
        return Err(ToolError::Failed(format!(
            "`{named_path}` is not in the workspace, and language servers are only asked about what is."
        )));
    }
    let Some(bytes) = read_content(workspace, &path)? else {
        return Err(missing_file_error(workspace, &path));
    };
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(ToolError::Failed(format!(
            "`{path}` is too large for a language server: {} (at most {}). Use grep.",
            format_byte_size(bytes.len() as u64),
            format_byte_size(DOCUMENT_BYTES_MAX as u64)
        )));
    }
    let text = as_text(&path, &bytes, "can be asked about")?;
    if text.replace("\r\n", "\n").contains('\r') {
        return Err(ToolError::Failed(format!(
            "`{path}` has line ends that are a carriage return alone, which others count otherwise. Use grep."
        )));
    }
    Ok(SourceDocument {
        text: Arc::from(text),
        path,
    })
}

/// Resolves the position that the arguments name.
pub(super) fn resolve_position(
    document: &str,
    arguments: &Map<String, Value>,
) -> Result<TextPosition, ToolError> {
    let lines = SourceLines::new(document);
    let number_of = line_argument(arguments).unwrap_or_default();
    let Some(line) = lines.line(number_of) else {
        return Err(ToolError::Failed(format!(
            "The file has {} lines, so there is no line {}. Read it again.",
            lines.count(),
            number_of + 1
        )));
    };
    let column = number_argument(arguments, "column").map(|column| {
        let before = usize::try_from(column - 1).unwrap_or(usize::MAX);
        let mut bytes = line.char_indices().map(|(at, _)| at);
        bytes.nth(before).unwrap_or(line.len())
    });
    let byte = match (optional_text_argument(arguments, "symbol"), column) {
        (Some(symbol), column) => find_on_line(&lines, number_of, line, symbol, column)?,
        (None, Some(column)) => column,
        (None, None) => 0,
    };
    Ok(TextPosition {
        line: number_of,
        byte,
    })
}

/// Finds where the last name of the symbol begins on a line.
fn find_on_line(
    lines: &SourceLines<'_>,
    number: usize,
    line: &str,
    symbol: &str,
    column: Option<usize>,
) -> Result<usize, ToolError> {
    let offsets = find_occurrences(line, symbol);
    let at = match (offsets.as_slice(), column) {
        ([], _) => return Err(symbol_not_found_error(lines, number, symbol)),
        ([one], _) => *one,
        (several, Some(column)) => {
            let near = |at: &&usize| at.abs_diff(column);
            several.iter().min_by_key(near).copied().unwrap_or_default()
        }
        (several, None) => {
            let columns = several.iter().map(|at| line[..*at].chars().count() + 1);
            let columns: Vec<String> = columns.map(|column| column.to_string()).collect();
            return Err(ToolError::Failed(format!(
                "`{symbol}` stands on line {} more than once, at the columns {}. Say which by `column`.",
                number + 1,
                columns.join(", ")
            )));
        }
    };
    Ok(at + last_name_offset(symbol))
}

/// Finds the occurrences of a text on a line: whole words only, if any occurrence is one.
fn find_occurrences(line: &str, symbol: &str) -> Vec<usize> {
    let all: Vec<usize> = line.match_indices(symbol).map(|(at, _)| at).collect();
    let is_word = |at: &usize| {
        let joins = |end: Option<char>, neighbour: Option<char>| {
            end.is_some_and(is_name_char) && neighbour.is_some_and(is_name_char)
        };
        let (before, after) = (&line[..*at], &line[at + symbol.len()..]);
        !joins(symbol.chars().next(), before.chars().next_back())
            && !joins(symbol.chars().next_back(), after.chars().next())
    };
    let words: Vec<usize> = all.iter().copied().filter(|at| is_word(at)).collect();
    if words.is_empty() { all } else { words }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns the offset of the last name in a path such as `a::b` or `x.y`.
fn last_name_offset(symbol: &str) -> usize {
    let end = symbol.trim_end_matches(|c| !is_name_char(c)).len();
    let before = symbol[..end]
        .char_indices()
        .rev()
        .find(|(_, c)| !is_name_char(*c));
    before.map_or(0, |(at, c)| at + c.len_utf8())
}

fn symbol_not_found_error(lines: &SourceLines<'_>, number: usize, symbol: &str) -> ToolError {
    let reads = quote_truncated(
        lines.line(number).unwrap_or_default(),
        SYMBOL_LINE_CHARS_MAX,
    );
    let elsewhere = (0..lines.count())
        .filter(|at| lines.line(*at).is_some_and(|line| line.contains(symbol)))
        .take(SYMBOL_LINES_SHOWN_MAX)
        .map(|at| (at + 1).to_string());
    let elsewhere: Vec<String> = elsewhere.collect();
    let hint = match elsewhere.is_empty() {
        true => "It is nowhere in this file; read it again.".to_owned(),
        false => format!("It is on these lines: {}.", elsewhere.join(", ")),
    };
    ToolError::Failed(format!(
        "`{symbol}` is not on line {}, which reads {reads}. {hint}",
        number + 1
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "fn foo(food: Foo) {\n    a::foo(foo, \u{e9}x.foo)\n}\n";

    fn at(arguments: Value) -> Result<(usize, usize), String> {
        let place = resolve_position(TEXT, arguments.as_object().unwrap());
        place
            .map(|place| (place.line, place.byte))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_symbol_is_found_on_its_line() {
        for (arguments, found) in [
            (json!({"line": 1, "symbol": "foo"}), Ok((0, 3))),
            (json!({"line": 1, "symbol": "Foo"}), Ok((0, 13))),
            (json!({"line": 1, "symbol": "foo(food"}), Ok((0, 7))),
            (json!({"line": 2, "symbol": "a::foo"}), Ok((1, 7))),
            (json!({"line": 2, "symbol": "x.foo"}), Ok((1, 20))),
            (
                json!({"line": 2, "symbol": "foo", "column": 12}),
                Ok((1, 11)),
            ),
            (json!({"line": 2, "column": 5}), Ok((1, 4))),
            (
                json!({"line": 2, "symbol": "foo"}),
                Err(
                    "`foo` stands on line 2 more than once, at the columns 8, 12, 20. Say which by `column`.",
                ),
            ),
            (
                json!({"line": 3, "symbol": "Foo"}),
                Err("`Foo` is not on line 3, which reads \"}\". It is on these lines: 1."),
            ),
            (
                json!({"line": 3, "symbol": "bar"}),
                Err(
                    "`bar` is not on line 3, which reads \"}\". It is nowhere in this file; read it again.",
                ),
            ),
            (
                json!({"line": 9, "symbol": "bar"}),
                Err("The file has 4 lines, so there is no line 9. Read it again."),
            ),
        ] {
            let found = found.map_err(|error: &str| error.to_owned());
            assert_eq!(at(arguments.clone()), found, "{arguments}");
        }
    }
}
