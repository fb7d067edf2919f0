//! Built-in commands that set variables, and what they are set to.

use super::plain::NEUTRAL;
use super::wrappers::has;

/// Built-ins whose arguments are assignments or names of variables.
const DECLARES: &str = "export declare typeset local readonly";
/// Built-ins that take variables away or read values into them.
const READS: &str = "unset read mapfile readarray getopts let";

/// The variable that a command sets for the commands after it, if it sets one that may change what they do.
pub(super) fn sets(words: &[String]) -> Option<&str> {
    let (program, rest) = words.split_first()?;
    let names = |word: &&String| !word.starts_with('-') && !word.is_empty();
    if has(DECLARES, program) {
        let assigned = rest.iter().filter(|word| names(word) && word.contains('='));
        return assigned
            .map(|word| name_of(word))
            .find(|name| !is_neutral(name));
    }
    if program == "printf" {
        return variable_of_printf(rest);
    }
    let mut given = rest.iter().filter(names).map(|word| name_of(word));
    if has(READS, program) {
        return given.find(|name| !is_neutral(name)).or(Some("REPLY"));
    }
    None
}

/// The assignments among the words of a built-in that declares, as name and value.
pub(super) fn declared<'w>(
    program: &str,
    rest: impl Iterator<Item = &'w str>,
) -> Vec<(&'w str, &'w str)> {
    match has(DECLARES, program) {
        true => rest
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.trim_end_matches('+'), value))
            .collect(),
        false => Vec::new(),
    }
}

/// `printf -v NAME`, `printf -vNAME`
pub(super) fn variable_of_printf(rest: &[String]) -> Option<&str> {
    let first = rest.first()?;
    match first.strip_prefix("-v")? {
        "" => rest.get(1).map(String::as_str),
        attached => Some(attached),
    }
}

fn name_of(word: &str) -> &str {
    let end = word.find(['=', '[', '+', ':', '?']).unwrap_or(word.len());
    &word[..end]
}

fn is_neutral(name: &str) -> bool {
    NEUTRAL.contains(&name)
}
