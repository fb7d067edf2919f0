//! The folders in which the commands of a line run, where its text tells them for certain: `cd a && ls ..` lists the
//! workspace, and `cd a; ls ..` the folder above it if there is no `a`.
//!
//! Each command begins in every folder in which the ones before it may have left the shell, if they succeeded or failed.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList,
    IfClauseCommand, Pipeline, Program, SeparatorOperator, SimpleCommand,
};

use crate::limits::PATH_BYTES_MAX;
use crate::shell::accesses::folders::{is_relative_path, join};
use crate::shell::facts::ShellWord;
use crate::shell::parse::second_parser::SecondParse;
use crate::shell::parse::word::{parse_shell_word, parse_shell_words};
use crate::shell::programs::inner_commands::is_command_query;
use crate::shell::tables::list_has_word;

/// Most folders in which one command may run; a line in which one may run in more is not followed.
const FOLDERS_MAX: usize = 8;
/// What may hide a command that runs in the line's own shell, or set a variable that `cd` obeys.
const UNCLEAR_TEXTS: [&str; 8] = ["`", "$(", "${", "$[", "<(", ">(", "CDPATH", "PWD"];
/// Built-ins that go elsewhere, run what they are given in the line's own shell, or set variables.
const UNCLEAR_BUILTINS: &str = ". alias bind builtin chdir compgen complete declare dirs enable eval exec fc getopts \
    hash jobs let local mapfile popd pushd read readarray readonly shopt source trap typeset unalias unset wait";
/// Options of `set` that do not change what `cd` does.
const PLAIN_SHELL_OPTIONS: &str =
    "-e -u -x -eu -ex -eux -o -eo -euo -euxo errexit nounset pipefail xtrace";

/// Finds the folders in which each simple command of a line may run that begins in `starts`, in the order of the commands.
/// None if the text does not tell them for certain, or the second parser does not see the same commands in it.
pub(in crate::shell) fn find_line_folders(
    text: &str,
    program: &Program,
    second: &SecondParse,
    starts: &[String],
) -> Option<Vec<Vec<String>>> {
    if UNCLEAR_TEXTS.iter().any(|unclear| text.contains(unclear)) {
        return None;
    }
    let mut line = LineWalk::default();
    let mut folders = starts.to_vec();
    for list in &program.complete_commands {
        folders = line.follow_list(list, folders)?;
    }
    let others = second.commands.iter().map(|raw| parse_shell_words(raw));
    let commands = line.commands.iter().map(|command| command.words.clone());
    if second.has_error || !commands.eq(others) {
        return None;
    }
    // Nothing runs where the last `cd` of several commands leads.
    if let [_, .., last] = line.commands.as_mut_slice()
        && let [program, path] = last.words.as_slice()
        && program.text() == "cd"
        && is_relative_path(path.text())
    {
        last.folders.clear();
    }
    let commands = line.commands.into_iter();
    Some(commands.map(|command| command.folders).collect())
}

/// The commands of a line that were followed.
#[derive(Default)]
struct LineWalk {
    commands: Vec<LineCommand>,
}

struct LineCommand {
    words: Vec<ShellWord>,
    folders: Vec<String>,
}

/// The folders in which the shell may be after a command.
struct Exits {
    success: Vec<String>,
    failure: Vec<String>,
}

impl Exits {
    fn stay(folders: Vec<String>) -> Self {
        Self {
            success: folders.clone(),
            failure: folders,
        }
    }
}

impl LineWalk {
    /// Follows a list that begins in these folders; returns those in which the shell may be after it.
    fn follow_list(&mut self, list: &CompoundList, start: Vec<String>) -> Option<Vec<String>> {
        let mut folders = start;
        for item in &list.0 {
            if matches!(item.1, SeparatorOperator::Async) {
                return None;
            }
            let exits = self.follow_and_or(&item.0, folders)?;
            folders = unite(exits.success, exits.failure)?;
        }
        Some(folders)
    }

    fn follow_and_or(&mut self, list: &AndOrList, start: Vec<String>) -> Option<Exits> {
        let mut exits = self.follow_pipeline(&list.first, start)?;
        for next in &list.additional {
            exits = match next {
                AndOr::And(pipeline) => {
                    let after = self.follow_pipeline(pipeline, exits.success)?;
                    Exits {
                        success: after.success,
                        failure: unite(exits.failure, after.failure)?,
                    }
                }
                AndOr::Or(pipeline) => {
                    let after = self.follow_pipeline(pipeline, exits.failure)?;
                    Exits {
                        success: unite(exits.success, after.success)?,
                        failure: after.failure,
                    }
                }
            };
        }
        Some(exits)
    }

    fn follow_pipeline(&mut self, pipeline: &Pipeline, start: Vec<String>) -> Option<Exits> {
        // What cannot be reached is not followed either.
        if pipeline.timed.is_some() || start.is_empty() {
            return None;
        }
        let exits = match pipeline.seq.as_slice() {
            [command] => self.follow_command(command, start)?,
            commands => {
                for command in commands {
                    let exits = self.follow_command(command, start.clone())?;
                    // Some shells run the last command of a pipeline themselves.
                    if exits.success != start || exits.failure != start {
                        return None;
                    }
                }
                Exits::stay(start)
            }
        };
        Some(match pipeline.bang {
            true => Exits {
                success: exits.failure,
                failure: exits.success,
            },
            false => exits,
        })
    }

    fn follow_command(&mut self, command: &Command, start: Vec<String>) -> Option<Exits> {
        match command {
            Command::Simple(simple) => self.follow_simple_command(simple, start),
            Command::Compound(compound, None) => self.follow_compound(compound, start),
            Command::ExtendedTest(_, None) => Some(Exits::stay(start)),
            _ => None,
        }
    }

    fn follow_compound(&mut self, compound: &CompoundCommand, start: Vec<String>) -> Option<Exits> {
        match compound {
            CompoundCommand::BraceGroup(group) => {
                self.follow_list(&group.list, start).map(Exits::stay)
            }
            CompoundCommand::IfClause(clause) => self.follow_if(clause, start).map(Exits::stay),
            CompoundCommand::Subshell(shell) => {
                self.follow_list(&shell.list, start.clone())?;
                Some(Exits::stay(start))
            }
            CompoundCommand::ForClause(clause) => {
                let end = self.follow_list(&clause.body.list, start.clone())?;
                end_loop(start, &end)
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                let tested = self.follow_list(&clause.0, start.clone())?;
                let end = self.follow_list(&clause.1.list, tested.clone())?;
                end_loop(start, &unite(tested, end)?)
            }
            _ => None,
        }
    }

    fn follow_if(&mut self, clause: &IfClauseCommand, start: Vec<String>) -> Option<Vec<String>> {
        let mut tested = self.follow_list(&clause.condition, start)?;
        let mut end = self.follow_list(&clause.then, tested.clone())?;
        for other in clause.elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                tested = self.follow_list(condition, tested)?;
            }
            end = unite(end, self.follow_list(&other.body, tested.clone())?)?;
        }
        unite(end, tested)
    }

    fn follow_simple_command(
        &mut self,
        command: &SimpleCommand,
        start: Vec<String>,
    ) -> Option<Exits> {
        let name = command.word_or_name.iter().map(|name| &name.value);
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
        let arguments = suffix.clone().filter_map(|item| match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => Some(&word.value),
            Item::IoRedirect(_) | Item::ProcessSubstitution(..) => None,
        });
        let words: Vec<ShellWord> = name
            .chain(arguments)
            .map(|raw| parse_shell_word(raw))
            .collect();
        let (program, arguments) = words.split_first()?;
        let is_bare = command.prefix.is_none();
        let exits = match program {
            ShellWord::Literal(program) if program == "cd" && is_bare => Exits {
                success: enter_folder(&start, arguments)?,
                failure: start.clone(),
            },
            // With a redirect, which may fail, or with more words it may not exit.
            ShellWord::Literal(program)
                if program == "exit"
                    && is_bare
                    && is_exit_code(arguments)
                    && suffix.count() == arguments.len() =>
            {
                Exits::stay(Vec::new())
            }
            ShellWord::Literal(program) if has_clear_effect(program, arguments) => {
                Exits::stay(start.clone())
            }
            ShellWord::Literal(_) | ShellWord::Dynamic(_) => return None,
        };
        self.commands.push(LineCommand {
            words,
            folders: start,
        });
        Some(exits)
    }
}

/// The exits of a loop whose rounds end in these folders. None where that is somewhere else: the next round begins there.
fn end_loop(start: Vec<String>, end: &[String]) -> Option<Exits> {
    let comes_back = end.iter().all(|folder| start.contains(folder));
    comes_back.then(|| Exits::stay(start))
}

/// Where `cd` with these arguments may lead from these folders if it succeeds: `..` leads out of the folder that the
/// name before it says or, where that is a link, out of the one that it leads to.
fn enter_folder(from: &[String], arguments: &[ShellWord]) -> Option<Vec<String>> {
    let [ShellWord::Literal(path)] = arguments else {
        return None;
    };
    if path.is_empty() || path.starts_with(['-', '~', '$']) {
        return None;
    }
    let written: Vec<String> = from.iter().map(|folder| join(folder, path)).collect();
    if written.iter().any(|path| path.len() > PATH_BYTES_MAX) {
        return None;
    }
    let named = written.iter().map(|path| remove_parents(path)).collect();
    let linked = written.into_iter().filter(|path| path.contains(".."));
    unite(named, linked.collect())
}

/// A path without each `..` and the name before it.
fn remove_parents(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            name => names.push(name),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

fn is_exit_code(arguments: &[ShellWord]) -> bool {
    match arguments {
        [] => true,
        [code] => code.text().bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// Whether a command leaves the line's own shell where it is, and takes no variable away and sets none that its words do
/// not show, or that `cd` obeys.
pub(in crate::shell) fn has_clear_effect(program: &str, arguments: &[ShellWord]) -> bool {
    let is_literal = arguments.iter().all(ShellWord::is_literal);
    let first = arguments.first().map_or("", ShellWord::text);
    let is_clear = |word: &ShellWord| !UNCLEAR_TEXTS.iter().any(|text| word.text().contains(text));
    match program {
        "cd" => false,
        "command" => is_literal && is_command_query(first),
        "export" => is_literal && arguments.iter().all(is_clear),
        "printf" => is_literal && !first.starts_with('-'),
        "set" => arguments
            .iter()
            .all(|word| list_has_word(PLAIN_SHELL_OPTIONS, word.text())),
        // It runs when nothing else does any more.
        "trap" => {
            is_literal && matches!(arguments, [_, event] if list_has_word("EXIT 0", event.text()))
        }
        _ => !list_has_word(UNCLEAR_BUILTINS, program),
    }
}

/// The folders of both lists; none if they are too many.
fn unite(mut folders: Vec<String>, others: Vec<String>) -> Option<Vec<String>> {
    for folder in others {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    (folders.len() <= FOLDERS_MAX).then_some(folders)
}
