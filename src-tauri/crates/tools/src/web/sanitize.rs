//! Removes invisible characters from third-party text: blanks become spaces, all other hidden characters are replaced
//! by their names.

use protocol::text::display_text::is_hidden;

/// Returns the text with every hidden character marked as `U+202E`. Line ends become line feeds, and more than two in a
/// row become two.
///
/// Joiners between letters of scripts that need them stay, so that their words do not fall apart; no other hidden
/// character stays.
pub(super) fn sanitize_text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut blank_lines = 0_u8;
    for line in text.split(['\n', '\u{2028}', '\u{2029}']) {
        let from = clean.len();
        mark_hidden_chars(line.strip_suffix('\r').unwrap_or(line), &mut clean);
        let kept = clean[from..].trim_end_matches([' ', '\t']).len();
        clean.truncate(from + kept);
        blank_lines = match kept {
            0 => blank_lines.saturating_add(1),
            _ => 0,
        };
        if blank_lines < 3 {
            clean.push('\n');
        }
    }
    let (start, end) = (clean.trim_start_matches('\n'), clean.trim_end().len());
    let skipped = clean.len() - start.len();
    clean.get(skipped..end).unwrap_or_default().to_owned()
}

/// Sanitizes a text to a single line of at most `chars_max` characters.
pub(crate) fn sanitize_line(text: &str, chars_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut clean = String::new();
    mark_hidden_chars(&words.join(" "), &mut clean);
    protocol::text::display_text::to_single_line(&clean, chars_max)
}

fn mark_hidden_chars(line: &str, clean: &mut String) {
    let mut before = ' ';
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}' => clean.push(' '),
            // A place where a word may be broken, and how an emoji is drawn: neither says anything.
            '\u{ad}' | '\u{fe0e}' | '\u{fe0f}' => {}
            '\u{200c}' | '\u{200d}'
                if is_joiner(before) && rest.peek().copied().is_some_and(is_joiner) =>
            {
                clean.push(c)
            }
            c if is_hidden(c) => clean.push_str(&format!("U+{:04X}", c as u32)),
            c => clean.push(c),
        }
        before = c;
    }
}

fn is_joiner(c: char) -> bool {
    !c.is_ascii() && !is_hidden(c)
}
