//! Source code: definitions by their first line and their indentation, as `git diff` finds the function around a
//! change. No parser; a definition whose lines are not indented is not seen whole.

use std::ops::Range;

use super::languages::{CodeLanguage, Shape};
use super::tree::{Node, TreeBuilder};

/// Words before the one that says what is defined.
const MODIFIERS: [&str; 30] = [
    "abstract",
    "async",
    "data",
    "declare",
    "default",
    "export",
    "extern",
    "external",
    "final",
    "global",
    "inline",
    "internal",
    "local",
    "mutating",
    "open",
    "operator",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "static",
    "suspend",
    "synchronized",
    "unsafe",
    "virtual",
    "const",
];

/// Words that begin a statement and no definition.
const STATEMENT_WORDS: [&str; 19] = [
    "assert", "await", "case", "catch", "do", "else", "for", "foreach", "if", "lock", "new",
    "return", "super", "switch", "throw", "try", "using", "while", "with",
];

/// Starts of lines that go with the definition below them: comments, attributes, decorators.
const LEADS: [&str; 8] = ["//", "/*", "*", "#", "@", "--", "template<", "template <"];

/// Starts of lines that continue or end a definition at its own indentation.
const CLOSERS: [&str; 6] = ["}", ")", "]", "{", "</", "where "];

/// Reads the definitions of a source file.
pub(super) fn read_code<'a>(text: &'a str, language: &CodeLanguage) -> Option<Node<'a>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut builder = TreeBuilder::new();
    let mut indents: Vec<usize> = Vec::new();
    // Lines from the first on belong to no place yet; those from the second on go with what is defined below them.
    let (mut pending, mut lead) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim();
        if text.is_empty() {
            lead = index + 1;
        }
        if text.is_empty() || is_lead(text) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let stays = continues_definition(text);
        while indents
            .last()
            .is_some_and(|open| indent < *open || (indent == *open && !stays))
        {
            indents.pop();
            builder.close(0)?;
        }
        push_lines(&mut builder, &lines, pending..lead)?;
        let next = lines.get(index + 1).map_or("", |next| next.trim());
        if let Some(name) = find_definition(text, next, indent, language) {
            indents.push(indent);
            builder.open_name(name, lead)?;
        }
        push_lines(&mut builder, &lines, lead..index + 1)?;
        (pending, lead) = (index + 1, index + 1);
    }
    for _ in indents {
        builder.close(0)?;
    }
    push_lines(&mut builder, &lines, pending..lines.len())?;
    builder.finish()
}

fn push_lines<'a>(
    builder: &mut TreeBuilder<'a>,
    lines: &[&'a str],
    range: Range<usize>,
) -> Option<()> {
    for index in range {
        if let Some(line) = lines.get(index).filter(|line| !line.trim().is_empty()) {
            builder.push_line(line, index)?;
        }
    }
    Some(())
}

/// Whether a line goes with the definition below it. A selector such as `#main {` defines something itself.
fn is_lead(text: &str) -> bool {
    LEADS.iter().any(|start| text.starts_with(start)) && !text.ends_with('{')
}

/// Whether a line at the indentation of a definition belongs to it: its end, its body's start, or a label in it such as
/// `public:`.
fn continues_definition(text: &str) -> bool {
    let word = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    let is_label = text
        .strip_suffix(':')
        .is_some_and(|label| word == Some(label));
    word == Some("end") || is_label || CLOSERS.iter().any(|start| text.starts_with(start))
}

/// Returns the name of what a line defines; none if it defines nothing.
fn find_definition<'t>(
    text: &'t str,
    next: &str,
    indent: usize,
    language: &CodeLanguage,
) -> Option<&'t str> {
    let name = match skip_modifiers(text, language) {
        Some(definition) => Some(definition_name(definition)),
        None => language.shapes.iter().find_map(|shape| match shape {
            Shape::Call => call_name(text, next),
            Shape::Brace => text.strip_suffix('{'),
            Shape::Tag => tag_name(text).filter(|_| indent == 0),
        }),
    };
    name.map(str::trim).filter(|name| !name.is_empty())
}

/// Returns the line from the word on that says what is defined.
fn skip_modifiers<'t>(text: &'t str, language: &CodeLanguage) -> Option<&'t str> {
    let mut rest = text;
    loop {
        let end = rest.find([' ', '(', '<', '{', ':']).unwrap_or(rest.len());
        let word = &rest[..end];
        if language.keywords.contains(&word) {
            return Some(rest);
        }
        if language.values.contains(&word) {
            let has_body = text.contains("=>") || text.contains("function");
            return has_body.then_some(rest);
        }
        if !MODIFIERS.contains(&word) {
            return None;
        }
        rest = rest.split_once(' ')?.1.trim_start();
    }
}

/// Cuts a definition before its parameters and its body. Where the parameters stand before the name, as a receiver in
/// Go, it keeps them.
fn definition_name(definition: &str) -> &str {
    let is_bare = |name: &str| !name.trim().contains(' ');
    let cut = |text: &str, from: usize| {
        let end = text[from..].find(['(', '{', '=', ';']);
        end.map_or(text.len(), |end| from + end)
    };
    let mut end = cut(definition, 0);
    if is_bare(&definition[..end])
        && let Some(close) = definition.find(')')
    {
        end = cut(definition, close);
    }
    definition[..end].trim_end().trim_end_matches(':')
}

/// Returns the name of a function that begins with its type or its name: `int main(void) {`, `parse(text) {`.
fn call_name<'t>(text: &'t str, next: &str) -> Option<&'t str> {
    let has_body = text.ends_with('{') || (text.ends_with(')') && next == "{");
    let head = text[..text.find('(')?].trim_end();
    let first = head.split([' ', '.']).next().unwrap_or_default();
    let is_statement =
        STATEMENT_WORDS.contains(&first) || head.contains(['=', '.', '"', '\'', ',']);
    let name = head.rsplit([' ', '*', '&']).next()?;
    (has_body && !is_statement).then_some(name)
}

/// Returns an opening tag without its end.
fn tag_name(text: &str) -> Option<&str> {
    let is_tag = text.starts_with('<') && text[1..].starts_with(|c: char| c.is_ascii_alphabetic());
    let end = text.find('>').map_or(text.len(), |end| end + 1);
    (is_tag && !text.contains("</") && !text.ends_with("/>")).then(|| &text[..end])
}
