//! Tool aliases: translates arguments that go by other names under an alias into our names (M05, `S003-04`).

use protocol::interface::ToolAlias;
use serde_json::{Map, Value};

/// Alias, member and the value that the member takes where a call by that alias leaves it out: a folder is listed whole
/// (`S001-51`).
const DEFAULT_TRANSLATIONS: [(&str, &str, &str); 2] = [
    ("list_files", "pattern", "*"),
    ("list_files", "include", "everything"),
];

/// Translates arguments into our names. Members that the alias does not mention stay as they are.
///
/// # Errors
/// If a member is given under both names.
pub fn translate_arguments(
    alias: &ToolAlias,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut ours = Map::with_capacity(arguments.len());
    for (name, value) in arguments {
        let name = to_own_name(alias, &name).map_or(name.clone(), str::to_owned);
        if ours.contains_key(&name) {
            let theirs = to_alias_name(alias, &name);
            return Err(format!(
                "`{theirs}` and `{name}` are two names of the same member; give one of them"
            ));
        }
        ours.insert(name, value);
    }
    for (name, member, value) in DEFAULT_TRANSLATIONS {
        if alias.name == name && !ours.contains_key(member) {
            ours.insert(member.to_owned(), Value::String(value.to_owned()));
        }
    }
    Ok(ours)
}

/// Returns the name that one of our members has under the alias.
pub fn to_alias_name<'a>(alias: &'a ToolAlias, ours: &'a str) -> &'a str {
    alias
        .arguments
        .iter()
        .find(|(_, name)| name == ours)
        .map_or(ours, |(theirs, _)| theirs)
}

fn to_own_name<'a>(alias: &'a ToolAlias, theirs: &str) -> Option<&'a str> {
    let mut pairs = alias.arguments.iter();
    pairs
        .find(|(name, _)| name == theirs)
        .map(|(_, ours)| ours.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn alias_of(name: &str, arguments: &[(&str, &str)]) -> ToolAlias {
        let tool = protocol::ToolInterface::builder("t").add_alias(name, arguments);
        tool.build().identity.aliases.remove(0)
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn their_arguments_become_ours_m05() {
        let edit = alias_of(
            "edit_file",
            &[("old_text", "old_string"), ("new_text", "new_string")],
        );
        let given = object(json!({"path": "a", "old_text": "x", "new_string": "y"}));
        assert_eq!(
            translate_arguments(&edit, given).unwrap(),
            object(json!({"path": "a", "old_string": "x", "new_string": "y"}))
        );
        let twice = object(json!({"old_text": "x", "old_string": "x"}));
        assert_eq!(
            translate_arguments(&edit, twice).unwrap_err(),
            "`old_text` and `old_string` are two names of the same member; give one of them"
        );
        let list = alias_of("list_files", &[]);
        assert_eq!(
            translate_arguments(&list, object(json!({"path": "src"}))).unwrap(),
            object(json!({"path": "src", "pattern": "*", "include": "everything"})),
            "S001-51"
        );
        assert_eq!(to_alias_name(&edit, "old_string"), "old_text");
    }
}
