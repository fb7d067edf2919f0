//! Programs that run the commands in their arguments, with the options before these.

use crate::shell::tables::wrappers::WRAPPER_TABLE;

/// The form in which a program is given the command that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum WrapperKind {
    /// A program with its arguments, behind the options and operands of the wrapper.
    Words,
    /// A text for a shell, as one word or several, behind the options and operands of the wrapper.
    Script,
    /// An option gives a text for a shell (`-c`); without it a file of commands is run, or standard input.
    Shell,
}

/// A program that runs another one.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Wrapper {
    /// Its names, and the like below: words with a space between.
    pub names: &'static str,
    /// Form in which the wrapper is given the command.
    pub kind: WrapperKind,
    /// Options that take the next word: one letter or a long name.
    pub values: &'static str,
    /// Options that take no value; only known ones may stand before a command that is allowed.
    pub flags: &'static str,
    /// Options whose value is a text for a shell.
    pub scripts: &'static str,
    /// Number of words between the options and the command: the time of `timeout`, the host of `ssh`.
    pub operands: usize,
    /// Whether `NAME=value` may stand before the command.
    pub assigns: bool,
    /// Whether a rule that allows the wrapped command also allows it wrapped.
    pub is_transparent: bool,
    /// Whether a rule that names the wrapper may allow it with the command that it runs.
    pub is_runner: bool,
}

/// Returns the wrapper of this name.
pub(in crate::shell) fn find_wrapper(program: &str) -> Option<&'static Wrapper> {
    WRAPPER_TABLE
        .iter()
        .find(|wrapper| list_has_word(wrapper.names, program))
}

/// Whether a word is one of a list.
pub(in crate::shell) fn list_has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
