//! References to values that are not written down: `${NAME}`, `${NAME:-default}`, `keychain:NAME`. They are resolved
//! when a server starts.

use crate::limits::VALUE_BYTES_MAX;

/// Prefix of a value that is stored in the keychain.
pub const KEYCHAIN: &str = "keychain:";

/// Resolves references. Lookups may block, so they are made off the async threads.
pub trait ReferenceResolver: Send + Sync {
    /// Returns a variable of the app's environment.
    fn resolve_variable(&self, name: &str) -> Option<String>;

    /// Returns a secret from the keychain.
    ///
    /// # Errors
    /// If the keychain cannot be read; a sentence.
    fn resolve_secret(&self, name: &str) -> Result<Option<String>, String>;
}

/// Resolves the references in a value. Resolved text is not expanded again.
///
/// # Errors
/// The first reference that cannot be resolved, as a sentence with the next step. The error never contains the value of
/// another reference.
pub fn expand_references(value: &str, lookup: &dyn ReferenceResolver) -> Result<String, String> {
    if let Some(name) = value.strip_prefix(KEYCHAIN) {
        return match lookup.resolve_secret(name)? {
            Some(secret) => Ok(secret),
            None => Err(format!(
                "the keychain holds no `{name}`. Put it there where this is set up."
            )),
        };
    }
    let mut expanded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((name, left)) = after.split_once('}') else {
            expanded.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (name, None),
        };
        if !is_variable_name(name) {
            expanded.push_str("${");
            rest = after;
            continue;
        }
        let value = lookup
            .resolve_variable(name)
            .filter(|value| !value.is_empty());
        match value.as_deref().or(default) {
            Some(value) => expanded.push_str(value),
            None => {
                return Err(format!(
                    "the variable {name} is not set. Set it where Countersign is started, or write another value."
                ));
            }
        }
        rest = left;
    }
    expanded.push_str(rest);
    match expanded.len() > VALUE_BYTES_MAX {
        true => Err(format!(
            "a value is longer than {VALUE_BYTES_MAX} bytes once its references are looked up."
        )),
        false => Ok(expanded),
    }
}

/// Whether a value consists of references only, so that it holds no secret itself.
pub fn is_only_references(value: &str) -> bool {
    let Some(after) = value.strip_prefix("${") else {
        return value.starts_with(KEYCHAIN);
    };
    after
        .split_once('}')
        .is_some_and(|(name, left)| is_variable_name(name) && left.is_empty())
}

/// Whether a value contains a reference.
pub fn has_reference(value: &str) -> bool {
    value.starts_with(KEYCHAIN) || value.contains("${")
}

fn is_variable_name(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(begins) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Some2;

    impl ReferenceResolver for Some2 {
        fn resolve_variable(&self, name: &str) -> Option<String> {
            match name {
                "HOME" => Some("/home/me".to_owned()),
                "EMPTY" => Some(String::new()),
                "TRICK" => Some("${HOME}".to_owned()),
                _ => None,
            }
        }

        fn resolve_secret(&self, name: &str) -> Result<Option<String>, String> {
            match name {
                "locked" => Err("the keychain is locked.".to_owned()),
                "token" => Ok(Some("hush".to_owned())),
                _ => Ok(None),
            }
        }
    }

    #[test]
    fn references_are_looked_up_once() {
        for (value, expanded) in [
            ("plain", Ok("plain")),
            ("${HOME}/x", Ok("/home/me/x")),
            ("a${HOME}b${HOME}", Ok("a/home/meb/home/me")),
            ("${NONE:-d}", Ok("d")),
            ("${EMPTY:-d}", Ok("d")),
            ("${NONE:-}", Ok("")),
            ("${TRICK}", Ok("${HOME}")),
            ("$HOME ${ HOME } ${", Ok("$HOME ${ HOME } ${")),
            ("keychain:token", Ok("hush")),
            ("Bearer keychain:token", Ok("Bearer keychain:token")),
            ("${NONE}", Err("the variable NONE is not set")),
            ("keychain:none", Err("holds no `none`")),
            ("keychain:locked", Err("locked")),
        ] {
            match (expand_references(value, &Some2), expanded) {
                (Ok(found), Ok(wanted)) => assert_eq!(found, wanted, "{value}"),
                (Err(found), Err(wanted)) => assert!(found.contains(wanted), "{value}: {found}"),
                (found, wanted) => panic!("{value}: {found:?}, not {wanted:?}"),
            }
        }
    }

    #[test]
    fn a_reference_is_all_of_its_value() {
        for (value, is) in [
            ("${A}", true),
            ("${A:-b}", false),
            ("keychain:a", true),
            ("${A}b", false),
            ("x", false),
        ] {
            assert_eq!(is_only_references(value), is, "{value}");
        }
    }
}
