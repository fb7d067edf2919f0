//! Edits to one rule of a file: only differences are written.

use protocol::RuleAction;
use protocol::rule::rules_view::NewRule;

use super::*;

const FILE: &str = r#"# What agents may do here.
default = "ask"

# Secrets are ours.
[[rule]]
permission = "fs.write"
pattern    = ".env*" # all of them
action = "deny"

# Updates.
[[rule]]
permission = "bash"
pattern = 'cargo update*'
# They said so.
action = "allow" # since May
match = [
  "cargo update -w", # "[[rule]]"
  "[[rule]]",
]

[[rule]]
permission = "mode:safe_write"
expires = "2026-12-01T01:00:00+01:00"
"#;

fn update() -> NewRule {
    NewRule {
        permission: "bash".to_owned(),
        pattern: Some("cargo update*".to_owned()),
        action: RuleAction::Allow,
        matches: vec!["cargo update -w".to_owned(), "[[rule]]".to_owned()],
        ..NewRule::default()
    }
}

#[test]
fn a_change_writes_only_what_differs() {
    let rule = NewRule {
        action: RuleAction::Ask,
        reason: Some("look \"first\"".to_owned()),
        ..update()
    };
    let mut wanted = FILE.replace("\"allow\" # since", "\"ask\" # since");
    wanted = wanted.replace(
        "  \"[[rule]]\",\n]\n",
        "  \"[[rule]]\",\n]\nreason = 'look \"first\"'\n",
    );
    assert_eq!(replace_rule(FILE, 11, &rule).unwrap(), wanted);
    let own = format_replaced_rule(FILE, 11, &rule).unwrap();
    assert!(own.starts_with("[[rule]]\n") && own.ends_with("\"first\"'\n"));
    assert!(wanted.contains(&own));
}

#[test]
fn what_means_the_same_stays_as_it_is_written() {
    assert_eq!(replace_rule(FILE, 11, &update()).unwrap(), FILE);
    let last = NewRule {
        permission: "mode:safe_write".to_owned(),
        expires_ms: Some(1_796_083_200_000),
        ..NewRule::default()
    };
    assert_eq!(replace_rule(FILE, 21, &last).unwrap(), FILE);
    // Lines that end as on another system go on ending so, in what is written anew as well.
    let other = FILE.replace('\n', "\r\n");
    assert_eq!(replace_rule(&other, 11, &update()).unwrap(), other);
    let ask = NewRule {
        action: RuleAction::Ask,
        ..update()
    };
    let changed = replace_rule(&other, 11, &ask).unwrap();
    assert_eq!(
        changed,
        replace_rule(FILE, 11, &ask).unwrap().replace('\n', "\r\n")
    );
    let marked = format!("\u{feff}{FILE}");
    assert_eq!(replace_rule(&marked, 11, &update()).unwrap(), marked);
}

/// An end that cannot be written is an error: without it the rule would never end.
#[test]
fn an_end_that_cannot_be_written_changes_nothing() {
    let rule = NewRule {
        expires_ms: Some(i64::MIN),
        ..update()
    };
    for fault in [
        replace_rule(FILE, 11, &rule).unwrap_err(),
        format_replaced_rule(FILE, 11, &rule).unwrap_err(),
    ] {
        assert_eq!(
            fault.message,
            "The rule cannot be changed: `-009999-01-02T01:59:59Z` is not a time."
        );
    }
}

#[test]
fn a_member_of_several_lines_goes_with_all_of_them() {
    let rule = NewRule {
        matches: Vec::new(),
        ..update()
    };
    let (start, end) = (
        FILE.find("match = [").unwrap(),
        FILE.find("]\n\n[[rule]]\npermission = \"mode").unwrap(),
    );
    let wanted = [&FILE[..start], &FILE[end + 2..]].concat();
    assert_eq!(replace_rule(FILE, 11, &rule).unwrap(), wanted);
}

#[test]
fn a_rule_goes_with_the_comment_above_it() {
    let without_update = remove_rule(FILE, 11).unwrap();
    let start = FILE.find("# Updates.").unwrap();
    let end = FILE.find("[[rule]]\npermission = \"mode").unwrap();
    assert_eq!(without_update, [&FILE[..start], &FILE[end..]].concat());
    let last = remove_rule(FILE, 21).unwrap();
    assert_eq!(last, FILE[..end]);
    // A comment at the very top is about the file.
    let top =
        "# Ours.\n[[rule]]\npermission = \"bash\"\n\n# Reads.\n[[rule]]\npermission = \"read\"\n";
    let wanted = "# Ours.\n# Reads.\n[[rule]]\npermission = \"read\"\n";
    assert_eq!(remove_rule(top, 2).unwrap(), wanted);
    assert_eq!(
        remove_rule(top, 6).unwrap(),
        "# Ours.\n[[rule]]\npermission = \"bash\"\n\n"
    );
}

#[test]
fn what_has_no_header_of_its_own_is_changed_as_a_whole() {
    let inline = "rule = [{ permission = \"bash\" }, { permission = \"read\" }]\n";
    let one = "rule = [\n  { permission = \"bash\" },\n]\n";
    for (text, line, says) in [
        (FILE, 1, "No rule begins in line 1"),
        (FILE, 12, "No rule begins in line 12"),
        (inline, 1, "More than one rule begins in line 1"),
        (one, 2, "has no `[[rule]]` of its own"),
        ("[[rule]]\n", 1, "cannot be read"),
    ] {
        for fault in [
            replace_rule(text, line, &update()).unwrap_err(),
            format_replaced_rule(text, line, &update()).unwrap_err(),
            remove_rule(text, line).unwrap_err(),
        ] {
            assert!(fault.message.contains(says), "{fault}");
        }
    }
}
