//! Which commands are plain enough for an allow: literal words, a bare program name, nothing set, nothing redirected.

use crate::shell::expand::setters;
use crate::shell::facts::{CommandOrigin, ShellWord, SimpleCommand};
use crate::shell::parse::redirects;
use crate::shell::programs::inner_commands;

/// Variables that change how a program prints and nothing else.
pub(in crate::shell) const NEUTRAL_VARIABLES: [&str; 6] =
    ["LC_ALL", "LANG", "NO_COLOR", "CI", "RUST_BACKTRACE", "TERM"];

/// Returns the words that an allow looks at: none for a command that runs nothing by itself. The error is the reason
/// why the command is not plain, as a sentence. `bare` says of each word whether it is written without quotes.
pub(in crate::shell) fn plain_words(
    command: &SimpleCommand,
    bare: &[bool],
) -> Result<Option<Vec<String>>, String> {
    match &command.via {
        CommandOrigin::Plain | CommandOrigin::ControlFlow => {}
        // Whatever these stand in is already a reason, or asks for its own words.
        CommandOrigin::Function
        | CommandOrigin::Substitution
        | CommandOrigin::Wrapper(_)
        | CommandOrigin::Script => return Ok(None),
    }
    for assignment in &command.assignments {
        let name = &assignment.name;
        if !NEUTRAL_VARIABLES.contains(&name.as_str()) {
            return Err(format!("It sets `{name}`."));
        }
        if !assignment.value.is_literal() {
            return Err(format!(
                "It sets `{name}` to what is only known when it runs."
            ));
        }
    }
    if let Some(redirect) = command
        .redirects
        .iter()
        .find(|redirect| !redirect.is_neutral)
    {
        return Err(redirects::redirect_reason(redirect));
    }
    if command.words.is_empty() {
        return match command.assignments.is_empty() {
            true => Ok(None),
            false => Err(format!("It sets `{}`.", command.assignments[0].name)),
        };
    }
    let mut literal = Vec::with_capacity(command.words.len());
    for word in &command.words {
        match word {
            ShellWord::Literal(text)
                if text.chars().any(protocol::text::display_text::is_hidden) =>
            {
                return Err("A word holds what cannot be seen.".to_owned());
            }
            ShellWord::Literal(text) => literal.push(text.clone()),
            ShellWord::Dynamic(raw) => return Err(format!("`{raw}` is only known when it runs.")),
        }
    }
    let start = inner_commands::skip_transparent_wrappers(&literal)?;
    let program = &literal[start];
    let is_bare =
        bare[..=start].iter().all(|bare| *bare) && !program.is_empty() && !program.contains('=');
    match is_bare {
        false => Err(format!("`{program}` is not a bare program name.")),
        true => Ok(Some(literal[start..].to_vec())),
    }
}

/// Whether a command names its program by a path. Only a rule that spells that very path may allow it.
pub(crate) fn names_program_by_path(words: &[String]) -> bool {
    words.first().is_some_and(|program| program.contains('/'))
}

/// Returns why programs that are named by a path from the folder on are not certain; none if they are: changing the
/// folder on the way makes them other programs.
pub(in crate::shell) fn find_folder_change(
    commands: &[SimpleCommand],
    plain: &[Vec<String>],
) -> Option<String> {
    let relative = plain
        .iter()
        .filter(|words| names_program_by_path(words))
        .find_map(|words| words.first().filter(|program| !program.starts_with('/')))?;
    let moves = |command: &SimpleCommand| {
        let mut words = command
            .words
            .iter()
            .map(|word| crate::shell::program_base_name(word.text()));
        words.any(|word| matches!(word, "cd" | "pushd" | "popd" | "chdir"))
    };
    commands
        .iter()
        .any(moves)
        .then(|| format!("`{relative}` is another program in another folder."))
}

/// Whether a word of a text is written over two lines: such a name is not spelled exactly.
pub(in crate::shell) fn has_line_continuation(text: &str) -> bool {
    let blank = |c: char| c.is_whitespace();
    text.match_indices("\\\n").any(|(at, joint)| {
        let before = text[..at].chars().next_back();
        let after = text[at + joint.len()..].chars().next();
        before.is_some_and(|c| !blank(c)) && after.is_some_and(|c| !blank(c))
    })
}

/// Returns a sentence on the variable that one of several commands sets for those after it; none for a single command,
/// which sets it for no other.
pub(in crate::shell) fn find_shared_variable(plain: &[Vec<String>]) -> Option<String> {
    let several = plain.len() > 1;
    let mut set = plain
        .iter()
        .filter_map(|words| setters::find_set_variable(words));
    let name = set.next().filter(|_| several)?;
    Some(format!("It sets `{name}` for the commands after it."))
}
