//! The table of well-known programs: what they run, read, write, and reach. Its rows are in `programs.toml`.

use std::sync::LazyLock;

use protocol::Capability;
use serde::Deserialize;

/// The table, by kinds of rows; the file says what each is for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct ProgramTable {
    pub read_only: Words,
    pub second_operand_writers: Words,
    pub code_interpreters: Words,
    pub printing: Words,
    pub git_read_commands: Words,
    pub git_changing_commands: Words,
    pub reporting: Words,
    pub lasting: Words,
    pub named_only: Words,
    wrapper: Vec<Wrapper>,
    option: Vec<OptionRow>,
    pub operand_access: Vec<OperandRow>,
    pub option_file: Vec<OptionFileRow>,
    pub subcommand_runner: Vec<WordRow>,
    pub shell_subcommand: Vec<WordRow>,
    pub global_option: Vec<WordRow>,
    pub named_only_command: Vec<WordRow>,
    pub write_option: Vec<WordRow>,
    pub text_option: Vec<WordRow>,
}

/// Words with blanks between.
#[derive(Debug, Default, Deserialize)]
pub(in crate::shell) struct Words(String);

impl Words {
    /// Whether a word is one of these.
    pub fn contains(&self, word: &str) -> bool {
        list_has_word(&self.0, word)
    }

    /// Returns the words.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_whitespace()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The form in which a program is given the command that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::shell) enum WrapperKind {
    /// A program with its arguments, behind the options and operands of the wrapper.
    #[default]
    Words,
    /// A text for a shell, as one word or several, behind the options and operands of the wrapper.
    Script,
    /// An option gives a text for a shell (`-c`); without it a file of commands is run, or standard input.
    Shell,
}

/// A program that runs another one.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::shell) struct Wrapper {
    pub names: Words,
    /// Form in which the wrapper is given the command.
    pub kind: WrapperKind,
    /// Options that take the next word: one letter or a long name.
    pub values: Words,
    /// Options that take no value; only known ones may stand before a command that is allowed.
    pub flags: Words,
    /// Options whose value is a text for a shell.
    pub scripts: Words,
    /// Number of words between the options and the command: the time of `timeout`, the host of `ssh`.
    pub operands: usize,
    /// Whether `NAME=value` may stand before the command.
    pub assigns: bool,
    /// Whether a rule that allows the wrapped command also allows it wrapped.
    pub is_transparent: bool,
    /// Whether a rule that names the wrapper may allow it with the command that it runs.
    pub is_runner: bool,
}

/// The kind of value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::shell) enum OptionValue {
    /// A text for a shell, or a program with its arguments.
    Script,
    /// Code of another language, which may hold texts for a shell.
    Code,
    /// Questions to a database, among which its client has commands of its own.
    DatabaseQuery,
    /// Something that runs, or is written, in a way that is not followed.
    Opaque,
}

/// Options with which programs that are harmless by themselves run another, or code.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct OptionRow {
    programs: Words,
    /// Long options without dashes, and letters.
    pub options: Words,
    /// The kind of their value.
    pub value: OptionValue,
    /// Where not empty, options end at the first operand; these take the next word.
    #[serde(default)]
    pub values: Words,
    /// Only the part of the value behind this text runs: `exec=` of `--checkpoint-action=exec=…`.
    #[serde(default)]
    pub after: String,
}

/// Access of a program to its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::shell) enum OperandAccess {
    /// Reads all but the last, writes the last.
    Copy,
    /// Takes all but the last away, writes the last.
    Move,
    /// Reaches the hosts that its operands name.
    Host,
    /// The same capability for all operands.
    #[serde(untagged)]
    All(Capability),
}

/// Programs that access their operands alike.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct OperandRow {
    pub programs: Words,
    pub access: OperandAccess,
    /// Number of words that are no operands: a mode, a pattern, a script.
    #[serde(default)]
    pub skipped: usize,
}

/// Options whose value is a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct OptionFileRow {
    pub programs: Words,
    pub words: Words,
    pub access: Capability,
}

/// Options or sub-commands of programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct WordRow {
    pub programs: Words,
    pub words: Words,
    /// Short options that mean the same.
    #[serde(default)]
    pub letters: String,
    /// Number of words between a sub-command and the command that it runs.
    #[serde(default)]
    pub operands: usize,
}

/// Returns the table. If its file cannot be read it is empty, and every command is unsure.
pub(in crate::shell) fn program_table() -> &'static ProgramTable {
    static TABLE: LazyLock<ProgramTable> =
        LazyLock::new(|| toml::from_str(include_str!("programs.toml")).unwrap_or_default());
    &TABLE
}

impl ProgramTable {
    /// Whether the file of the table could not be read.
    pub fn is_empty(&self) -> bool {
        self.wrapper.is_empty()
    }
}

/// Returns the wrapper of this name.
pub(in crate::shell) fn find_wrapper(program: &str) -> Option<&'static Wrapper> {
    let mut wrappers = program_table().wrapper.iter();
    wrappers.find(|wrapper| wrapper.names.contains(program))
}

/// Returns the options with which a program runs another, or code.
pub(in crate::shell) fn option_rows(program: &str) -> impl Iterator<Item = &'static OptionRow> {
    let rows = program_table().option.iter();
    rows.filter(move |row| row.programs.contains(program))
}

/// Whether a word is one of a list.
pub(crate) fn list_has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::ProgramTable;

    #[test]
    fn the_table_can_be_read() {
        let table: Result<ProgramTable, _> = toml::from_str(include_str!("programs.toml"));
        assert!(!table.unwrap().is_empty());
    }
}
