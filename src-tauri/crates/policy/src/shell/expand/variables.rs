//! Variables whose value some program runs, and the variables and files that a text sets for later commands.

use brush_parser::ast;

use crate::shell::expand::setters;
use crate::shell::facts::{CommandOrigin, RedirectKind, ShellRedirect, SimpleCommand};
use crate::shell::parse::extent::find_substitutions;
use crate::shell::parse::reader::{CommandContext, ShellReader};
use crate::shell::program_base_name;
use crate::shell::tables::list_has_word;

/// Most calls of functions whose body is read again with what they are given.
const CALLS_MAX: usize = 32;

/// Variables whose value some program runs, with that value.
pub(in crate::shell) fn executing_variables(command: &SimpleCommand) -> Vec<(String, String)> {
    let set = command
        .assignments
        .iter()
        .map(|assignment| (assignment.name.as_str(), assignment.value.text()));
    let program = command.words.first().map_or("", |word| word.text());
    let words = command.words.iter().skip(1).map(|word| word.text());
    set.chain(setters::list_declarations(program, words))
        .filter(|(name, _)| is_executing_variable(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// `GIT_SSH_COMMAND`, `PAGER`, `EDITOR` and their like.
fn is_executing_variable(name: &str) -> bool {
    const ENDINGS: &str = "COMMAND PAGER EDITOR VISUAL BROWSER ASKPASS LESSOPEN LESSCLOSE EXTERNAL_DIFF SHELL \
        WRAPPER RUNNER";
    ENDINGS.split(' ').any(|ending| name.ends_with(ending))
        || name.starts_with("GIT_CONFIG_VALUE_")
        || list_has_word("GIT_CONFIG_PARAMETERS GIT_SSH RUSTC CC CXX", name)
        || is_expanded_variable(name)
}

/// Variables whose value a shell expands when it starts or before each command: a substitution in the value runs.
fn is_expanded_variable(name: &str) -> bool {
    list_has_word("PS0 PS1 PS2 PS3 PS4 BASH_ENV ENV", name)
}

impl ShellReader<'_> {
    /// Follows the variables of a command whose value some program runs.
    pub fn follow_variables(&mut self, command: &SimpleCommand, place: CommandContext<'_>) {
        for (name, text) in executing_variables(command) {
            if is_expanded_variable(&name) {
                self.read_document(&text, place);
                // `BASH_ENV=<(echo rm x)`: what is printed there is read as a script.
                let printed_before = self.printed.len();
                self.follow_substitutions(find_substitutions(&text), place);
                let printed = self
                    .printed
                    .get(printed_before..)
                    .unwrap_or_default()
                    .to_vec();
                for text in printed {
                    self.read_nested_script(&text, &CommandOrigin::Script, place);
                }
            }
            // `'core.pager=rm x'`: what git reads a setting from holds its value.
            for piece in text.split(['=', '\'']).filter(|piece| *piece != text) {
                self.read_nested_script(piece, &CommandOrigin::Script, place);
            }
            self.read_nested_script(&text, &CommandOrigin::Wrapper(name), place);
        }
    }

    /// Records the effects of a command on those after it: variables that it sets and files that it writes. `said` is
    /// its output.
    pub fn record_side_effects(
        &mut self,
        list: &[String],
        redirects: &[ShellRedirect],
        input: &[String],
        output: &[String],
    ) {
        let program = list.first().map_or("", |word| program_base_name(word));
        let rest = list.get(1..).unwrap_or_default();
        for (name, value) in setters::list_declarations(program, rest.iter().map(String::as_str)) {
            self.known_values.set_text(name, value);
        }
        match program {
            "set" => {
                let end = rest.iter().position(|word| word == "--");
                let start = end.map_or(0, |end| end + 1);
                self.known_values
                    .set_parameters(rest.get(start..).unwrap_or_default());
            }
            "printf" => {
                if let Some(name) = setters::printf_variable(rest) {
                    output
                        .iter()
                        .for_each(|text| self.known_values.set_text(name, text));
                }
            }
            "read" => {
                for name in rest.iter().filter(|word| !word.starts_with('-')) {
                    input
                        .iter()
                        .for_each(|text| self.known_values.set_text(name, text.trim()));
                }
            }
            "tee" => {
                for file in rest.iter().filter(|word| !word.starts_with('-')) {
                    self.known_values.record_written_file(file, output);
                }
            }
            _ => {}
        }
        let written = redirects
            .iter()
            .filter(|one| matches!(one.kind, RedirectKind::Write | RedirectKind::Append));
        for redirect in written {
            self.known_values
                .record_written_file(redirect.target.text(), output);
        }
    }

    /// Follows a command that runs a file which the same text wrote.
    pub fn follow_written_files(
        &mut self,
        program: &str,
        list: &[String],
        place: CommandContext<'_>,
    ) {
        let words = match crate::shell::programs::inner_commands::runs_files(program) {
            true => list,
            false => &list[..1],
        };
        for text in words
            .iter()
            .flat_map(|word| self.known_values.written_texts(word))
            .collect::<Vec<_>>()
        {
            self.read_nested_script(&text, &CommandOrigin::Script, place);
        }
    }

    /// Reads the body of a function again where it is called, with the arguments of the call.
    pub fn follow_function_call(&mut self, list: &[String], place: CommandContext<'_>) {
        let Some(body) = self.functions.get(&list[0]).cloned() else {
            return;
        };
        if self.followed_calls.len() >= CALLS_MAX || !self.followed_calls.insert(list.to_vec()) {
            return;
        }
        self.known_values.set_parameters(&list[1..]);
        let place = CommandContext {
            origin: &CommandOrigin::Function,
            ..place
        };
        self.walk_compound(&body, place);
    }

    /// Keeps the body of a function for its calls.
    pub fn define_function(&mut self, name: &str, body: &ast::CompoundCommand) {
        self.functions.insert(name.to_owned(), body.clone());
    }
}
