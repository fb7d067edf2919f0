//! Variables whose value some program runs, and what a text sets for what comes after it.

use brush_parser::ast;

use super::extent::inner_scripts;
use super::facts::{Redirect, RedirectKind, SimpleCommand, Via};
use super::script::{Place, Reader};
use super::wrappers::has;
use super::{base_name, setters};

/// Most calls of functions whose body is read again with what they are given.
const CALLS_MAX: usize = 32;

/// Variables whose value some program runs, with that value.
pub(super) fn executing(command: &SimpleCommand) -> Vec<(String, String)> {
    let set = command
        .assignments
        .iter()
        .map(|assignment| (assignment.name.as_str(), assignment.value.text()));
    let program = command.words.first().map_or("", |word| word.text());
    let words = command.words.iter().skip(1).map(|word| word.text());
    set.chain(setters::declared(program, words))
        .filter(|(name, _)| is_executing(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// `GIT_SSH_COMMAND`, `PAGER`, `EDITOR` and their like.
fn is_executing(name: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "COMMAND",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "BROWSER",
        "ASKPASS",
        "LESSOPEN",
        "LESSCLOSE",
        "EXTERNAL_DIFF",
        "SHELL",
        "WRAPPER",
        "RUNNER",
    ];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.starts_with("GIT_CONFIG_VALUE_")
        || has("GIT_CONFIG_PARAMETERS GIT_SSH RUSTC CC CXX", name)
        || is_expanded(name)
}

/// Variables whose value a shell expands when it starts or before each command: what is substituted in it runs.
fn is_expanded(name: &str) -> bool {
    has("PS0 PS1 PS2 PS3 PS4 BASH_ENV ENV", name)
}

impl Reader<'_> {
    /// Follows the variables of a command whose value some program runs.
    pub fn run_variables(&mut self, command: &SimpleCommand, place: Place<'_>) {
        for (name, text) in executing(command) {
            if is_expanded(&name) {
                self.document(&text, place);
                // `BASH_ENV=<(echo rm x)`: what is printed there is read as a script.
                let said = self.said.len();
                self.substitutions(inner_scripts(&text), place);
                let printed = self.said.get(said..).unwrap_or_default().to_vec();
                for text in printed {
                    self.nested(&text, &Via::Script, place);
                }
            }
            // `'core.pager=rm x'`: what git reads a setting from holds its value.
            for piece in text.split(['=', '\'']).filter(|piece| *piece != text) {
                self.nested(piece, &Via::Script, place);
            }
            self.nested(&text, &Via::Wrapper(name), place);
        }
    }

    /// Notes what a command leaves behind for those after it: variables that it sets and files that it writes. `said` is
    /// what it prints.
    pub fn note_effects(
        &mut self,
        list: &[String],
        redirects: &[Redirect],
        input: &[String],
        said: &[String],
    ) {
        let program = list.first().map_or("", |word| base_name(word));
        let rest = list.get(1..).unwrap_or_default();
        for (name, value) in setters::declared(program, rest.iter().map(String::as_str)) {
            self.known.set_text(name, value);
        }
        match program {
            "set" => {
                let end = rest.iter().position(|word| word == "--");
                let start = end.map_or(0, |end| end + 1);
                self.known
                    .set_parameters(rest.get(start..).unwrap_or_default());
            }
            "printf" => {
                if let Some(name) = setters::variable_of_printf(rest) {
                    said.iter().for_each(|text| self.known.set_text(name, text));
                }
            }
            "read" => {
                for name in rest.iter().filter(|word| !word.starts_with('-')) {
                    input
                        .iter()
                        .for_each(|text| self.known.set_text(name, text.trim()));
                }
            }
            "tee" => {
                for file in rest.iter().filter(|word| !word.starts_with('-')) {
                    self.known.wrote(file, said);
                }
            }
            _ => {}
        }
        let written = redirects
            .iter()
            .filter(|one| matches!(one.kind, RedirectKind::Write | RedirectKind::Append));
        for redirect in written {
            self.known.wrote(redirect.target.text(), said);
        }
    }

    /// Follows what a command runs that stands in a file which the same text wrote.
    pub fn run_written(&mut self, program: &str, list: &[String], place: Place<'_>) {
        let words = match super::unwrap::runs_files(program) {
            true => list,
            false => &list[..1],
        };
        for text in words
            .iter()
            .flat_map(|word| self.known.written(word))
            .collect::<Vec<_>>()
        {
            self.nested(&text, &Via::Script, place);
        }
    }

    /// Reads the body of a function again where it is called, with what it is given.
    pub fn call_function(&mut self, list: &[String], place: Place<'_>) {
        let Some(body) = self.functions.get(&list[0]).cloned() else {
            return;
        };
        if self.called.len() >= CALLS_MAX || !self.called.insert(list.to_vec()) {
            return;
        }
        self.known.set_parameters(&list[1..]);
        let place = Place {
            via: &Via::Function,
            ..place
        };
        self.compound(&body, place);
    }

    /// Keeps the body of a function for where it is called.
    pub fn define_function(&mut self, name: &str, body: &ast::CompoundCommand) {
        self.functions.insert(name.to_owned(), body.clone());
    }
}
