//! Splits a text into lines, and formats a line for display: without its line end, with every hidden character named.

use protocol::text::display_text::to_spans;
use protocol::view::preview::DiffLinePart;

use super::marks::Segments;

/// Splits a text into lines, each with its line end. A bare carriage return ends no line.
pub(super) fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Whether the line is the last one and no line end follows it.
pub(super) fn ends_without_newline(lines: &[&str], index: usize) -> bool {
    index + 1 == lines.len() && lines.get(index).is_some_and(|line| !line.ends_with('\n'))
}

/// Treatment of line ends in one difference.
pub(super) struct LineEndings {
    name_carriage_returns: bool,
}

impl LineEndings {
    /// Detects the line ends of both sides. A carriage return before the line feed is part of the line end if all lines
    /// of both sides have it. If only some lines have it, it is a difference that must be seen, and is named.
    pub(super) fn detect(old: &[&str], new: &[&str]) -> Self {
        let mut ended = old.iter().chain(new).filter(|line| line.ends_with('\n'));
        Self {
            name_carriage_returns: !ended.all(|line| line.ends_with("\r\n")),
        }
    }

    /// Returns the visible parts of a line, and whether it is complete: for a line longer than `bytes_max` only the
    /// length is given.
    pub(super) fn visible_parts(
        &self,
        segments: Segments<'_>,
        bytes_max: usize,
    ) -> (Vec<DiffLinePart>, bool) {
        let mut length: usize = segments.iter().map(|(_, text)| text.len()).sum();
        let ends_with = |suffix: &str| {
            segments
                .iter()
                .rev()
                .find(|s| !s.1.is_empty())
                .is_some_and(|s| s.1.ends_with(suffix))
        };
        if ends_with("\n") {
            length -= 1;
            let carriage_return = segments
                .iter()
                .flat_map(|(_, text)| text.bytes())
                .nth(length.wrapping_sub(1))
                == Some(b'\r');
            if carriage_return && !self.name_carriage_returns {
                length -= 1;
            }
        }
        let mut left = length.min(bytes_max);
        let mut taken = 0;
        let mut parts: Vec<DiffLinePart> = Vec::new();
        for (changed, text) in segments {
            let text = &text[..text.floor_char_boundary(left.min(text.len()))];
            left -= text.len().min(left);
            taken += text.len();
            for span in to_spans(text) {
                match parts.last_mut() {
                    Some(last) if !span.control && !last.control && last.changed == changed => {
                        last.text.push_str(&span.text);
                    }
                    _ => parts.push(DiffLinePart {
                        text: span.text,
                        changed,
                        control: span.control,
                    }),
                }
            }
        }
        let whole = length <= bytes_max;
        if !whole {
            parts.push(DiffLinePart {
                text: format!("… {} more bytes", length - taken),
                changed: false,
                control: true,
            });
        }
        (parts, whole)
    }
}
