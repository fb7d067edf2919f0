//! Examples of the rules in a text, checked one by one, even where the text would be refused.

use protocol::rule::rules_view::ExampleCheck;
use toml::Spanned;

use super::raw::RawRulesFile;
use super::{LineStarts, RulesFileSource, compile_unchecked, examples};
use crate::rules::CompiledRule;

/// A rule of the text, with its examples.
#[derive(Debug, Clone)]
pub struct RuleExamples {
    /// The rule; none if it cannot be compiled.
    pub rule: Option<CompiledRule>,
    /// Examples that the rule must match.
    pub matches: Vec<String>,
    /// Examples that the rule must not match.
    pub not_matches: Vec<String>,
    /// Every example, checked against the rule.
    pub examples: Vec<ExampleCheck>,
}

/// Every rule of a text that can be read at all.
pub fn parse_rule_examples(text: &str, source: &RulesFileSource<'_>) -> Vec<RuleExamples> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineStarts::new(text);
    let Ok(read) = toml::from_str::<RawRulesFile>(text) else {
        return Vec::new();
    };
    read.rule
        .into_iter()
        .map(|spanned| {
            let at = spanned.span().start;
            let written = spanned.into_inner();
            let (matching, not_match) = (written.matching.clone(), written.not_match.clone());
            let rule = compile_unchecked(written, at, &lines, source).ok();
            let rule = rule.map(|rule| examples::narrow_by_counterexamples(rule, &not_match));
            let rule_line = u32::try_from(lines.line_at(at)).ok();
            let check = |example: &Spanned<String>, should_match: bool| {
                let hits = rule
                    .as_ref()
                    .is_some_and(|rule| examples::matches_example(rule, example.get_ref()));
                ExampleCheck {
                    line: u32::try_from(lines.line_at(example.span().start)).ok(),
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
            RuleExamples {
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
