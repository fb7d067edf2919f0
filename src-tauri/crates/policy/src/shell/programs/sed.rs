//! Parses a script of `sed` far enough to know which commands it runs and which files it reads and writes.

use protocol::Capability;

use crate::shell::split_option;

/// The scripts that the words of a `sed` command give.
#[derive(Debug, Default)]
pub(in crate::shell) struct SedScripts {
    /// The scripts.
    pub scripts: Vec<String>,
    /// The words that are scripts and nothing else.
    pub script_positions: Vec<usize>,
    /// The option that names a file of commands, if one of the options does.
    pub script_file_option: Option<String>,
}

/// A file that a script names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) struct SedFile {
    /// Capability of the access.
    pub capability: Capability,
    /// Its path.
    pub path: String,
}

/// The scripts among the words of a command, whose first is the program.
pub(in crate::shell) fn find_sed_scripts(list: &[String]) -> SedScripts {
    let mut scripts = SedScripts::default();
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
            let (name, value) = split_option(long);
            // A long option may be cut short.
            let is_cut = |whole: &str| !name.is_empty() && whole.starts_with(name);
            if is_cut("expression") {
                match value {
                    Some(text) => {
                        scripts.scripts.push(text.to_owned());
                        scripts.script_positions.push(here);
                    }
                    None => scripts.take_script(list, &mut at),
                }
            } else if is_cut("file") {
                scripts.script_file_option =
                    Some(word.split('=').next().unwrap_or_default().to_owned());
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
                'e' if rest.is_empty() => scripts.take_script(list, &mut at),
                'e' => {
                    scripts.scripts.push(rest.to_owned());
                    scripts.script_positions.push(here);
                }
                'f' => {
                    scripts.script_file_option = Some(word.clone());
                    at += usize::from(rest.is_empty());
                }
                'l' => at += usize::from(rest.is_empty()),
                _ => continue,
            }
            break;
        }
    }
    if scripts.scripts.is_empty()
        && scripts.script_file_option.is_none()
        && let Some(at) = operand
    {
        scripts.take_script(list, &mut at.clone());
    }
    scripts
}

impl SedScripts {
    /// Takes the word at a place as a script, and goes on behind it.
    fn take_script(&mut self, list: &[String], at: &mut usize) {
        if let Some(text) = list.get(*at) {
            self.scripts.push(text.clone());
            self.script_positions.push(*at);
        }
        *at += 1;
    }
}

/// The texts that a script runs, if it runs, reads or writes anything, or cannot be read.
pub(in crate::shell) fn find_sed_commands(script: &str) -> Option<Vec<String>> {
    let mut reader = SedParser::new(script);
    let understood = reader.parse_script().is_some();
    (reader.has_effect || !understood).then_some(reader.runs)
}

/// The files that a script reads and writes, as far as it can be read.
pub(in crate::shell) fn find_sed_files(script: &str) -> Vec<SedFile> {
    let mut reader = SedParser::new(script);
    if reader.parse_script().is_some() {
        return reader.files;
    }
    // A script that cannot be read may name a file in any of its words.
    let words = script.split(|c: char| c.is_whitespace() || matches!(c, ';' | '}'));
    let named = words.filter(|word| !word.is_empty());
    let both = [Capability::FsRead, Capability::FsWrite];
    named
        .flat_map(|word| {
            both.map(|capability| SedFile {
                capability,
                path: word.to_owned(),
            })
        })
        .collect()
}

struct SedParser<'a> {
    rest: &'a str,
    runs: Vec<String>,
    files: Vec<SedFile>,
    has_effect: bool,
}

impl<'a> SedParser<'a> {
    fn new(script: &'a str) -> Self {
        Self {
            rest: script,
            runs: Vec::new(),
            files: Vec::new(),
            has_effect: false,
        }
    }

    /// A file whose name reaches to the end of the line.
    fn read_file_name(&mut self, capability: Capability) {
        let path = self.read_line().trim().to_owned();
        self.files.push(SedFile { capability, path });
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Up to the end of the line.
    fn read_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line
    }

    fn parse_script(&mut self) -> Option<()> {
        loop {
            self.rest = self
                .rest
                .trim_start_matches([' ', '\t', '\n', ';', '}', '\r']);
            if self.rest.is_empty() {
                return Some(());
            }
            self.parse_address()?;
            self.rest = self.rest.trim_start_matches([' ', '\t', '!']);
            match self.next()? {
                '#' => drop(self.read_line()),
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
                'r' | 'R' => self.read_file_name(Capability::FsRead),
                'a' | 'i' | 'c' | 'v' => {
                    // A text goes on after a backslash at the end of its line.
                    while self.read_line().ends_with('\\') && self.next().is_some() {}
                }
                's' => self.parse_substitute()?,
                'y' => {
                    let delimiter = self.next()?;
                    self.read_until(delimiter)?;
                    self.read_until(delimiter)?;
                }
                'e' => {
                    self.has_effect = true;
                    let text = self.read_line().trim().to_owned();
                    self.runs.push(text);
                }
                'w' | 'W' => {
                    self.has_effect = true;
                    self.read_file_name(Capability::FsWrite);
                }
                _ => return None,
            }
        }
    }

    /// Numbers, `$`, patterns, ranges and steps.
    fn parse_address(&mut self) -> Option<()> {
        loop {
            let before = self.rest.len();
            self.rest = self.rest.trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' ')
            });
            if let Some(after) = self.rest.strip_prefix('/') {
                self.rest = after;
                self.read_until('/')?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            } else if let Some(after) = self.rest.strip_prefix('\\') {
                self.rest = after;
                let delimiter = self.next()?;
                self.read_until(delimiter)?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            }
            if self.rest.len() == before {
                return Some(());
            }
        }
    }

    fn parse_substitute(&mut self) -> Option<()> {
        let delimiter = self.next()?;
        if matches!(delimiter, '\\' | '\n') {
            return None;
        }
        self.read_until(delimiter)?;
        let replacement = self.read_until(delimiter)?.to_owned();
        loop {
            match self.rest.chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                Some('e') => {
                    self.next();
                    self.has_effect = true;
                    self.runs.push(replacement.clone());
                }
                Some('w') => {
                    self.next();
                    self.has_effect = true;
                    self.read_file_name(Capability::FsWrite);
                }
                Some(' ' | '\t' | '\n' | ';' | '}' | '#' | '\r') | None => return Some(()),
                Some(_) => return None,
            }
        }
    }

    fn read_until(&mut self, delimiter: char) -> Option<&'a str> {
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
                '[' => is_class = class_contains(&text[at..], delimiter),
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

fn class_contains(text: &str, delimiter: char) -> bool {
    text.find(']')
        .is_some_and(|end| text[..end].contains(delimiter))
}

#[cfg(test)]
mod tests {
    use super::find_sed_commands;

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
            assert_eq!(find_sed_commands(script), None, "{script}");
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
                find_sed_commands(script),
                Some(runs.into_iter().map(str::to_owned).collect()),
                "{script}"
            );
        }
    }
}
