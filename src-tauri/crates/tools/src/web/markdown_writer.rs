//! Writes Markdown: lines with their prefixes, collapsed blanks, and a size limit.

use crate::limits::MARKDOWN_BYTES_MAX;

/// The text written so far. Pending line ends and blanks are only written before the next text, so empty elements leave
/// no trace.
#[derive(Default)]
pub(super) struct MarkdownWriter {
    out: String,
    /// Prefixes of every line, from the outside in.
    before: Vec<LinePrefix>,
    /// Number of pending line ends.
    gap: usize,
    /// Whether a blank is pending.
    blank: bool,
    /// Whether the line has only its prefixes so far.
    at_start: bool,
    /// Number of open elements that have to stay in one line.
    inline: usize,
    is_full: bool,
}

/// A prefix of lines: a bullet before the first line, its width before all others.
struct LinePrefix {
    first: Option<String>,
    then: String,
}

/// The place where a mark was opened.
#[derive(Clone, Copy)]
pub(super) struct WriterMark {
    from: usize,
    to: usize,
    at_start: bool,
}

impl MarkdownWriter {
    /// Returns the text, and whether it was cut at the size limit.
    pub fn finish(self) -> (String, bool) {
        (self.out, self.is_full)
    }

    /// Whether the size limit is reached, so that no more text is accepted.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether the next text has to stay in the current line.
    pub fn is_inline(&self) -> bool {
        self.inline > 0
    }

    /// Keeps all text in the current line until [`Self::end_inline`].
    pub fn begin_inline(&mut self) {
        self.inline += 1;
    }

    /// Ends the range that [`Self::begin_inline`] began.
    pub fn end_inline(&mut self) {
        self.inline = self.inline.saturating_sub(1);
    }

    /// Requests at least this many line ends before the next text; a blank where the line may not end.
    pub fn request_gap(&mut self, lines: usize) {
        match self.is_inline() {
            true => self.blank = true,
            false => self.gap = self.gap.max(lines),
        }
    }

    /// Adds a prefix to all following lines.
    pub fn indent(&mut self, first: &str, then: &str) {
        self.before.push(LinePrefix {
            first: Some(first.to_owned()),
            then: then.to_owned(),
        });
    }

    /// Removes the last prefix.
    pub fn outdent(&mut self) {
        self.before.pop();
    }

    /// Writes words, with every run of blanks collapsed into one.
    pub fn write_words(&mut self, text: &str) {
        let in_cell = self.is_inline();
        if text.starts_with(char::is_whitespace) {
            self.blank = true;
        }
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            self.write_pending();
            match in_cell && word.contains('|') {
                true => self.push_str(&word.replace('|', "\\|")),
                false => self.push_str(word),
            }
            self.blank = words.peek().is_some() || text.ends_with(char::is_whitespace);
        }
    }

    /// Writes a text as it is, in the current line.
    pub fn write_literal(&mut self, text: &str) {
        self.write_pending();
        self.push_str(text);
    }

    /// Writes a bar between table cells, which brings its own blanks.
    pub fn write_table_bar(&mut self, bar: &str) {
        self.blank = false;
        self.write_literal(bar);
        self.at_start = true;
    }

    /// Writes lines as they are.
    pub fn write_lines<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        for line in lines {
            self.write_pending();
            self.push_str(line);
            self.gap = self.gap.max(1);
        }
    }

    /// Opens a mark, to be closed by `close_mark`.
    pub fn open(&mut self, mark: &str) -> WriterMark {
        let begins = self.out.is_empty() || self.gap > 0 || self.at_start;
        self.write_pending();
        let from = self.out.len();
        self.push_str(mark);
        self.at_start = true;
        WriterMark {
            from,
            to: self.out.len(),
            at_start: begins,
        }
    }

    /// Closes a mark; if nothing was written since, the opening mark is removed.
    pub fn close_mark(&mut self, place: WriterMark, mark: &str) {
        match self.out.len() <= place.to {
            true => {
                self.out.truncate(place.from);
                self.at_start = place.at_start;
            }
            false => {
                let blank = std::mem::take(&mut self.blank);
                self.push_str(mark);
                self.blank = blank;
            }
        }
    }

    /// Writes the pending line ends, prefixes and blanks.
    fn write_pending(&mut self) {
        let begins = self.out.is_empty() || self.gap > 0;
        if !self.out.is_empty() {
            for left in (0..self.gap).rev() {
                self.push_str("\n");
                if left > 0 {
                    let blank: String = self.before.iter().map(|one| one.then.as_str()).collect();
                    self.push_str(blank.trim_end());
                }
            }
        }
        self.gap = 0;
        if begins {
            for at in 0..self.before.len() {
                let text = match self.before[at].first.take() {
                    Some(first) => first,
                    None => self.before[at].then.clone(),
                };
                self.push_str(&text);
            }
            self.at_start = true;
        }
        if std::mem::take(&mut self.blank) && !self.at_start {
            self.push_str(" ");
        }
        self.at_start = false;
    }

    fn push_str(&mut self, text: &str) {
        let room = MARKDOWN_BYTES_MAX.saturating_sub(self.out.len());
        if text.len() > room {
            self.is_full = true;
        }
        self.out
            .push_str(protocol::text::cut::take_head(text, room));
    }
}
