//! Built-in commands that set variables, and the values that they set.

use crate::shell::matching::plain::NEUTRAL_VARIABLES;
use crate::shell::tables::list_has_word;

/// Built-ins whose arguments are assignments or names of variables.
const DECLARING_BUILTINS: &str = "export declare typeset local readonly";
/// Built-ins that take variables away or read values into them.
const READING_BUILTINS: &str = "unset read mapfile readarray getopts let";

/// The variable that a command sets for the commands after it, if it sets one that may change what they do.
pub(in crate::shell) fn find_set_variable(words: &[String]) -> Option<&str> {
    let (program, rest) = words.split_first()?;
    let names = |word: &&String| !word.starts_with('-') && !word.is_empty();
    if list_has_word(DECLARING_BUILTINS, program) {
        let assigned = rest.iter().filter(|word| names(word) && word.contains('='));
        return assigned
            .map(|word| variable_name(word))
            .find(|name| !is_neutral_variable(name));
    }
    if program == "printf" {
        return printf_variable(rest);
    }
    let mut variables = rest.iter().filter(names).map(|word| variable_name(word));
    if list_has_word(READING_BUILTINS, program) {
        return variables
            .find(|name| !is_neutral_variable(name))
            .or(Some("REPLY"));
    }
    None
}

/// The assignments among the words of a built-in that declares, as name and value.
pub(in crate::shell) fn list_declarations<'w>(
    program: &str,
    rest: impl Iterator<Item = &'w str>,
) -> Vec<(&'w str, &'w str)> {
    match list_has_word(DECLARING_BUILTINS, program) {
        true => rest
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.trim_end_matches('+'), value))
            .collect(),
        false => Vec::new(),
    }
}

/// `printf -v NAME`, `printf -vNAME`
pub(in crate::shell) fn printf_variable(rest: &[String]) -> Option<&str> {
    let first = rest.first()?;
    match first.strip_prefix("-v")? {
        "" => rest.get(1).map(String::as_str),
        attached => Some(attached),
    }
}

fn variable_name(word: &str) -> &str {
    let end = word.find(['=', '[', '+', ':', '?']).unwrap_or(word.len());
    &word[..end]
}

fn is_neutral_variable(name: &str) -> bool {
    NEUTRAL_VARIABLES.contains(&name)
}
