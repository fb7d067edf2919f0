//! Whether a process is git, at a command that compares the work tree with what git has.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use crate::linux::seccomp::call_path::is_in_system_folder;

/// Commands that read a file of the work tree in order to compare it, and print nothing of one that is as git has it.
const COMPARING_COMMANDS: [&[u8]; 23] = [
    b"add",
    b"checkout",
    b"cherry-pick",
    b"clean",
    b"commit",
    b"describe",
    b"diff",
    b"diff-files",
    b"diff-index",
    b"ls-files",
    b"merge",
    b"mv",
    b"pull",
    b"rebase",
    b"reset",
    b"restore",
    b"revert",
    b"rm",
    b"stash",
    b"status",
    b"switch",
    b"update-index",
    b"worktree",
];
/// Options before the command whose value is a word of its own.
const VALUED_OPTIONS: [&[u8]; 5] = [b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace"];
/// Option with which git prints files, whether it has them or not.
const PRINTING_OPTION: &[u8] = b"--no-index";

/// Whether a process runs the system's own git with a command that compares the work tree. A program that a command brings
/// along is none, whatever its name.
pub(in crate::linux) fn compares(pid: u32) -> bool {
    let is_git = fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| {
        let name = program.file_name().unwrap_or_default();
        name.as_bytes() == b"git" && is_in_system_folder(&program)
    });
    is_git
        && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            compares_by_words(&words)
        })
}

/// Whether the words of a command line of git, its own name first, compare the work tree.
fn compares_by_words(words: &[&[u8]]) -> bool {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        if VALUED_OPTIONS.contains(word) {
            rest.next();
        } else if !word.starts_with(b"-") {
            return COMPARING_COMMANDS.contains(word) && !rest.any(|word| *word == PRINTING_OPTION);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_git_decides() {
        for (line, expected) in [
            ("git status", true),
            ("git -C sub -c core.pager=cat --no-pager diff HEAD", true),
            ("git --git-dir=.git add -A", true),
            ("git commit -m status", true),
            ("git grep TOKEN", false),
            ("git -c a=status grep TOKEN", false),
            ("git diff --no-index /dev/null .env", false),
            ("git hash-object -w .env", false),
            ("git --version", false),
            ("git", false),
        ] {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            assert_eq!(compares_by_words(&words), expected, "{line}");
        }
    }
}
