//! Every spelling of a command that is known: what its words may become when it runs, as a deny looks at it.

use std::collections::HashMap;

use super::facts::Word;
use super::prints::prints;
use super::word::{self, Part, ReadWord};

/// Most spellings of one command.
const SPELLINGS_MAX: usize = 16;
/// Longest text that is filled in for a word, in bytes.
const SPELLING_BYTES_MAX: usize = 64 * 1024;
/// Most expansions within one that are filled in.
const NESTED_MAX: usize = 8;

/// What a text says of what is only there when it runs.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What variables are set to.
    set: HashMap<String, Vec<String>>,
    /// What commands print, by their text.
    printed: HashMap<String, String>,
    /// What files are written with, by their name.
    files: HashMap<String, Vec<String>>,
}

impl Known {
    /// A variable is set to a word.
    pub fn set(&mut self, name: &str, raw: &str) {
        for value in values(raw, self) {
            self.set_text(name, &value);
        }
    }

    /// A variable is set to a text.
    pub fn set_text(&mut self, name: &str, value: &str) {
        let known = self.set.entry(name.to_owned()).or_default();
        if known.len() < SPELLINGS_MAX && !known.iter().any(|one| one == value) {
            known.push(value.to_owned());
        }
    }

    /// What `$1`, `$2` and `$@` stand for.
    pub fn set_parameters(&mut self, words: &[String]) {
        for (at, word) in words.iter().enumerate().take(SPELLINGS_MAX) {
            self.set_text(&(at + 1).to_string(), word);
        }
        // They are words of their own, even between quotes.
        self.set_text("@", &words.join("\0"));
    }

    /// A file is written with what a command prints.
    pub fn wrote(&mut self, file: &str, said: &[String]) {
        let known = self.files.entry(bare_name(file).to_owned()).or_default();
        for text in said {
            if known.len() < SPELLINGS_MAX && !known.contains(text) {
                known.push(text.clone());
            }
        }
    }

    /// What a file was written with.
    pub fn written(&self, file: &str) -> Vec<String> {
        self.files.get(bare_name(file)).cloned().unwrap_or_default()
    }

    /// The commands of a text print this.
    pub fn prints(&mut self, script: &str, said: String) {
        self.printed.insert(script.to_owned(), said);
    }
}

fn bare_name(file: &str) -> &str {
    file.trim_start_matches("./")
}

/// The word lists that a command may become: as it is written with its quotes removed, and with what is known filled in.
pub(super) fn spellings(words: &[Word], known: &Known) -> Vec<Vec<String>> {
    let mut lists = vec![words.iter().map(verbatim).collect::<Vec<String>>()];
    if words.iter().all(Word::is_literal) {
        return lists;
    }
    let mut filled: Vec<Vec<String>> = vec![Vec::new()];
    for word in words {
        let ways = match word {
            Word::Literal(text) => vec![vec![text.clone()]],
            Word::Dynamic(raw) => fill(raw, known),
        };
        let mut next = Vec::new();
        for way in &ways {
            for list in &filled {
                if next.len() < SPELLINGS_MAX {
                    next.push([list.as_slice(), way].concat());
                }
            }
        }
        filled = next;
    }
    for list in filled {
        if !list.is_empty() && !lists.contains(&list) {
            lists.push(list);
        }
    }
    lists
}

/// A word with its quotes removed and its expansions as they are written.
fn verbatim(word: &Word) -> String {
    let raw = match word {
        Word::Literal(text) => return text.clone(),
        Word::Dynamic(raw) => raw,
    };
    let mut text = String::new();
    for piece in word::read(raw).pieces {
        match piece.part {
            Part::Text(said) | Part::Glob(said) | Part::Home(said) => text += &said,
            Part::Run(script) => text += &format!("$({script})"),
            Part::Parameter(name) => text += &format!("${{{name}}}"),
            Part::Arithmetic(sum) => text += &format!("$(({sum}))"),
        }
    }
    text
}

/// The texts that a word may become where nothing splits it.
pub(super) fn values(raw: &str, known: &Known) -> Vec<String> {
    match word::read(raw).literal() {
        Some(value) => vec![value],
        None => fill(raw, known).iter().map(|way| way.join(" ")).collect(),
    }
}

/// The texts that the body of a here-document may become.
pub(super) fn documents(raw: &str, known: &Known) -> Vec<String> {
    let ways = filled(&word::read_document(raw), known);
    ways.into_iter().map(|way| way.concat()).collect()
}

/// What one word may become: ways, each of no, one or several words.
fn fill(raw: &str, known: &Known) -> Vec<Vec<String>> {
    let mut ways = Vec::new();
    let mut written = vec![raw.to_owned()];
    if word::read(raw).braces {
        let expanded = expand_braces(raw);
        // All words of an expansion are there at once.
        let words: Vec<String> = expanded
            .iter()
            .flat_map(|raw| first_way(raw, known))
            .collect();
        ways.push(words);
        written = expanded;
    }
    for raw in &written {
        ways.extend(filled(&word::read(raw), known));
    }
    ways.truncate(SPELLINGS_MAX);
    ways
}

fn first_way(raw: &str, known: &Known) -> Vec<String> {
    filled(&word::read(raw), known)
        .into_iter()
        .next()
        .unwrap_or_default()
}

fn filled(read: &ReadWord, known: &Known) -> Vec<Vec<String>> {
    // Each way is text in which a zero byte stands where an unquoted blank splits it.
    let mut ways = vec![String::new()];
    let mut quoted = false;
    for piece in &read.pieces {
        quoted |= piece.quoted;
        let said = match &piece.part {
            Part::Text(text) => vec![text.clone()],
            Part::Home(text) => vec![text.clone()],
            Part::Glob(glob) => vec![sole_character(glob).unwrap_or(glob).to_owned()],
            Part::Run(script) => vec![printed(script, known)],
            Part::Parameter(written) => parameter(written, known),
            Part::Arithmetic(_) => vec![String::new()],
        };
        let splits = !piece.quoted && matches!(piece.part, Part::Run(_) | Part::Parameter(_));
        let mut next = Vec::new();
        for one in said {
            let one = match splits {
                true => one.replace([' ', '\t', '\n'], "\0"),
                false => one,
            };
            next.extend(ways.iter().map(|way| match way.len() + one.len() {
                0..=SPELLING_BYTES_MAX => format!("{way}{one}"),
                _ => way.clone(),
            }));
        }
        next.truncate(SPELLINGS_MAX);
        ways = next;
    }
    ways.into_iter()
        .map(|way| match way.is_empty() && quoted {
            true => vec![way],
            false => way
                .split('\0')
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
        })
        .collect()
}

/// `[m]` is `m`.
fn sole_character(glob: &str) -> Option<&str> {
    let inner = glob.strip_prefix('[')?.strip_suffix(']')?;
    (inner.chars().count() == 1).then_some(inner)
}

/// What a command prints, without the ends of lines that the shell takes away.
fn printed(script: &str, known: &Known) -> String {
    if let Some(said) = known.printed.get(script) {
        return said.trim_end_matches('\n').to_owned();
    }
    let words: Vec<String> = script
        .split_whitespace()
        .map(|raw| word::read(raw).literal().unwrap_or_default())
        .collect();
    words
        .split_first()
        .and_then(|(program, rest)| prints(program, rest).pop())
        .unwrap_or_default()
}

/// What a parameter may be: nothing, what it was set to, or what is used in its place.
fn parameter(written: &str, known: &Known) -> Vec<String> {
    let name = written.trim_start_matches(['!', '#']);
    let end = name
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(name.len());
    let (name, operation) = match name.strip_prefix(['@', '*']) {
        Some(operation) => ("@", operation),
        None => name.split_at(end),
    };
    let mut values = match name {
        "IFS" => return vec![" ".to_owned()],
        "HOME" => return vec!["~".to_owned()],
        "PWD" => return vec![".".to_owned()],
        _ => known.set.get(name).cloned().unwrap_or_default(),
    };
    let operation = operation.strip_prefix(':').unwrap_or(operation);
    if let Some(other) = operation.strip_prefix(['-', '=', '+'])
        && other.matches(['$', '`']).count() <= NESTED_MAX
    {
        values.extend(self::values(other, known));
    }
    values.push(String::new());
    values.truncate(SPELLINGS_MAX);
    values
}

/// `a{b,c}d` as `abd` and `acd`, quotes kept. Ranges stay as they are: no program is named by one.
fn expand_braces(raw: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![raw.to_owned()];
    while let Some(raw) = open.pop() {
        if done.len() + open.len() >= SPELLINGS_MAX {
            done.push(raw);
            continue;
        }
        match innermost(&raw) {
            Some((start, end)) => {
                let members: Vec<&str> = raw[start + 1..end].split(',').collect();
                for member in members.into_iter().rev() {
                    open.push(format!("{}{member}{}", &raw[..start], &raw[end + 1..]));
                }
            }
            None => done.push(raw),
        }
    }
    done
}

/// The first pair of braces that holds a comma and no other brace.
fn innermost(raw: &str) -> Option<(usize, usize)> {
    let mut start = None;
    for (at, c) in raw.char_indices() {
        match (c, start) {
            ('{', _) => start = Some(at),
            ('}', Some(from)) => {
                if raw[from..at].contains(',') {
                    return Some((from, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    None
}
