//! The pieces of a word that may be a path by themselves.

use crate::limits::PATH_BYTES_MAX;

/// Characters that may stand before a path within a word: `--file=a`, `HEAD:a`, `a,b`, `name=@a`.
const SEPARATORS: [char; 7] = ['=', ':', ',', '@', '<', '>', ';'];
/// How many letters may stand before a value that is attached to them: `-xzfFILE`.
const OPTION_LETTERS_MAX: usize = 6;
/// Signs that code and data put around a name.
const SURROUNDING_CHARS: [char; 8] = ['"', '\'', '(', ')', '[', ']', '{', '}'];

/// Splits a word into every piece that may be a path: the word itself, the texts behind or between separators, and
/// values attached to letters of options. `colons` says whether a colon separates.
pub(in crate::shell) fn split_path_pieces(text: &str, colons: bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let is_option = text.starts_with('-') && text.len() > 1;
    if !is_option {
        push_piece(&mut pieces, text);
    } else if !text.starts_with("--") {
        push_attached(&mut pieces, &text[1..]);
    }
    // A text with blanks is a sentence or code; only what an option is given is looked into.
    let has_blanks = text.contains(char::is_whitespace);
    if has_blanks {
        let value = text.split_once('=').filter(|_| is_option);
        pieces.extend(
            value
                .map(|(_, value)| value)
                .filter(|value| is_path_sized(value)),
        );
        return pieces;
    }
    let mut start = 0;
    let mut separated = false;
    let mut at = 0;
    while let Some(offset) = text[at..].find(SEPARATORS) {
        let here = at + offset;
        let separator = &text[here..=here];
        at = here + 1;
        if separator == ":" && !colons {
            continue;
        }
        let rest = &text[at..];
        if separator == ":" && rest.starts_with("//") && !text[start..here].ends_with("file") {
            // An address: no path of this machine up to where a list goes on.
            match rest.find(',') {
                Some(end) => at += end,
                None => return pieces,
            }
            start = at;
            continue;
        }
        push_piece(&mut pieces, rest);
        if !(is_option && start == 0) {
            push_piece(&mut pieces, &text[start..here]);
        }
        start = at;
        separated = true;
    }
    if separated {
        push_piece(&mut pieces, &text[start..]);
    }
    pieces
}

/// The names in the quotes of a text in some language: `open(".env")`.
pub(in crate::shell) fn find_quoted_pieces(text: &str) -> impl Iterator<Item = &str> {
    let has_quotes = text.contains(['"', '\'', '`']);
    let between = text.split(['"', '\'', '`']).skip(1);
    between.filter(move |name| has_quotes && is_path_sized(name) && !name.contains("://"))
}

fn push_attached<'t>(pieces: &mut Vec<&'t str>, letters: &'t str) {
    for (count, (at, letter)) in letters.char_indices().enumerate() {
        if count >= OPTION_LETTERS_MAX || !letter.is_ascii_alphanumeric() {
            break;
        }
        push_piece(pieces, &letters[at + 1..]);
    }
}

fn push_piece<'t>(pieces: &mut Vec<&'t str>, piece: &'t str) {
    let bare = piece.trim_matches(SURROUNDING_CHARS);
    for one in [piece, bare] {
        if is_path_sized(one) && !is_url(one) && !pieces.contains(&one) {
            pieces.push(one);
        }
    }
}

fn is_url(text: &str) -> bool {
    text.contains("://") && !text.starts_with("file:")
}

fn is_path_sized(text: &str) -> bool {
    !text.is_empty() && text != "-" && text.len() <= PATH_BYTES_MAX
}
