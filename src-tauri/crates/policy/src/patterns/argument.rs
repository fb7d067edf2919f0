//! A pattern for one argument of somebody else's tool: `branch=release/*`.

use globset::{GlobBuilder, GlobMatcher};
use protocol::rule::evidence::ArgumentValue;

/// A pattern for one argument, ready to match.
#[derive(Debug, Clone)]
pub struct ArgumentPattern {
    /// The argument, and the member of it: `options.branch`.
    name: String,
    narrow: GlobMatcher,
    broad: GlobMatcher,
}

impl ArgumentPattern {
    /// Parses the argument pattern of a rule, if the rule is about one argument: it names tools of a server or a
    /// service, and its pattern is a name, `=` and a glob for the whole value. `*` stands for any text, with or without
    /// `/`.
    ///
    /// # Errors The glob is invalid; a sentence.
    pub fn from_rule(permission: &str, pattern: &str) -> Result<Option<Self>, String> {
        let is_foreign = permission.contains("__") || permission.starts_with("mcp:");
        match pattern.trim().split_once('=').filter(|_| is_foreign) {
            Some((name, glob)) if is_argument_name(name) => Self::new(name, glob).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    fn new(name: &str, glob: &str) -> Result<Self, String> {
        let build = |folds: bool| {
            GlobBuilder::new(glob)
                .literal_separator(false)
                .backslash_escape(true)
                .empty_alternates(true)
                .case_insensitive(folds)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| format!("the pattern `{glob}` is not a glob: {}", error.kind()))
        };
        Ok(Self {
            name: name.to_owned(),
            narrow: build(false)?,
            broad: build(true)?,
        })
    }

    /// Whether an allow with this pattern matches: the argument is present, in exactly this spelling, and every value
    /// of it fits.
    pub fn allows(&self, arguments: Option<&[ArgumentValue]>) -> bool {
        let mut named = arguments
            .unwrap_or_default()
            .iter()
            .filter(|argument| is_member_of(&argument.name, &self.name))
            .peekable();
        named.peek().is_some()
            && named.all(|argument| {
                let text = argument.text.as_deref();
                argument.name == self.name && text.is_some_and(|text| self.narrow.is_match(text))
            })
    }

    /// Whether a deny with this pattern matches: some value of the argument fits, or may.
    pub fn covers(&self, arguments: Option<&[ArgumentValue]>) -> bool {
        let Some(arguments) = arguments else {
            return true;
        };
        let name = self.name.to_lowercase();
        let fits = |text: &str| self.broad.is_match(text) || self.broad.is_match(text.trim());
        arguments
            .iter()
            .filter(|argument| is_member_of(&argument.name.to_lowercase(), &name))
            .any(|argument| argument.text.as_deref().is_none_or(fits))
    }
}

fn is_argument_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Whether a value belongs to an argument, or to a member of it.
fn is_member_of(name: &str, argument: &str) -> bool {
    name.strip_prefix(argument)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// One exact value as a pattern.
pub fn exact_argument_pattern(name: &str, value: &str) -> Option<String> {
    let mut pattern = format!("{name}=");
    for c in value.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => pattern.extend(['[', c, ']']),
            '\\' => pattern.push_str("\\\\"),
            _ => pattern.push(c),
        }
    }
    is_argument_name(name).then_some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> ArgumentPattern {
        ArgumentPattern::from_rule("git__checkout", text)
            .unwrap()
            .unwrap()
    }

    fn arguments(all: &[(&str, Option<&str>)]) -> Vec<ArgumentValue> {
        let one = |(name, text): &(&str, Option<&str>)| ArgumentValue {
            name: (*name).to_owned(),
            text: text.map(str::to_owned),
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn an_allow_is_narrow_and_a_deny_is_broad() {
        for (written, given, allows, covers) in [
            ("branch=main", &[("branch", Some("main"))][..], true, true),
            ("branch=main", &[("branch", Some("Main"))], false, true),
            ("branch=main", &[("branch", Some(" main "))], false, true),
            ("branch=main", &[("branch", Some("mainline"))], false, false),
            (
                "branch=release/*",
                &[("branch", Some("release/1/x"))],
                true,
                true,
            ),
            ("branch=main", &[("other", Some("main"))], false, false),
            ("branch=main", &[], false, false),
            // An unknown value may be anything.
            ("branch=main", &[("branch", None)], false, true),
            // Every value of a list, and of what is nested, has to fit.
            (
                "label=a*",
                &[("label", Some("ab")), ("label", Some("ac"))],
                true,
                true,
            ),
            (
                "label=a*",
                &[("label", Some("ab")), ("label", Some("b"))],
                false,
                true,
            ),
            (
                "o.branch=main",
                &[("o.branch", Some("main")), ("o.x", Some("y"))],
                true,
                true,
            ),
            ("o=main", &[("o.branch", Some("main"))], false, true),
            ("n=[*]", &[("n", Some("*"))], true, true),
            ("n=[*]", &[("n", Some("x"))], false, false),
        ] {
            let (pattern, given) = (pattern(written), arguments(given));
            let found = (pattern.allows(Some(&given)), pattern.covers(Some(&given)));
            assert_eq!(found, (allows, covers), "{written} {given:?}");
        }
        assert!(!pattern("branch=main").allows(None));
        assert!(pattern("branch=main").covers(None));
    }

    #[test]
    fn an_exact_pattern_means_its_value() {
        for value in ["main", "a*b", "{x}", "a\\b", "[a]", "a b/c"] {
            let pattern = pattern(&exact_argument_pattern("n", value).unwrap());
            assert!(
                pattern.allows(Some(&arguments(&[("n", Some(value))]))),
                "{value}"
            );
            assert!(
                !pattern.allows(Some(&arguments(&[("n", Some("other"))]))),
                "{value}"
            );
        }
        assert_eq!(exact_argument_pattern("a b", "x"), None);
    }

    #[test]
    fn only_rules_for_tools_of_others_are_about_arguments() {
        for (permission, pattern, is_one) in [
            ("git__checkout", "branch=main", true),
            ("git__*", "branch=main", true),
            ("mcp:git:checkout", "branch=main", true),
            ("git__checkout", "src/a=b", false),
            ("bash", "make=x", false),
            ("fs.write", "a=b", false),
        ] {
            let found = ArgumentPattern::from_rule(permission, pattern).unwrap();
            assert_eq!(found.is_some(), is_one, "{permission} {pattern}");
        }
    }
}
