//! The variables of a text that are never empty where the text uses them: `D=ui; ls $D/src` does not list `/src`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use brush_parser::SourceSpan;
use brush_parser::ast::{
    AndOr, AndOrList, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, ForClauseCommand, Program, SeparatorOperator, SimpleCommand,
};

use crate::shell::accesses::line_folders::has_clear_effect;
use crate::shell::expand::printed::printed_texts;
use crate::shell::facts::ShellWord;
use crate::shell::parse::second_parser::SecondParse;
use crate::shell::parse::word::{WordPart, parse_shell_words, parse_word};

/// Variables that a shell sets by itself, or obeys.
const SPECIAL_VARIABLES: [&str; 6] = ["CDPATH", "HOME", "IFS", "OLDPWD", "PATH", "PWD"];

/// Finds the variables that hold some text wherever this text uses them: whatever sets one sets it to some text, and it
/// is used only behind a command that always runs and sets it, or within a `for` that does.
///
/// Empty where the second parser sees a command that could take a variable away.
pub(in crate::shell) fn find_set_variables(
    text: &str,
    program: &Program,
    second: &SecondParse,
) -> HashSet<String> {
    let is_clear = |raw: &Vec<String>| match parse_shell_words(raw).split_first() {
        Some((ShellWord::Literal(program), arguments)) => {
            program == "cd" || has_clear_effect(program, arguments)
        }
        Some((ShellWord::Dynamic(_), _)) | None => false,
    };
    // The parser counts characters.
    if second.has_error || !text.is_ascii() || !second.commands.iter().all(is_clear) {
        return HashSet::new();
    }
    let mut found = Settings {
        text,
        by_name: HashMap::new(),
    };
    for list in &program.complete_commands {
        found.visit_top_list(list);
    }
    let settings = found.by_name.into_iter();
    let always_set = settings.filter(|(name, settings)| {
        !SPECIAL_VARIABLES.contains(&name.as_str()) && is_always_set(text, name, settings)
    });
    always_set.map(|(name, _)| name).collect()
}

/// Something that sets a variable to some text.
struct Setting {
    /// Where it begins.
    start: usize,
    /// Where the variable holds the text for certain.
    holds: Range<usize>,
}

/// What sets variables to some text.
struct Settings<'t> {
    /// The text that sets them.
    text: &'t str,
    by_name: HashMap<String, Vec<Setting>>,
}

impl Settings<'_> {
    /// Visits a list each item of which runs unless the shell ends.
    fn visit_top_list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            let waits = matches!(item.1, SeparatorOperator::Sequence);
            if let ([Command::Simple(command)], true) = (item.0.first.seq.as_slice(), waits) {
                self.add_assignments(command);
            }
            self.visit_and_or(&item.0);
        }
    }

    fn visit_list(&mut self, list: &CompoundList) {
        list.0.iter().for_each(|item| self.visit_and_or(&item.0));
    }

    fn visit_and_or(&mut self, list: &AndOrList) {
        let more = list.additional.iter().map(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
        });
        for pipeline in std::iter::once(&list.first).chain(more) {
            for command in &pipeline.seq {
                if let Command::Compound(compound, _) = command {
                    self.visit_compound(compound);
                }
            }
        }
    }

    fn visit_compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.visit_list(&group.list),
            CompoundCommand::Subshell(shell) => self.visit_list(&shell.list),
            CompoundCommand::ForClause(clause) => {
                self.add_loop(clause);
                self.visit_list(&clause.body.list);
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.visit_list(&clause.0);
                self.visit_list(&clause.1.list);
            }
            CompoundCommand::IfClause(clause) => {
                self.visit_list(&clause.condition);
                self.visit_list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other
                        .condition
                        .iter()
                        .for_each(|list| self.visit_list(list));
                    self.visit_list(&other.body);
                }
            }
            CompoundCommand::Arithmetic(_)
            | CompoundCommand::ArithmeticForClause(_)
            | CompoundCommand::CaseClause(_)
            | CompoundCommand::Coprocess(_) => {}
        }
    }

    /// Adds the assignments of a command that is nothing else.
    fn add_assignments(&mut self, command: &SimpleCommand) {
        if command.word_or_name.is_some() || command.suffix.is_some() {
            return;
        }
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            let Item::AssignmentWord(assignment, _) = item else {
                continue;
            };
            if let (AssignmentName::VariableName(name), AssignmentValue::Scalar(value)) =
                (&assignment.name, &assignment.value)
                && is_some_text(&value.value)
            {
                let holds = assignment.loc.end.index..self.text.len();
                self.add(name, &assignment.loc, holds);
            }
        }
    }

    fn add_loop(&mut self, clause: &ForClauseCommand) {
        let values = clause.values.as_deref().unwrap_or_default();
        // With other separators an expansion may be split into empty words.
        let is_split_at_blanks = !self.text.contains("IFS");
        let is_some = |raw: &str| is_some_text(raw) || is_split_at_blanks && is_split(raw);
        if !values.is_empty() && values.iter().all(|value| is_some(&value.value)) {
            let span = clause.loc.start.index..clause.loc.end.index;
            self.add(&clause.variable_name, &clause.loc, span);
        }
    }

    fn add(&mut self, name: &str, span: &SourceSpan, holds: Range<usize>) {
        let start = span.start.index;
        let settings = self.by_name.entry(name.to_owned()).or_default();
        settings.push(Setting { start, holds });
    }
}

/// Whether a word becomes some text, whatever runs: literal text, a pattern, or what a program prints for certain.
fn is_some_text(raw: &str) -> bool {
    let read = parse_word(raw);
    if read.has_braces || read.is_broken {
        return false;
    }
    let mut is_some = false;
    for piece in &read.pieces {
        match &piece.part {
            WordPart::Text(text) | WordPart::Glob(text) | WordPart::Home(text) => {
                is_some |= !text.is_empty();
            }
            WordPart::Run(script) => {
                let words: Option<Vec<String>> = script
                    .split_whitespace()
                    .map(|raw| parse_word(raw).literal())
                    .collect();
                let Some((program, arguments)) = words.as_ref().and_then(|it| it.split_first())
                else {
                    return false;
                };
                let printed = printed_texts(program, arguments).pop();
                is_some |= printed.is_some_and(|text| !text.trim_end_matches('\n').is_empty());
            }
            WordPart::Parameter(_) | WordPart::Arithmetic(_) => return false,
        }
    }
    is_some
}

/// Whether a word is only expansions outside of quotes: they become words of some text, or no word at all.
fn is_split(raw: &str) -> bool {
    let read = parse_word(raw);
    let is_expansion = |part: &WordPart| matches!(part, WordPart::Run(_) | WordPart::Parameter(_));
    let mut pieces = read.pieces.iter();
    read.is_bare
        && !read.has_braces
        && !read.is_broken
        && pieces.all(|piece| is_expansion(&piece.part))
}

/// Whether these are all that sets a variable in a text, and each use of it stands where one of them holds.
fn is_always_set(text: &str, name: &str, settings: &[Setting]) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).all(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_name) || after.starts_with(is_name) {
            return true;
        }
        if before.ends_with(['$', '{', '#', '!']) {
            return settings.iter().any(|setting| setting.holds.contains(&at));
        }
        let is_loop = before.trim_end().ends_with("for") || before.trim_end().ends_with("select");
        let is_set = is_loop || after.starts_with(['=', '[']) || after.starts_with("+=");
        let is_known = |setting: &Setting| {
            let between = text.get(setting.start..at);
            between.is_some_and(|text| text.is_empty() || is_loop && text.trim_end() == "for")
        };
        !is_set || settings.iter().any(is_known)
    })
}
