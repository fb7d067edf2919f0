//! A rule as it is written into a file.

use protocol::rule::rules_view::NewRule;
use protocol::{UserError, Verdict};
use toml_edit::{Array, Datetime, Value};

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
    let members = rule_members(rule).into_iter();
    let lines = members.filter_map(|(member, value)| Some(format!("{member} = {}\n", value?)));
    std::iter::once("[[rule]]\n".to_owned())
        .chain(lines)
        .collect()
}

/// The members of a rule in the order in which they are written; none where the rule has none.
pub(super) fn rule_members(rule: &NewRule) -> [(&'static str, Option<Value>); 8] {
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let list = |texts: &[String]| {
        (!texts.is_empty()).then(|| Value::from(texts.iter().collect::<Array>()))
    };
    // A time that TOML does not know stays a text, which no rules file is read with.
    let to_value = |at: String| {
        at.parse::<Datetime>()
            .map_or_else(|_| Value::from(at), Value::from)
    };
    let expires = rule.expires_ms.map(time::format_time).map(to_value);
    let action = verdict_word(Verdict::from(rule.action));
    [
        ("permission", Some(Value::from(rule.permission.as_str()))),
        ("pattern", text(&rule.pattern)),
        ("action", Some(Value::from(action))),
        ("reason", text(&rule.reason)),
        ("match", list(&rule.matches)),
        ("not_match", list(&rule.not_matches)),
        ("expires", expires),
        (
            "max_uses",
            rule.max_uses.map(|uses| Value::from(i64::from(uses))),
        ),
    ]
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
        let without_end = NewRule {
            permission: "bash".to_owned(),
            expires_ms: Some(i64::MIN),
            ..NewRule::default()
        };
        let source = RulesFileSource::new("r", RuleScope::User);
        let fault = parse_new_rule(&without_end, &source).unwrap_err();
        assert!(
            fault.message.starts_with("The rule cannot be taken: "),
            "{fault}"
        );
    }
}
