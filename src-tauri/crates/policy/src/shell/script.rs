//! Reads texts that a shell may run: with the first parser, then asks the second whether it sees the same.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::{ParserOptions, ast};
use protocol::shown::is_hidden;

use super::facts::{ShellFacts, Touch, Via, Word};
use super::spell::Known;
use super::word;
use super::{bounds, opinion, plain};
use crate::limits::{
    SHELL_REASONS_MAX, SHELL_SCRIPT_BYTES_MAX, SHELL_SCRIPTS_DEEP_MAX, SHELL_SEARCH_BYTES_MAX,
};

/// Where a command stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// What brings it to run.
    pub via: &'p Via,
    /// How many texts within texts it is away from the command line.
    pub depth: usize,
    /// How many programs run one another in front of it.
    pub wrapped: usize,
    /// Texts that may come to it through a pipe.
    pub input: &'p [String],
    /// The text that it stands in.
    pub text: &'p str,
}

/// Gathers facts.
pub(super) struct Reader<'a> {
    command: &'a str,
    pub facts: ShellFacts,
    /// Word lists that were already followed, each with what tells its input from another.
    pub followed: HashSet<(Vec<String>, u64)>,
    /// Word lists that are told to a deny.
    pub denied: HashSet<Vec<String>>,
    /// What is told to be touched.
    pub touched: HashSet<Touch>,
    /// What variables are set to and commands print, as far as it stands in the text.
    pub known: Known,
    /// What commands print whose output is their arguments or their input.
    pub said: Vec<String>,
    /// The words of every command that an allow looks at, as the first parser sees them and as the second.
    pub first: Vec<Vec<String>>,
    second: Vec<Vec<String>>,
    /// Whether what is read now is given its input by another command.
    pub piped: bool,
    /// The bodies of functions that are defined.
    pub functions: HashMap<String, ast::CompoundCommand>,
    /// The calls of functions that were followed.
    pub called: HashSet<Vec<String>>,
    /// Where `cd` went.
    pub folder: Option<String>,
    /// Texts that wait to be searched, each with its depth; every text is searched once.
    pub doubts: VecDeque<(String, usize)>,
    pub doubted: HashSet<String>,
    /// What may still be spent on that, in bytes.
    pub search_left: usize,
    bytes_left: usize,
}

impl<'a> Reader<'a> {
    pub fn new(command: &'a str) -> Self {
        Self {
            command,
            facts: ShellFacts::default(),
            followed: HashSet::new(),
            denied: HashSet::new(),
            touched: HashSet::new(),
            known: Known::default(),
            said: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            piped: false,
            functions: HashMap::new(),
            called: HashSet::new(),
            folder: None,
            doubts: VecDeque::new(),
            doubted: HashSet::new(),
            search_left: SHELL_SEARCH_BYTES_MAX,
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
            self.distrust(command, 0, reason);
            // What is seen of it comes first, as the person sees it.
            self.search();
        }
        if plain::joins_a_word(command) {
            self.unsure("A word goes on in the next line.");
        }
        let place = Place {
            via: &Via::Plain,
            depth: 0,
            wrapped: 0,
            input: &[],
            text: command,
        };
        self.script(command, place);
        if self.facts.unsure.is_empty() && self.first != self.second {
            self.distrust(command, 0, "Two parsers read it differently.");
        }
        self.search();
        if let Some(reason) = plain::set_for_others(&self.facts.plain) {
            self.unsure(reason);
        }
        if let Some(reason) = plain::moved(&self.facts.commands, &self.facts.plain) {
            self.unsure(reason);
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

    /// A text that a shell may run. False if it could not be read for sure.
    pub fn script(&mut self, text: &str, place: Place<'_>) -> bool {
        if place.depth > SHELL_SCRIPTS_DEEP_MAX || text.len() > self.bytes_left {
            self.distrust(
                text,
                place.depth,
                "It holds too many commands within commands.",
            );
            return false;
        }
        self.bytes_left -= text.len();
        if let Some(reason) = bounds::too_large(text) {
            self.distrust(text, place.depth, reason);
            return false;
        }
        let place = Place { text, ..place };
        let parsed = parse(text).map(|program| {
            program
                .complete_commands
                .iter()
                .for_each(|list| self.list(list, place));
        });
        let is_read = parsed.is_ok();
        if let Err(reason) = parsed {
            self.distrust(text, place.depth, reason);
        }
        // The second parser enters substitutions by itself, with the text that they stand in.
        if *place.via != Via::Substitution {
            self.ask_again(text, place);
        }
        is_read
    }

    /// What the second parser sees counts for a deny too.
    fn ask_again(&mut self, text: &str, place: Place<'_>) {
        let opinion = opinion::read(text);
        if opinion.as_ref().is_none_or(|opinion| opinion.has_error) {
            self.distrust(text, place.depth, "It cannot be read for sure.");
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
