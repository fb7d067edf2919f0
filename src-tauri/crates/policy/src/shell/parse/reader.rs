//! Reads texts that a shell may run: with the first parser, then asks the second whether it sees the same.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::{ParserOptions, ast};
use protocol::text::display_text::is_hidden;

use crate::limits::{
    SHELL_REASONS_MAX, SHELL_SCRIPT_BYTES_MAX, SHELL_SCRIPTS_DEEP_MAX, SHELL_SEARCH_BYTES_MAX,
};
use crate::shell::accesses::folders::WorkingFolders;
use crate::shell::accesses::line_folders::find_line_folders;
use crate::shell::accesses::link_targets::is_one_command;
use crate::shell::expand::set_variables::find_set_variables;
use crate::shell::expand::spellings::KnownValues;
use crate::shell::facts::{CommandOrigin, ShellAccess, ShellFacts};
use crate::shell::matching::plain;
use crate::shell::parse::second_parser::SecondParse;
use crate::shell::parse::word::parse_shell_words;
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

/// The commands of a text, by the folders in which they run.
#[derive(Debug, Default)]
pub(in crate::shell) struct CommandFolders {
    /// Whether it is certain in which folders they run.
    is_certain: bool,
    /// Whether the whole command line is one command, but for such as go into a folder or create one.
    pub is_alone: bool,
    /// The folders of each simple command; none where they are not certain.
    folders: Vec<Vec<String>>,
    /// Number of the commands that were read.
    next: usize,
}

/// Gathers facts.
pub(in crate::shell) struct ShellReader<'a> {
    command: &'a str,
    pub facts: ShellFacts,
    /// Word lists that were already followed, each with the hash of its input and of where it begins.
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
    /// The folders in which the current command may run.
    pub folders: WorkingFolders,
    /// The folders of the commands of the text that is read, where these are certain.
    pub line: CommandFolders,
    /// Every folder in which some command may run for certain.
    visited: BTreeSet<String>,
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
            folders: WorkingFolders::default(),
            line: CommandFolders::default(),
            visited: BTreeSet::new(),
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
        // The command line begins in the workspace; what is searched after it may run in any folder.
        self.line.is_certain = true;
        self.read_script(command, place);
        self.line.is_certain = false;
        self.folders.entered.extend(self.visited.clone());
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
        let parsed = parse_script(text);
        // The second parser enters substitutions by itself, with the text that they stand in.
        let is_substitution = *place.origin == CommandOrigin::Substitution;
        let second = (!is_substitution).then(|| second_parser::parse_second(text));
        let folders = match (&parsed, &second) {
            (Ok(program), Some(second)) => self.find_folders(text, program, second),
            _ => None,
        };
        let is_alone = match (&parsed, place.depth) {
            (Ok(program), 0) => folders.is_some() && is_one_command(text, program),
            (Ok(_) | Err(_), _) => false,
        };
        let line = CommandFolders {
            is_certain: folders.is_some(),
            is_alone,
            folders: folders.unwrap_or_default(),
            next: 0,
        };
        let line_around = mem::replace(&mut self.line, line);
        let set_around = match (&parsed, &second) {
            // A shell of its own knows only what is exported to it.
            (_, Some(_)) if place.depth > 0 => Some(mem::take(&mut self.known_values.always_set)),
            (Ok(program), Some(second)) => {
                let set = find_set_variables(text, program, second);
                Some(mem::replace(&mut self.known_values.always_set, set))
            }
            (Err(_), _) | (_, None) => None,
        };
        let folders_around = self.folders.clone();
        let is_read = parsed.is_ok();
        match parsed {
            Ok(program) => {
                for list in &program.complete_commands {
                    self.walk_list(list, place);
                }
            }
            Err(reason) => self.queue_doubtful_text(text, place.depth, reason),
        }
        if let Some(second) = second {
            self.line.next = 0;
            self.compare_second_parse(&second, place);
        }
        if self.line.is_certain {
            self.visited.extend(self.line.folders.concat());
            self.folders = folders_around;
        }
        self.line = line_around;
        if let Some(around) = set_around {
            self.known_values.always_set = around;
        }
        is_read
    }

    /// Finds the folders of a text's commands, if it is certain where the text begins.
    fn find_folders(
        &self,
        text: &str,
        program: &ast::Program,
        second: &SecondParse,
    ) -> Option<Vec<Vec<String>>> {
        let begins = self.line.is_certain && self.folders.entered.is_empty();
        begins.then(|| find_line_folders(text, program, second, &self.folders.starts))?
    }

    /// Compares the commands that the second parser sees in a text, which count for a deny as well.
    fn compare_second_parse(&mut self, second: &SecondParse, place: CommandContext<'_>) {
        if second.has_error {
            self.queue_doubtful_text(place.text, place.depth, "It cannot be read for sure.");
        }
        for raw in &second.commands {
            let words = parse_shell_words(raw);
            self.enter_line_folders();
            self.run(&words, place, &[]);
            if place.depth == 0 {
                let texts = words.iter().map(|word| word.text().to_owned());
                self.second_parse.push(texts.collect());
            }
        }
    }

    /// Begins the next command of the text where it runs, if that is certain.
    pub fn enter_line_folders(&mut self) {
        if let Some(folders) = self.line.folders.get(self.line.next) {
            self.folders = WorkingFolders {
                starts: folders.clone(),
                entered: Vec::new(),
            };
        }
        self.line.next += 1;
    }

    /// Follows what a command runs in a folder that its words do not tell: its paths count from the workspace as well.
    pub fn follow_elsewhere(&mut self, follow: impl FnOnce(&mut Self)) {
        let starts = self.folders.starts.clone();
        if !starts.contains(&String::new()) {
            self.folders.starts.push(String::new());
        }
        follow(self);
        self.folders.starts = starts;
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
