//! Finds the function, class or heading that contains a changed place.

use crate::limits::{SECTION_CHARS_MAX, SECTION_LINES_SCANNED_MAX};
use crate::text::{escape_invisible, truncate_chars};

/// Words that begin a definition in common languages.
const SECTION_KEYWORDS: &[&str] = &[
    "abstract",
    "async",
    "class",
    "const",
    "def",
    "defmodule",
    "defp",
    "enum",
    "export",
    "extern",
    "final",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "internal",
    "macro_rules!",
    "mod",
    "module",
    "namespace",
    "open",
    "override",
    "package",
    "private",
    "protected",
    "proc",
    "protocol",
    "pub",
    "public",
    "sealed",
    "static",
    "struct",
    "sub",
    "trait",
    "type",
    "union",
    "unsafe",
    "virtual",
    "void",
];

/// Words of [`SECTION_KEYWORDS`] that only lead to the word that counts; a line that has only these words opens no
/// section.
const STATEMENT_KEYWORDS: &[&str] = &["const", "static", "type", "export", "pub", "package"];

/// Returns the nearest line before `start` that opens a section, shortened and with hidden characters named; empty if
/// there is none.
pub(super) fn find_section(lines: &[&str], start: usize, language: &str) -> String {
    lines[..start.min(lines.len())]
        .iter()
        .rev()
        .take(SECTION_LINES_SCANNED_MAX)
        .find(|line| is_section_start(line, language))
        .map(|line| truncate_chars(&escape_invisible(line.trim()), SECTION_CHARS_MAX))
        .unwrap_or_default()
}

fn is_section_start(line: &str, language: &str) -> bool {
    let text = line.trim();
    match language {
        "markdown" => {
            let marks = text.bytes().take_while(|b| *b == b'#').count();
            (1..=6).contains(&marks) && text[marks..].starts_with(' ')
        }
        "toml" | "ini" => text.starts_with('[') && text.ends_with(']'),
        "yaml" => !line.starts_with([' ', '\t', '#', '-']) && text.ends_with(':'),
        "css" | "scss" => text.ends_with('{'),
        "html" | "xml" | "svelte" | "vue" if text.starts_with('<') => {
            !line.starts_with([' ', '\t']) && !text.starts_with("</") && !text.starts_with("<!")
        }
        "json" | "text" | "" => false,
        _ => is_definition_start(text),
    }
}

fn is_definition_start(text: &str) -> bool {
    let first = text
        .split([' ', '(', '<', '{', ':'])
        .next()
        .unwrap_or_default();
    if !SECTION_KEYWORDS.contains(&first) {
        return false;
    }
    let body = text.ends_with(['{', '(', ':', ',']) || text.contains("=>") || text.contains(") ");
    if STATEMENT_KEYWORDS.contains(&first) {
        let definition = text
            .split([' ', '(', '<'])
            .skip(1)
            .any(|word| SECTION_KEYWORDS.contains(&word) && !STATEMENT_KEYWORDS.contains(&word));
        return !text.ends_with(';') && (definition || body);
    }
    !text.ends_with(';') || first == "mod" || first == "module" || first == "namespace"
}
