//! Marks within lines: the words of a replaced block that changed.

use std::time::Instant;

use similar::{ChangeTag, DiffOp, InlineChangeMode, InlineChangeOptions, TextDiff};

use crate::limits::{MARKED_BYTES_MAX, MARKED_LINES_MAX};

/// Segments of one line including its line end; true for segments that changed within the line.
pub(super) type Segments<'a> = Vec<(bool, &'a str)>;

/// Returns a line without marks.
pub(super) fn unmarked_line(line: &str) -> Segments<'_> {
    vec![(false, line)]
}

/// Returns the removed and the added lines, with marks where they resemble each other. Blocks that are too large, or
/// that are not replacements, get no marks.
pub(super) fn mark_changes<'a>(
    old: &'a [&'a str],
    new: &'a [&'a str],
    deadline: Instant,
) -> (Vec<Segments<'a>>, Vec<Segments<'a>>) {
    let bytes: usize = old.iter().chain(new).map(|line| line.len()).sum();
    let small = old.len() + new.len() <= MARKED_LINES_MAX && bytes <= MARKED_BYTES_MAX;
    if !small || old.is_empty() || new.is_empty() {
        return (to_segments(old), to_segments(new));
    }
    let diff = TextDiff::from_slices(old, new);
    let block = DiffOp::Replace {
        old_index: 0,
        old_len: old.len(),
        new_index: 0,
        new_len: new.len(),
    };
    let mut options = InlineChangeOptions::new();
    options
        .mode(InlineChangeMode::UnicodeWords)
        .semantic_cleanup(true);
    let (mut gone, mut come) = (to_segments(old), to_segments(new));
    for change in diff.iter_inline_changes_with_options_deadline(&block, options, Some(deadline)) {
        let (side, index, sources) = match change.tag() {
            ChangeTag::Delete => (&mut gone, change.old_index(), old),
            ChangeTag::Insert => (&mut come, change.new_index(), new),
            ChangeTag::Equal => continue,
        };
        let Some((slot, source)) = index.and_then(|i| side.get_mut(i).zip(sources.get(i))) else {
            continue;
        };
        // The marks are borrowed from the difference, which ends here; the same stretches are cut from the line itself.
        let mut segments = Segments::new();
        let mut rest: &str = source;
        for (changed, value) in change.values() {
            let Some((head, tail)) = rest.split_at_checked(value.len()) else {
                break;
            };
            segments.push((*changed, head));
            rest = tail;
        }
        // A line that is marked from end to end says nothing more than its colour does.
        let marked = segments.iter().any(|(changed, _)| *changed);
        let kept = segments
            .iter()
            .any(|(changed, text)| !changed && !text.trim().is_empty());
        if rest.is_empty() && marked && kept {
            *slot = segments;
        }
    }
    (gone, come)
}

fn to_segments<'a>(block: &[&'a str]) -> Vec<Segments<'a>> {
    block.iter().map(|line| unmarked_line(line)).collect()
}
