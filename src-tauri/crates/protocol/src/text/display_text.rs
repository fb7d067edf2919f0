//! Text displayed verbatim: characters that are invisible, or that change how the rest is displayed, become visible
//! marks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A stretch of text, either verbatim or the name of a character that must not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DisplaySpan {
    /// The text, or `U+202E` for a hidden character.
    pub text: String,
    /// Whether this is the name of a hidden character.
    pub control: bool,
}

/// Splits a text into plain stretches and named hidden characters. Line feeds and tabs stay as they are. Two different
/// texts never give the same spans, so nothing can hide behind something else.
pub fn to_spans(text: &str) -> Vec<DisplaySpan> {
    let mut spans: Vec<DisplaySpan> = Vec::new();
    let mut plain = String::new();
    for c in text.chars() {
        if is_hidden(c) {
            if !plain.is_empty() {
                spans.push(DisplaySpan {
                    text: std::mem::take(&mut plain),
                    control: false,
                });
            }
            spans.push(DisplaySpan {
                text: format!("U+{:04X}", c as u32),
                control: true,
            });
        } else {
            plain.push(c);
        }
    }
    if !plain.is_empty() {
        spans.push(DisplaySpan {
            text: plain,
            control: false,
        });
    }
    spans
}

/// Returns the text of all spans, with hidden characters by their names.
pub fn join_spans(spans: &[DisplaySpan]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// Formats a text for use within a sentence: in one line, hidden characters by name, cut after `chars_max` characters.
pub fn to_single_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for (at, c) in text.chars().enumerate() {
        match c {
            _ if at == chars_max => {
                line.push('…');
                break;
            }
            '\n' | '\t' => line.push(' '),
            c if is_hidden(c) => line.push_str(&format!("U+{:04X}", c as u32)),
            c => line.push(c),
        }
    }
    line
}

/// Formats a number of things: "1 file", "2 files".
pub fn format_count(number: u64, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// Formats a text from another author as a sentence that others can follow: it ends with exactly one mark, a full stop
/// if it had none.
pub fn to_sentence(text: &str) -> String {
    let text = text.trim();
    let text = match text.strip_suffix("..") {
        Some(before) if !before.ends_with('.') => &text[..text.len() - 1],
        _ => text,
    };
    let said = text.trim_end_matches(['"', '\'', ')', ']', '`', '\u{201d}', '\u{2019}']);
    match said.is_empty() || said.ends_with(['.', '!', '?', '\u{2026}']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// Formats a path in one line: hidden characters and bytes that are not text by name; `.` for the base folder of
/// relative paths.
pub fn name(path: &std::path::Path) -> String {
    match path.as_os_str().as_encoded_bytes() {
        [] => ".".to_owned(),
        bytes => format_path_bytes(bytes),
    }
}

/// Formats the bytes of a path in one line: hidden characters and bytes that are not text by name.
pub fn format_path_bytes(bytes: &[u8]) -> String {
    let mut named = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                c if c == '\n' || c == '\t' || is_hidden(c) => {
                    named.push_str(&format!("U+{:04X}", c as u32));
                }
                c => named.push(c),
            }
        }
        for byte in chunk.invalid() {
            named.push_str(&format!("0x{byte:02X}"));
        }
    }
    named
}

/// Returns whether a character is invisible, reorders its neighbours, or moves the cursor.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        _ if c.is_control() => true,
        // Soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul fillers, Khmer inherent vowels, Mongolian
        // separators.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}' => true,
        // Blanks that look like a space or like nothing, zero-width characters, line separators, bidi controls.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' => true,
        '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{feff}' => true,
        // Variation selectors, interlinear annotation, tags.
        '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sentence_ends_once() {
        for (text, told) in [
            ("invalid x-api-key", "invalid x-api-key."),
            ("Overloaded\n", "Overloaded."),
            ("I cannot help with that..", "I cannot help with that."),
            ("It is over.", "It is over."),
            ("Is it over?", "Is it over?"),
            ("Wait ...", "Wait ..."),
            ("Wait …", "Wait …"),
            ("It said \u{201c}no.\u{201d}", "It said \u{201c}no.\u{201d}"),
            ("It said \"no\"", "It said \"no\"."),
            ("not found (404)", "not found (404)."),
            ("", ""),
        ] {
            assert_eq!(to_sentence(text), told, "{text}");
        }
    }

    #[test]
    fn a_reversed_name_is_marked() {
        assert_eq!(
            to_spans("rm \u{202e}txt"),
            vec![
                DisplaySpan {
                    text: "rm ".into(),
                    control: false
                },
                DisplaySpan {
                    text: "U+202E".into(),
                    control: true
                },
                DisplaySpan {
                    text: "txt".into(),
                    control: false
                },
            ]
        );
    }

    proptest! {
        /// The text can be recovered from its spans, so two texts never look the same.
        #[test]
        fn nothing_is_lost(text in "([a-zU+0-9 ]|\\PC|\\pC){0,12}") {
            let told: String = to_spans(&text)
                .into_iter()
                .map(|span| match span.control {
                    true => u32::from_str_radix(&span.text[2..], 16)
                        .ok()
                        .and_then(char::from_u32)
                        .map(String::from)
                        .unwrap(),
                    false => span.text,
                })
                .collect();
            prop_assert_eq!(told, text);
        }

        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            for span in to_spans(&text) {
                prop_assert!(!span.text.chars().any(is_hidden));
            }
        }
    }
}
