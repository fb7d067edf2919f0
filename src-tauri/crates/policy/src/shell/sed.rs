//! Reads a script of `sed` as far as it takes to know whether it runs a command or writes a file.

/// The texts that it runs, if it runs or writes anything, or cannot be read.
pub(super) fn executes(script: &str) -> Option<Vec<String>> {
    let mut reader = Reader {
        rest: script,
        runs: Vec::new(),
        acts: false,
    };
    let understood = reader.script().is_some();
    (reader.acts || !understood).then_some(reader.runs)
}

struct Reader<'a> {
    rest: &'a str,
    runs: Vec<String>,
    acts: bool,
}

impl<'a> Reader<'a> {
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
                'a' | 'i' | 'c' | 'r' | 'R' | 'v' => {
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
                    self.line();
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
                    self.acts = true;
                    self.line();
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
