//! Commands that an allow for everything does not cover: a rule has to name their program before they are allowed.
//!
//! A person who allows every command means builds, tests and looking around. A command that reaches other machines,
//! changes installed software or permissions, removes something for good, or runs text that only a file or a host
//! holds, is asked about until a rule names its program.

use crate::shell::expand::setters;
use crate::shell::tables::{list_has_word, program_table};
use crate::shell::{program_base_name, runs_other_programs};

/// Programs of build tools whose sub-commands run what a file of the workspace says: an allow for everything is meant
/// for these, so they are covered. A script that is run as such, by an interpreter or by its path, is not.
const BUILD_TOOLS: &str = "make gmake ninja cmake just";

/// Interpreters whose programs stand in the command and are read: what runs or writes is refused there.
const INSPECTED_INTERPRETERS: &str = "awk gawk mawk nawk";

/// Whether an allow for everything leaves a command out.
pub(crate) fn requires_named_rule(words: &[String]) -> bool {
    let Some(first) = words.first() else {
        return true;
    };
    let program = program_base_name(first).to_lowercase();
    let program = program.as_str();
    // `python3.12` is `python3`, and `mkfs.ext4` is `mkfs`.
    let stem = program.split('.').next().unwrap_or(program);
    if list_has_word(BUILD_TOOLS, program) {
        return false;
    }
    let table = program_table();
    let mut subcommands = table.named_only_command.iter();
    let is_file = [".bat", ".cmd", ".exe", ".ps1", ".sh", ".py"]
        .iter()
        .any(|ending| program.ends_with(ending));
    table.named_only.contains(program)
        || matches!(stem, "mkfs" | "newfs" | "mke2fs" | "wipefs")
        || is_file
        || setters::find_set_variable(words).is_some()
        || runs_other_programs(words)
            && !list_has_word(INSPECTED_INTERPRETERS, program)
            && !is_info_query(words)
        || subcommands.any(|row| {
            let mut rest = words[1..].iter();
            row.programs.contains(program) && rest.any(|word| row.words.contains(word))
        })
}

/// `node --version` and `command -v node` run nothing.
fn is_info_query(words: &[String]) -> bool {
    match words {
        [_, only] => list_has_word("--version -version -V -v --help -h version help", only),
        [program, option, _] => program == "command" && list_has_word("-v -V", option),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::requires_named_rule;

    #[test]
    fn what_an_allow_for_everything_leaves_out() {
        for (command, is) in [
            ("ls -la", false),
            ("cargo build", false),
            ("cargo test", false),
            ("npm run build", false),
            ("npm test", false),
            ("make", false),
            ("git status", false),
            ("git commit -m x", false),
            ("go test ./...", false),
            ("node --version", false),
            ("command -v node", false),
            ("awk 1 x", false),
            ("cargo install x", true),
            ("npm i x", true),
            ("rm x", true),
            ("git push", true),
            ("git reset --hard", true),
            ("curl x", true),
            ("python x.py", true),
            ("mkfs.ext4 x", true),
            ("export LD_PRELOAD=x", true),
            ("kill 1", true),
            ("docker run x", true),
            ("docker ps", false),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(requires_named_rule(&words), is, "{command}");
        }
    }
}
