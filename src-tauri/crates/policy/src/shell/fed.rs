//! Programs that run what they read from their input: interpreters, editors, clients of databases, schedulers, `make`.

use super::flags;
use super::unwrap::Inner;

/// Fields before the command of a line of a crontab: `* * * * * command`, or `@reboot command`.
const TIMES: [usize; 2] = [1, 5];

/// What a program runs of its input, as far as that is known.
pub(super) fn run(program: &str, list: &[String], input: &[String], found: &mut Vec<Inner>) {
    let lines = || input.iter().flat_map(|text| text.lines());
    match program {
        "source" | "." | "at" | "batch" | "newgrp" => {
            found.extend(input.iter().cloned().map(Inner::Script));
        }
        "crontab" => {
            for line in lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let commands = TIMES.iter().filter_map(|skip| words.get(*skip..));
                found.extend(commands.map(|words| Inner::Script(words.join(" "))));
            }
        }
        "make" | "gmake" | "bmake" if list.iter().any(|word| reads_input(word)) => {
            // A recipe stands after a tab, or after the `;` of its rule.
            let recipes = lines().filter_map(|line| {
                line.strip_prefix('\t')
                    .or_else(|| line.split_once(';').map(|(_, recipe)| recipe))
            });
            found
                .extend(recipes.map(|recipe| {
                    Inner::Script(recipe.trim_start_matches(['@', '-', '+']).into())
                }));
        }
        _ if flags::reads_texts(program) => {
            let texts = input.iter().flat_map(|text| flags::texts_in_code(text));
            found.extend(texts.map(Inner::Script));
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
