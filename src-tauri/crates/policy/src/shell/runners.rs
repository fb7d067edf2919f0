//! Programs that run what their arguments or a file name: wrappers, interpreters, and sub-commands like `npm exec`.

use super::{base_name, flags, foreign, programs, wrappers};

/// Interpreters beside those whose options are followed.
const MORE: &str = "awk gawk mawk nawk deno tsx ts-node java jshell R swift";

/// Whether what a simple command does is not said by the command itself: another program or a text decides it.
pub(crate) fn runs_others(words: &[String]) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    // A file at a path may be written anew before it runs again.
    if super::is_pathed(words) {
        return true;
    }
    let name = base_name(first);
    // `python3.12` is `python3`.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    [name, bare].into_iter().any(|program| {
        wrappers::find(program).is_some()
            || flags::reads_code(program)
            || wrappers::has(MORE, program)
            || foreign::reason(program, words).is_some()
    }) || programs::is_runner(name, &words[1..])
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
            assert_eq!(runs_others(&words), is, "{command}");
        }
    }
}
