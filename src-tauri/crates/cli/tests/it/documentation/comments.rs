//! Comments of the code as text for people.

use std::fmt::Write as _;

use syn::{Attribute, Expr, Lit, Meta};

/// The comment of an item as text for people: without ids of requirements, and with settings as they are written.
pub(super) fn read_comment(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value().trim().to_owned()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
    let text = lines.collect::<Vec<_>>().join(" ");
    name_settings(&remove_ids(&text.replace("  ", "\n\n")))
}

/// Removes ids of decisions and requirements in parentheses.
fn remove_ids(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" (") {
        let (inside, behind) = after.split_once(')').unwrap_or((after, ""));
        let bare = inside.trim_start_matches('`');
        let is_id =
            bare.starts_with(['M', 'S']) && bare[1..].starts_with(|c: char| c.is_ascii_digit());
        kept.push_str(before);
        if !is_id {
            write!(kept, " ({inside})").unwrap();
        }
        rest = behind;
    }
    kept + rest
}

/// Turns links to items into what is written in the file: [`Self::AskFirst`] into `ask_first`.
fn name_settings(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once("`]").unwrap();
        let last = path.rsplit("::").next().unwrap();
        write!(named, "`{}`{rest}", to_snake_case(last)).unwrap();
    }
    named
}

pub(super) fn to_snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[test]
fn comments_become_sentences_for_people() {
    for (comment, text) in [
        ("What asks (M0). Then more.", "What asks. Then more."),
        ("Of calls (`S0` to `S1`).", "Of calls."),
        ("As it is (more so).", "As it is (more so)."),
        ("As [`Self::AskFirst`], and", "As `ask_first`, and"),
    ] {
        assert_eq!(name_settings(&remove_ids(comment)), text);
    }
}
