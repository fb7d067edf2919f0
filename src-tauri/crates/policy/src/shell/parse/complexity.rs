//! Limits on depth and size: a text beyond them is given to neither parser, and no rule allows it.

use brush_parser::Token;

use crate::limits::{
    COMMAND_BYTES_MAX, SHELL_CONSTRUCTS_MAX, SHELL_DOCUMENTS_MAX, SHELL_NESTING_MAX,
    SHELL_RETRIED_MAX,
};

/// The characters that end a delimiter which is not quoted.
const DELIMITER_ENDS: [char; 9] = [' ', '\t', '\n', ';', '|', '&', '<', '>', ')'];

/// Why a text must not be parsed at all, as a sentence.
pub(in crate::shell) fn check_size(text: &str) -> Option<String> {
    if text.len() > COMMAND_BYTES_MAX {
        return Some(format!(
            "It is longer than {} KiB.",
            COMMAND_BYTES_MAX / 1024
        ));
    }
    if count_openers(text) > SHELL_NESTING_MAX {
        return Some(format!(
            "It nests more than {SHELL_NESTING_MAX} expansions."
        ));
    }
    // One of the parsers goes through the rest of the text for each.
    if text.matches("<<").count() > SHELL_DOCUMENTS_MAX {
        return Some(format!(
            "It holds more than {SHELL_DOCUMENTS_MAX} here-documents."
        ));
    }
    // One of the parsers counts file descriptors in 32 bits.
    let mut digits = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'<' | b'>' if digits > 9 => {
                return Some("It names a file descriptor that there cannot be.".to_owned());
            }
            _ => digits = 0,
        }
    }
    None
}

/// Whether something that may be a here-document lacks a plain delimiter, or the line that ends the document. Words in quotes
/// and shifts in arithmetic look the same. In an expansion that is not closed, such a document keeps the first parser busy until
/// memory is full: `cat <<$(( <<$((`.
pub(in crate::shell) fn has_unclear_document(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("<<") {
        rest = &rest[at + 2..];
        match rest.strip_prefix('<') {
            // A here-string.
            Some(string) => rest = string,
            None if !ends_plainly(rest) => return true,
            None => {}
        }
    }
    false
}

/// Whether a here-document ends, from the text after its operator: at a line that is its delimiter and nothing else.
fn ends_plainly(text: &str) -> bool {
    let (text, strips_tabs) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let text = text.trim_start_matches([' ', '\t']);
    let delimiter = match text.chars().next() {
        Some(quote @ ('\'' | '"')) => text[1..].split(quote).next(),
        Some('\\') => text[1..].split(DELIMITER_ENDS).next(),
        _ => text.split(DELIMITER_ENDS).next(),
    };
    let delimiter = delimiter.unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let mut lines = text.split('\n').skip(1);
    !delimiter.is_empty()
        && delimiter.chars().all(is_plain)
        && lines.any(|line| match strips_tabs {
            true => line.trim_start_matches('\t') == delimiter,
            false => line == delimiter,
        })
}

/// Expansions that hold more than a name: no closing bracket is believed, because a quoted one closes nothing.
fn count_openers(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut open = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('$') {
        at += found + 1;
        if !matches!(bytes.get(at), Some(b'(' | b'{' | b'[')) {
            continue;
        }
        let inner = &text[at + 1..];
        let end = inner.find([
            '$', '`', '\'', '"', '\\', '(', '{', '[', ')', '}', ']', '#', '<',
        ]);
        let is_leaf = end.is_some_and(|end| matches!(inner.as_bytes()[end], b')' | b'}' | b']'));
        open += usize::from(!is_leaf);
    }
    open
}

/// Why tokens must not be parsed, as a sentence: the parser is recursive, and for some constructs it tries again.
pub(in crate::shell) fn check_depth(tokens: &[Token]) -> Option<String> {
    let mut constructs = 0_usize;
    let mut retried = 0_usize;
    let mut after_angle = false;
    for token in tokens {
        match token {
            Token::Operator(said, _) => {
                let opens = said == "(";
                constructs += usize::from(opens);
                retried += usize::from(opens && after_angle);
                after_angle = matches!(said.as_str(), "<" | ">");
            }
            Token::Word(said, _) => {
                after_angle = false;
                match said.as_str() {
                    "case" => {
                        constructs += 1;
                        retried += 1;
                    }
                    "{" | "if" | "elif" | "for" | "while" | "until" | "select" | "coproc"
                    | "function" | "[[" | "!" => constructs += 1,
                    word => retried += count_subscripts(word),
                }
            }
        }
    }
    (constructs > SHELL_CONSTRUCTS_MAX || retried > SHELL_RETRIED_MAX)
        .then(|| "It nests too many constructs.".to_owned())
}

/// How often a word that may be an assignment opens a subscript or what can stand in one.
fn count_subscripts(word: &str) -> usize {
    let name = word
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(word.len());
    match word[name..].starts_with('[') {
        true => word.matches(['[', '(', '{', '"', '`']).count(),
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_here_document_plainly_ends_or_is_unclear() {
        for (text, expected) in [
            ("cat <<EOF\na\nEOF", false),
            ("cat <<EOF >out && ls\na\nEOF\nls", false),
            ("cat <<-'END OF'\na\n\t\tEND OF", false),
            ("cat << \\EOF\na\nEOF", false),
            ("x=$(cat <<A; cat <<B\na\nA\nb\nB\n)", false),
            ("cat <<<\"$x\"", false),
            ("cat <<EOF\na\n EOF", true),
            ("cat <<", true),
            ("cat <<''\n\n", true),
            ("cat << ;", true),
            ("cat <<$(( <<$((", true),
            ("cat <<-E$(( | tr a", true),
            ("x=$( << rm y ; [[ -n ${", true),
            ("echo $((1 << 2))", true),
        ] {
            assert_eq!(has_unclear_document(text), expected, "{text}");
        }
    }
}
