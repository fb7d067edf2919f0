//! Locates the hunks of a file, each at the one place where it matches exactly, and applies them.

use std::ops::Range;

use super::PatchHunk;
use super::mismatch::explain_mismatch;
use crate::text::{find_overlapping, is_crlf_only};

/// Most lines that an error lists.
const LINES_LISTED_MAX: usize = 10;

/// Returns the content of a file with all hunks applied. Line ends stay as the file has them: CRLF if all lines end so,
/// and a last line without a line end, unless a hunk says otherwise.
///
/// # Errors
/// One sentence for each hunk that matches nowhere or at several places, and for hunks that touch the same lines.
pub(crate) fn apply_hunks(content: &str, hunks: &[PatchHunk]) -> Result<String, Vec<String>> {
    let file = PatchedFile::new(content);
    let mut places: Vec<(usize, Range<usize>, &PatchHunk)> = Vec::new();
    let mut problems = Vec::new();
    for (number, hunk) in hunks.iter().enumerate() {
        match file.locate_hunk(hunk) {
            Ok(place) => places.push((number + 1, place, hunk)),
            Err(why) => problems.push(format!("Hunk {}: {why}", number + 1)),
        }
    }
    places.sort_by_key(|(number, place, _)| (place.start, place.end, *number));
    for pair in places.windows(2) {
        let [(one, first, _), (other, second, _)] = pair else {
            continue;
        };
        if second.start < first.end || first == second {
            problems.push(format!(
                "Hunk {one} and hunk {other} touch the same lines; make one of them."
            ));
        }
    }
    match problems.is_empty() {
        true => Ok(file.replace_ranges(&places)),
        false => Err(problems),
    }
}

struct PatchedFile<'a> {
    content: &'a str,
    /// Lines of the file without their line ends, between line feeds.
    bare: String,
    lines: Vec<&'a str>,
    /// Offset in `bare` of the line feed before each line.
    starts: Vec<usize>,
    crlf: bool,
    /// Whether the last line has no line end.
    open: bool,
}

impl<'a> PatchedFile<'a> {
    fn new(content: &'a str) -> Self {
        let crlf = is_crlf_only(content);
        let lines: Vec<&str> = content
            .split_inclusive('\n')
            .map(|line| {
                let line = line.strip_suffix('\n').unwrap_or(line);
                match crlf {
                    true => line.strip_suffix('\r').unwrap_or(line),
                    false => line,
                }
            })
            .collect();
        let lengths = lines.iter().scan(0, |at, line| {
            let start = *at;
            *at += line.len() + 1;
            Some(start)
        });
        Self {
            content,
            starts: lengths.collect(),
            bare: format!("\n{}\n", lines.join("\n")),
            lines,
            crlf,
            open: !content.is_empty() && !content.ends_with('\n'),
        }
    }

    /// Returns the lines of a hunk without the carriage returns that belong to the line ends of the file: a diff of the
    /// file shows them.
    fn strip_line_ends<'b>(&self, mut lines: Vec<&'b str>) -> Vec<&'b str> {
        if self.crlf {
            for line in &mut lines {
                *line = line.strip_suffix('\r').unwrap_or(line);
            }
        }
        lines
    }

    /// Returns the lines that a hunk replaces, or why they are not clear.
    fn locate_hunk(&self, hunk: &PatchHunk) -> Result<Range<usize>, String> {
        let below = self.find_anchor(&hunk.anchors)?;
        let old = self.strip_line_ends(hunk.old_lines());
        if old.is_empty() {
            return self.locate_insertion(hunk, below);
        }
        let needle = format!("\n{}\n", old.join("\n"));
        let all = find_overlapping(&self.bare, &needle).into_iter();
        let all: Vec<usize> = all
            .filter_map(|at| self.starts.binary_search(&at).ok())
            .collect();
        let fits = |start: &usize| {
            *start >= below && (!hunk.at_end || start + old.len() == self.lines.len())
        };
        let mut starts: Vec<usize> = all.iter().copied().filter(fits).collect();
        if starts.is_empty() {
            return Err(match all.first() {
                Some(start) => format!(
                    "its lines stand at line {}, which is not {}.",
                    start + 1,
                    match hunk.at_end {
                        true => "the end of the file",
                        false => "below what its `@@` names",
                    }
                ),
                None => explain_mismatch(self.content, &self.lines, &old),
            });
        }
        if starts.len() > 1 {
            starts = self.narrow_candidates(starts, old.len(), hunk, below);
        }
        match starts.as_slice() {
            [start] => self.verify_location(*start..start + old.len(), hunk),
            several => {
                let lines = several.iter().take(LINES_LISTED_MAX);
                let lines: Vec<String> = lines.map(|start| (start + 1).to_string()).collect();
                Err(format!(
                    "its lines stand at {} places, at lines {}{}. Take in surrounding lines until they fit one place only, or \
                     name the line above it after `@@`.",
                    several.len(),
                    lines.join(", "),
                    match several.len() > lines.len() {
                        true => ", …",
                        false => "",
                    }
                ))
            }
        }
    }

    /// Returns the first line below all anchors. Each anchor must match exactly once below the previous one, or once in
    /// the block that the previous one opens.
    fn find_anchor(&self, anchors: &[String]) -> Result<usize, String> {
        let mut below = 0;
        for anchor in anchors {
            let matching_lines: Vec<usize> = (below..self.lines.len())
                .filter(|line| self.lines[*line].trim() == anchor)
                .collect();
            let end = self.block_end(below);
            let in_block = only_match(&matching_lines, |line| below > 0 && line < end);
            below = match (matching_lines.as_slice(), in_block) {
                ([line], _) => line + 1,
                (_, Some(line)) => line + 1,
                ([], None) => {
                    return Err(format!(
                        "no line reads `{anchor}`, as its `@@` says. Copy the line whole."
                    ));
                }
                (several, None) => {
                    return Err(format!(
                        "{} lines read `{anchor}`, as its `@@` says. Name the one above it with an `@@` of its own first.",
                        several.len()
                    ));
                }
            };
        }
        Ok(below)
    }

    /// Picks one of several places: the only one in the block that the last anchor opens, or the one at the line that
    /// the hunk names.
    fn narrow_candidates(
        &self,
        starts: Vec<usize>,
        length: usize,
        hunk: &PatchHunk,
        below: usize,
    ) -> Vec<usize> {
        let end = self.block_end(below);
        let in_block = only_match(&starts, |start| below > 0 && start + length <= end);
        let at_line = || only_match(&starts, |start| Some(start + 1) == hunk.line);
        match in_block.or_else(at_line) {
            Some(start) => vec![start],
            None => starts,
        }
    }

    /// Returns the end of the block whose first line is above `below`: after the next line that is indented no deeper.
    fn block_end(&self, below: usize) -> usize {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let Some(opens) = below.checked_sub(1).and_then(|line| self.lines.get(line)) else {
            return self.lines.len();
        };
        let closes = self.lines[below..]
            .iter()
            .position(|line| !line.trim().is_empty() && depth(line) <= depth(opens));
        closes.map_or(self.lines.len(), |line| below + line + 1)
    }

    /// Returns the place where lines are inserted between lines that the hunk does not name.
    fn locate_insertion(&self, hunk: &PatchHunk, below: usize) -> Result<Range<usize>, String> {
        let end = self.lines.len();
        let at = match hunk.line {
            _ if hunk.at_end || self.lines.is_empty() => end,
            _ if !hunk.anchors.is_empty() => below,
            Some(line) if line <= end => line,
            Some(line) => return Err(format!("there is no line {line}; the file has {end}.")),
            None => {
                return Err(
                    "it names no line of the file to stand beside. Take in the line above or below, or `*** End of File`."
                        .to_owned(),
                );
            }
        };
        self.verify_location(at..at, hunk)
    }

    /// Checks that the hunk's statements about the end of the file are true.
    fn verify_location(
        &self,
        place: Range<usize>,
        hunk: &PatchHunk,
    ) -> Result<Range<usize>, String> {
        let at_end = place.end == self.lines.len();
        match (hunk.open_before, hunk.open_after) {
            (true, _) if !at_end || !self.open => Err(
                "it says that the file ends there without a line end, which is not so.".to_owned(),
            ),
            (_, true) if !at_end => {
                Err("it would leave out a line end in the middle of the file.".to_owned())
            }
            _ => Ok(place),
        }
    }

    /// Returns the content with these places replaced, in order.
    fn replace_ranges(&self, places: &[(usize, Range<usize>, &PatchHunk)]) -> String {
        let mut lines: Vec<&str> = Vec::with_capacity(self.lines.len());
        let mut next = 0;
        let mut open = self.open;
        for (_, place, hunk) in places {
            lines.extend(&self.lines[next..place.start]);
            lines.extend(self.strip_line_ends(hunk.new_lines()));
            next = place.end;
            if place.end == self.lines.len() && (hunk.open_before || hunk.open_after) {
                open = hunk.open_after;
            }
        }
        lines.extend(&self.lines[next..]);
        let end = match self.crlf {
            true => "\r\n",
            false => "\n",
        };
        let mut content = lines.join(end);
        if !open && !lines.is_empty() {
            content.push_str(end);
        }
        content
    }
}

/// Returns the line that fits, if exactly one does.
fn only_match(lines: &[usize], fits: impl Fn(usize) -> bool) -> Option<usize> {
    let mut fitting = lines.iter().copied().filter(|line| fits(*line));
    fitting.next().filter(|_| fitting.next().is_none())
}
