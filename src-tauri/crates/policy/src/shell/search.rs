//! Searches the texts that the parsers cannot be trusted with for whatever they may run.
//!
//! It is done last, when everything that the parsers could tell is known.

use protocol::shown::is_hidden;

use super::facts::{Assignment, Redirect, RedirectKind, SimpleCommand, Via, Word};
use super::script::{Place, Reader};
use super::starts::{Start, starts};
use super::word::{self, decode};
use super::{base_name, blind, forms, unwrap};

/// Most words of all tails of one word list together.
const TAIL_WORDS_MAX: usize = 1_000_000;
/// Most bytes that commands of one text are given to read, all together.
const INPUT_BYTES_MAX: usize = 1024 * 1024;

impl Reader<'_> {
    /// A text that the parsers cannot be trusted with: it will be searched for whatever it may run.
    pub fn distrust(&mut self, text: &str, depth: usize, reason: impl Into<String>) {
        self.unsure(reason);
        if self.doubted.insert(text.to_owned()) {
            self.doubts.push_back((text.to_owned(), depth));
        }
    }

    /// Searches every text that is in doubt, and what is found in these.
    pub fn search(&mut self) {
        while let Some((text, depth)) = self.doubts.pop_front() {
            self.search_starts(&text, depth);
            for words in blind::scan(&text) {
                self.follow_blindly(words);
            }
        }
    }

    fn search_starts(&mut self, text: &str, depth: usize) {
        let place = Place {
            via: &Via::Plain,
            depth,
            wrapped: 0,
            input: &[],
            text,
        };
        // What cannot be seen hides nothing.
        let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
        let starts = starts(&seen, &mut self.search_left);
        let set = starts.iter().flat_map(|start| &start.assignments);
        for (name, raw) in set {
            self.known.set(name, raw);
        }
        let mut given: String = starts
            .iter()
            .flat_map(|start| &start.input)
            .map(|said| format!("{said}\n"))
            .collect();
        let commands: Vec<SimpleCommand> = starts.iter().map(command).collect();
        let said = self.said.len();
        // Between back quotes every backslash is read once more than elsewhere.
        let quoted = starts.iter().flat_map(|start| &start.words);
        for raw in quoted.filter(|raw| raw.contains('`') && raw.contains('\\')) {
            self.substitutions(word::read(raw).scripts(), place);
        }
        for command in &commands {
            self.run_variables(command, place);
            self.run(&command.words, place, &[]);
            self.touch_redirects(&command.redirects);
            self.touch_words(&command.words);
        }
        // What one command prints may come to any other.
        for said in self.said.split_off(said) {
            given += &said;
            given.push('\n');
        }
        if given.is_empty() {
            return;
        }
        let readers: Vec<&SimpleCommand> = commands.iter().filter(|one| reads(one)).collect();
        given.truncate(given.floor_char_boundary(INPUT_BYTES_MAX / readers.len().max(1)));
        for command in readers {
            self.run(&command.words, place, std::slice::from_ref(&given));
        }
    }

    /// Follows a word list whose quotes were not read: whatever a wrapper in it may run is in its tail.
    fn follow_blindly(&mut self, list: Vec<String>) {
        let Some(program) = list.first().map(|word| base_name(word).to_owned()) else {
            return;
        };
        if unwrap::is_wrapper(&program) {
            // A pattern looks at the first words: long tails of a long list would take its length squared.
            let words_max = (TAIL_WORDS_MAX / list.len()).clamp(4, 64);
            for at in 1..list.len() {
                let mut tail = list[at..list.len().min(at + words_max)].to_vec();
                tail[0] = base_name(&tail[0]).to_owned();
                self.denied(tail);
            }
        }
        for words in forms::named(&list, &program) {
            self.denied(words);
        }
    }
}

fn as_word(raw: &str) -> Word {
    decode(raw, &word::read(raw))
}

fn command(start: &Start) -> SimpleCommand {
    let assignments = start.assignments.iter().map(|(name, raw)| Assignment {
        name: name.clone(),
        value: as_word(raw),
    });
    let redirects = start.redirects.iter().map(|(kind, raw)| {
        let target = as_word(raw);
        let is_stream = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
        };
        Redirect {
            // `>&file` is `&>file`.
            kind: match kind {
                RedirectKind::Duplicate if !is_stream(target.text()) => RedirectKind::Write,
                kind => *kind,
            },
            neutral: target == Word::Literal("/dev/null".to_owned()),
            target,
        }
    });
    SimpleCommand {
        words: start.words.iter().map(|raw| as_word(raw)).collect(),
        assignments: assignments.collect(),
        redirects: redirects.collect(),
        via: Via::Plain,
    }
}

/// Whether a command may run what it is given to read.
fn reads(command: &SimpleCommand) -> bool {
    command.words.first().is_some_and(|word| {
        let program = base_name(word.text());
        !word.is_literal() || unwrap::is_wrapper(program) || matches!(program, "source" | ".")
    })
}
