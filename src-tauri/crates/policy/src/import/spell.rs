//! Patterns of other products in the spelling of ours: narrower for an allow, wider for all else.

use protocol::Action;

/// What a pattern comes to.
pub(super) enum Spelled {
    /// Everything.
    Everything,
    /// This pattern, and what is to be said of it.
    As(String, &'static str),
    /// Nothing that could be said.
    Not(&'static str),
}

const NARROWER: &str = "Narrower than there: a `*` within is one word here.";
const WIDER: &str = "Wider than there: everything that begins so.";
const OWN_WORDS: &str = "Only plain words can be taken over, and this has others.";
const ENDS_A_WORD: &str = "Narrower than there: the last word does not go on.";

/// A command in which `*` is any text, blanks included.
pub(super) fn command(text: &str, action: Action) -> Spelled {
    let text = text.trim();
    // `npm run test:*` and `npm run test *`: these words, then the end or more words.
    let (text, prefixed) = match text.strip_suffix(":*") {
        Some(before) => (before, true),
        None => (text, false),
    };
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let open = prefixed || words.last() == Some(&"*");
    if open && !prefixed {
        words.pop();
    }
    if words.is_empty() {
        return Spelled::Everything;
    }
    match action {
        Action::Allow => allowed(words, open),
        Action::Ask | Action::Deny => denied(words, open),
    }
}

fn allowed(mut words: Vec<&str>, mut open: bool) -> Spelled {
    let mut note = "";
    if let Some(last) = words.last_mut()
        && let Some(before) = last.strip_suffix('*')
        && !open
        && !before.is_empty()
    {
        (*last, open, note) = (before, true, ENDS_A_WORD);
    }
    if words.iter().any(|word| word.contains('*')) {
        note = NARROWER;
    }
    if !words.iter().all(|word| is_plain(&word.replace('*', ""))) {
        return Spelled::Not(OWN_WORDS);
    }
    Spelled::As(joined(&words, open), note)
}

fn denied(words: Vec<&str>, open: bool) -> Spelled {
    let certain: Vec<&str> = words
        .iter()
        .take_while(|word| is_plain(word))
        .copied()
        .collect();
    let cut = certain.len() < words.len();
    match (certain.is_empty(), cut) {
        (true, _) => first_word(words[0]),
        (false, true) => Spelled::As(joined(&certain, true), WIDER),
        (false, false) => Spelled::As(joined(&certain, open), ""),
    }
}

/// `ls*`, which there also means `lsof`, and here does so where it denies.
fn first_word(word: &str) -> Spelled {
    match word.split_once('*') {
        Some((before, _)) if !before.is_empty() && is_plain(before) => {
            Spelled::As(format!("{before}*"), WIDER)
        }
        _ => Spelled::Not("What it begins with is not certain, so no rule can be made of it."),
    }
}

fn joined(words: &[&str], open: bool) -> String {
    let mut text = words.join(" ");
    if open {
        text.push_str(" *");
    }
    text
}

/// Whether a word means itself in any spelling.
pub(super) fn is_plain(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_alphanumeric() || "_@%+=:,./-".contains(c))
}

/// A path in which a `*` stays within a folder's name, as in a `.gitignore`, or crosses folders.
pub(super) fn path(text: &str, action: Action, crosses: bool) -> Spelled {
    let text = text.strip_prefix("./").unwrap_or(text);
    if matches!(text, "" | "*" | "**" | "**/*") && (crosses || text != "*") {
        return Spelled::Everything;
    }
    let text = match text.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => text.to_owned(),
    };
    let is_known = |name: &str| is_plain(&name.replace(['*', ' '], ""));
    if action == Action::Allow {
        return match text.split('/').all(is_known) {
            true => Spelled::As(text, ""),
            false => {
                Spelled::Not("Only plain names and `*` can be taken over, and this has others.")
            }
        };
    }
    let is_certain = |name: &&str| is_known(name) && !(crosses && name.contains('*'));
    let names: Vec<&str> = text.split('/').collect();
    let certain: Vec<&str> = names.iter().copied().take_while(is_certain).collect();
    match (certain.len() == names.len(), certain.is_empty()) {
        (true, _) => Spelled::As(text, ""),
        (false, false) => Spelled::As(
            format!("{}/**", certain.join("/")),
            "Wider than there: the whole folder.",
        ),
        (false, true) => {
            Spelled::Not("Where it leads is not certain, so no rule can be made of it.")
        }
    }
}
