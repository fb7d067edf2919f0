//! A text of rules looked at example by example, also where it would be refused.

use protocol::rules_view::ExampleCheck;
use toml::Spanned;

use super::written::File;
use super::{Lines, Source, compiled, examples};
use crate::rules::CompiledRule;

/// A rule of the text, with its examples.
#[derive(Debug, Clone)]
pub struct Looked {
    /// The rule; none if it cannot be made ready.
    pub rule: Option<CompiledRule>,
    /// What it must match.
    pub matches: Vec<String>,
    /// What it must not match.
    pub not_matches: Vec<String>,
    /// Each of them, held against the rule.
    pub examples: Vec<ExampleCheck>,
}

/// Every rule of a text that can be read at all.
pub fn look(text: &str, source: &Source<'_>) -> Vec<Looked> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let Ok(read) = toml::from_str::<File>(text) else {
        return Vec::new();
    };
    read.rule
        .into_iter()
        .map(|spanned| {
            let at = spanned.span().start;
            let written = spanned.into_inner();
            let (matching, not_match) = (written.matching.clone(), written.not_match.clone());
            let rule = compiled(written, at, &lines, source).ok();
            let rule = rule.map(|rule| examples::narrowed(rule, &not_match));
            let rule_line = u32::try_from(lines.at(at)).ok();
            let check = |example: &Spanned<String>, should_match: bool| {
                let hits = rule
                    .as_ref()
                    .is_some_and(|rule| examples::fits(rule, example.get_ref()));
                ExampleCheck {
                    line: u32::try_from(lines.at(example.span().start)).ok(),
                    rule_line,
                    text: example.get_ref().clone(),
                    should_match,
                    holds: rule.is_some() && hits == should_match,
                    note: rule
                        .is_none()
                        .then(|| "The rule itself is wrong.".to_owned()),
                }
            };
            let texts = |all: &[Spanned<String>]| {
                all.iter()
                    .map(|one| one.get_ref().clone())
                    .collect::<Vec<_>>()
            };
            Looked {
                examples: matching
                    .iter()
                    .map(|one| check(one, true))
                    .chain(not_match.iter().map(|one| check(one, false)))
                    .collect(),
                matches: texts(&matching),
                not_matches: texts(&not_match),
                rule,
            }
        })
        .collect()
}
