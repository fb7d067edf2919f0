//! What can be seen in a command line without a parser: it describes, and judges nothing.
//!
//! Only the plainest shell is taken apart: lists and pipelines of words and redirects. Whatever needs a parser is said
//! to be not understood, with all that follows it.

use protocol::preview::CommandFact;

use crate::limits::COMMAND_FACTS_MAX;
use crate::text::visible;

/// Words that make the words after them something else than a program's arguments.
const KEYWORDS: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "[[", "time",
];

/// The facts in the order they stand in the command.
pub(super) fn facts(command: &str) -> Vec<CommandFact> {
    let mut reader = Reader {
        rest: command,
        facts: Vec::new(),
    };
    while !reader.rest.is_empty() && reader.segment().is_some() {}
    let more = reader.facts.len().saturating_sub(COMMAND_FACTS_MAX);
    reader.facts.truncate(COMMAND_FACTS_MAX);
    if more > 0 {
        reader.fact(
            "not understood",
            &format!("{more} more parts are not listed"),
        );
    }
    reader.facts
}

struct Reader<'a> {
    rest: &'a str,
    facts: Vec<CommandFact>,
}

/// One word: as it is written, and whether it says literally what it is.
struct Word<'a> {
    written: &'a str,
    literal: bool,
}

impl<'a> Reader<'a> {
    fn fact(&mut self, what: &str, text: &str) {
        self.facts.push(CommandFact {
            what: what.to_owned(),
            text: visible(text),
            verdict: None,
        });
    }

    /// One simple command up to and with the separator after it; none when the rest is not understood.
    fn segment(&mut self) -> Option<()> {
        let mut words: Vec<Word<'a>> = Vec::new();
        let mut redirects: Vec<String> = Vec::new();
        let start = self.rest;
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            if self.rest.is_empty() || self.separator() {
                break;
            }
            if let Some(operator) = redirect(self.rest) {
                self.rest = self.rest[operator.len()..].trim_start_matches([' ', '\t']);
                // `2>&1` names a stream and not a file; it is told as it stands.
                let target = self.word(start)?;
                redirects.push(format!("{operator} {}", target.written));
                continue;
            }
            let word = self.word(start)?;
            let is_first = words.iter().all(|word| is_assignment(word.written));
            if is_first && (KEYWORDS.contains(&word.written) || !word.literal) {
                return self.give_up(start);
            }
            words.push(word);
        }
        let assigned = words
            .iter()
            .take_while(|word| is_assignment(word.written))
            .count();
        for word in &words[..assigned] {
            self.fact("assignment", word.written);
        }
        if let Some(program) = words.get(assigned..).filter(|words| !words.is_empty()) {
            let written: Vec<&str> = program.iter().map(|word| word.written).collect();
            self.fact("program", &written.join(" "));
        }
        for redirect in redirects {
            self.fact("redirect", &redirect);
        }
        for word in words.iter().filter(|word| !word.literal) {
            self.fact("not understood", word.written);
        }
        Some(())
    }

    /// Takes a separator if one stands here.
    fn separator(&mut self) -> bool {
        for separator in ["&&", "||", "|&", ";", "\n", "|"] {
            if let Some(rest) = self.rest.strip_prefix(separator) {
                self.rest = rest;
                return true;
            }
        }
        match self.rest.strip_prefix('&') {
            Some(rest) if !rest.starts_with('>') => {
                self.rest = rest;
                self.fact("background", "&");
                true
            }
            _ => false,
        }
    }

    /// One word. A variable or a pattern makes it other than literal; what needs a parser gives the segment up.
    fn word(&mut self, segment: &'a str) -> Option<Word<'a>> {
        let start = self.rest;
        let mut literal = true;
        let mut quote: Option<char> = None;
        let mut chars = start.char_indices().peekable();
        let end = loop {
            let Some((index, c)) = chars.next() else {
                break start.len();
            };
            let next = chars.peek().map(|(_, next)| *next);
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (Some('\''), _) => {}
                (None, '\'' | '"') => quote = Some(c),
                (_, '`') => return self.give_up(segment),
                (_, '$') if matches!(next, Some('(' | '{' | '\'' | '"' | '[')) => {
                    return self.give_up(segment);
                }
                (_, '$') => literal = false,
                (_, '\\') => {
                    literal = false;
                    chars.next();
                }
                (Some(_), _) => {}
                (None, ' ' | '\t' | '\n' | ';' | '|' | '&') => break index,
                (None, '<' | '>') if index > 0 && redirect(&start[index..]).is_some() => {
                    break index;
                }
                (None, '(' | ')' | '{' | '}' | '<' | '>' | '!' | '#') => {
                    return self.give_up(segment);
                }
                (None, '*' | '?' | '[' | ']' | '~') => literal = false,
                (None, _) => {}
            }
        };
        if quote.is_some() || end == 0 {
            return self.give_up(segment);
        }
        self.rest = &start[end..];
        Some(Word {
            written: &start[..end],
            literal,
        })
    }

    fn give_up<T>(&mut self, segment: &str) -> Option<T> {
        self.fact("not understood", segment.trim());
        self.rest = "";
        None
    }
}

/// The redirect operator that stands here, with the number before it.
fn redirect(rest: &str) -> Option<&str> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let operators = ["&>>", "&>", ">>", ">&", ">|", "<&", "<>", ">", "<"];
    let found = operators
        .iter()
        .find(|operator| rest[digits..].starts_with(**operator))?;
    let here = digits + found.len();
    // Here-documents and process substitutions need a parser.
    let hard = rest[here..].starts_with(['<', '(']) || (digits > 0 && found.starts_with('&'));
    (!hard).then(|| &rest[..here])
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_in_a_command() {
        for (command, expected) in [
            ("git status -s", "program git status -s"),
            (
                "npm test 2>&1 | tail -n 20 > out.txt",
                "program npm test; redirect 2>& 1; program tail -n 20; redirect > out.txt",
            ),
            (
                "make && ./run || echo \"no luck\"",
                "program make; program ./run; program echo \"no luck\"",
            ),
            (
                "RUST_LOG=debug cargo test",
                "assignment RUST_LOG=debug; program cargo test",
            ),
            ("A=1", "assignment A=1"),
            (
                "sleep 9 & echo x",
                "background &; program sleep 9; program echo x",
            ),
            (
                "sort < in >> out &> all",
                "program sort; redirect < in; redirect >> out; redirect &> all",
            ),
            (
                "rm -rf *.o ~/x",
                "program rm -rf *.o ~/x; not understood *.o; not understood ~/x",
            ),
            (
                "echo $HOME 'a $b'",
                "program echo $HOME 'a $b'; not understood $HOME",
            ),
            (
                "a; echo $(rm -rf x); b",
                "program a; not understood echo $(rm -rf x); b",
            ),
            ("echo `id`", "not understood echo `id`"),
            ("(cd x; ls)", "not understood (cd x; ls)"),
            ("{ ls; }", "not understood { ls; }"),
            (
                "if true; then ls; fi",
                "not understood if true; then ls; fi",
            ),
            ("cat <<EOF\nx\nEOF", "not understood cat <<EOF ⏎ x ⏎ EOF"),
            ("diff <(a) b", "not understood diff <(a) b"),
            ("$EDITOR x", "not understood $EDITOR x"),
            ("r\\m x", "not understood r\\m x"),
            ("echo 'open", "not understood echo 'open"),
            ("ls # quiet", "not understood ls # quiet"),
            ("ls\nrm x", "program ls; program rm x"),
            ("ls \u{202e}x", "program ls U+202Ex"),
            ("", ""),
            ("   ", ""),
        ] {
            let seen: Vec<String> = facts(command)
                .iter()
                .map(|f| format!("{} {}", f.what, f.text))
                .collect();
            assert_eq!(seen.join("; "), expected, "{command}");
        }
    }

    #[test]
    fn many_parts_are_bounded() {
        let facts = facts(&"a;".repeat(500));
        assert_eq!(facts.len(), COMMAND_FACTS_MAX + 1);
        assert_eq!(
            facts[COMMAND_FACTS_MAX].text,
            "436 more parts are not listed"
        );
    }
}
