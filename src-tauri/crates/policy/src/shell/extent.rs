//! How far a substitution, an expansion or a bracket reaches in a text.

/// The command substitutions anywhere in a text in which quotes may not mean what they mean in a word.
pub(super) fn inner_scripts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(['$', '`', '<', '>', '\\']) {
        let here = at + offset;
        let rest = &text[here..];
        at = here + 1;
        if let Some(after) = rest.strip_prefix('\\') {
            at += after.chars().next().map_or(0, char::len_utf8);
        } else if rest.starts_with("$(") || rest.starts_with("<(") || rest.starts_with(">(") {
            let (inner, length) = parenthesised(&rest[2..]);
            found.push(inner.to_owned());
            at = here + 2 + length;
        } else if let Some(after) = rest.strip_prefix('`') {
            let (inner, length) = backquoted(after);
            found.push(inner);
            at = here + 1 + length;
        }
    }
    found
}

/// The text up to the parenthesis that closes, and the bytes up to and with it; one more than there are if none closes.
pub(super) fn parenthesised(text: &str) -> (&str, usize) {
    closed(text, '(', ')')
}

/// The text up to the bracket that closes what was opened before it. Quotes are entered as the shell enters them: a
/// substitution between double quotes has quotes of its own.
pub(super) fn closed(text: &str, open: char, close: char) -> (&str, usize) {
    // What must come to close what is open, the innermost last.
    let mut waits = vec![close];
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let wait = waits.last().copied();
        match c {
            _ if Some(c) == wait => {
                waits.pop();
                if waits.is_empty() {
                    return (&text[..at], at + c.len_utf8());
                }
            }
            _ if wait == Some('\'') => {}
            '\\' => drop(chars.next()),
            _ if wait == Some('`') => {}
            '`' => waits.push('`'),
            '$' => match chars.peek() {
                Some((_, '(')) => {
                    chars.next();
                    waits.push(')');
                }
                Some((_, '{')) => {
                    chars.next();
                    waits.push('}');
                }
                _ => {}
            },
            _ if wait == Some('"') => {}
            '\'' | '"' => waits.push(c),
            _ if c == open && wait == Some(close) => waits.push(close),
            '(' if wait == Some(')') => waits.push(')'),
            _ => {}
        }
    }
    (text, text.len() + 1)
}

/// The command between back quotes, its own backslashes removed, and the bytes up to and with the closing one.
pub(super) fn backquoted(text: &str) -> (String, usize) {
    let mut inner = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => return (inner, at + 1),
            '\\' => match chars.next() {
                Some((_, next @ ('`' | '\\' | '$'))) => inner.push(next),
                Some((_, next)) => inner.extend(['\\', next]),
                None => inner.push('\\'),
            },
            _ => inner.push(c),
        }
    }
    (inner, text.len() + 1)
}
