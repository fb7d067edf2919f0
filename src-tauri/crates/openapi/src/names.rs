//! Names that models can call and fill in: close to those in the document, and unique.

use protocol::Digest;

use crate::limits::NAME_CHARS_MAX;

/// Returns the nearest name of letters, digits, `_`, `.` and `-` that neither begins nor ends with `_`; `otherwise` if
/// nothing of the text is left.
pub(crate) fn to_callable_name(text: &str, otherwise: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut near = String::new();
    for c in text.chars().take(4 * NAME_CHARS_MAX) {
        let c = if allowed(c) { c } else { '_' };
        if c != '_' || !near.ends_with('_') {
            near.push(c);
        }
    }
    let near: String = near
        .trim_matches('_')
        .chars()
        .take(NAME_CHARS_MAX - 4)
        .collect();
    match near.trim_end_matches('_') {
        "" => otherwise.to_owned(),
        near => near.to_owned(),
    }
}

/// Returns the name, or the first free one with a number at its end.
pub(crate) fn unique_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let tails = (2_u32..).map(|tail| format!("{name}_{tail}"));
    tails
        .into_iter()
        .find(|name| !taken(name))
        .unwrap_or_default()
}

/// Builds the id of a tool, `api__operation`, shortened where it is too long for models such that it stays unique.
pub(crate) fn build_tool_id(api: &str, called: &str, bytes_max: usize) -> String {
    let id = format!("{api}__{called}");
    if id.len() <= bytes_max {
        return id;
    }
    let digest = Digest::from_bytes(called.as_bytes());
    let tail: String = digest.0.chars().take(8).collect();
    let keep = id.floor_char_boundary(bytes_max - tail.len() - 1);
    format!("{}_{tail}", &id[..keep])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_and_their_own() {
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
        assert_eq!(unique_name("a", |name| matches!(name, "a" | "a_2")), "a_3");
        let long = build_tool_id("api", &"x".repeat(100), 64);
        assert_eq!(long.len(), 64);
        assert_ne!(
            long,
            build_tool_id("api", &format!("{}y", "x".repeat(99)), 64)
        );
    }
}
