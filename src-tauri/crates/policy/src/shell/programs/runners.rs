//! Programs that run what their arguments or a file name: wrappers, interpreters, and sub-commands like `npm exec`.

use crate::shell::program_base_name;
use crate::shell::programs::{foreign_shell, languages, options};
use crate::shell::tables::{find_wrapper, list_has_word};

/// Interpreters beside those whose options are followed.
const MORE_INTERPRETERS: &str = "awk gawk mawk nawk deno tsx ts-node java jshell R swift";

/// Whether another program or a text decides the effect of a simple command, and not the command itself.
pub(crate) fn runs_other_programs(words: &[String]) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    // A file at a path may be written anew before it runs again.
    if crate::shell::names_program_by_path(words) {
        return true;
    }
    let name = program_base_name(first);
    // `python3.12` is `python3`.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    [name, bare].into_iter().any(|program| {
        find_wrapper(program).is_some()
            || options::is_interpreter(program)
            || list_has_word(MORE_INTERPRETERS, program)
            || foreign_shell::detect_foreign_shell(program, words).is_some()
    }) || languages::is_subcommand_runner(name, &words[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_others_is_known() {
        for (command, is) in [
            ("sudo ls", true),
            ("env ls", true),
            ("sh x.sh", true),
            ("python x.py", true),
            ("python3.12 x.py", true),
            ("node x.js", true),
            ("npx x", true),
            ("npm exec x", true),
            ("uv run x", true),
            ("docker run x", true),
            ("pwsh x", true),
            ("awk x", true),
            ("./run", true),
            ("npm run build", false),
            ("cargo test", false),
            ("git status", false),
            ("ls", false),
            ("docker ps", false),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(runs_other_programs(&words), is, "{command}");
        }
    }
}
