//! How far a substitution, an expansion, a quote or a bracket reaches in a text.

/// The command substitutions anywhere in a text in which quotes may not mean what they mean in a word.
pub(in crate::shell) fn find_substitutions(text: &str) -> Vec<String> {
    let mut substitutions = Vec::new();
    let mut at = 0;
    while let Some(offset) = text
        .get(at..)
        .and_then(|rest| rest.find(['$', '`', '<', '>', '\\']))
    {
        let here = at + offset;
        let rest = &text[here..];
        at = here + 1;
        if let Some(after) = rest.strip_prefix('\\') {
            at += after.chars().next().map_or(0, char::len_utf8);
        } else if rest.starts_with("$(") || rest.starts_with("<(") || rest.starts_with(">(") {
            let (inner, length) = split_at_parenthesis(&rest[2..]);
            substitutions.push(inner.to_owned());
            // `$((` may be arithmetic, in which no quote hides a substitution.
            at = here + 2 + if inner.starts_with('(') { 1 } else { length };
        } else if let Some(after) = rest.strip_prefix('`') {
            let (inner, length) = split_at_backquote(after);
            substitutions.push(inner);
            at = here + 1 + length;
        }
    }
    substitutions
}

/// Returns the text up to the closing parenthesis, and the number of bytes up to and with it; one more than the text
/// has if none closes. The text holds commands: a parenthesis of a `case`, a comment or a here-document closes nothing.
pub(in crate::shell) fn split_at_parenthesis(text: &str) -> (&str, usize) {
    let commands = CommandListState::new(text.starts_with('('));
    ExtentScanner::new(text, OpenDelimiter::Commands(commands)).scan_until_closed()
}

/// Returns the text up to the bracket that closes the one opened before it, for the brackets of an expansion. Quotes
/// are entered as the shell enters them: a substitution between double quotes has quotes of its own.
pub(in crate::shell) fn split_at_bracket(
    text: &str,
    open: char,
    close: char,
    quoted: bool,
) -> (&str, usize) {
    let bracket = OpenDelimiter::Bracket {
        open,
        close,
        quoted,
    };
    ExtentScanner::new(text, bracket).scan_until_closed()
}

/// The bytes of the quote, the escape, the expansion or the character that a text begins with; all of them if it has no
/// end.
pub(in crate::shell) fn piece_len(text: &str) -> usize {
    let mut scan = ExtentScanner::new(text, OpenDelimiter::Commands(CommandListState::new(false)));
    scan.advance();
    while scan.open.len() > 1 && scan.at < text.len() {
        scan.advance();
    }
    scan.at.min(text.len())
}

/// The command between back quotes, its own backslashes removed, and the bytes up to and with the closing one.
pub(in crate::shell) fn split_at_backquote(text: &str) -> (String, usize) {
    let mut inner = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => return (inner, at + 1),
            '\\' => match chars.next() {
                Some((_, next @ ('`' | '\\' | '$'))) => inner.push(next),
                Some((_, next)) => inner.extend(['\\', next]),
                None => inner.push('\\'),
            },
            _ => inner.push(c),
        }
    }
    (inner, text.len() + 1)
}

/// An open delimiter.
enum OpenDelimiter {
    DoubleQuote,
    BackQuote,
    /// Between double quotes a single quote is a character like any other.
    Bracket {
        open: char,
        close: char,
        quoted: bool,
    },
    Commands(CommandListState),
}

/// Where in a list of commands the scan is.
struct CommandListState {
    /// Whether the text may be arithmetic, which has no comments and no here-documents.
    may_be_arithmetic: bool,
    /// A command may begin here.
    at_command_start: bool,
    /// Open `case`s, and whether the last still waits for its `in`.
    open_cases: usize,
    awaits_in: bool,
    /// The ends of the here-documents that begin with the next line, and whether tabs may stand before them.
    pending_documents: Vec<(String, bool)>,
}

impl CommandListState {
    fn new(may_be_arithmetic: bool) -> Self {
        Self {
            may_be_arithmetic,
            at_command_start: true,
            open_cases: 0,
            awaits_in: false,
            pending_documents: Vec::new(),
        }
    }

    /// A whole word that is written without quotes.
    fn on_word(&mut self, word: &str) {
        self.at_command_start = match word {
            "case" if self.at_command_start => {
                self.open_cases += 1;
                self.awaits_in = true;
                false
            }
            "in" if self.awaits_in => {
                self.awaits_in = false;
                true
            }
            "esac" if self.at_command_start => {
                self.open_cases = self.open_cases.saturating_sub(1);
                false
            }
            "then" | "do" | "else" | "elif" | "if" | "while" | "until" | "!" | "time" => {
                self.at_command_start
            }
            "{" => true,
            _ => false,
        };
    }
}

struct ExtentScanner<'t> {
    text: &'t str,
    at: usize,
    /// The innermost last.
    open: Vec<OpenDelimiter>,
}

impl<'t> ExtentScanner<'t> {
    fn new(text: &'t str, open: OpenDelimiter) -> Self {
        Self {
            text,
            at: 0,
            open: vec![open],
        }
    }

    fn scan_until_closed(mut self) -> (&'t str, usize) {
        while self.at < self.text.len() {
            let here = self.at;
            self.advance();
            if self.open.is_empty() {
                return (&self.text[..here], self.at);
            }
        }
        (self.text, self.text.len() + 1)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes one character, or everything that belongs to it.
    fn advance(&mut self) {
        let rest = self.rest();
        let (Some(c), Some(open)) = (rest.chars().next(), self.open.last()) else {
            return;
        };
        let here = self.at;
        self.at += c.len_utf8();
        let quoted = matches!(
            open,
            OpenDelimiter::DoubleQuote | OpenDelimiter::Bracket { quoted: true, .. }
        );
        if matches!(c, '\\' | '\'' | '"' | '`' | '$') {
            self.mark_not_keyword();
        }
        let Some(open) = self.open.last() else {
            return;
        };
        match (open, c) {
            (_, '\\') => self.at += self.rest().chars().next().map_or(0, char::len_utf8),
            (OpenDelimiter::DoubleQuote, '"') | (OpenDelimiter::BackQuote, '`') => {
                drop(self.open.pop())
            }
            (OpenDelimiter::BackQuote, _) => {}
            (OpenDelimiter::Bracket { close, .. }, _) if c == *close => drop(self.open.pop()),
            (_, '`') => self.open.push(OpenDelimiter::BackQuote),
            (_, '$') => self.scan_dollar(quoted),
            (OpenDelimiter::DoubleQuote, _) => {}
            (_, '"') => self.open.push(OpenDelimiter::DoubleQuote),
            (_, '\'') if !quoted => self.leave_quote(),
            (&OpenDelimiter::Bracket { open, close, .. }, _) if c == open => {
                self.open.push(OpenDelimiter::Bracket {
                    open,
                    close,
                    quoted,
                })
            }
            (OpenDelimiter::Bracket { .. }, _) => {}
            (OpenDelimiter::Commands(_), _) => self.scan_command_char(c, here),
        }
    }

    /// A word that is quoted or made by an expansion is no keyword.
    fn mark_not_keyword(&mut self) {
        if let Some(OpenDelimiter::Commands(commands)) = self.open.last_mut() {
            commands.at_command_start = false;
        }
    }

    fn leave_quote(&mut self) {
        self.at += self
            .rest()
            .find('\'')
            .map_or(self.rest().len(), |end| end + 1);
    }

    fn scan_dollar(&mut self, quoted: bool) {
        let rest = self.rest();
        self.at +=
            usize::from(rest.starts_with(['(', '{', '[']) || rest.starts_with('\'') && !quoted);
        match rest.chars().next() {
            Some('(') => self
                .open
                .push(OpenDelimiter::Commands(CommandListState::new(
                    rest.starts_with("(("),
                ))),
            Some('{') => self.open.push(OpenDelimiter::Bracket {
                open: '{',
                close: '}',
                quoted,
            }),
            Some('[') => self.open.push(OpenDelimiter::Bracket {
                open: '[',
                close: ']',
                quoted,
            }),
            Some('\'') if !quoted => {
                let (_, length, _) =
                    crate::shell::parse::ansi_quote::decode_ansi_quote(self.rest());
                self.at += length;
            }
            Some(_) | None => {}
        }
    }

    /// A character between commands that opens no quote and no expansion.
    fn scan_command_char(&mut self, c: char, here: usize) {
        let starts_word = self.text[..here]
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || ";&|()<>`".contains(c));
        let rest = self.rest();
        let Some(OpenDelimiter::Commands(commands)) = self.open.last_mut() else {
            return;
        };
        match c {
            ')' if commands.open_cases > 0 => commands.at_command_start = true,
            ')' => drop(self.open.pop()),
            '(' => {
                let sums = commands.may_be_arithmetic || rest.starts_with('(');
                commands.at_command_start = commands.open_cases > 0;
                self.open
                    .push(OpenDelimiter::Commands(CommandListState::new(sums)));
            }
            ';' | '&' | '|' => commands.at_command_start = true,
            '\n' => {
                commands.at_command_start = true;
                let documents = std::mem::take(&mut commands.pending_documents);
                documents
                    .iter()
                    .for_each(|(end, tabs)| self.skip_document(end, *tabs));
            }
            _ if commands.may_be_arithmetic || c.is_whitespace() => {}
            '#' if starts_word => self.at += rest.find('\n').unwrap_or(rest.len()),
            '<' if rest.starts_with("<<") => self.at += 2,
            '<' if rest.starts_with('<') => self.scan_document_start(),
            _ if starts_word => {
                let plain = |c: char| !c.is_whitespace() && !";&|()<>`'\"\\$".contains(c);
                let length = rest.find(|c| !plain(c)).unwrap_or(rest.len());
                let whole = !rest[length..].starts_with(['`', '\'', '"', '\\', '$']);
                commands.on_word(match whole {
                    true => &self.text[here..self.at + length],
                    false => "",
                });
                self.at += length;
            }
            _ => {}
        }
    }

    /// `<<END`, of which the first `<` is taken.
    fn scan_document_start(&mut self) {
        self.at += 1;
        let tabs = self.rest().starts_with('-');
        self.at += usize::from(tabs);
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        let raw = self.rest();
        let mut length = 0;
        while let Some(c) = raw[length..].chars().next() {
            length += match c {
                _ if c.is_whitespace() || ";&|()<>".contains(c) => break,
                '\\' => 1 + raw[length + 1..].chars().next().map_or(0, char::len_utf8),
                '\'' | '"' => 1 + raw[length + 1..].find(c).map_or(0, |end| end + 1),
                _ => c.len_utf8(),
            };
        }
        self.at += length;
        let end = raw[..length].replace(['\'', '"', '\\'], "");
        if let (false, Some(OpenDelimiter::Commands(commands))) =
            (end.is_empty(), self.open.last_mut())
        {
            commands.pending_documents.push((end, tabs));
        }
    }

    /// Goes behind the line that ends a here-document; a parenthesis may close behind its word.
    fn skip_document(&mut self, end: &str, tabs: bool) {
        while self.at < self.text.len() {
            let line = self.rest().split('\n').next().unwrap_or_default();
            let content = if tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if let Some(after) = content.strip_prefix(end) {
                if after.is_empty() {
                    self.at += (line.len() + 1).min(self.rest().len());
                    return;
                }
                if after.trim_start_matches([' ', '\t']).starts_with(')') {
                    self.at += line.len() - after.len();
                    return;
                }
            }
            self.at += (line.len() + 1).min(self.rest().len());
        }
    }
}
