//! "Did you mean …?": suggests names that are similar to one that does not exist.

use similar::get_close_matches;

use crate::limits::CLOSE_NAMES_MAX;

/// Lowest similarity of two names, from 0 to 1.
const RATIO_MIN: f32 = 0.65;

/// Returns up to three of `names` that are similar to `name`, the closest first, ignoring case.
pub fn find_close_names<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let candidates: Vec<&str> = lower.iter().map(String::as_str).collect();
    let mut similar: Vec<&str> = Vec::new();
    for close in get_close_matches(
        &*name.to_lowercase(),
        &candidates,
        CLOSE_NAMES_MAX,
        RATIO_MIN,
    ) {
        for (original, candidate) in names.iter().zip(&candidates) {
            if *candidate == close && !similar.contains(original) {
                similar.push(original);
            }
        }
    }
    similar.truncate(CLOSE_NAMES_MAX);
    similar
}

/// Formats "Did you mean `a`, `b` or `c`?", or nothing if there are no similar names.
pub fn format_suggestion(close: &[&str]) -> String {
    let quoted: Vec<String> = close.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" Did you mean {only}?"),
        Some((last, rest)) => format!(" Did you mean {} or {last}?", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_close() {
        let names = ["read", "write", "edit", "grep", "README.md", "src"];
        for (name, close) in [
            ("reed", &["read"][..]),
            ("Read", &["read"]),
            ("readme.md", &["README.md"]),
            ("Edt", &["edit"]),
            ("wriet", &["write"]),
            ("browser", &[]),
            ("", &[]),
        ] {
            assert_eq!(find_close_names(name, names), close, "{name}");
        }
        assert_eq!(
            find_close_names("ab", ["abc", "abd", "abe", "abf"]).len(),
            3
        );
        assert_eq!(
            format_suggestion(&["a", "b", "c"]),
            " Did you mean `a`, `b` or `c`?"
        );
        assert_eq!(format_suggestion(&[]), "");
    }
}
