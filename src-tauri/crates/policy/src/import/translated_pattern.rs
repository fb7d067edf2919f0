//! Patterns of other products in the spelling of ours: narrower for an allow, wider for all else.

use protocol::RuleAction;

/// The translation of a pattern.
pub(super) enum TranslatedPattern {
    /// Everything.
    Everything,
    /// This pattern, and a note on it.
    Pattern(String, &'static str),
    /// No pattern here expresses it; a note says why.
    Unsupported(&'static str),
}

const NARROWER_NOTE: &str = "Narrower than there: a `*` within is one word here.";
const WIDER_NOTE: &str = "Wider than there: everything that begins so.";
const NOT_PLAIN_NOTE: &str = "Only plain words can be taken over, and this has others.";
const WHOLE_WORD_NOTE: &str = "Narrower than there: the last word does not go on.";

/// A command in which `*` is any text, blanks included.
pub(super) fn translate_command(text: &str, action: RuleAction) -> TranslatedPattern {
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
        return TranslatedPattern::Everything;
    }
    match action {
        RuleAction::Allow => narrow_command(words, open),
        RuleAction::Ask | RuleAction::Deny => widen_command(words, open),
    }
}

fn narrow_command(mut words: Vec<&str>, mut open: bool) -> TranslatedPattern {
    let mut note = "";
    if let Some(last) = words.last_mut()
        && let Some(before) = last.strip_suffix('*')
        && !open
        && !before.is_empty()
    {
        (*last, open, note) = (before, true, WHOLE_WORD_NOTE);
    }
    if words.iter().any(|word| word.contains('*')) {
        note = NARROWER_NOTE;
    }
    if !words
        .iter()
        .all(|word| is_plain_word(&word.replace('*', "")))
    {
        return TranslatedPattern::Unsupported(NOT_PLAIN_NOTE);
    }
    TranslatedPattern::Pattern(join_words(&words, open), note)
}

fn widen_command(words: Vec<&str>, open: bool) -> TranslatedPattern {
    let certain: Vec<&str> = words
        .iter()
        .take_while(|word| is_plain_word(word))
        .copied()
        .collect();
    let cut = certain.len() < words.len();
    match (certain.is_empty(), cut) {
        (true, _) => widen_first_word(words[0]),
        (false, true) => TranslatedPattern::Pattern(join_words(&certain, true), WIDER_NOTE),
        (false, false) => TranslatedPattern::Pattern(join_words(&certain, open), ""),
    }
}

/// `ls*`, which there also means `lsof`, and here does so where it denies.
fn widen_first_word(word: &str) -> TranslatedPattern {
    match word.split_once('*') {
        Some((before, _)) if !before.is_empty() && is_plain_word(before) => {
            TranslatedPattern::Pattern(format!("{before}*"), WIDER_NOTE)
        }
        _ => TranslatedPattern::Unsupported(
            "What it begins with is not certain, so no rule can be made of it.",
        ),
    }
}

fn join_words(words: &[&str], open: bool) -> String {
    let mut text = words.join(" ");
    if open {
        text.push_str(" *");
    }
    text
}

/// Whether a word means itself in any spelling.
pub(super) fn is_plain_word(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_alphanumeric() || "_@%+=:,./-".contains(c))
}

/// A path in which a `*` stays within a folder's name, as in a `.gitignore`, or crosses folders.
pub(super) fn translate_path_pattern(
    text: &str,
    action: RuleAction,
    crosses: bool,
) -> TranslatedPattern {
    let text = text.strip_prefix("./").unwrap_or(text);
    if matches!(text, "" | "*" | "**" | "**/*") && (crosses || text != "*") {
        return TranslatedPattern::Everything;
    }
    let text = match text.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => text.to_owned(),
    };
    let is_known = |name: &str| is_plain_word(&name.replace(['*', ' '], ""));
    if action == RuleAction::Allow {
        return match text.split('/').all(is_known) {
            true => TranslatedPattern::Pattern(text, ""),
            false => TranslatedPattern::Unsupported(
                "Only plain names and `*` can be taken over, and this has others.",
            ),
        };
    }
    let is_certain = |name: &&str| is_known(name) && !(crosses && name.contains('*'));
    let names: Vec<&str> = text.split('/').collect();
    let certain: Vec<&str> = names.iter().copied().take_while(is_certain).collect();
    match (certain.len() == names.len(), certain.is_empty()) {
        (true, _) => TranslatedPattern::Pattern(text, ""),
        (false, false) => TranslatedPattern::Pattern(
            format!("{}/**", certain.join("/")),
            "Wider than there: the whole folder.",
        ),
        (false, true) => TranslatedPattern::Unsupported(
            "Where it leads is not certain, so no rule can be made of it.",
        ),
    }
}
