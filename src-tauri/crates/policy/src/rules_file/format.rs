//! A rule as it is written into a file.

use protocol::rule::rules_view::NewRule;
use protocol::{UserError, Verdict};
use toml::Value;

use super::{LineStarts, RulesFile, RulesFileSource, parse_toml, time};

/// A verdict as rules write it.
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

/// Formats the rule as it would stand in a file, its header first.
pub fn format_rule(rule: &NewRule) -> String {
    let quoted = |text: &str| Value::String(text.to_owned()).to_string();
    let list = |texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        format!("[{}]", texts.join(", "))
    };
    let mut lines = vec![
        "[[rule]]".to_owned(),
        format!("permission = {}", quoted(&rule.permission)),
    ];
    if let Some(pattern) = &rule.pattern {
        lines.push(format!("pattern = {}", quoted(pattern)));
    }
    let action = verdict_word(Verdict::from(rule.action));
    lines.push(format!("action = \"{action}\""));
    if let Some(reason) = &rule.reason {
        lines.push(format!("reason = {}", quoted(reason)));
    }
    if !rule.matches.is_empty() {
        lines.push(format!("match = {}", list(&rule.matches)));
    }
    if !rule.not_matches.is_empty() {
        lines.push(format!("not_match = {}", list(&rule.not_matches)));
    }
    if let Some(at) = rule.expires_ms {
        lines.push(format!("expires = {}", time::format_time(at)));
    }
    if let Some(uses) = rule.max_uses {
        lines.push(format!("max_uses = {uses}"));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Compiles a rule that stands in no file yet, with warnings about entries that are hardly meant.
///
/// # Errors The rule is one that a rules file would be refused for.
pub fn parse_new_rule(
    rule: &NewRule,
    source: &RulesFileSource<'_>,
) -> Result<RulesFile, UserError> {
    let text = format_rule(rule);
    let mut read = parse_toml(&text, &LineStarts::new(&text), source).map_err(|wrong| {
        UserError::new(
            format!("The rule cannot be taken: {}.", wrong.what),
            wrong.next,
        )
    })?;
    for compiled in &mut read.rules {
        (compiled.rule.file, compiled.rule.line) = (None, None);
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use protocol::{RuleAction, RuleScope};

    use super::*;

    #[test]
    fn what_is_written_is_read_as_it_was_meant() {
        for (pattern, reason) in [
            ("git status*", Some("reads only")),
            (
                r#"echo \* \" \' \{ \\ a"#,
                Some("a \"quoted\"\nreason with 'both' \\ signs"),
            ),
            ("'''", None),
            ("é \\\\", None),
        ] {
            let rule = NewRule {
                permission: "bash".to_owned(),
                pattern: Some(pattern.to_owned()),
                action: RuleAction::Deny,
                reason: reason.map(str::to_owned),
                expires_ms: Some(1_796_083_200_250),
                max_uses: Some(3),
                ..NewRule::default()
            };
            let read = parse_new_rule(&rule, &RulesFileSource::new("r", RuleScope::User)).unwrap();
            let is = &read.rules[0].rule;
            assert_eq!(
                (is.pattern.as_deref(), is.reason.as_deref(), is.action),
                (Some(pattern), reason, RuleAction::Deny)
            );
            assert_eq!(
                (is.expires_ms, is.max_uses),
                (rule.expires_ms, rule.max_uses)
            );
        }
        let wrong = NewRule {
            permission: "bash".to_owned(),
            pattern: Some("ls*".to_owned()),
            action: RuleAction::Allow,
            not_matches: vec!["ls -l".to_owned()],
            ..NewRule::default()
        };
        let fault =
            parse_new_rule(&wrong, &RulesFileSource::new("r", RuleScope::User)).unwrap_err();
        assert!(fault.message.contains("counter-example `ls -l`"), "{fault}");
    }
}
