//! Explains why a hunk matches nowhere, by the lines at its most likely place.

use std::collections::BTreeMap;

use crate::limits::SIMILAR_LINES_MAX;
use crate::patch::not_found_hint::{explain_masked_text, explain_not_found};
use crate::text::quote_truncated;

/// Most lines of a hunk that are used to find its most likely place.
const LINES_MAX: usize = 50;

/// Longest excerpt of a line, in characters.
const LINE_CHARS_MAX: usize = 200;

/// Explains in one or two sentences why these lines are not in the file, and what to do.
pub(super) fn explain_mismatch(content: &str, lines: &[&str], old: &[&str]) -> String {
    let joined = old.join("\n");
    let masked = explain_masked_text(content, &joined);
    let why = match find_nearest_lines(lines, old) {
        _ if lines.is_empty() => "The file is empty.".to_owned(),
        Some((line, index)) => {
            let expected = quote_truncated(old[index], LINE_CHARS_MAX);
            match lines.get(line) {
                Some(actual) => format!(
                    "Line {} of the file is {}, where the patch has {expected}. Copy the lines from the file.",
                    line + 1,
                    quote_truncated(actual, LINE_CHARS_MAX)
                ),
                None => format!(
                    "The file ends at line {}, where the patch goes on with {expected}. Copy the lines from the file.",
                    lines.len()
                ),
            }
        }
        None => explain_not_found(content, &joined),
    };
    format!("its lines are not in the file. {masked}{why}")
}

/// Finds the place where at least half of the lines match. Returns the line of the file that is the first to differ,
/// from 0, and the hunk's line that was expected there.
fn find_nearest_lines(lines: &[&str], old: &[&str]) -> Option<(usize, usize)> {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    let file = lines.iter().take(SIMILAR_LINES_MAX).enumerate();
    let old_lines: Vec<(usize, &str)> = old
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, text)| !text.trim().is_empty())
        .take(LINES_MAX)
        .collect();
    for (line, file_line) in file {
        for (index, text) in &old_lines {
            if file_line == text
                && let Some(start) = line.checked_sub(*index)
            {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let (start, votes) = votes
        .into_iter()
        .max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start)))?;
    if votes * 2 < old_lines.len() {
        return None;
    }
    let differs = (0..old.len()).find(|index| lines.get(start + index) != Some(&old[*index]))?;
    Some((start + differs, differs))
}
