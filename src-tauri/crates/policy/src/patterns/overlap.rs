//! Whether a word that the shell completes may come to name what a pattern names: `.en?` and `.env*` may meet.

/// A sign of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GlobSign {
    Literal(char),
    AnyChar,
    AnyText,
}

/// Whether a word has signs that the shell completes.
pub(crate) fn has_wildcard(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// Whether some path fits both a word as the shell completes it and a pattern, at any depth and with all below it.
pub(super) fn may_overlap(word: &str, pattern: &str) -> bool {
    let word: Vec<&str> = split_names(word).collect();
    let mut named = vec!["**"];
    named.extend(split_names(pattern));
    let mut below = named.clone();
    below.push("**");
    let fits = |pattern: &[&str]| {
        sequences_overlap(
            &word,
            pattern,
            |name| *name == "**",
            |mine, theirs| {
                let (signs, other) = (parse_signs(mine), parse_signs(theirs));
                // An open beginning does not stand for the dot of a hidden name.
                let hidden = other.first() == Some(&GlobSign::Literal('.'));
                let opens = !matches!(signs.first(), Some(GlobSign::Literal(_)));
                !(hidden && opens)
                    && sequences_overlap(
                        &signs,
                        &other,
                        |sign| *sign == GlobSign::AnyText,
                        signs_match,
                    )
            },
        )
    };
    fits(&named) || fits(&below)
}

fn split_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !matches!(*name, "" | "."))
}

fn signs_match(mine: &GlobSign, theirs: &GlobSign) -> bool {
    *mine == GlobSign::AnyChar || *theirs == GlobSign::AnyChar || mine == theirs
}

/// Whether two rows may be the same, where some of their members stand for any number of others.
fn sequences_overlap<T>(
    mine: &[T],
    theirs: &[T],
    is_any: impl Fn(&T) -> bool,
    alike: impl Fn(&T, &T) -> bool,
) -> bool {
    // `row[j]`: whether the rest of mine from here on may be the rest of theirs from `j` on.
    let mut row = vec![false; theirs.len() + 1];
    for i in (0..=mine.len()).rev() {
        let below = row.clone();
        for j in (0..=theirs.len()).rev() {
            let (a, b) = (mine.get(i), theirs.get(j));
            let skips_mine = a.is_some_and(&is_any) && (below[j] || (b.is_some() && row[j + 1]));
            let skips_theirs = b.is_some_and(&is_any) && (row[j + 1] || (a.is_some() && below[j]));
            row[j] = match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) if alike(a, b) && below[j + 1] => true,
                _ => skips_mine || skips_theirs,
            };
        }
    }
    row[0]
}

fn parse_signs(name: &str) -> Vec<GlobSign> {
    let mut signs = Vec::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        signs.push(match c {
            '*' => GlobSign::AnyText,
            '?' => GlobSign::AnyChar,
            '\\' => GlobSign::Literal(chars.next().unwrap_or('\\')),
            '[' if name.contains(']') => {
                while chars.next().is_some_and(|inside| inside != ']') {}
                GlobSign::AnyChar
            }
            _ => GlobSign::Literal(c),
        });
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_words_meet_patterns() {
        for (word, pattern, meets) in [
            (".en?", ".env", true),
            (".en?", ".env*", true),
            (".e*v", ".env", true),
            (".[e]nv", ".env", true),
            ("*.pem", "*.pem", true),
            ("*.rs", ".env*", false),
            ("*", ".env", false),
            ("?env", ".env", false),
            ("*", "secret", true),
            ("sub/.e?v", ".env", true),
            ("src/*", "src/gen/**", true),
            ("src/*.rs", "src/gen.rs", true),
            ("src/*.rs", "lib/**", false),
            ("s*/x", "src", true),
            (".g*/config", ".git/**", true),
            ("a*b", "*c", false),
            ("a*b", "*b", true),
            ("**/x", "y/x", true),
            ("src/[ab].rs", "src/c.txt", false),
        ] {
            assert_eq!(may_overlap(word, pattern), meets, "{word} and {pattern}");
        }
        assert!(!may_overlap(&"a*".repeat(2_000), &"b*".repeat(2_000)));
    }
}
