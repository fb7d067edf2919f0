//! Programs whose arguments are a language of their own: `git`, `sed`, `awk`, and the built-ins that evaluate names.

use crate::shell::parse::extent::find_substitutions;
use crate::shell::programs::inner_commands::InnerCommand;
use crate::shell::programs::options::{ProgramRuns, find_quoted_scripts};
use crate::shell::tables::{WordRow, list_has_word, program_table};

/// Finds the commands that a program is told to run in its own language.
pub(in crate::shell) fn inspect_program(program: &str, list: &[String], runs: &mut ProgramRuns) {
    inspect_runners(program, list, runs);
    let shell_rows = program_table().shell_subcommand.iter();
    for row in shell_rows.filter(|row| row.programs.contains(program)) {
        if let Some(command) = list[1..].iter().find(|word| row.words.contains(word)) {
            runs.refuse_allow(command);
        }
    }
    match program {
        "service" | "socat" => inspect_named_program(list, runs),
        "git" => crate::shell::programs::git::inspect_git(list, runs),
        "sed" | "gsed" => inspect_sed(list, runs),
        "awk" | "gawk" | "mawk" | "nawk" | "busybox-awk" => {
            crate::shell::programs::awk::inspect_awk(list, runs)
        }
        "make" | "gmake" | "bmake" | "remake" => inspect_make(list, runs),
        "tar" | "gtar" | "bsdtar" => inspect_tar_bundle(list, runs),
        "uniq" | "guniq" | "xxd" => inspect_second_operand(list, runs),
        "let" | "declare" | "typeset" | "local" | "export" | "readonly" | "test" | "["
        | "unset" | "read" | "printf" | "wait" | "getopts" => {
            inspect_evaluated_names(program, list, runs)
        }
        "vim" | "vi" | "nvim" | "view" | "ex" | "less" | "more" => {
            for word in list[1..].iter().filter(|word| word.starts_with('+')) {
                runs.refuse_allow(word);
                runs.inner
                    .extend(find_quoted_scripts(word).map(InnerCommand::Script));
            }
        }
        _ => {}
    }
}

/// A name with a subscript is evaluated, and a substitution in it runs even from between single quotes.
fn inspect_evaluated_names(program: &str, list: &[String], runs: &mut ProgramRuns) {
    let compares = |word: &String| list_has_word("-v -eq -ne -lt -le -gt -ge", word);
    for (at, word) in list.iter().enumerate().skip(1) {
        let text = match program {
            "let" | "declare" | "typeset" | "local" => word.as_str(),
            "printf" if at > 2 || !list[1].starts_with("-v") => continue,
            "printf" => word.strip_prefix("-v").unwrap_or(word),
            "test" | "[" if !list.iter().any(compares) => continue,
            _ => word.split('=').next().unwrap_or_default(),
        };
        if text.contains('[') {
            for script in find_substitutions(text) {
                runs.refuse_allow("a subscript");
                runs.inner.push(InnerCommand::Script(script));
            }
        }
    }
}

/// Whether a program runs another one after one of these sub-commands.
pub(in crate::shell) fn is_subcommand_runner(program: &str, rest: &[String]) -> bool {
    runner_rows(program).any(|row| rest.iter().any(|word| row.words.contains(word)))
}

fn runner_rows(program: &str) -> impl Iterator<Item = &'static WordRow> {
    let rows = program_table().subcommand_runner.iter();
    rows.filter(move |row| row.programs.contains(program))
}

fn inspect_runners(program: &str, list: &[String], runs: &mut ProgramRuns) {
    for row in runner_rows(program) {
        let Some(at) = list.iter().position(|word| row.words.contains(word)) else {
            continue;
        };
        let rest = &list[at + 1..];
        let start = match rest.iter().position(|word| word == "--") {
            Some(end) => end + 1,
            None => {
                rest.iter()
                    .position(|word| !word.starts_with('-'))
                    .unwrap_or(rest.len())
                    + row.operands
            }
        };
        // An option may have taken the next word: what follows is looked at too.
        for start in start..(start + 2).min(rest.len()) {
            runs.inner.push(InnerCommand::Words(rest[start..].to_vec()));
        }
        // It gives each operand to a shell, and its options take values.
        if program == "tmux" {
            let texts = rest.iter().filter(|word| !word.starts_with('-'));
            runs.inner.extend(texts.cloned().map(InnerCommand::Script));
        }
    }
}

/// `make` runs its recipes with the shell that `SHELL` names, and evaluates `$(shell …)` in the value of any variable.
fn inspect_make(list: &[String], runs: &mut ProgramRuns) {
    for word in &list[1..] {
        let Some((name, value)) = word.split_once('=').filter(|_| !word.starts_with('-')) else {
            continue;
        };
        let name = name.trim_end_matches([':', '?', '+', ' ']);
        if list_has_word("SHELL MAKEFLAGS GNUMAKEFLAGS MAKEFILES", name) || name.ends_with('!') {
            runs.refuse_allow(name);
            runs.inner.push(InnerCommand::Script(value.to_owned()));
        } else if value.contains("$(") || value.contains("${") {
            runs.refuse_allow("a variable that is evaluated");
            let text = value.trim_end_matches([')', '}']);
            runs.inner
                .extend(find_quoted_scripts(text).map(InnerCommand::Script));
        }
    }
}

/// `service ../../x`, `socat - exec:./x`: a word that names a program where a name is expected.
fn inspect_named_program(list: &[String], runs: &mut ProgramRuns) {
    let starts = ["exec:", "system:", "shell:"];
    for word in &list[1..] {
        let lower = word.to_lowercase();
        if let Some(start) = starts.iter().find(|start| lower.starts_with(**start)) {
            runs.refuse_allow(start);
            runs.inner
                .push(InnerCommand::Script(word[start.len()..].to_owned()));
        } else if list[0] == "service" && word.contains('/') {
            runs.refuse_allow(word);
        }
    }
}

/// `tar cIf ./x y.tar z`: letters without a dash, whose values follow one another.
fn inspect_tar_bundle(list: &[String], runs: &mut ProgramRuns) {
    let Some(letters) = list.get(1).filter(|word| !word.starts_with('-')) else {
        return;
    };
    let mut values = list.iter().skip(2);
    for letter in letters
        .chars()
        .filter(|letter| "bCfFgHIKLNTVX".contains(*letter))
    {
        let value = values.next();
        if matches!(letter, 'I' | 'F') {
            runs.refuse_allow(letters);
            runs.inner.extend(value.cloned().map(InnerCommand::Script));
        }
    }
}

/// A program that reads its first operand and writes its second.
fn inspect_second_operand(list: &[String], runs: &mut ProgramRuns) {
    let operands = list[1..]
        .iter()
        .filter(|word| !word.starts_with('-') || *word == "-");
    if operands.count() > 1 {
        runs.refuse_allow("a second operand");
    }
}

/// `sed` runs the command of its `e` and writes the file of its `w`.
fn inspect_sed(list: &[String], program_runs: &mut ProgramRuns) {
    let scripts = crate::shell::programs::sed::find_sed_scripts(list);
    if let Some(option) = scripts.script_file_option {
        program_runs.refuse_allow(&option);
    }
    for script in scripts.scripts {
        if let Some(runs) = crate::shell::programs::sed::find_sed_commands(&script) {
            program_runs.refuse_allow("the command `e` or `w` of sed");
            program_runs
                .inner
                .extend(runs.into_iter().map(InnerCommand::Script));
        }
    }
}
