//! Walks the tree of the first parser down to its simple commands.

use brush_parser::ast::{
    self, AndOr, Command, CompoundCommand, CompoundList, ExtendedTestExpr, Pipeline,
    SeparatorOperator,
};

use super::extent::inner_scripts;
use super::facts::Via;
use super::script::{Place, Reader};
use super::word;

/// Why a text with a word in it that has no end is not trusted.
const NOT_READ: &str = "It cannot be read for sure.";

impl Reader<'_> {
    /// A list of commands.
    pub fn list(&mut self, list: &CompoundList, place: Place<'_>) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if matches!(separator, SeparatorOperator::Async) {
                self.unsure("`&` lets it run in the background.");
            }
            self.pipeline(&and_or.first, place);
            for next in &and_or.additional {
                match next {
                    AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline, place),
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, place: Place<'_>) {
        let mut input = place.input.to_vec();
        for (at, command) in pipeline.seq.iter().enumerate() {
            let said = self.said.len();
            let stage = Place {
                input: &input,
                ..place
            };
            let piped = std::mem::replace(&mut self.piped, at > 0);
            match (command, &pipeline.timed) {
                (Command::Simple(simple), Some(timed)) if at == 0 => {
                    self.simple(simple, stage, Some(timed.is_posix_output()));
                }
                _ => self.command(command, stage),
            }
            self.piped = piped;
            input = self.said[said..].to_vec();
        }
    }

    fn command(&mut self, command: &Command, place: Place<'_>) {
        match command {
            Command::Simple(simple) => self.simple(simple, place, None),
            Command::Compound(compound, redirects) => {
                self.compound(compound, place);
                self.loose_redirects(redirects.as_ref(), place);
            }
            Command::Function(function) => {
                self.unsure("It defines a function.");
                let place = Place {
                    via: &Via::Function,
                    ..place
                };
                self.compound(&function.body.0, place);
                self.define_function(&function.fname.value, &function.body.0);
                self.loose_redirects(function.body.1.as_ref(), place);
            }
            Command::ExtendedTest(test, redirects) => {
                self.unsure("`[[` may run what it compares.");
                self.test(&test.expr, place);
                self.loose_redirects(redirects.as_ref(), place);
            }
        }
    }

    pub fn compound(&mut self, compound: &CompoundCommand, place: Place<'_>) {
        let within = Place {
            via: match place.via {
                Via::Plain => &Via::ControlFlow,
                via => via,
            },
            ..place
        };
        match compound {
            CompoundCommand::Arithmetic(sum) => self.arithmetic(&[&sum.expr], place),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                self.arithmetic(&parts, place);
                self.list(&clause.body.list, within);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, place),
            CompoundCommand::Subshell(shell) => self.list(&shell.list, place),
            CompoundCommand::ForClause(clause) => {
                self.unsure(format!("`for` sets `{}`.", clause.variable_name));
                for value in clause.values.iter().flatten() {
                    self.word(&value.value, place);
                    self.known.set(&clause.variable_name, &value.value);
                }
                self.list(&clause.body.list, within);
            }
            CompoundCommand::CaseClause(clause) => {
                self.compared(&clause.value, place);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value, place);
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list, within);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, within);
                self.list(&clause.then, within);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition, within);
                    }
                    self.list(&other.body, within);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, within);
                self.list(&clause.1.list, within);
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.unsure("`coproc` runs it beside everything else.");
                let via = Via::Wrapper("coproc".to_owned());
                self.command(&coprocess.body, Place { via: &via, ..place });
            }
        }
    }

    /// A word that is compared and not run; it must be literal like any other.
    fn compared(&mut self, word: &ast::Word, place: Place<'_>) {
        if self.word(&word.value, place).literal().is_none() {
            self.unsure(format!("`{}` is only known when it runs.", word.value));
        }
    }

    fn arithmetic(&mut self, parts: &[&ast::UnexpandedArithmeticExpr], place: Place<'_>) {
        self.unsure("Arithmetic may run what its variables hold.");
        for part in parts {
            self.substitutions(inner_scripts(&part.value), place);
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr, place: Place<'_>) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left, place);
                self.test(right, place);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, place);
            }
            ExtendedTestExpr::UnaryTest(_, word) => {
                self.substitutions(inner_scripts(&word.value), place);
            }
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                for word in [left, right] {
                    self.substitutions(inner_scripts(&word.value), place);
                }
            }
        }
    }

    /// Texts of substitutions. Where one cannot be read, it may have been cut out wrongly: what it stands in is searched.
    pub fn substitutions(&mut self, scripts: Vec<String>, place: Place<'_>) {
        let within = Place {
            via: &Via::Substitution,
            depth: place.depth + 1,
            wrapped: 0,
            input: &[],
            text: place.text,
        };
        for script in scripts {
            let said = self.said.len();
            if !self.script(&script, within) {
                self.distrust(place.text, place.depth, NOT_READ);
            }
            if self.said.len() > said {
                let text = self.said[said..].concat();
                self.known.prints(&script, text);
            }
        }
    }

    /// Reads a word and follows what runs while it is made.
    pub fn word(&mut self, raw: &str, place: Place<'_>) -> word::ReadWord {
        let read = word::read(raw);
        self.run_by(&read, place);
        read
    }

    /// Follows what runs while the body of a here-document is made.
    pub fn document(&mut self, raw: &str, place: Place<'_>) {
        self.run_by(&word::read_document(raw), place);
    }

    fn run_by(&mut self, read: &word::ReadWord, place: Place<'_>) {
        if read.endless {
            self.distrust(place.text, place.depth, NOT_READ);
        }
        self.substitutions(read.scripts(), place);
    }
}
