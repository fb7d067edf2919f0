//! Programs that run what their arguments name, with the options that stand between.

use crate::shell::tables::wrappers::WRAPPER_TABLE;

/// How a program names what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum WrapperKind {
    /// After its options and operands stands a program with its arguments.
    Words,
    /// After its options and operands stands a text for a shell, as one word or several.
    Script,
    /// An option gives a text for a shell (`-c`); without it a file of commands is run, or standard input.
    Shell,
}

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Wrapper {
    /// Its names, and the like below: words with a space between.
    pub names: &'static str,
    /// How it names what it runs.
    pub kind: WrapperKind,
    /// Options that take the next word: one letter or a long name.
    pub values: &'static str,
    /// Options that take nothing, where only the known ones may stand before a command that is allowed.
    pub flags: &'static str,
    /// Options whose value is a text for a shell.
    pub scripts: &'static str,
    /// Words between the options and what is run: the time of `timeout`, the host of `ssh`.
    pub operands: usize,
    /// `NAME=value` may stand before what is run.
    pub assigns: bool,
    /// Whether a rule that allows the wrapped command also allows it wrapped.
    pub is_transparent: bool,
    /// Whether a rule that names the wrapper may allow it with what it runs.
    pub is_runner: bool,
}

/// The one of that name.
pub(in crate::shell) fn find_wrapper(program: &str) -> Option<&'static Wrapper> {
    WRAPPER_TABLE
        .iter()
        .find(|wrapper| list_has_word(wrapper.names, program))
}

/// Whether a word is one of a list.
pub(in crate::shell) fn list_has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
