//! What becomes of the lines of a file: which stay, and which stay in their order.

use std::collections::{HashMap, VecDeque};

/// The lines of a file that are not blank, before and after a change.
pub(super) struct LineChanges {
    /// How many lines there were.
    pub lines: usize,
    /// How many of them stay, wherever.
    pub kept: usize,
    /// How many of them stay in their order.
    pub kept_in_order: usize,
}

impl LineChanges {
    pub fn compare(before: &[u8], after: &[u8]) -> Self {
        let mut places: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
        for (place, line) in split_lines(after).enumerate() {
            places.entry(line).or_default().push_back(place);
        }
        let mut lines = 0;
        let mut kept_places = Vec::new();
        for line in split_lines(before) {
            lines += 1;
            kept_places.extend(places.get_mut(line).and_then(VecDeque::pop_front));
        }
        Self {
            lines,
            kept: kept_places.len(),
            kept_in_order: count_rising(&kept_places),
        }
    }
}

/// Returns the lines of a content that are in none of the versions, each as often as it stands there alone.
pub(super) fn collect_new_lines(content: &[u8], versions: &[Vec<u8>]) -> Vec<u8> {
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for version in versions {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for line in split_lines(version) {
            *counts.entry(line).or_default() += 1;
        }
        for (line, count) in counts {
            let most = known.entry(line).or_default();
            *most = count.max(*most);
        }
    }
    let new = split_lines(content).filter(|line| match known.get_mut(line) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        Some(0) | None => true,
    });
    new.collect::<Vec<_>>().join(&b'\n')
}

/// The lines of a file that are not blank.
fn split_lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}

/// Returns the length of the longest rising sequence that is left when numbers are taken out.
fn count_rising(numbers: &[usize]) -> usize {
    // The smallest last number of a rising sequence of each length.
    let mut ends: Vec<usize> = Vec::new();
    for number in numbers {
        let length = ends.partition_point(|end| end < number);
        match ends.get_mut(length) {
            Some(end) => *end = *number,
            None => ends.push(*number),
        }
    }
    ends.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_anywhere_or_in_their_order() {
        for (after, kept, kept_in_order) in [
            ("a\nb\nc\nd\n", 4, 4),
            ("new\n\na\n  b\nc\nnew\nd\n", 4, 4),
            ("d\nc\nb\na\n", 4, 1),
            ("c\nd\na\nb\n", 4, 2),
            ("b\nb\n", 1, 1),
            ("", 0, 0),
        ] {
            let changes = LineChanges::compare(b"a\nb\n\nc\nd\n", after.as_bytes());
            let found = (changes.lines, changes.kept, changes.kept_in_order);
            assert_eq!(found, (4, kept, kept_in_order), "{after:?}");
        }
    }

    #[test]
    fn a_line_is_new_where_no_version_has_it_as_often() {
        let versions = [b"a\nb\n".to_vec(), b"b\nb\nc\n".to_vec()];
        let new = collect_new_lines(b"a\nb\nb\nb\nc\nd\n", &versions);
        assert_eq!(new, b"b\nd");
        assert_eq!(collect_new_lines(b"a\n", &[]), b"a");
    }
}
