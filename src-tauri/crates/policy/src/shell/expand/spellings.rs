//! Every known spelling of a command: the words that it may have when it runs, as a deny looks at it.

use std::collections::{HashMap, HashSet};

use crate::shell::expand::printed::printed_texts;
use crate::shell::expand::unknown_text::{UNKNOWN_TEXT, remove_idle_marks, remove_marks};
use crate::shell::facts::ShellWord;
use crate::shell::parse::word;
use crate::shell::parse::word::{ParsedWord, WordPart};

/// Most spellings of one command.
const SPELLINGS_MAX: usize = 16;
/// Longest text that is filled in for a word, in bytes.
const SPELLING_BYTES_MAX: usize = 64 * 1024;
/// Most expansions within one that are filled in.
const NESTED_MAX: usize = 8;

/// Run-time values that a text itself tells.
#[derive(Debug, Default)]
pub(in crate::shell) struct KnownValues {
    /// Values of variables, by name.
    set: HashMap<String, Vec<String>>,
    /// Output of commands, by their text.
    printed: HashMap<String, String>,
    /// Texts written to files, by file name.
    files: HashMap<String, Vec<String>>,
    /// Variables that are never empty where the text uses them.
    pub always_set: HashSet<String>,
}

impl KnownValues {
    /// A variable is set to a word.
    pub fn set_variable(&mut self, name: &str, raw: &str) {
        for value in expand_marked_value(raw, self) {
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

    /// Sets the values of `$1`, `$2` and `$@`.
    pub fn set_parameters(&mut self, words: &[String]) {
        for (at, word) in words.iter().enumerate().take(SPELLINGS_MAX) {
            self.set_text(&(at + 1).to_string(), word);
        }
        // They are words of their own, even between quotes.
        self.set_text("@", &words.join("\0"));
    }

    /// Records a file that the output of a command is written to.
    pub fn record_written_file(&mut self, file: &str, contents: &[String]) {
        let spellings = self
            .files
            .entry(bare_file_name(file).to_owned())
            .or_default();
        for text in contents {
            if spellings.len() < SPELLINGS_MAX && !spellings.contains(text) {
                spellings.push(text.clone());
            }
        }
    }

    /// Returns the texts that were written to a file.
    pub fn written_texts(&self, file: &str) -> Vec<String> {
        self.files
            .get(bare_file_name(file))
            .cloned()
            .unwrap_or_default()
    }

    /// The commands of a text print this.
    pub fn record_printed(&mut self, script: &str, output: String) {
        self.printed.insert(script.to_owned(), output);
    }
}

fn bare_file_name(file: &str) -> &str {
    file.trim_start_matches("./")
}

/// Lists the word lists that a command may expand to: as it is written with its quotes removed, and with known values
/// filled in. In the latter, a mark stands where a path goes on behind a text that is not known.
pub(in crate::shell) fn list_spellings(
    words: &[ShellWord],
    values: &KnownValues,
) -> Vec<Vec<String>> {
    let mut lists = vec![words.iter().map(unquote_word).collect::<Vec<String>>()];
    if words.iter().all(ShellWord::is_literal) {
        return lists;
    }
    let mut filled: Vec<Vec<String>> = vec![Vec::new()];
    for word in words {
        let ways = match word {
            ShellWord::Literal(text) => vec![vec![text.clone()]],
            ShellWord::Dynamic(raw) => expand_word(raw, values),
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
fn unquote_word(word: &ShellWord) -> String {
    let raw = match word {
        ShellWord::Literal(text) => return text.clone(),
        ShellWord::Dynamic(raw) => raw,
    };
    let mut text = String::new();
    for piece in word::parse_word(raw).pieces {
        match piece.part {
            WordPart::Text(said) | WordPart::Glob(said) | WordPart::Home(said) => text += &said,
            WordPart::Run(script) => text += &format!("$({script})"),
            WordPart::Parameter(name) => text += &format!("${{{name}}}"),
            WordPart::Arithmetic(sum) => text += &format!("$(({sum}))"),
        }
    }
    text
}

/// Expands a word into the texts that it may become where nothing splits it.
pub(in crate::shell) fn expand_value(raw: &str, values: &KnownValues) -> Vec<String> {
    let mut texts = expand_marked_value(raw, values);
    texts.iter_mut().for_each(remove_marks);
    texts
}

/// Expands a word as [`expand_value`] does, with a mark for each text that is not known.
fn expand_marked_value(raw: &str, values: &KnownValues) -> Vec<String> {
    let read = word::parse_word(raw);
    match read.literal() {
        Some(value) => vec![value],
        None if read.has_braces => expand_word(raw, values)
            .iter()
            .map(|way| way.join(" "))
            .collect(),
        None => expand_texts(&read, values)
            .iter()
            .map(|text| list_words(text).collect::<Vec<_>>().join(" "))
            .collect(),
    }
}

/// The texts that the body of a here-document may become.
pub(in crate::shell) fn expand_document(raw: &str, values: &KnownValues) -> Vec<String> {
    let mut texts = expand_texts(&word::parse_document(raw), values);
    texts.iter_mut().for_each(remove_marks);
    texts
}

/// Expands one word into all its alternatives, each of no, one or several words.
fn expand_word(raw: &str, values: &KnownValues) -> Vec<Vec<String>> {
    let mut ways = Vec::new();
    let mut written = vec![raw.to_owned()];
    if word::parse_word(raw).has_braces {
        let expanded = expand_braces(raw);
        // All words of an expansion are there at once.
        let words: Vec<String> = expanded
            .iter()
            .flat_map(|raw| first_expansion(raw, values))
            .collect();
        ways.push(words);
        written = expanded;
    }
    for raw in &written {
        ways.extend(expand_parts(&word::parse_word(raw), values));
    }
    ways.truncate(SPELLINGS_MAX);
    ways
}

fn first_expansion(raw: &str, values: &KnownValues) -> Vec<String> {
    expand_parts(&word::parse_word(raw), values)
        .into_iter()
        .next()
        .unwrap_or_default()
}

/// Expands the parts of a word into all its alternatives, each of no, one or several words.
fn expand_parts(read: &ParsedWord, values: &KnownValues) -> Vec<Vec<String>> {
    let is_quoted = read.pieces.iter().any(|piece| piece.quoted);
    expand_texts(read, values)
        .into_iter()
        .map(|text| remove_idle_marks(&text))
        .map(|text| match text.is_empty() && is_quoted {
            true => vec![text],
            false => list_words(&text).map(str::to_owned).collect(),
        })
        .collect()
}

/// The words of a text in which a zero byte stands where an unquoted blank splits it.
fn list_words(text: &str) -> impl Iterator<Item = &str> {
    text.split('\0').filter(|word| !word.is_empty())
}

/// Expands the parts of a word into texts: a zero byte stands where an unquoted blank splits one, and a mark for a text
/// that is not known.
fn expand_texts(read: &ParsedWord, values: &KnownValues) -> Vec<String> {
    let mut ways = vec![String::new()];
    for piece in &read.pieces {
        let texts = match &piece.part {
            WordPart::Text(text) => vec![text.clone()],
            WordPart::Home(text) => vec![text.clone()],
            WordPart::Glob(glob) => vec![sole_character(glob).unwrap_or(glob).to_owned()],
            WordPart::Run(script) => vec![printed_output(script, values)],
            WordPart::Parameter(written) => expand_parameter(written, values),
            WordPart::Arithmetic(_) => vec![String::new()],
        };
        let splits =
            !piece.quoted && matches!(piece.part, WordPart::Run(_) | WordPart::Parameter(_));
        let mut next = Vec::new();
        for one in texts {
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
    ways
}

/// `[m]` is `m`.
fn sole_character(glob: &str) -> Option<&str> {
    let inner = glob.strip_prefix('[')?.strip_suffix(']')?;
    (inner.chars().count() == 1).then_some(inner)
}

/// Returns the output of a command, without the trailing newlines that the shell removes; a mark if it is not known.
fn printed_output(script: &str, values: &KnownValues) -> String {
    if let Some(output) = values.printed.get(script) {
        return output.trim_end_matches('\n').to_owned();
    }
    let words: Vec<String> = script
        .split_whitespace()
        .map(|raw| word::parse_word(raw).literal().unwrap_or_default())
        .collect();
    words
        .split_first()
        .and_then(|(program, rest)| printed_texts(program, rest).pop())
        .unwrap_or_else(|| UNKNOWN_TEXT.to_string())
}

/// Expands a parameter into its possible values: the values it was set to, the value used in its place, and, unless it is
/// always set, a mark.
fn expand_parameter(parameter: &str, known_values: &KnownValues) -> Vec<String> {
    let name = parameter.trim_start_matches(['!', '#']);
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
        _ => known_values.set.get(name).cloned().unwrap_or_default(),
    };
    let operation = operation.strip_prefix(':').unwrap_or(operation);
    if let Some(other) = operation.strip_prefix(['-', '=', '+'])
        && other.matches(['$', '`']).count() <= NESTED_MAX
    {
        values.extend(expand_marked_value(other, known_values));
    }
    // Some operations take from the value: `${D%ui}`.
    let is_set = name == parameter && known_values.always_set.contains(name);
    match is_set {
        // A value that is some text and not known stays as it is written.
        true => {
            values.retain(|value| !value.starts_with(UNKNOWN_TEXT));
            if values.is_empty() {
                values.push(format!("${{{name}}}"));
            }
        }
        false => values.push(UNKNOWN_TEXT.to_string()),
    }
    values.truncate(SPELLINGS_MAX);
    values
}

/// `a{b,c}d` as `abd` and `acd`, quotes kept. Ranges stay as they are: no program is named by one.
fn expand_braces(raw: &str) -> Vec<String> {
    let mut expanded = Vec::new();
    let mut open = vec![raw.to_owned()];
    while let Some(raw) = open.pop() {
        if expanded.len() + open.len() >= SPELLINGS_MAX {
            expanded.push(raw);
            continue;
        }
        match find_innermost_braces(&raw) {
            Some((start, end)) => {
                let members: Vec<&str> = raw[start + 1..end].split(',').collect();
                for member in members.into_iter().rev() {
                    open.push(format!("{}{member}{}", &raw[..start], &raw[end + 1..]));
                }
            }
            None => expanded.push(raw),
        }
    }
    expanded
}

/// The first pair of braces that holds a comma and no other brace.
fn find_innermost_braces(raw: &str) -> Option<(usize, usize)> {
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
