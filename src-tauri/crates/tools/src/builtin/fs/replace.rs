//! Exact replacement in a text: locates the text, rejects ambiguous matches, and keeps the line ends of the file.

use std::borrow::Cow;

use protocol::ToolError;

use crate::patch::not_found_hint::{explain_masked_text, explain_not_found};
use crate::text::{find_overlapping, is_crlf_only};

/// Most line numbers that an error lists.
const LINES_LISTED_MAX: usize = 10;

/// The text to replace and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::builtin) struct Replacement {
    pub old: String,
    pub new: String,
    pub all: bool,
}

/// Returns the text after the replacement. In a file whose every line ends with CRLF, line feeds of both texts stand
/// for CRLF, so that the file keeps its line ends.
pub(in crate::builtin) fn replace_exact(
    path: &str,
    content: &str,
    replacement: &Replacement,
) -> Result<String, ToolError> {
    let (old, new) = match is_crlf_only(content) {
        true => (to_crlf(&replacement.old), to_crlf(&replacement.new)),
        false => (Cow::from(&replacement.old), Cow::from(&replacement.new)),
    };
    let places = find_overlapping(content, &old);
    match places.as_slice() {
        [] => Err(ToolError::Failed(format!(
            "`old_string` was not found in `{path}`, so nothing was changed. {}{}",
            explain_masked_text(content, &old),
            explain_not_found(content, &old)
        ))),
        [_] => Ok(content.replacen(&*old, &new, 1)),
        _ if replacement.all => Ok(content.replace(&*old, &new)),
        several => {
            let lines: Vec<String> = several
                .iter()
                .take(LINES_LISTED_MAX)
                .map(|place| (1 + content[..*place].matches('\n').count()).to_string())
                .collect();
            let more = match several.len() > lines.len() {
                true => ", …",
                false => "",
            };
            Err(ToolError::Failed(format!(
                "`old_string` stands at {} places in `{path}`, at lines {}{more}, so nothing was changed. Take in \
                 surrounding lines until it fits one place only, or set replace_all.",
                several.len(),
                lines.join(", ")
            )))
        }
    }
}

fn to_crlf(text: &str) -> Cow<'_, str> {
    match text.contains('\n') {
        true => Cow::from(text.replace("\r\n", "\n").replace('\n', "\r\n")),
        false => Cow::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(content: &str, old: &str, new: &str, all: bool) -> Result<String, String> {
        let replacement = Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            all,
        };
        replace_exact("a.txt", content, &replacement).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_replaced_s002_27() {
        for (content, old, new, all, after) in [
            ("one two\n", "two", "three", false, "one three\n"),
            ("a\nb\n", "a\nb\n", "c", false, "c"),
            ("a a a", "a", "b", true, "b b b"),
            ("no end", "end", "line end", false, "no line end"),
            ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false, "x\r\ny\r\nc\r\n"),
            ("a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n"),
            ("a\r\nb\n", "a\r\n", "x\n", false, "x\nb\n"),
            ("$1 \\n", "$1", "$0", false, "$0 \\n"),
            ("é\n", "é", "e", false, "e\n"),
        ] {
            assert_eq!(
                run(content, old, new, all).as_deref(),
                Ok(after),
                "{content:?}"
            );
        }
    }

    #[test]
    fn what_cannot_be_replaced_says_why() {
        for (content, old, error) in [
            (
                "x = 1\ny = 1\n\nx = 1\n",
                "x = 1",
                "`old_string` stands at 2 places in `a.txt`, at lines 1, 4, so nothing was changed. Take in surrounding \
                 lines until it fits one place only, or set replace_all.",
            ),
            (
                "aaa",
                "aa",
                "`old_string` stands at 2 places in `a.txt`, at lines 1, 1, so nothing was changed. Take in surrounding \
                 lines until it fits one place only, or set replace_all.",
            ),
            (
                "fn main() {\n    let total = 1;\n}\n",
                "let totl = 1;",
                "`old_string` was not found in `a.txt`, so nothing was changed. Line 2 looks like it: \"    let total = \
                 1;\". Copy the text from there.",
            ),
            (
                "\tif x {\n\t\ty\n\t}\n",
                "    if x {\n        y\n    }",
                "`old_string` was not found in `a.txt`, so nothing was changed. Lines 1 to 3 differ from it in white \
                 space only. Copy the text from there, with its blanks and tabs.",
            ),
            (
                "fn a() {\n}\n",
                "     1\tfn a() {\n     2\t}",
                "`old_string` was not found in `a.txt`, so nothing was changed. It begins with line numbers, which are \
                 not in the file. Leave them out.",
            ),
            (
                "alpha\n",
                "zzz qqq",
                "`old_string` was not found in `a.txt`, so nothing was changed. Nothing there looks like it. Read the \
                 file again.",
            ),
            (
                "",
                "x",
                "`old_string` was not found in `a.txt`, so nothing was changed. The file is empty. Use write.",
            ),
        ] {
            assert_eq!(
                run(content, old, "new", false),
                Err(error.to_owned()),
                "{content:?}"
            );
        }
    }
}
