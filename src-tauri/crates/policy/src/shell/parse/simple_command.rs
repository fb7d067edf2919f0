//! One simple command: its assignments, words and redirects, and everything that they make run.

use std::hash::{DefaultHasher, Hash, Hasher};

use brush_parser::ast::{self, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem as Item};

use crate::limits::{SHELL_COMMANDS_MAX, SHELL_SCRIPTS_DEEP_MAX, SHELL_WRAPPERS_DEEP_MAX};
use crate::shell::expand::printed::printed_texts;
use crate::shell::expand::spellings;
use crate::shell::expand::unknown_text::remove_marks;
use crate::shell::facts::{
    CommandOrigin, RedirectKind, ShellAssignment, ShellRedirect, ShellWord, SimpleCommand,
};
use crate::shell::matching::{command_names, plain};
use crate::shell::parse::extent::find_substitutions;
use crate::shell::parse::reader::{CommandContext, ShellReader};
use crate::shell::parse::word;
use crate::shell::parse::word::{ParsedWord, to_shell_word};
use crate::shell::program_base_name;
use crate::shell::programs::inner_commands;
use crate::shell::programs::inner_commands::InnerCommand;

/// Reason why commands behind too many others are not trusted.
const TOO_DEEP_REASON: &str = "It holds too many commands within commands.";

/// A command while it is read.
#[derive(Default)]
struct CommandParts {
    words: Vec<(String, ParsedWord)>,
    assignments: Vec<ShellAssignment>,
    redirects: Vec<ShellRedirect>,
    /// Texts that come to its standard input, or stand in its process substitutions.
    input: Vec<String>,
}

/// Returns a hash that tells one input, and one place to begin, from another.
fn input_hash(input: &[String], starts: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (input, starts).hash(&mut hasher);
    hasher.finish()
}

impl ShellReader<'_> {
    /// A simple command. `timed` stands for a `time` before it, which the parser takes away: with `-p` or without.
    pub fn read_simple_command(
        &mut self,
        command: &ast::SimpleCommand,
        place: CommandContext<'_>,
        timed: Option<bool>,
    ) {
        let mut parts = CommandParts {
            input: place.input.to_vec(),
            ..CommandParts::default()
        };
        for word in timed.into_iter().flat_map(|posix| match posix {
            true => vec!["time", "-p"],
            false => vec!["time"],
        }) {
            parts.words.push((word.to_owned(), word::parse_word(word)));
        }
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(assignment, _) => {
                    self.read_assignment(assignment, &mut parts, place)
                }
                other => self.read_item(other, &mut parts, place),
            }
        }
        if let Some(name) = &command.word_or_name {
            let read = self.read_word(&name.value, place);
            parts.words.push((name.value.clone(), read));
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.read_item(item, &mut parts, place);
        }
        self.record_command(parts, place);
    }

    fn read_item(&mut self, item: &Item, parts: &mut CommandParts, place: CommandContext<'_>) {
        match item {
            Item::IoRedirect(redirect) => {
                let redirect = self.read_redirect(redirect, &mut parts.input, place);
                parts.redirects.push(redirect);
            }
            Item::Word(word) | Item::AssignmentWord(_, word) => {
                let read = self.read_word(&word.value, place);
                parts.words.push((word.value.clone(), read));
            }
            Item::ProcessSubstitution(_, shell) => {
                let printed = self.walk_substitution(&shell.list, place);
                parts.input.extend_from_slice(printed);
                // Its text is not kept by the parser; the word is no literal in any case.
                let mut read = word::parse_word("");
                read.is_broken = true;
                parts.words.push(("<(…)".to_owned(), read));
            }
        }
    }

    fn read_assignment(
        &mut self,
        assignment: &ast::Assignment,
        parts: &mut CommandParts,
        place: CommandContext<'_>,
    ) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                self.follow_substitutions(find_substitutions(index), place);
                name.clone()
            }
        };
        let values: Vec<&str> = match &assignment.value {
            AssignmentValue::Scalar(value) => vec![&value.value],
            AssignmentValue::Array(values) => values
                .iter()
                .flat_map(|(key, value)| key.iter().chain([value]))
                .map(|word| word.value.as_str())
                .collect(),
        };
        for raw in values {
            let read = self.read_word(raw, place);
            self.known_values.set_variable(&name, raw);
            parts.assignments.push(ShellAssignment {
                name: name.clone(),
                value: to_shell_word(raw, &read),
            });
        }
    }

    /// Records a complete command: for the facts, for an allow, and follows it for a deny.
    fn record_command(&mut self, mut parts: CommandParts, place: CommandContext<'_>) {
        let words: Vec<ShellWord> = parts
            .words
            .iter()
            .map(|(raw, read)| to_shell_word(raw, read))
            .collect();
        if !words.is_empty() {
            self.enter_line_folders();
            if place.depth == 0 {
                let texts = words.iter().map(|word| word.text().to_owned());
                self.first.push(texts.collect());
            }
        }
        let bare: Vec<bool> = parts.words.iter().map(|(_, read)| read.is_bare).collect();
        let command = SimpleCommand {
            words,
            assignments: parts.assignments,
            redirects: parts.redirects,
            via: place.origin.clone(),
        };
        match plain::plain_words(&command, &bare) {
            Ok(words) => self.facts.plain.extend(words),
            Err(reason) => self.add_unsure_reason(reason),
        }
        self.follow_elsewhere(|reader| reader.follow_variables(&command, place));
        for redirect in &command.redirects {
            if redirect.kind == RedirectKind::Read {
                parts
                    .input
                    .extend(self.known_values.written_texts(redirect.target.text()));
            }
        }
        let printed_before = self.printed.len();
        let spelled = self.run(&command.words, place, &parts.input);
        let printed = self.printed[printed_before.min(self.printed.len())..].to_vec();
        for list in &spelled {
            self.record_side_effects(list, &command.redirects, &parts.input, &printed);
        }
        self.push_command(command);
    }

    /// Adds a command to the facts.
    pub fn push_command(&mut self, command: SimpleCommand) {
        self.record_redirect_accesses(&command.redirects);
        self.record_word_accesses(&command.words);
        match self.facts.commands.len() < SHELL_COMMANDS_MAX {
            true => self.facts.commands.push(command),
            false => {
                self.add_unsure_reason(format!("It holds more than {SHELL_COMMANDS_MAX} commands."))
            }
        }
    }

    /// Follows the commands that a command may run, in every known spelling, and returns the spellings.
    pub fn run(
        &mut self,
        words: &[ShellWord],
        place: CommandContext<'_>,
        input: &[String],
    ) -> Vec<Vec<String>> {
        let mut spelled = spellings::list_spellings(words, &self.known_values);
        // `f=.env; cat $f`: beside the words as they are written, paths as far as the variables are known.
        for list in spelled.iter_mut().skip(1) {
            let known: Vec<ShellWord> = list.iter().cloned().map(ShellWord::Literal).collect();
            self.record_word_accesses(&known);
            list.iter_mut().for_each(remove_marks);
        }
        for list in &spelled {
            self.follow_word_list(list.clone(), place, input);
        }
        spelled
    }

    /// Follows one word list: records it for a deny, and follows the commands that it runs in turn.
    fn follow_word_list(&mut self, list: Vec<String>, place: CommandContext<'_>, input: &[String]) {
        let Some(program) = list.first().map(|word| program_base_name(word).to_owned()) else {
            return;
        };
        self.record_output(&program, &list, input);
        let hash = input_hash(input, &self.folders.starts);
        if !self.followed.insert((list.clone(), hash)) {
            return;
        }
        for words in command_names::list_command_names(&list, &program) {
            self.add_denied(words);
        }
        if place.depth >= SHELL_SCRIPTS_DEEP_MAX || place.wrapper_depth >= SHELL_WRAPPERS_DEEP_MAX {
            // Whatever stands behind it is searched without being understood.
            return self.queue_doubtful_text(&list.join(" "), place.depth, TOO_DEEP_REASON);
        }
        self.follow_written_files(&program, &list, place);
        self.follow_function_call(&list, place);
        let inner = inner_commands::find_inner_commands(&program, &list, input);
        match inner_commands::keeps_folder(&program, &list) {
            true => self.follow_inner_commands(&program, inner, place, input),
            false => self.follow_elsewhere(|reader| {
                reader.follow_inner_commands(&program, inner, place, input);
            }),
        }
    }

    fn follow_inner_commands(
        &mut self,
        program: &str,
        commands: Vec<InnerCommand>,
        place: CommandContext<'_>,
        input: &[String],
    ) {
        for inner in commands {
            match inner {
                InnerCommand::Words(words) => {
                    let via = CommandOrigin::Wrapper(program.to_owned());
                    let deeper = CommandContext {
                        origin: &via,
                        wrapper_depth: place.wrapper_depth + 1,
                        input,
                        ..place
                    };
                    self.push_command(SimpleCommand {
                        words: words.iter().cloned().map(ShellWord::Literal).collect(),
                        assignments: Vec::new(),
                        redirects: Vec::new(),
                        via: via.clone(),
                    });
                    self.follow_word_list(words, deeper, input);
                }
                InnerCommand::Parameters(words) => self.known_values.set_parameters(&words),
                InnerCommand::Script(text) => {
                    self.read_nested_script(&text, &CommandOrigin::Script, place)
                }
            }
        }
    }

    pub fn read_nested_script(
        &mut self,
        text: &str,
        via: &CommandOrigin,
        place: CommandContext<'_>,
    ) {
        let deeper = CommandContext {
            origin: via,
            depth: place.depth + 1,
            wrapper_depth: 0,
            input: &[],
            text,
        };
        self.read_script(text, deeper);
    }

    pub fn add_denied(&mut self, words: Vec<String>) {
        if self.denied_lists.insert(words.clone()) {
            self.facts.may_run.push(words);
        }
    }

    /// Records the output of a command, as far as its words or its input tell it.
    fn record_output(&mut self, program: &str, list: &[String], input: &[String]) {
        match program {
            "echo" | "printf" | "print" => self.printed.extend(printed_texts(program, &list[1..])),
            "cat" | "tee" => self.printed.extend_from_slice(input),
            _ => {}
        }
    }
}
