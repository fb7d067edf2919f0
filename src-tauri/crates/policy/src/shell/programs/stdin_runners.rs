//! Programs that run commands from their input: interpreters, editors, clients of databases, schedulers, `make`.

use crate::shell::programs::inner_commands::InnerCommand;
use crate::shell::programs::options;

/// Fields before the command of a line of a crontab: `* * * * * command`, or `@reboot command`.
const CRONTAB_FIELDS: [usize; 2] = [1, 5];

/// Adds the commands that a program runs from its input, as far as the input is known.
pub(in crate::shell) fn find_stdin_runs(
    program: &str,
    list: &[String],
    input: &[String],
    inner_commands: &mut Vec<InnerCommand>,
) {
    let lines = || input.iter().flat_map(|text| text.lines());
    match program {
        "source" | "." | "at" | "batch" | "newgrp" => {
            inner_commands.extend(input.iter().cloned().map(InnerCommand::Script));
        }
        "crontab" => {
            for line in lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let commands = CRONTAB_FIELDS.iter().filter_map(|skip| words.get(*skip..));
                inner_commands.extend(commands.map(|words| InnerCommand::Script(words.join(" "))));
            }
        }
        "make" | "gmake" | "bmake" if list.iter().any(|word| reads_input(word)) => {
            // A recipe stands after a tab, or after the `;` of its rule.
            let recipes = lines().filter_map(|line| {
                line.strip_prefix('\t')
                    .or_else(|| line.split_once(';').map(|(_, recipe)| recipe))
            });
            inner_commands.extend(recipes.map(|recipe| {
                InnerCommand::Script(recipe.trim_start_matches(['@', '-', '+']).into())
            }));
        }
        _ if options::may_read_scripts(program) => {
            let texts = input
                .iter()
                .flat_map(|text| options::find_quoted_scripts(text));
            inner_commands.extend(texts.map(InnerCommand::Script));
        }
        _ => {}
    }
}

fn reads_input(word: &str) -> bool {
    matches!(
        word,
        "-" | "-f-" | "/dev/stdin" | "--file=-" | "--makefile=-"
    )
}
