//! Names that models can call and fill in, close to those in the document.

use crate::limits::NAME_CHARS_MAX;

/// Returns the nearest name of letters, digits, `_`, `.` and `-` that neither begins nor ends with `_`; `otherwise` if
/// nothing of the text is left.
pub(crate) fn to_callable_name(text: &str, otherwise: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut nearest = String::new();
    for c in text.chars().take(4 * NAME_CHARS_MAX) {
        let c = if allowed(c) { c } else { '_' };
        if c != '_' || !nearest.ends_with('_') {
            nearest.push(c);
        }
    }
    let nearest: String = nearest
        .trim_matches('_')
        .chars()
        .take(NAME_CHARS_MAX - 4)
        .collect();
    match nearest.trim_end_matches('_') {
        "" => otherwise.to_owned(),
        nearest => nearest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near() {
        for (text, name) in [
            ("get_users", "get_users"),
            ("issues/list-for-repo", "issues_list-for-repo"),
            ("filter[name]", "filter_name"),
            ("$top", "top"),
            ("_limit", "limit"),
            ("X-Request-Id", "X-Request-Id"),
            ("日本", "x"),
        ] {
            assert_eq!(to_callable_name(text, "x"), name, "{text}");
        }
    }
}
