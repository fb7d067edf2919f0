//! Cuts text between characters, never inside one and never with a panic.

/// Returns the longest start of a text that fits in `bytes_max` bytes, cut between characters.
pub fn take_head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Returns the longest end of a text that fits in `bytes_max` bytes, cut between characters.
pub fn take_tail(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

/// Returns the length of some bytes without an incomplete character at their end. Bytes that are not UTF-8 at all count
/// in full.
pub fn complete_chars_len(bytes: &[u8]) -> usize {
    let is_incomplete = |start: &usize| {
        std::str::from_utf8(&bytes[*start..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    // The longest incomplete character has three bytes.
    let mut starts = bytes.len().saturating_sub(3)..bytes.len();
    starts.find(is_incomplete).unwrap_or(bytes.len())
}

/// Returns a text as it is if it has at most `chars_max` characters, else that many of them and an ellipsis.
pub fn shorten_text(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_fall_between_characters() {
        for (text, bytes_max, start, end) in [
            ("", 0, "", ""),
            ("aü€😀", 0, "", ""),
            ("aü€😀", 2, "a", ""),
            ("aü€😀", 5, "aü", "😀"),
            ("aü€😀", 7, "aü€", "€😀"),
            ("aü€😀", 99, "aü€😀", "aü€😀"),
        ] {
            assert_eq!(
                (take_head(text, bytes_max), take_tail(text, bytes_max)),
                (start, end),
                "{text} {bytes_max}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_cut_of_any_text_is_a_piece_of_it(text in any::<String>(), bytes_max in 0_usize..80) {
            let (start, end) = (take_head(&text, bytes_max), take_tail(&text, bytes_max));
            prop_assert!(text.starts_with(start) && text.ends_with(end));
            prop_assert!(start.len() <= bytes_max && end.len() <= bytes_max);
            // Nothing that would have fitted is left out: the next character is longer than the room that is left.
            let next = text[start.len()..].chars().next().map_or(usize::MAX, char::len_utf8);
            prop_assert!(next > bytes_max - start.len());
            let before = text[..text.len() - end.len()].chars().next_back().map_or(usize::MAX, char::len_utf8);
            prop_assert!(before > bytes_max - end.len());
        }

        #[test]
        fn a_text_cut_at_any_byte_is_whole_up_to_its_last_character(text in any::<String>(), cut in 0_usize..80) {
            let bytes = &text.as_bytes()[..cut.min(text.len())];
            prop_assert_eq!(std::str::from_utf8(&bytes[..complete_chars_len(bytes)]), Ok(take_head(&text, cut)));
        }

        #[test]
        fn any_bytes_can_be_cut(bytes in any::<Vec<u8>>()) {
            let length = complete_chars_len(&bytes);
            prop_assert!(length <= bytes.len() && bytes.len() - length < 4);
        }
    }
}
