//! Reads a script of `sed` as far as it takes to know what it runs and which files it reads and writes.

use protocol::Capability;

/// The scripts that the words of a `sed` command give.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// The scripts.
    pub texts: Vec<String>,
    /// The words that are scripts and nothing else.
    pub places: Vec<usize>,
    /// The option that names a file of commands, if one does.
    pub file: Option<String>,
}

/// A file that a script names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScriptFile {
    /// How it is touched.
    pub capability: Capability,
    /// Its path.
    pub path: String,
}

/// The scripts among the words of a command, whose first is the program.
pub(super) fn scripts(list: &[String]) -> Scripts {
    let mut found = Scripts::default();
    let mut operand = None;
    let mut at = 1;
    while let Some(word) = list.get(at) {
        let here = at;
        at += 1;
        let Some(bare) = word.strip_prefix('-').filter(|bare| !bare.is_empty()) else {
            operand.get_or_insert(here);
            continue;
        };
        if let Some(long) = bare.strip_prefix('-') {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            // A long option may be cut short.
            let is_cut = |whole: &str| !name.is_empty() && whole.starts_with(name);
            if is_cut("expression") {
                match value {
                    Some(text) => {
                        found.texts.push(text);
                        found.places.push(here);
                    }
                    None => found.take(list, &mut at),
                }
            } else if is_cut("file") {
                found.file = Some(word.split('=').next().unwrap_or_default().to_owned());
                at += usize::from(value.is_none());
            } else if is_cut("line-length") {
                at += usize::from(value.is_none());
            }
            continue;
        }
        // `-ne 's/a/b/'`, `-i.bak`: letters after `i` are its ending.
        for (offset, letter) in bare.char_indices() {
            let rest = &bare[offset + letter.len_utf8()..];
            match letter {
                'i' => break,
                'e' if rest.is_empty() => found.take(list, &mut at),
                'e' => {
                    found.texts.push(rest.to_owned());
                    found.places.push(here);
                }
                'f' => {
                    found.file = Some(word.clone());
                    at += usize::from(rest.is_empty());
                }
                'l' => at += usize::from(rest.is_empty()),
                _ => continue,
            }
            break;
        }
    }
    if found.texts.is_empty()
        && found.file.is_none()
        && let Some(at) = operand
    {
        found.take(list, &mut at.clone());
    }
    found
}

impl Scripts {
    /// Takes the word at a place as a script, and goes on behind it.
    fn take(&mut self, list: &[String], at: &mut usize) {
        if let Some(text) = list.get(*at) {
            self.texts.push(text.clone());
            self.places.push(*at);
        }
        *at += 1;
    }
}

/// The texts that a script runs, if it runs, reads or writes anything, or cannot be read.
pub(super) fn executes(script: &str) -> Option<Vec<String>> {
    let mut reader = Reader::new(script);
    let understood = reader.script().is_some();
    (reader.acts || !understood).then_some(reader.runs)
}

/// The files that a script reads and writes, as far as it can be read.
pub(super) fn files(script: &str) -> Vec<ScriptFile> {
    let mut reader = Reader::new(script);
    if reader.script().is_some() {
        return reader.files;
    }
    // What cannot be read may name a file in any of its words.
    let words = script.split(|c: char| c.is_whitespace() || matches!(c, ';' | '}'));
    let named = words.filter(|word| !word.is_empty());
    let both = [Capability::FsRead, Capability::FsWrite];
    named
        .flat_map(|word| {
            both.map(|capability| ScriptFile {
                capability,
                path: word.to_owned(),
            })
        })
        .collect()
}

struct Reader<'a> {
    rest: &'a str,
    runs: Vec<String>,
    files: Vec<ScriptFile>,
    acts: bool,
}

impl<'a> Reader<'a> {
    fn new(script: &'a str) -> Self {
        Self {
            rest: script,
            runs: Vec::new(),
            files: Vec::new(),
            acts: false,
        }
    }

    /// A file whose name reaches to the end of the line.
    fn file(&mut self, capability: Capability) {
        let path = self.line().trim().to_owned();
        self.files.push(ScriptFile { capability, path });
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Up to the end of the line.
    fn line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line
    }

    fn script(&mut self) -> Option<()> {
        loop {
            self.rest = self
                .rest
                .trim_start_matches([' ', '\t', '\n', ';', '}', '\r']);
            if self.rest.is_empty() {
                return Some(());
            }
            self.address()?;
            self.rest = self.rest.trim_start_matches([' ', '\t', '!']);
            match self.next()? {
                '#' => drop(self.line()),
                '{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
                | 'z' | 'F' => {}
                ':' | 'b' | 't' | 'T' => {
                    let end = self.rest.find(['\n', ';', '}']).unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                'q' | 'Q' | 'l' | 'L' => {
                    self.rest = self
                        .rest
                        .trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
                }
                'r' | 'R' => self.file(Capability::FsRead),
                'a' | 'i' | 'c' | 'v' => {
                    // A text goes on after a backslash at the end of its line.
                    while self.line().ends_with('\\') && self.next().is_some() {}
                }
                's' => self.substitute()?,
                'y' => {
                    let delimiter = self.next()?;
                    self.until(delimiter)?;
                    self.until(delimiter)?;
                }
                'e' => {
                    self.acts = true;
                    let text = self.line().trim().to_owned();
                    self.runs.push(text);
                }
                'w' | 'W' => {
                    self.acts = true;
                    self.file(Capability::FsWrite);
                }
                _ => return None,
            }
        }
    }

    /// Numbers, `$`, patterns, ranges and steps.
    fn address(&mut self) -> Option<()> {
        loop {
            let before = self.rest.len();
            self.rest = self.rest.trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' ')
            });
            if let Some(after) = self.rest.strip_prefix('/') {
                self.rest = after;
                self.until('/')?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            } else if let Some(after) = self.rest.strip_prefix('\\') {
                self.rest = after;
                let delimiter = self.next()?;
                self.until(delimiter)?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            }
            if self.rest.len() == before {
                return Some(());
            }
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.next()?;
        if matches!(delimiter, '\\' | '\n') {
            return None;
        }
        self.until(delimiter)?;
        let replacement = self.until(delimiter)?.to_owned();
        loop {
            match self.rest.chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                Some('e') => {
                    self.next();
                    self.acts = true;
                    self.runs.push(replacement.clone());
                }
                Some('w') => {
                    self.next();
                    self.acts = true;
                    self.file(Capability::FsWrite);
                }
                Some(' ' | '\t' | '\n' | ';' | '}' | '#' | '\r') | None => return Some(()),
                Some(_) => return None,
            }
        }
    }

    fn until(&mut self, delimiter: char) -> Option<&'a str> {
        let text = self.rest;
        let mut is_class = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                _ if c == delimiter && !is_class => {
                    self.rest = &text[at + c.len_utf8()..];
                    return Some(&text[..at]);
                }
                // GNU sed ends a pattern at its delimiter even within brackets, other seds do not: both would have to
                // agree, so brackets that hold the delimiter are not understood.
                '[' => is_class = class_holds(&text[at..], delimiter),
                ']' => is_class = false,
                _ => {}
            }
            if is_class {
                return None;
            }
        }
        None
    }
}

fn class_holds(text: &str, delimiter: char) -> bool {
    text.find(']')
        .is_some_and(|end| text[..end].contains(delimiter))
}

#[cfg(test)]
mod tests {
    use super::executes;

    #[test]
    fn what_sed_scripts_do() {
        for script in [
            "s/a/b/",
            "s/a/b/g",
            "s|a|b|gI;p",
            "1,5p",
            "$d",
            "/x/,/y/d",
            "/x/!s/a/b/2",
            "10q",
            "y/abc/xyz/",
            "1{p;q}",
            ":a;N;$!ba;s/\\n/ /g",
            "/x/a\\\nmore text",
            "s/[0-9]*//",
            "5i hello",
            "$!N",
            "0~2d",
            "",
        ] {
            assert_eq!(executes(script), None, "{script}");
        }
        for (script, runs) in [
            ("e rm x", vec!["rm x"]),
            ("1e rm x", vec!["rm x"]),
            ("s/a/rm x/e", vec!["rm x"]),
            ("s/a/rm x/ge", vec!["rm x"]),
            ("w out", vec![]),
            ("s/a/b/w out", vec![]),
            ("/x/W out", vec![]),
            ("%", vec![]),
            ("s/[/]//", vec![]),
        ] {
            assert_eq!(
                executes(script),
                Some(runs.into_iter().map(str::to_owned).collect()),
                "{script}"
            );
        }
    }
}
