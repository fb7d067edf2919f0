//! Reads texts that a shell may run: with the first parser, then asks the second whether it sees the same.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::{ParserOptions, ast};
use protocol::text::display_text::is_hidden;

use crate::limits::{
    SHELL_REASONS_MAX, SHELL_SCRIPT_BYTES_MAX, SHELL_SCRIPTS_DEEP_MAX, SHELL_SEARCH_BYTES_MAX,
};
use crate::shell::expand::spellings::KnownValues;
use crate::shell::facts::{CommandOrigin, ShellAccess, ShellFacts, ShellWord};
use crate::shell::matching::plain;
use crate::shell::parse::word;
use crate::shell::parse::{complexity, second_parser};
use crate::shell::tables::program_table;

/// The place of a command.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct CommandContext<'p> {
    /// The construct that makes the command run.
    pub origin: &'p CommandOrigin,
    /// Number of texts within texts from the command line to the command.
    pub depth: usize,
    /// Number of programs in front of the command that run one another.
    pub wrapper_depth: usize,
    /// Texts that the command may get through a pipe.
    pub input: &'p [String],
    /// The text that the command stands in.
    pub text: &'p str,
}

/// Gathers facts.
pub(in crate::shell) struct ShellReader<'a> {
    command: &'a str,
    pub facts: ShellFacts,
    /// Word lists that were already followed, each with the hash of its input.
    pub followed: HashSet<(Vec<String>, u64)>,
    /// Word lists that were recorded for a deny.
    pub denied_lists: HashSet<Vec<String>>,
    /// Accesses that were recorded.
    pub recorded_accesses: HashSet<ShellAccess>,
    /// Values of variables and output of commands, as far as the text tells them.
    pub known_values: KnownValues,
    /// Output of commands that print their arguments or their input.
    pub printed: Vec<String>,
    /// The words of every command that an allow looks at, as the first parser sees them and as the second.
    pub first: Vec<Vec<String>>,
    second_parse: Vec<Vec<String>>,
    /// Whether another command gives the current one its input.
    pub is_piped: bool,
    /// The bodies of functions that are defined.
    pub functions: HashMap<String, ast::CompoundCommand>,
    /// The calls of functions that were followed.
    pub followed_calls: HashSet<Vec<String>>,
    /// Where `cd` went.
    pub folder: Option<String>,
    /// Texts that wait to be searched, each with its depth; every text is searched once.
    pub doubtful_texts: VecDeque<(String, usize)>,
    pub queued_texts: HashSet<String>,
    /// Bytes that may still be spent on searching those texts.
    pub search_left: usize,
    bytes_left: usize,
}

impl<'a> ShellReader<'a> {
    pub fn new(command: &'a str) -> Self {
        Self {
            command,
            facts: ShellFacts::default(),
            followed: HashSet::new(),
            denied_lists: HashSet::new(),
            recorded_accesses: HashSet::new(),
            known_values: KnownValues::default(),
            printed: Vec::new(),
            first: Vec::new(),
            second_parse: Vec::new(),
            is_piped: false,
            functions: HashMap::new(),
            followed_calls: HashSet::new(),
            folder: None,
            doubtful_texts: VecDeque::new(),
            queued_texts: HashSet::new(),
            search_left: SHELL_SEARCH_BYTES_MAX,
            bytes_left: SHELL_SCRIPT_BYTES_MAX,
        }
    }

    /// Reads the command line.
    pub fn read_facts(mut self) -> ShellFacts {
        let command = self.command;
        if let Some(hidden) = command.chars().find(|c| is_hidden(*c)) {
            let reason = format!(
                "It holds U+{:04X}, which cannot be seen.",
                u32::from(hidden)
            );
            self.queue_doubtful_text(command, 0, reason);
            // The visible text is searched first, as the person sees it.
            self.search_doubtful_texts();
        }
        if program_table().is_empty() {
            self.add_unsure_reason("The table of programs cannot be read.");
        }
        if plain::has_line_continuation(command) {
            self.add_unsure_reason("A word goes on in the next line.");
        }
        let place = CommandContext {
            origin: &CommandOrigin::Plain,
            depth: 0,
            wrapper_depth: 0,
            input: &[],
            text: command,
        };
        self.read_script(command, place);
        if self.facts.unsure_reasons.is_empty() && self.first != self.second_parse {
            self.queue_doubtful_text(command, 0, "Two parsers read it differently.");
        }
        self.search_doubtful_texts();
        if let Some(reason) = plain::find_shared_variable(&self.facts.plain) {
            self.add_unsure_reason(reason);
        }
        if let Some(reason) = plain::find_folder_change(&self.facts.commands, &self.facts.plain) {
            self.add_unsure_reason(reason);
        }
        if self.facts.plain.is_empty() && self.facts.unsure_reasons.is_empty() {
            self.add_unsure_reason("It names no program that could be allowed.");
        }
        self.facts
    }

    /// A reason why no rule may allow the command.
    pub fn add_unsure_reason(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.facts.unsure_reasons.len() < SHELL_REASONS_MAX
            && !self.facts.unsure_reasons.contains(&reason)
        {
            self.facts.unsure_reasons.push(reason);
        }
    }

    /// Reads a text that a shell may run. Returns false if the text could not be read for sure.
    pub fn read_script(&mut self, text: &str, place: CommandContext<'_>) -> bool {
        if place.depth > SHELL_SCRIPTS_DEEP_MAX || text.len() > self.bytes_left {
            self.queue_doubtful_text(
                text,
                place.depth,
                "It holds too many commands within commands.",
            );
            return false;
        }
        self.bytes_left -= text.len();
        if let Some(reason) = complexity::check_size(text) {
            self.queue_doubtful_text(text, place.depth, reason);
            return false;
        }
        // Only a text that the second parser reads to its end is safe for the first one then.
        if complexity::has_unclear_document(text) && !second_parser::can_parse(text) {
            let reason = "It holds a here-document that does not plainly end.";
            self.queue_doubtful_text(text, place.depth, reason);
            return false;
        }
        let place = CommandContext { text, ..place };
        let parsed = parse_script(text).map(|program| {
            program
                .complete_commands
                .iter()
                .for_each(|list| self.walk_list(list, place));
        });
        let is_read = parsed.is_ok();
        if let Err(reason) = parsed {
            self.queue_doubtful_text(text, place.depth, reason);
        }
        // The second parser enters substitutions by itself, with the text that they stand in.
        if *place.origin != CommandOrigin::Substitution {
            self.compare_second_parse(text, place);
        }
        is_read
    }

    /// Reads the text with the second parser too, whose commands count for a deny as well.
    fn compare_second_parse(&mut self, text: &str, place: CommandContext<'_>) {
        let opinion = second_parser::parse_second(text);
        if opinion.as_ref().is_none_or(|opinion| opinion.has_error) {
            self.queue_doubtful_text(text, place.depth, "It cannot be read for sure.");
        }
        for raw in opinion.map(|opinion| opinion.commands).unwrap_or_default() {
            let words: Vec<ShellWord> = raw
                .iter()
                .map(|raw| word::to_shell_word(raw, &word::parse_word(raw)))
                .collect();
            let texts = words.iter().map(|word| word.text().to_owned()).collect();
            self.run(&words, place, &[]);
            if place.depth == 0 {
                self.second_parse.push(texts);
            }
        }
    }
}

/// Reads a text with the first parser; the error is a sentence.
fn parse_script(text: &str) -> Result<ast::Program, String> {
    let options = ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    };
    let read = || {
        let tokens = brush_parser::uncached_tokenize_str(text, &options.tokenizer_options())
            .map_err(|error| format!("It cannot be read: {error}."))?;
        if let Some(reason) = complexity::check_depth(&tokens) {
            return Err(reason);
        }
        brush_parser::parse_tokens(&tokens, &options)
            .map_err(|error| format!("It cannot be read: {error}."))
    };
    // A parser that gives up by panicking is one that cannot read the text.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("It cannot be read at all.".to_owned()))
}
