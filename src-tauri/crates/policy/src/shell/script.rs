//! Reads texts that a shell may run: with the first parser, then asks the second whether it sees the same.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::{ParserOptions, ast};
use protocol::shown::is_hidden;

use super::facts::{ShellFacts, Via, Word};
use super::word;
use super::{blind, bounds, opinion, plain};
use crate::limits::{SHELL_REASONS_MAX, SHELL_SCRIPT_BYTES_MAX, SHELL_SCRIPTS_DEEP_MAX};

/// Where a command stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// What brings it to run.
    pub via: &'p Via,
    /// How many texts within texts it is away from the command line.
    pub depth: usize,
    /// Texts that may come to it through a pipe.
    pub input: &'p [String],
}

/// Gathers facts.
pub(super) struct Reader<'a> {
    command: &'a str,
    pub facts: ShellFacts,
    /// Word lists that were already followed.
    pub followed: HashSet<Vec<String>>,
    /// Word lists that are told to a deny.
    pub denied: HashSet<Vec<String>>,
    /// What variables are set to, as far as it stands in the text.
    pub known: HashMap<String, Vec<String>>,
    /// What commands print whose output is their arguments or their input.
    pub said: Vec<String>,
    /// The words of every command that an allow looks at, as the first parser sees them and as the second.
    pub first: Vec<Vec<String>>,
    second: Vec<Vec<String>>,
    /// Where `cd` went.
    pub folder: Option<String>,
    bytes_left: usize,
}

impl<'a> Reader<'a> {
    pub fn new(command: &'a str) -> Self {
        Self {
            command,
            facts: ShellFacts::default(),
            followed: HashSet::new(),
            denied: HashSet::new(),
            known: HashMap::new(),
            said: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            folder: None,
            bytes_left: SHELL_SCRIPT_BYTES_MAX,
        }
    }

    /// Reads the command line.
    pub fn facts(mut self) -> ShellFacts {
        let command = self.command;
        if let Some(hidden) = command.chars().find(|c| is_hidden(*c)) {
            let reason = format!(
                "It holds U+{:04X}, which cannot be seen.",
                u32::from(hidden)
            );
            self.distrust(command, reason);
        }
        if plain::joins_a_word(command) {
            self.unsure("A word goes on in the next line.");
        }
        let place = Place {
            via: &Via::Plain,
            depth: 0,
            input: &[],
        };
        self.script(command, place);
        if self.facts.unsure.is_empty() && self.first != self.second {
            self.distrust(command, "Two parsers read it differently.");
        }
        if self.facts.plain.is_empty() && self.facts.unsure.is_empty() {
            self.unsure("It names no program that could be allowed.");
        }
        self.facts
    }

    /// A reason why no rule may allow the command.
    pub fn unsure(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.facts.unsure.len() < SHELL_REASONS_MAX && !self.facts.unsure.contains(&reason) {
            self.facts.unsure.push(reason);
        }
    }

    /// A text that the parsers cannot be trusted with: it is searched for whatever it may run.
    pub fn distrust(&mut self, text: &str, reason: impl Into<String>) {
        self.unsure(reason);
        for words in blind::scan(text) {
            self.follow_blindly(words);
        }
    }

    /// A text that a shell may run.
    pub fn script(&mut self, text: &str, place: Place<'_>) {
        if place.depth > SHELL_SCRIPTS_DEEP_MAX || text.len() > self.bytes_left {
            return self.distrust(text, "It holds too many commands within commands.");
        }
        self.bytes_left -= text.len();
        if let Some(reason) = bounds::too_large(text) {
            return self.distrust(text, reason);
        }
        match parse(text) {
            Ok(program) => program
                .complete_commands
                .iter()
                .for_each(|list| self.list(list, place)),
            Err(reason) => self.distrust(text, reason),
        }
        // The second parser enters substitutions by itself, with the text that they stand in.
        if *place.via != Via::Substitution {
            self.ask_again(text, place);
        }
    }

    /// What the second parser sees counts for a deny too.
    fn ask_again(&mut self, text: &str, place: Place<'_>) {
        let opinion = opinion::read(text);
        if opinion.as_ref().is_none_or(|opinion| opinion.has_error) {
            self.distrust(text, "It cannot be read for sure.");
        }
        for raw in opinion.map(|opinion| opinion.commands).unwrap_or_default() {
            let words: Vec<Word> = raw
                .iter()
                .map(|raw| word::decode(raw, &word::read(raw)))
                .collect();
            let said = words.iter().map(|word| word.text().to_owned()).collect();
            self.run(&words, place, &[]);
            if place.depth == 0 {
                self.second.push(said);
            }
        }
    }
}

/// Reads a text with the first parser; the error is a sentence.
fn parse(text: &str) -> Result<ast::Program, String> {
    let options = ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    };
    let read = || {
        let tokens = brush_parser::uncached_tokenize_str(text, &options.tokenizer_options())
            .map_err(|error| format!("It cannot be read: {error}."))?;
        if let Some(reason) = bounds::too_deep(&tokens) {
            return Err(reason);
        }
        brush_parser::parse_tokens(&tokens, &options)
            .map_err(|error| format!("It cannot be read: {error}."))
    };
    // A parser that gives up by panicking is one that cannot read the text.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("It cannot be read at all.".to_owned()))
}
