//! Reads `rules.toml`: every error names the file, the line, what is wrong and what to do.

use protocol::{Action, Capability, Fact, Fault, Rule, RuleScope, ToolMode};
use serde::Deserialize;

use crate::limits::{PATTERN_BYTES_MAX, RULES_MAX};
use crate::rules::{CompiledRule, RuleSet, Subject};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<toml::Spanned<Written>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    permission: String,
    pattern: Option<String>,
    #[serde(default)]
    action: Action,
    reason: Option<String>,
    #[serde(default, rename = "match")]
    matching: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

/// Reads the text of a rules file. `file` is its name as a person writes it.
pub fn parse(text: &str, file: &str, scope: RuleScope) -> Result<Vec<CompiledRule>, Fault> {
    let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let wrong = |line: usize, what: &str, next: &str| {
        Fault::new(
            format!("{file}, line {line}: {what}."),
            format!("{next} Until then every call asks."),
        )
    };
    let read: File = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        wrong(line, error.message(), "Correct the line.")
    })?;
    if read.rule.len() > RULES_MAX {
        return Err(wrong(
            1,
            &format!("there are more than {RULES_MAX} rules"),
            "Join or remove some.",
        ));
    }
    read.rule
        .into_iter()
        .map(|spanned| {
            let line = line_of(spanned.span().start);
            let written = spanned.into_inner();
            compile(written, file, line, scope)
                .map_err(|what| wrong(line, &what, "Correct the rule that begins here."))
        })
        .collect()
}

fn compile(
    written: Written,
    file: &str,
    line: usize,
    scope: RuleScope,
) -> Result<CompiledRule, String> {
    check_permission(&written.permission)?;
    if written
        .pattern
        .as_ref()
        .is_some_and(|pattern| pattern.len() > PATTERN_BYTES_MAX)
    {
        return Err(format!(
            "the pattern is longer than {PATTERN_BYTES_MAX} bytes"
        ));
    }
    if written
        .pattern
        .as_ref()
        .is_some_and(|pattern| pattern.trim().is_empty())
    {
        return Err("the pattern is empty; leave it out to mean everything".to_owned());
    }
    let rule = Rule {
        permission: written.permission,
        pattern: written.pattern,
        action: written.action,
        reason: written.reason,
        scope,
        file: Some(file.to_owned()),
        line: u32::try_from(line).ok(),
    };
    let compiled = CompiledRule::new(rule)?;
    for (examples, expected) in [(&written.matching, true), (&written.not_match, false)] {
        for example in examples {
            if matches_example(&compiled, example) != expected {
                let verb = if expected {
                    "does not match its example"
                } else {
                    "matches its counter-example"
                };
                return Err(format!("the rule {verb} `{example}`"));
            }
        }
    }
    Ok(compiled)
}

fn check_permission(permission: &str) -> Result<(), String> {
    let modes = [
        ToolMode::Read,
        ToolMode::SafeWrite,
        ToolMode::Destructive,
        ToolMode::Local,
        ToolMode::External,
    ];
    if let Some(mode) = permission.strip_prefix("mode:") {
        return match modes.iter().any(|m| m.as_str() == mode) {
            true => Ok(()),
            false => Err(format!(
                "`{mode}` is no mode; the modes are {}",
                modes.map(ToolMode::as_str).join(", ")
            )),
        };
    }
    let is_capability = permission.contains('.');
    if is_capability && !Capability::ALL.iter().any(|c| c.as_str() == permission) {
        let names = Capability::ALL.map(Capability::as_str).join(", ");
        return Err(format!(
            "`{permission}` is no capability; the capabilities are {names}"
        ));
    }
    match permission.is_empty() {
        true => {
            Err("the permission is empty; name a tool, a capability, `mode:…` or `*`".to_owned())
        }
        false => Ok(()),
    }
}

/// An example is a command for rules about commands, a path for all others.
fn matches_example(compiled: &CompiledRule, example: &str) -> bool {
    let capability = match compiled.rule.permission.as_str() {
        "bash" | "shell.run" | "mode:local" => Capability::ShellRun,
        "net.fetch" => Capability::NetFetch,
        "fs.write" => Capability::FsWrite,
        "fs.delete" => Capability::FsDelete,
        _ => Capability::FsRead,
    };
    let fact = Fact {
        capability,
        target: example.to_owned(),
        real: example.to_owned(),
        inside: true,
        unresolved: None,
    };
    let mode = (compiled.rule.permission == "mode:local").then_some(ToolMode::Local);
    let mut set = RuleSet::default();
    set.extend([compiled.clone()]);
    let tool = compiled.rule.permission.as_str();
    !set.matching(&Subject {
        tool,
        mode,
        fact: Some(&fact),
    })
    .is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_action_asks() {
        let rules = parse(
            "[[rule]]\npermission = \"bash\"\n",
            "rules.toml",
            RuleScope::Project,
        )
        .unwrap();
        assert_eq!(rules[0].rule.action, Action::Ask, "S002-81");
        assert_eq!(rules[0].rule.line, Some(1));
    }

    #[test]
    fn errors_name_file_line_and_what() {
        for (text, line, what) in [
            ("[[rule]]\npermission = 3", 2, "invalid type"),
            (
                "\n[[rule]]\npermission = \"bash\"\nactoin = \"deny\"",
                4,
                "actoin",
            ),
            (
                "[[rule]]\npermission = \"bash\"\naction = \"alow\"",
                3,
                "alow",
            ),
            ("[[rule]]\npermission = \"mode:locale\"", 1, "no mode"),
            ("[[rule]]\npermission = \"fs.wriet\"", 1, "no capability"),
            (
                "[[rule]]\npermission = \"edit\"\npattern = \"a[\"",
                1,
                "not a glob",
            ),
            (
                "[[rule]]\npermission = \"edit\"\npattern = \" \"",
                1,
                "empty",
            ),
            (
                "[[rule]]\npermission = \"bash\"\npattern = \"git status*\"\nmatch = [\"git stash\"]",
                1,
                "its example",
            ),
            (
                "[[rule]]\npermission = \"bash\"\npattern = \"git*\"\nnot_match = [\"git push\"]",
                1,
                "counter-example",
            ),
            ("rule = 3", 1, "invalid type"),
            ("[[rule]\n", 1, ""),
        ] {
            let fault = parse(text, "rules.toml", RuleScope::User).unwrap_err();
            assert!(
                fault
                    .message
                    .starts_with(&format!("rules.toml, line {line}: ")),
                "{text:?}: {fault}"
            );
            assert!(fault.message.contains(what), "{text:?}: {fault}");
        }
    }
}
