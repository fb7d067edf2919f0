//! Reading verbs: names of somebody else's tools that say that they only read (M26). What a name says is no promise, so a
//! person says yes to the first call of each verb.

use crate::shell::list_has_word;

/// First words of names that say that a tool reads. `query`, `execute`, and `run` are none: they take statements.
const READING_VERBS: &str =
    "get list read search find fetch show view describe lookup count status check";

/// Further words that say that it does more than that: `get_or_create`, `find_and_replace`, `check_out`. Words that are as
/// often the name of a thing, such as `post` and `run`, are none of them.
const CHANGING_WORDS: &str = "and or then in out create add insert make update upsert set edit modify change replace rename \
    move delete remove drop clear reset mark assign publish push write save put execute exec eval start stop approve cancel";

/// Returns the permission `server__verb_*` for somebody else's tool whose name says that it only reads; none for any other
/// name.
pub(crate) fn find_verb_permission(tool: &str) -> Option<String> {
    let (server, name) = tool.split_once("__")?;
    let words = split_words(name);
    let (verb, more) = words.split_first()?;
    let changes = more.iter().any(|word| list_has_word(CHANGING_WORDS, word));
    (list_has_word(READING_VERBS, verb) && !changes).then(|| format!("{server}__{verb}_*"))
}

/// Splits a name where no letter or digit stands, and before a capital in camel case.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (after_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_by_its_first_word_and_by_no_other() {
        for (tool, permission) in [
            ("github__get_issue", Some("github__get_*")),
            ("github__getIssue", Some("github__get_*")),
            ("github__GetIssue", Some("github__get_*")),
            ("github__GET_ISSUE", Some("github__get_*")),
            ("my-hub__search-docs", Some("my-hub__search_*")),
            ("hub__list.pulls", Some("hub__list_*")),
            ("hub__count", Some("hub__count_*")),
            ("hub__get_merge_request", Some("hub__get_*")),
            ("hub__list_open_runs", Some("hub__list_*")),
            ("hub__getaway", None),
            ("hub__create_issue", None),
            ("hub__issue_get", None),
            ("hub__query", None),
            ("hub__execute_sql", None),
            ("hub__run_report", None),
            ("hub__get_or_create_user", None),
            ("hub__findAndReplace", None),
            ("hub__check_out", None),
            ("hub__status_update", None),
            // With a Cyrillic letter.
            ("hub__g\u{435}t_issue", None),
            ("hub__", None),
            ("get_issue", None),
        ] {
            let found = find_verb_permission(tool);
            assert_eq!(found.as_deref(), permission, "{tool}");
        }
    }
}
