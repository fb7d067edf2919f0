//! The table of commands: each with its verdict under one set of rules, and why.

use std::collections::BTreeMap;

use super::{ShellFacts, parse_command};

#[derive(serde::Deserialize)]
struct Table {
    rules: Rules,
    /// Commands that are allowed, with the words that an allow looked at.
    allow: BTreeMap<String, Vec<String>>,
    /// Commands that are asked about, with the first reason.
    ask: BTreeMap<String, String>,
    /// Commands that are denied, with the words that a deny saw.
    deny: BTreeMap<String, String>,
}

#[derive(serde::Deserialize)]
struct Rules {
    allow: Vec<String>,
    deny: Vec<String>,
}

/// `git status*` means these words, then the end or more words.
fn matches(pattern: &str, words: &[String]) -> bool {
    let (fixed, open) = match pattern.strip_suffix('*') {
        Some(fixed) => (fixed, true),
        None => (pattern, false),
    };
    let fixed: Vec<&str> = fixed.split_whitespace().collect();
    words.len() >= fixed.len()
        && (open || words.len() == fixed.len())
        && fixed.iter().zip(words).all(|(mine, theirs)| mine == theirs)
}

impl Rules {
    fn verdict(&self, facts: &ShellFacts) -> (&'static str, String) {
        let denied = facts
            .may_run()
            .iter()
            .find(|words| self.deny.iter().any(|pattern| matches(pattern, words)));
        if let Some(words) = denied {
            return ("deny", words.join(" "));
        }
        let Some(plain) = facts.plain() else {
            return ("ask", facts.unsure_reasons[0].clone());
        };
        let open = plain
            .iter()
            .find(|words| !self.allow.iter().any(|pattern| matches(pattern, words)));
        match open {
            Some(words) => ("ask", format!("No rule for `{}`.", words.join(" "))),
            None => ("allow", String::new()),
        }
    }
}

#[test]
fn every_command_of_the_table() {
    let text = include_str!("../../../../../tests/cases/commands.toml");
    let table: Table = toml::from_str(text).unwrap();
    let mut wrong = Vec::new();
    let mut check = |command: &str, expected: (&str, &str)| {
        let facts = parse_command(command);
        let (verdict, why) = table.rules.verdict(&facts);
        if (verdict, why.as_str()) != expected {
            wrong.push(format!(
                "{command:?}\n    is {verdict}: {why}\n    not {}: {}",
                expected.0, expected.1
            ));
        }
    };
    for (command, words) in &table.allow {
        let seen: Vec<String> = parse_command(command)
            .plain()
            .unwrap_or_default()
            .iter()
            .map(|words| words.join(" "))
            .collect();
        assert_eq!(
            &seen,
            words,
            "{command:?}: {:?}",
            parse_command(command).unsure_reasons
        );
        check(command, ("allow", ""));
    }
    for (command, why) in &table.ask {
        check(command, ("ask", why));
    }
    for (command, why) in &table.deny {
        check(command, ("deny", why));
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let count = table.allow.len() + table.ask.len() + table.deny.len();
    assert!(count >= 300, "only {count} commands");
}
