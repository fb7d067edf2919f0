//! Text between the marks of Markdown: whatever is in it, it is read as it was said.

use protocol::shown::shown;

/// A text with its hidden characters named; line ends become line feeds.
fn named(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    shown(&text).into_iter().map(|span| span.text).collect()
}

/// A block quote: whatever Markdown opens in it, it ends with the quote. Empty for an empty text.
pub(super) fn quote(text: &str) -> String {
    let text = named(text);
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
pub(super) fn fence(language: &str, text: &str) -> String {
    let text = named(text);
    let text = text.trim_end_matches('\n');
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    format!("{ticks}{language}\n{text}\n{ticks}\n\n")
}

/// A code span on one line, with as many backticks as it needs.
pub(super) fn code(text: &str) -> String {
    let text = named(text).replace('\n', "⏎");
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Plain text on one line, in which nothing is Markdown or HTML.
pub(super) fn inline(text: &str) -> String {
    let mut line = String::new();
    for c in named(text).replace('\n', " ").chars() {
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

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("", "a"), "```\na\n```\n\n");
        assert_eq!(fence("sh", "a ``` b"), "````sh\na ``` b\n````\n\n");
        assert_eq!(fence("", "``````\n"), "```````\n``````\n```````\n\n");
        assert_eq!(fence("", "\n"), "");
    }

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(code("src/a.rs"), "`src/a.rs`");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("a\nb"), "`a⏎b`");
        assert_eq!(inline("# *a*\n<b>"), "\\# \\*a\\* \\<b\\>");
        assert_eq!(quote("a\r\n\r\n```\n"), "> a\n>\n> ```\n\n");
        assert_eq!(code("x\u{202e}y"), "`xU+202Ey`");
    }

    proptest! {
        #[test]
        fn nothing_ends_a_fence_early(text in "[`a\n ]{0,40}") {
            let fenced = fence("", &text);
            if let Some((ticks, rest)) = fenced.split_once('\n') {
                let inner = rest.trim_end().strip_suffix(ticks).unwrap();
                prop_assert!(!inner.contains(ticks));
            }
        }
    }
}
