//! Targets of symbolic links: `ln -s ../x a/b` leads to `x`, since a relative target counts from the folder of the link.

use std::iter;

use brush_parser::ast::{AndOr, Command, Pipeline, Program};

use crate::shell::accesses::folders::join;
use crate::shell::facts::ShellWord;
use crate::shell::tables::list_has_word;

/// Options of `ln` that change neither where a target counts from nor which word is the link.
const PLAIN_LETTERS: &str = "sfinvT";
const PLAIN_OPTIONS: &str =
    "--symbolic --force --interactive --no-dereference --verbose --no-target-directory";

/// Returns the words of a command that makes symbolic links, with each target as it counts from the folder of its link:
/// once for a link of the last name, and once for links in the folder of that name, since a text does not tell whether
/// there is one. None if the command does anything else, or is not certain.
pub(in crate::shell) fn place_link_targets(words: &[ShellWord]) -> Option<[Vec<ShellWord>; 2]> {
    let (program, arguments) = words.split_first()?;
    let is_literal = words.iter().all(ShellWord::is_literal);
    let operands = arguments.iter().position(|word| !is_option(word.text()))?;
    let (options, operands) = arguments.split_at(operands);
    let is_symbolic = options.iter().any(makes_symbolic);
    let is_plain = options.iter().all(is_plain_option);
    let (link, targets) = operands.split_last()?;
    let has_options = operands.iter().any(|word| is_option(word.text()));
    if program.text() != "ln" || !(is_literal && is_symbolic && is_plain) || has_options {
        return None;
    }
    let name = link.text().trim_end_matches('/');
    let parent = match name.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((parent, _)) => parent,
        None => "",
    };
    let place = |folder: &str| {
        let placed = targets
            .iter()
            .map(|target| target.with_text(&join(folder, target.text())));
        let start = iter::once(program).chain(options).cloned();
        start.chain(placed).chain([link.clone()]).collect()
    };
    Some([place(parent), place(name)])
}

fn is_option(text: &str) -> bool {
    text.starts_with('-')
}

fn makes_symbolic(option: &ShellWord) -> bool {
    let text = option.text();
    text == "--symbolic" || !text.starts_with("--") && text.contains('s')
}

fn is_plain_option(option: &ShellWord) -> bool {
    let text = option.text();
    match text.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => {
            letters.chars().all(|letter| PLAIN_LETTERS.contains(letter))
        }
        Some(_) | None => list_has_word(PLAIN_OPTIONS, text),
    }
}

/// Whether a text is one command, but for such as go into a folder or create one: nothing else makes a link that its paths
/// could lead through, no second round of a loop finds what the first one made, and no variable says what runs.
pub(in crate::shell) fn is_one_command(text: &str, program: &Program) -> bool {
    let lists = program.complete_commands.iter().flat_map(|list| &list.0);
    let pipelines = lists.flat_map(|item| {
        let further = item.0.additional.iter().map(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
        });
        iter::once(&item.0.first).chain(further)
    });
    let mut commands = pipelines.flat_map(|pipeline: &Pipeline| &pipeline.seq);
    let mut others = 0;
    let are_simple = commands.all(|command| match command {
        Command::Simple(simple) => {
            let program = simple.word_or_name.as_ref().map(|name| name.value.as_str());
            others += usize::from(!matches!(program, Some("cd" | "mkdir")));
            true
        }
        _ => false,
    });
    are_simple && others == 1 && !text.contains('=')
}
