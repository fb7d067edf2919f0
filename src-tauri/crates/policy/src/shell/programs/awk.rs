//! The commands that a program of `awk` runs, and the files that it reads and writes beside those that it is given.

use crate::shell::programs::inner_commands::InnerCommand;
use crate::shell::programs::options::{ProgramRuns, find_quoted_scripts};

/// Options, without dashes, that name code, load libraries, or write files.
const ACTING_LETTERS: &str = "fElioDpd";
const ACTING_LONG_OPTIONS: &str =
    "file exec load include pretty-print profile dump-variables debug source";

/// Looks at the words of a command.
pub(in crate::shell) fn inspect_awk(list: &[String], runs: &mut ProgramRuns) {
    for word in &list[1..] {
        if let Some(bare) = word.strip_prefix('-') {
            inspect_option(word, bare, runs);
        }
        if is_awk_program(word) {
            inspect_program(word, runs);
        }
    }
}

fn inspect_option(word: &str, bare: &str, runs: &mut ProgramRuns) {
    let names_code = match bare.strip_prefix('-') {
        Some(long) => {
            let name = long.split('=').next().unwrap_or_default();
            !name.is_empty()
                && ACTING_LONG_OPTIONS
                    .split(' ')
                    .any(|one| one.starts_with(name))
        }
        // `-F:` and `-v name=value` take the rest of their word.
        None => {
            let letters = bare.split(['F', 'v']).next().unwrap_or_default();
            letters.contains(|letter| ACTING_LETTERS.contains(letter))
        }
    };
    if names_code {
        let is_file = bare.starts_with('f') || bare.starts_with("-f");
        runs.refuse_allow(if is_file {
            "a file of awk commands"
        } else {
            word
        });
    }
}

fn is_awk_program(word: &str) -> bool {
    word.contains(['{', '(', '@'])
}

fn inspect_program(text: &str, program_runs: &mut ProgramRuns) {
    let ways = [
        "system", "|", "getline", "@load", "@include", "@", "ARGV", "ENVIRON[",
    ];
    let runs = ways.iter().any(|way| text.contains(way));
    if runs || prints_to_file(text) {
        program_runs.refuse_allow("what awk runs or writes");
        program_runs
            .inner
            .extend(find_quoted_scripts(text).map(InnerCommand::Script));
    }
}

/// Whether a statement that prints names where to: behind `print` a bare `>` never compares.
fn prints_to_file(text: &str) -> bool {
    let bare = strip_strings(text);
    bare.split("print").skip(1).any(|statement| {
        let end = statement.find([';', '}', '\n']).unwrap_or(statement.len());
        statement[..end].contains('>')
    })
}

/// A program without what stands between its double quotes.
fn strip_strings(text: &str) -> String {
    let mut bare = String::new();
    let mut chars = text.chars();
    let mut is_open = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' => is_open = !is_open,
            _ if !is_open => bare.push(c),
            _ => {}
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::inspect_awk;
    use crate::shell::programs::options::ProgramRuns;

    #[test]
    fn what_awk_is_refused_for() {
        for (program, refused) in [
            ("{ print $1 }", false),
            ("{ print \"<b>\" $1 \"</b>\" }", false),
            ("$1 > 3 { print }", false),
            ("{ if ($1 > 3) n++ } END { print n }", false),
            ("{ f=\"a\"; print > f }", true),
            ("{ printf \"%s\", $1 > \"a\" }", true),
            ("BEGIN { ARGV[1]=\"a\" } 1", true),
            ("@load \"filefuncs\"", true),
            ("{ system(\"ls\") }", true),
            ("-Efile", true),
            ("--exec=file", true),
            ("--inc", true),
            ("-i", true),
            ("-F:", false),
            ("-F", false),
            ("-vf=1", false),
        ] {
            let mut found = ProgramRuns::default();
            inspect_awk(&["awk".to_owned(), program.to_owned()], &mut found);
            assert_eq!(found.refusal.is_some(), refused, "{program}");
        }
    }
}
