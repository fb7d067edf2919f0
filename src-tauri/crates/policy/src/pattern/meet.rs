//! Whether a word that the shell completes may come to name what a pattern names: `.en?` and `.env*` may meet.

/// A sign of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Exactly(char),
    One,
    Any,
}

/// Whether a word has signs that the shell completes.
pub(crate) fn is_open(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// Whether some path fits both a word as the shell completes it and a pattern, at any depth and with all below it.
pub(super) fn may_meet(word: &str, pattern: &str) -> bool {
    let word: Vec<&str> = names(word).collect();
    let mut named = vec!["**"];
    named.extend(names(pattern));
    let mut below = named.clone();
    below.push("**");
    let fits = |pattern: &[&str]| {
        meet(
            &word,
            pattern,
            |name| *name == "**",
            |mine, theirs| {
                let (signs, other) = (signs(mine), signs(theirs));
                // An open beginning does not stand for the dot of a hidden name.
                let hidden = other.first() == Some(&Sign::Exactly('.'));
                let opens = !matches!(signs.first(), Some(Sign::Exactly(_)));
                !(hidden && opens) && meet(&signs, &other, |sign| *sign == Sign::Any, alike)
            },
        )
    };
    fits(&named) || fits(&below)
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !matches!(*name, "" | "."))
}

fn alike(mine: &Sign, theirs: &Sign) -> bool {
    *mine == Sign::One || *theirs == Sign::One || mine == theirs
}

/// Whether two rows may be the same, where some of their members stand for any number of others.
fn meet<T>(
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

fn signs(name: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        signs.push(match c {
            '*' => Sign::Any,
            '?' => Sign::One,
            '\\' => Sign::Exactly(chars.next().unwrap_or('\\')),
            '[' if name.contains(']') => {
                while chars.next().is_some_and(|inside| inside != ']') {}
                Sign::One
            }
            _ => Sign::Exactly(c),
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
            assert_eq!(may_meet(word, pattern), meets, "{word} and {pattern}");
        }
        assert!(!may_meet(&"a*".repeat(2_000), &"b*".repeat(2_000)));
    }
}
