//! How far a substitution, an expansion, a quote or a bracket reaches in a text.

/// The command substitutions anywhere in a text in which quotes may not mean what they mean in a word.
pub(super) fn inner_scripts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
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
            let (inner, length) = parenthesised(&rest[2..]);
            found.push(inner.to_owned());
            // `$((` may be arithmetic, in which no quote hides a substitution.
            at = here + 2 + if inner.starts_with('(') { 1 } else { length };
        } else if let Some(after) = rest.strip_prefix('`') {
            let (inner, length) = backquoted(after);
            found.push(inner);
            at = here + 1 + length;
        }
    }
    found
}

/// The text up to the parenthesis that closes, and the bytes up to and with it; one more than there are if none closes.
/// Commands stand in it: a parenthesis of a `case`, a comment or a here-document closes nothing.
pub(super) fn parenthesised(text: &str) -> (&str, usize) {
    let commands = Commands::new(text.starts_with('('));
    Scan::new(text, Open::Commands(commands)).until_closed()
}

/// The text up to the bracket that closes what was opened before it, for the brackets of an expansion. Quotes are
/// entered as the shell enters them: a substitution between double quotes has quotes of its own.
pub(super) fn closed(text: &str, open: char, close: char, quoted: bool) -> (&str, usize) {
    let bracket = Open::Bracket {
        open,
        close,
        quoted,
    };
    Scan::new(text, bracket).until_closed()
}

/// The bytes of the quote, the escape, the expansion or the character that a text begins with; all of them if it has no
/// end.
pub(super) fn piece(text: &str) -> usize {
    let mut scan = Scan::new(text, Open::Commands(Commands::new(false)));
    scan.step();
    while scan.open.len() > 1 && scan.at < text.len() {
        scan.step();
    }
    scan.at.min(text.len())
}

/// The command between back quotes, its own backslashes removed, and the bytes up to and with the closing one.
pub(super) fn backquoted(text: &str) -> (String, usize) {
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

/// Something that is open.
enum Open {
    Double,
    Back,
    /// Between double quotes a single quote is a character like any other.
    Bracket {
        open: char,
        close: char,
        quoted: bool,
    },
    Commands(Commands),
}

/// Where in a list of commands the scan is.
struct Commands {
    /// It may be arithmetic, which has no comments and no here-documents.
    sums: bool,
    /// A command may begin here.
    begins: bool,
    /// Open `case`s, and whether the last still waits for its `in`.
    cases: usize,
    waits_for_in: bool,
    /// The ends of the here-documents that begin with the next line, and whether tabs may stand before them.
    documents: Vec<(String, bool)>,
}

impl Commands {
    fn new(sums: bool) -> Self {
        Self {
            sums,
            begins: true,
            cases: 0,
            waits_for_in: false,
            documents: Vec::new(),
        }
    }

    /// A whole word that is written without quotes.
    fn word(&mut self, word: &str) {
        self.begins = match word {
            "case" if self.begins => {
                self.cases += 1;
                self.waits_for_in = true;
                false
            }
            "in" if self.waits_for_in => {
                self.waits_for_in = false;
                true
            }
            "esac" if self.begins => {
                self.cases = self.cases.saturating_sub(1);
                false
            }
            "then" | "do" | "else" | "elif" | "if" | "while" | "until" | "!" | "time" => {
                self.begins
            }
            "{" => true,
            _ => false,
        };
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// The innermost last.
    open: Vec<Open>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, open: Open) -> Self {
        Self {
            text,
            at: 0,
            open: vec![open],
        }
    }

    fn until_closed(mut self) -> (&'t str, usize) {
        while self.at < self.text.len() {
            let here = self.at;
            self.step();
            if self.open.is_empty() {
                return (&self.text[..here], self.at);
            }
        }
        (self.text, self.text.len() + 1)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes one character, or what belongs to it.
    fn step(&mut self) {
        let rest = self.rest();
        let (Some(c), Some(open)) = (rest.chars().next(), self.open.last()) else {
            return;
        };
        let here = self.at;
        self.at += c.len_utf8();
        let quoted = matches!(open, Open::Double | Open::Bracket { quoted: true, .. });
        if matches!(c, '\\' | '\'' | '"' | '`' | '$') {
            self.no_keyword();
        }
        let Some(open) = self.open.last() else {
            return;
        };
        match (open, c) {
            (_, '\\') => self.at += self.rest().chars().next().map_or(0, char::len_utf8),
            (Open::Double, '"') | (Open::Back, '`') => drop(self.open.pop()),
            (Open::Back, _) => {}
            (Open::Bracket { close, .. }, _) if c == *close => drop(self.open.pop()),
            (_, '`') => self.open.push(Open::Back),
            (_, '$') => self.dollar(quoted),
            (Open::Double, _) => {}
            (_, '"') => self.open.push(Open::Double),
            (_, '\'') if !quoted => self.after_quote(),
            (&Open::Bracket { open, close, .. }, _) if c == open => self.open.push(Open::Bracket {
                open,
                close,
                quoted,
            }),
            (Open::Bracket { .. }, _) => {}
            (Open::Commands(_), _) => self.command(c, here),
        }
    }

    /// A word that is quoted or made by an expansion is no keyword.
    fn no_keyword(&mut self) {
        if let Some(Open::Commands(commands)) = self.open.last_mut() {
            commands.begins = false;
        }
    }

    fn after_quote(&mut self) {
        self.at += self
            .rest()
            .find('\'')
            .map_or(self.rest().len(), |end| end + 1);
    }

    fn dollar(&mut self, quoted: bool) {
        let rest = self.rest();
        self.at +=
            usize::from(rest.starts_with(['(', '{', '[']) || rest.starts_with('\'') && !quoted);
        match rest.chars().next() {
            Some('(') => self
                .open
                .push(Open::Commands(Commands::new(rest.starts_with("((")))),
            Some('{') => self.open.push(Open::Bracket {
                open: '{',
                close: '}',
                quoted,
            }),
            Some('[') => self.open.push(Open::Bracket {
                open: '[',
                close: ']',
                quoted,
            }),
            Some('\'') if !quoted => {
                let (_, length, _) = super::ansi::decode(self.rest());
                self.at += length;
            }
            Some(_) | None => {}
        }
    }

    /// A character between commands that opens no quote and no expansion.
    fn command(&mut self, c: char, here: usize) {
        let starts_word = self.text[..here]
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || ";&|()<>`".contains(c));
        let rest = self.rest();
        let Some(Open::Commands(commands)) = self.open.last_mut() else {
            return;
        };
        match c {
            ')' if commands.cases > 0 => commands.begins = true,
            ')' => drop(self.open.pop()),
            '(' => {
                let sums = commands.sums || rest.starts_with('(');
                commands.begins = commands.cases > 0;
                self.open.push(Open::Commands(Commands::new(sums)));
            }
            ';' | '&' | '|' => commands.begins = true,
            '\n' => {
                commands.begins = true;
                let documents = std::mem::take(&mut commands.documents);
                documents
                    .iter()
                    .for_each(|(end, tabs)| self.after_document(end, *tabs));
            }
            _ if commands.sums || c.is_whitespace() => {}
            '#' if starts_word => self.at += rest.find('\n').unwrap_or(rest.len()),
            '<' if rest.starts_with("<<") => self.at += 2,
            '<' if rest.starts_with('<') => self.document(),
            _ if starts_word => {
                let plain = |c: char| !c.is_whitespace() && !";&|()<>`'\"\\$".contains(c);
                let length = rest.find(|c| !plain(c)).unwrap_or(rest.len());
                let whole = !rest[length..].starts_with(['`', '\'', '"', '\\', '$']);
                commands.word(match whole {
                    true => &self.text[here..self.at + length],
                    false => "",
                });
                self.at += length;
            }
            _ => {}
        }
    }

    /// `<<END`, of which the first `<` is taken.
    fn document(&mut self) {
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
        if let (false, Some(Open::Commands(commands))) = (end.is_empty(), self.open.last_mut()) {
            commands.documents.push((end, tabs));
        }
    }

    /// Goes behind the line that ends a here-document; a parenthesis may close behind its word.
    fn after_document(&mut self, end: &str, tabs: bool) {
        while self.at < self.text.len() {
            let line = self.rest().split('\n').next().unwrap_or_default();
            let said = if tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if let Some(after) = said.strip_prefix(end) {
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
