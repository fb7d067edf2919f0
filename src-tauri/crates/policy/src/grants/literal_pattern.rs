//! Patterns that mean exactly what a call named: every special character is made literal.

/// The words of a command as a pattern that matches them and no other words.
pub fn exact_command_pattern(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| escape_word(word)).collect();
    words.join(" ")
}

/// The words of a command as a pattern after which more words may follow.
pub fn command_prefix_pattern(words: &[String]) -> String {
    let glued = words.last().is_some_and(|last| !last.is_empty());
    let pattern = exact_command_pattern(words);
    match glued {
        true => format!("{pattern}*"),
        false => format!("{pattern} *"),
    }
}

fn escape_word(word: &str) -> String {
    if word.is_empty() {
        return "\"\"".to_owned();
    }
    let mut spelled = String::with_capacity(word.len());
    for c in word.chars() {
        if c.is_whitespace() || matches!(c, '*' | '?' | '{' | '}' | '\\' | '\'' | '"' | '`') {
            spelled.push('\\');
        }
        spelled.push(c);
    }
    spelled
}

/// A path as a pattern for itself alone, with everything below it.
pub fn path(path: &str) -> String {
    let mut spelled = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '*' | '?' | '[' | '{' => spelled.extend(['[', c, ']']),
            _ => spelled.push(c),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::{Capability, ResolvedAccess};

    use super::*;
    use crate::path::Os;
    use crate::patterns::{CommandPattern, PathForms, PathPattern};

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z*?{},'\"\\\\ `$()#!\\[\\]-]{0,8}",
            "[a-z]{1,6}",
            "[*{}a,]{1,5}",
        ]
    }

    proptest! {
        /// A literal `*` stays literal: what is offered matches its own command, and none in which a word is another.
        #[test]
        fn an_exact_pattern_means_its_own_command(words in prop::collection::vec(word(), 1..6), at in 0..6_usize, other in word()) {
            let pattern = CommandPattern::new(&exact_command_pattern(&words));
            prop_assert!(pattern.allows(&words), "{:?} from {words:?}", exact_command_pattern(&words));
            let open = CommandPattern::new(&command_prefix_pattern(&words));
            prop_assert!(open.allows(&words));
            let mut more = words.clone();
            more.push("more".to_owned());
            prop_assert!(open.allows(&more) && !pattern.allows(&more));
            let mut changed = words.clone();
            let at = at % words.len();
            changed[at] = match words[at].contains('*') {
                true => words[at].replace('*', "x"),
                false => other,
            };
            if changed != words {
                prop_assert!(!pattern.allows(&changed), "{:?} allows {changed:?}", exact_command_pattern(&words));
                prop_assert!(!open.allows(&changed), "{:?} allows {changed:?}", command_prefix_pattern(&words));
            }
        }

        #[test]
        fn a_path_pattern_means_its_own_path(name in "[a-z*?\\[\\]{},!.-]{1,10}", other in "[a-z]{1,10}") {
            let real = format!("src/{name}");
            let Ok(pattern) = PathPattern::new(&path(&real), Os::Linux) else {
                return Ok(());
            };
            let allows = |real: &str| {
                let fact = ResolvedAccess::new_inside(Capability::FsWrite, real);
                pattern.allows(&PathForms { real: &fact.real, root: None, inside: true })
            };
            if real.trim_end_matches('/') == real && !real.ends_with("/.") {
                prop_assert!(allows(&real), "{:?}", path(&real));
            }
            let changed = format!("src/{}", name.replace(['*', '?'], "x"));
            prop_assert!(changed == real || !allows(&changed), "{:?} allows {changed}", path(&real));
            prop_assert!(name == other || !allows(&["src/", other.as_str()].concat()));
        }
    }
}
