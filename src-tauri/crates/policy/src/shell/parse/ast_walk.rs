//! Walks the tree of the first parser down to its simple commands.

use brush_parser::ast::{
    self, AndOr, Command, CompoundCommand, CompoundList, ExtendedTestExpr, Pipeline,
    SeparatorOperator,
};

use crate::shell::facts::CommandOrigin;
use crate::shell::parse::extent::find_substitutions;
use crate::shell::parse::reader::{CommandContext, ShellReader};
use crate::shell::parse::word;

/// Why a text with a word in it that has no end is not trusted.
const UNREADABLE_REASON: &str = "It cannot be read for sure.";

impl ShellReader<'_> {
    /// A list of commands.
    pub fn walk_list(&mut self, list: &CompoundList, place: CommandContext<'_>) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if matches!(separator, SeparatorOperator::Async) {
                self.add_unsure_reason("`&` lets it run in the background.");
            }
            self.walk_pipeline(&and_or.first, place);
            for next in &and_or.additional {
                match next {
                    AndOr::And(pipeline) | AndOr::Or(pipeline) => {
                        self.walk_pipeline(pipeline, place)
                    }
                }
            }
        }
    }

    /// The list of a process substitution; returns the texts that it prints.
    pub fn walk_substitution(
        &mut self,
        list: &CompoundList,
        place: CommandContext<'_>,
    ) -> &[String] {
        let printed_before = self.printed.len();
        let within = CommandContext {
            origin: &CommandOrigin::Substitution,
            ..place
        };
        self.walk_list(list, within);
        &self.printed[printed_before..]
    }

    fn walk_pipeline(&mut self, pipeline: &Pipeline, place: CommandContext<'_>) {
        let mut input = place.input.to_vec();
        for (at, command) in pipeline.seq.iter().enumerate() {
            let printed_before = self.printed.len();
            let stage = CommandContext {
                input: &input,
                ..place
            };
            let piped = std::mem::replace(&mut self.is_piped, at > 0);
            match (command, &pipeline.timed) {
                (Command::Simple(simple), Some(timed)) if at == 0 => {
                    self.read_simple_command(simple, stage, Some(timed.is_posix_output()));
                }
                _ => self.walk_command(command, stage),
            }
            self.is_piped = piped;
            input = self.printed[printed_before..].to_vec();
        }
    }

    fn walk_command(&mut self, command: &Command, place: CommandContext<'_>) {
        match command {
            Command::Simple(simple) => self.read_simple_command(simple, place, None),
            Command::Compound(compound, redirects) => {
                self.walk_compound(compound, place);
                self.read_loose_redirects(redirects.as_ref(), place);
            }
            Command::Function(function) => {
                self.add_unsure_reason("It defines a function.");
                let place = CommandContext {
                    origin: &CommandOrigin::Function,
                    ..place
                };
                self.walk_compound(&function.body.0, place);
                self.define_function(&function.fname.value, &function.body.0);
                self.read_loose_redirects(function.body.1.as_ref(), place);
            }
            Command::ExtendedTest(test, redirects) => {
                self.add_unsure_reason("`[[` may run what it compares.");
                self.walk_test(&test.expr, place);
                self.read_loose_redirects(redirects.as_ref(), place);
            }
        }
    }

    pub fn walk_compound(&mut self, compound: &CompoundCommand, place: CommandContext<'_>) {
        let within = CommandContext {
            origin: match place.origin {
                CommandOrigin::Plain => &CommandOrigin::ControlFlow,
                via => via,
            },
            ..place
        };
        match compound {
            CompoundCommand::Arithmetic(sum) => self.walk_arithmetic(&[&sum.expr], place),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                self.walk_arithmetic(&parts, place);
                self.walk_list(&clause.body.list, within);
            }
            CompoundCommand::BraceGroup(group) => self.walk_list(&group.list, place),
            CompoundCommand::Subshell(shell) => self.walk_list(&shell.list, place),
            CompoundCommand::ForClause(clause) => {
                self.add_unsure_reason(format!("`for` sets `{}`.", clause.variable_name));
                for value in clause.values.iter().flatten() {
                    self.read_word(&value.value, place);
                    self.known_values
                        .set_variable(&clause.variable_name, &value.value);
                }
                self.walk_list(&clause.body.list, within);
            }
            CompoundCommand::CaseClause(clause) => {
                self.walk_compared_word(&clause.value, place);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.read_word(&pattern.value, place);
                    }
                    if let Some(list) = &case.cmd {
                        self.walk_list(list, within);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.walk_list(&clause.condition, within);
                self.walk_list(&clause.then, within);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.walk_list(condition, within);
                    }
                    self.walk_list(&other.body, within);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.walk_list(&clause.0, within);
                self.walk_list(&clause.1.list, within);
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.add_unsure_reason("`coproc` runs it beside everything else.");
                let via = CommandOrigin::Wrapper("coproc".to_owned());
                self.walk_command(
                    &coprocess.body,
                    CommandContext {
                        origin: &via,
                        ..place
                    },
                );
            }
        }
    }

    /// A word that is compared and not run; it must be literal like any other.
    fn walk_compared_word(&mut self, word: &ast::Word, place: CommandContext<'_>) {
        if self.read_word(&word.value, place).literal().is_none() {
            self.add_unsure_reason(format!("`{}` is only known when it runs.", word.value));
        }
    }

    fn walk_arithmetic(
        &mut self,
        parts: &[&ast::UnexpandedArithmeticExpr],
        place: CommandContext<'_>,
    ) {
        self.add_unsure_reason("Arithmetic may run what its variables hold.");
        for part in parts {
            self.follow_substitutions(find_substitutions(&part.value), place);
        }
    }

    fn walk_test(&mut self, test: &ExtendedTestExpr, place: CommandContext<'_>) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.walk_test(left, place);
                self.walk_test(right, place);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.walk_test(inner, place);
            }
            ExtendedTestExpr::UnaryTest(_, word) => {
                self.follow_substitutions(find_substitutions(&word.value), place);
            }
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                for word in [left, right] {
                    self.follow_substitutions(find_substitutions(&word.value), place);
                }
            }
        }
    }

    /// Follows the texts of substitutions. One that cannot be read may have been cut out wrongly: the text around it is
    /// searched.
    pub fn follow_substitutions(&mut self, scripts: Vec<String>, place: CommandContext<'_>) {
        let within = CommandContext {
            origin: &CommandOrigin::Substitution,
            depth: place.depth + 1,
            wrapper_depth: 0,
            input: &[],
            text: place.text,
        };
        for script in scripts {
            let printed_before = self.printed.len();
            if !self.read_script(&script, within) {
                self.queue_doubtful_text(place.text, place.depth, UNREADABLE_REASON);
            }
            if self.printed.len() > printed_before {
                let text = self.printed[printed_before..].concat();
                self.known_values.record_printed(&script, text);
            }
        }
    }

    /// Reads a word and follows what runs while it is made.
    pub fn read_word(&mut self, raw: &str, place: CommandContext<'_>) -> word::ParsedWord {
        let read = word::parse_word(raw);
        self.follow_expansions(&read, place);
        read
    }

    /// Follows what runs while the body of a here-document is made.
    pub fn read_document(&mut self, raw: &str, place: CommandContext<'_>) {
        self.follow_expansions(&word::parse_document(raw), place);
    }

    fn follow_expansions(&mut self, read: &word::ParsedWord, place: CommandContext<'_>) {
        if read.is_unterminated {
            self.queue_doubtful_text(place.text, place.depth, UNREADABLE_REASON);
        }
        self.follow_substitutions(read.scripts(), place);
    }
}
