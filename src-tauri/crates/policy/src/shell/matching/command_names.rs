//! The names under which a rule may know a command: options between a program and its sub-command hide nothing.

use crate::shell::programs::foreign_shell::strip_executable_ending;
use crate::shell::tables::program_table;

/// The word list under every name, the first with the program's base name.
pub(in crate::shell) fn list_command_names(list: &[String], program: &str) -> Vec<Vec<String>> {
    let with = |name: &str| {
        let mut words = list.to_vec();
        words[0] = name.to_owned();
        words
    };
    let mut lists = vec![with(program)];
    let short = strip_executable_ending(program);
    for name in [list[0].as_str(), short] {
        if name != program {
            lists.push(with(name));
        }
    }
    if let Some(words) = strip_global_options(list, short) {
        lists.push(words);
    }
    lists
}

/// `git -C x --no-pager push` as `git push`.
fn strip_global_options(list: &[String], program: &str) -> Option<Vec<String>> {
    let mut rows = program_table().global_option.iter();
    let row = rows.find(|row| row.programs.contains(program))?;
    let mut at = 1;
    while let Some(word) = list.get(at) {
        let is_toolchain = word.starts_with('+') && matches!(program, "cargo" | "rustup");
        if !word.starts_with('-') && !is_toolchain {
            break;
        }
        at += 1 + usize::from(row.words.contains(word));
    }
    if at == 1 || at >= list.len() {
        return None;
    }
    let mut words = vec![program.to_owned()];
    words.extend_from_slice(&list[at..]);
    Some(words)
}
