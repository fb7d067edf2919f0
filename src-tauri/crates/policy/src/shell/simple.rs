//! One simple command: its assignments, words and redirects, and everything that they make run.

use std::hash::{DefaultHasher, Hash, Hasher};

use brush_parser::ast::{self, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem as Item};

use super::extent::inner_scripts;
use super::facts::{Assignment, Redirect, RedirectKind, SimpleCommand, Via, Word};
use super::prints::prints;
use super::script::{Place, Reader};
use super::unwrap::Inner;
use super::word::{self, ReadWord, decode};
use super::{base_name, forms, plain, spell, unwrap};
use crate::limits::{SHELL_COMMANDS_MAX, SHELL_SCRIPTS_DEEP_MAX, SHELL_WRAPPERS_DEEP_MAX};

/// Why what is behind too many others is not trusted.
const TOO_DEEP: &str = "It holds too many commands within commands.";

/// A command while it is read.
#[derive(Default)]
struct Parts {
    words: Vec<(String, ReadWord)>,
    assignments: Vec<Assignment>,
    redirects: Vec<Redirect>,
    /// Texts that come to its standard input, or stand in its process substitutions.
    input: Vec<String>,
}

/// What tells one input from another.
fn digest(input: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}

impl Reader<'_> {
    /// A simple command. `timed` stands for a `time` before it, which the parser takes away: with `-p` or without.
    pub fn simple(&mut self, command: &ast::SimpleCommand, place: Place<'_>, timed: Option<bool>) {
        let mut parts = Parts {
            input: place.input.to_vec(),
            ..Parts::default()
        };
        for word in timed.into_iter().flat_map(|posix| match posix {
            true => vec!["time", "-p"],
            false => vec!["time"],
        }) {
            parts.words.push((word.to_owned(), word::read(word)));
        }
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(assignment, _) => {
                    self.assignment(assignment, &mut parts, place)
                }
                other => self.item(other, &mut parts, place),
            }
        }
        if let Some(name) = &command.word_or_name {
            let read = self.word(&name.value, place);
            parts.words.push((name.value.clone(), read));
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut parts, place);
        }
        self.told(parts, place);
    }

    fn item(&mut self, item: &Item, parts: &mut Parts, place: Place<'_>) {
        match item {
            Item::IoRedirect(redirect) => {
                let redirect = self.redirect(redirect, &mut parts.input, place);
                parts.redirects.push(redirect);
            }
            Item::Word(word) | Item::AssignmentWord(_, word) => {
                let read = self.word(&word.value, place);
                parts.words.push((word.value.clone(), read));
            }
            Item::ProcessSubstitution(_, shell) => {
                let said = self.said.len();
                let within = Place {
                    via: &Via::Substitution,
                    ..place
                };
                self.list(&shell.list, within);
                parts.input.extend_from_slice(&self.said[said..]);
                // Its text is not kept by the parser; the word is no literal in any case.
                let mut read = word::read("");
                read.broken = true;
                parts.words.push(("<(…)".to_owned(), read));
            }
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment, parts: &mut Parts, place: Place<'_>) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                self.substitutions(inner_scripts(index), place);
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
            let read = self.word(raw, place);
            self.known.set(&name, raw);
            parts.assignments.push(Assignment {
                name: name.clone(),
                value: decode(raw, &read),
            });
        }
    }

    /// A command that is whole: it is told, judged for an allow, and followed for a deny.
    fn told(&mut self, mut parts: Parts, place: Place<'_>) {
        let words: Vec<Word> = parts
            .words
            .iter()
            .map(|(raw, read)| decode(raw, read))
            .collect();
        if place.depth == 0 && !words.is_empty() {
            self.first
                .push(words.iter().map(|word| word.text().to_owned()).collect());
        }
        let bare: Vec<bool> = parts.words.iter().map(|(_, read)| read.bare).collect();
        let command = SimpleCommand {
            words,
            assignments: parts.assignments,
            redirects: parts.redirects,
            via: place.via.clone(),
        };
        match plain::words(&command, &bare) {
            Ok(words) => self.facts.plain.extend(words),
            Err(reason) => self.unsure(reason),
        }
        self.run_variables(&command, place);
        for redirect in &command.redirects {
            if redirect.kind == RedirectKind::Read {
                parts
                    .input
                    .extend(self.known.written(redirect.target.text()));
            }
        }
        let said = self.said.len();
        let spelled = self.run(&command.words, place, &parts.input);
        let said = self.said[said.min(self.said.len())..].to_vec();
        for list in &spelled {
            self.note_effects(list, &command.redirects, &parts.input, &said);
        }
        self.push(command);
    }

    /// Adds a command to the facts.
    pub fn push(&mut self, command: SimpleCommand) {
        self.touch_redirects(&command.redirects);
        self.touch_words(&command.words);
        match self.facts.commands.len() < SHELL_COMMANDS_MAX {
            true => self.facts.commands.push(command),
            false => self.unsure(format!("It holds more than {SHELL_COMMANDS_MAX} commands.")),
        }
    }

    /// Follows what a command may run, in every spelling that is known, and gives those back.
    pub fn run(&mut self, words: &[Word], place: Place<'_>, input: &[String]) -> Vec<Vec<String>> {
        let spelled = spell::spellings(words, &self.known);
        // `f=.env; cat $f`: beside the words as they are written, paths as far as the variables are known.
        for list in spelled.iter().skip(1) {
            let known: Vec<Word> = list.iter().cloned().map(Word::Literal).collect();
            self.touch_words(&known);
        }
        for list in &spelled {
            self.follow(list.clone(), place, input);
        }
        spelled
    }

    /// Follows one word list: what a deny looks at, and what it runs in turn.
    fn follow(&mut self, list: Vec<String>, place: Place<'_>, input: &[String]) {
        let Some(program) = list.first().map(|word| base_name(word).to_owned()) else {
            return;
        };
        self.speak(&program, &list, input);
        if !self.followed.insert((list.clone(), digest(input))) {
            return;
        }
        for words in forms::named(&list, &program) {
            self.denied(words);
        }
        if place.depth >= SHELL_SCRIPTS_DEEP_MAX || place.wrapped >= SHELL_WRAPPERS_DEEP_MAX {
            // Whatever stands behind it is searched without being understood.
            return self.distrust(&list.join(" "), place.depth, TOO_DEEP);
        }
        self.run_written(&program, &list, place);
        self.call_function(&list, place);
        for inner in unwrap::inner(&program, &list, input) {
            match inner {
                Inner::Words(words) => {
                    let via = Via::Wrapper(program.clone());
                    let deeper = Place {
                        via: &via,
                        wrapped: place.wrapped + 1,
                        input,
                        ..place
                    };
                    self.push(SimpleCommand {
                        words: words.iter().cloned().map(Word::Literal).collect(),
                        assignments: Vec::new(),
                        redirects: Vec::new(),
                        via: via.clone(),
                    });
                    self.follow(words, deeper, input);
                }
                Inner::Parameters(words) => self.known.set_parameters(&words),
                Inner::Script(text) => self.nested(&text, &Via::Script, place),
            }
        }
    }

    pub fn nested(&mut self, text: &str, via: &Via, place: Place<'_>) {
        let deeper = Place {
            via,
            depth: place.depth + 1,
            wrapped: 0,
            input: &[],
            text,
        };
        self.script(text, deeper);
    }

    pub fn denied(&mut self, words: Vec<String>) {
        if self.denied.insert(words.clone()) {
            self.facts.may_run.push(words);
        }
    }

    /// What a command prints, as far as its words or its input say it.
    fn speak(&mut self, program: &str, list: &[String], input: &[String]) {
        match program {
            "echo" | "printf" | "print" => self.said.extend(prints(program, &list[1..])),
            "cat" | "tee" => self.said.extend_from_slice(input),
            _ => {}
        }
    }
}
