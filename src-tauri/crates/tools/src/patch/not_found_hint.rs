//! Hints at where a text that was not found may have been meant, so that a model can correct itself in one step.

use protocol::text::redact::{self, MASK};
use similar::get_close_matches;

use crate::limits::SIMILAR_LINES_MAX;
use crate::text::quote_truncated;

/// Lowest similarity of a line to the one that was searched for, from 0 to 1.
const SIMILARITY_MIN: f32 = 0.6;

/// Longest line that is compared or repeated, in characters.
const LINE_CHARS_MAX: usize = 200;

/// Explains why a text to be replaced is not found, if it is the mask; empty otherwise.
pub(crate) fn explain_masked_text(content: &str, old: &str) -> &'static str {
    match old.contains(MASK) && redact::text(content).1 > 0 {
        true => {
            "It holds ***, which stands for a secret that was masked when you read the file; the file has the secret \
             itself. Take a text around it that leaves the secret out. "
        }
        false => "",
    }
}

/// Explains in two or three sentences why the text was not found, and what to do.
pub(crate) fn explain_not_found(content: &str, old: &str) -> String {
    if content.is_empty() {
        return "The file is empty. Use write.".to_owned();
    }
    if has_line_numbers(old) {
        return "It begins with line numbers, which are not in the file. Leave them out."
            .to_owned();
    }
    let lines: Vec<&str> = content.lines().take(SIMILAR_LINES_MAX).collect();
    if let Some((first, last)) = find_ignoring_whitespace(&lines, old) {
        let place = match first == last {
            true => format!("Line {first} differs"),
            false => format!("Lines {first} to {last} differ"),
        };
        return format!(
            "{place} from it in white space only. Copy the text from there, with its blanks and tabs."
        );
    }
    let Some(first_line) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return "It is nothing but white space. Take in a line with text.".to_owned();
    };
    let fits = |line: &&str| line.chars().count() <= LINE_CHARS_MAX;
    let candidates: Vec<&str> = lines.iter().copied().map(str::trim).filter(fits).collect();
    // A line that stands there exactly is the best place to look: the text differs from the file further down.
    let close = match lines.iter().any(|line| line.contains(first_line)) {
        true => lines.iter().position(|line| line.contains(first_line)),
        false => get_close_matches(first_line, &candidates, 1, SIMILARITY_MIN)
            .first()
            .and_then(|close| lines.iter().position(|line| line.trim() == *close)),
    };
    match close {
        Some(index) if old.lines().count() > 1 && lines[index].contains(first_line) => format!(
            "Its first line stands at line {}, but what follows there is different. Read the file from there.",
            index + 1
        ),
        Some(index) => format!(
            "Line {} looks like it: {}. Copy the text from there.",
            index + 1,
            quote_truncated(lines[index], LINE_CHARS_MAX)
        ),
        None => "Nothing there looks like it. Read the file again.".to_owned(),
    }
}

/// Whether the lines were copied from `read` with their numbers.
fn has_line_numbers(old: &str) -> bool {
    old.lines().next().is_some_and(|line| {
        line.split_once('\t').is_some_and(|(number, _)| {
            let number = number.trim();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

fn find_ignoring_whitespace(lines: &[&str], old: &str) -> Option<(usize, usize)> {
    let bare = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let old_lines: Vec<String> = old
        .lines()
        .map(bare)
        .filter(|line| !line.is_empty())
        .collect();
    let first = old_lines.first()?;
    let file_lines: Vec<(usize, String)> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (index + 1, bare(line)))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let window = file_lines.windows(old_lines.len()).find(|window| {
        window[0].1 == *first && window.iter().zip(&old_lines).all(|(a, b)| a.1 == *b)
    })?;
    Some((window.first()?.0, window.last()?.0))
}
