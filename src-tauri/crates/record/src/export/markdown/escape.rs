//! Text between the marks of Markdown: whatever is in it, it is read as it was said.

use protocol::text::display_text::to_spans;

/// A text with its hidden characters named; line ends become line feeds.
pub(in crate::export) fn name_hidden_chars(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    to_spans(&text).into_iter().map(|span| span.text).collect()
}

/// A block quote: whatever Markdown opens in it, it ends with the quote. Empty for an empty text.
pub(super) fn block_quote(text: &str) -> String {
    let text = name_hidden_chars(text);
    let text = text.trim_end();
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    lines.join("\n") + "\n\n"
}

/// A fenced block that no run of backticks within can end. Empty for an empty text.
pub(super) fn code_fence(language: &str, text: &str) -> String {
    let text = name_hidden_chars(text);
    let text = text.trim_end_matches('\n');
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_backtick_run(text).max(2) + 1);
    format!("{ticks}{language}\n{text}\n{ticks}\n\n")
}

/// A code span on one line, with as many backticks as it needs.
pub(super) fn code_span(text: &str) -> String {
    let text = name_hidden_chars(text).replace('\n', "⏎");
    let ticks = "`".repeat(longest_backtick_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Plain text on one line, in which nothing is Markdown or HTML.
pub(super) fn escape_inline(text: &str) -> String {
    let mut line = String::new();
    for c in name_hidden_chars(text).replace('\n', " ").chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&'
        ) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(code_fence("", "a"), "```\na\n```\n\n");
        assert_eq!(code_fence("sh", "a ``` b"), "````sh\na ``` b\n````\n\n");
        assert_eq!(code_fence("", "``````\n"), "```````\n``````\n```````\n\n");
        assert_eq!(code_fence("", "\n"), "");
    }

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(code_span("src/a.rs"), "`src/a.rs`");
        assert_eq!(code_span("`x`"), "`` `x` ``");
        assert_eq!(code_span("a\nb"), "`a⏎b`");
        assert_eq!(escape_inline("# *a*\n<b>"), "\\# \\*a\\* \\<b\\>");
        assert_eq!(block_quote("a\r\n\r\n```\n"), "> a\n>\n> ```\n\n");
        assert_eq!(code_span("x\u{202e}y"), "`xU+202Ey`");
    }

    proptest! {
        #[test]
        fn nothing_ends_a_fence_early(text in "[`a\n ]{0,40}") {
            let fenced = code_fence("", &text);
            if let Some((ticks, rest)) = fenced.split_once('\n') {
                let inner = rest.trim_end().strip_suffix(ticks).unwrap();
                prop_assert!(!inner.contains(ticks));
            }
        }
    }
}
