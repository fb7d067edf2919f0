//! Markdown as it is written: lines with what stands before them, blanks folded, and an end.

use crate::limits::MARKDOWN_BYTES_MAX;

/// The text so far. Nothing is written before something to read comes, so what is empty leaves no trace.
#[derive(Default)]
pub(super) struct MarkdownWriter {
    out: String,
    /// What stands before every line, from the outside in.
    before: Vec<LinePrefix>,
    /// Line ends that are due.
    gap: usize,
    /// A blank is due.
    blank: bool,
    /// Nothing stands in the line but what stands before every one.
    at_start: bool,
    /// How many things are open that have to stay in one line.
    inline: usize,
    is_full: bool,
}

/// What stands before lines: a bullet before the first, its width before all others.
struct LinePrefix {
    first: Option<String>,
    then: String,
}

/// Where a mark was opened.
#[derive(Clone, Copy)]
pub(super) struct WriterMark {
    from: usize,
    to: usize,
    at_start: bool,
}

impl MarkdownWriter {
    /// What was written, and whether there was more than fits.
    pub fn finish(self) -> (String, bool) {
        (self.out, self.is_full)
    }

    /// No more is taken.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether what comes has to stay in the line.
    pub fn is_inline(&self) -> bool {
        self.inline > 0
    }

    /// What comes stays in the line until [`Self::end_inline`].
    pub fn begin_inline(&mut self) {
        self.inline += 1;
    }

    /// The end of what [`Self::begin_inline`] began.
    pub fn end_inline(&mut self) {
        self.inline = self.inline.saturating_sub(1);
    }

    /// At least so many line ends come before what is next; a blank where the line may not end.
    pub fn request_gap(&mut self, lines: usize) {
        match self.is_inline() {
            true => self.blank = true,
            false => self.gap = self.gap.max(lines),
        }
    }

    /// From now on this stands before lines.
    pub fn indent(&mut self, first: &str, then: &str) {
        self.before.push(LinePrefix {
            first: Some(first.to_owned()),
            then: then.to_owned(),
        });
    }

    /// No more.
    pub fn outdent(&mut self) {
        self.before.pop();
    }

    /// Words, every run of blanks one.
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

    /// A text as it is, in this line.
    pub fn write_literal(&mut self, text: &str) {
        self.write_pending();
        self.push_str(text);
    }

    /// A bar between cells; blanks beside it are its own.
    pub fn write_table_bar(&mut self, bar: &str) {
        self.blank = false;
        self.write_literal(bar);
        self.at_start = true;
    }

    /// Lines as they are.
    pub fn write_lines<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        for line in lines {
            self.write_pending();
            self.push_str(line);
            self.gap = self.gap.max(1);
        }
    }

    /// Opens a mark that is closed again.
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

    /// Closes it; where nothing was written since it was never there.
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

    /// What is due before something to read.
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
