//! Fences around text in Markdown.

/// Puts text between fences that do not occur in it.
pub fn fence(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence("a"), "```\na\n```");
        assert_eq!(fence("````\n"), "`````\n````\n`````");
    }
}
