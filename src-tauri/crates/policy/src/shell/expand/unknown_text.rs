//! The mark for a text that only the run tells. It is spelled as nothing, and where a path goes on behind it the mark
//! says that the path begins with a guess: `$d/x` is `/x` only if `d` is empty.

/// The mark. No text that a person writes holds it, and no path begins with it.
pub(in crate::shell) const UNKNOWN_TEXT: char = '\u{1}';

/// Removes every mark.
pub(in crate::shell) fn remove_marks(text: &mut String) {
    text.retain(|c| c != UNKNOWN_TEXT);
}

/// Removes every mark but those behind which a path goes on.
pub(in crate::shell) fn remove_idle_marks(text: &str) -> String {
    let mut pieces = text.split(UNKNOWN_TEXT);
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if piece.starts_with('/') {
            kept.push(UNKNOWN_TEXT);
        }
        kept.push_str(piece);
    }
    kept
}
