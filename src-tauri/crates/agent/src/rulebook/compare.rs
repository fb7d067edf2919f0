//! Comparison of two texts of rules, and the effect of the difference.

use policy::rules_file::{self, RulesFileSource};
use protocol::rule::backtest::RuleChange;
use protocol::rule::rules_view::{RuleText, RulesComparison};
use protocol::{Rule, UserError};

use super::{BacktestOptions, RulebookScope, run_backtest};
use crate::session::engine_state::EngineState;

/// Compares two texts. The effect is that of replacing the current file of the scope with the second text.
pub(super) fn compare_rules(
    engine: &EngineState,
    place: &RulebookScope,
    a: &RuleText,
    b: &RuleText,
) -> Result<RulesComparison, UserError> {
    let data_dir = &engine.config.data_dir;
    let text = |of: &RuleText| -> Result<String, UserError> {
        match &of.text {
            Some(text) => Ok(text.clone()),
            None => Ok(place.read_text(data_dir, of.scope)?.unwrap_or_default()),
        }
    };
    let read = |name: &str, of: &RuleText| -> Result<(String, Vec<Rule>), UserError> {
        let text = text(of)?;
        let file = rules_file::parse_rules_file(&text, &RulesFileSource::new(name, of.scope))?;
        let rules = file.rules.into_iter().map(|compiled| compiled.rule);
        Ok((text, rules.collect()))
    };
    let (_, of_a) = read("The first text", a)?;
    let (text_b, of_b) = read("The second text", b)?;
    // Where a rule stands does not count.
    let same = |one: &Rule, other: &Rule| {
        let bare = |rule: &Rule| Rule {
            file: None,
            line: None,
            scope: a.scope,
            ..rule.clone()
        };
        bare(one) == bare(other)
    };
    let alone = |these: &[Rule], those: &[Rule]| -> Vec<Rule> {
        let missing = |rule: &&Rule| !those.iter().any(|other| same(rule, other));
        these.iter().filter(missing).cloned().collect()
    };
    let only_a = alone(&of_a, &of_b);
    let tested = BacktestOptions {
        data_dir,
        record: &engine.record,
        ask_for_everything: engine.settings().ask_for_everything,
        now: engine.now(),
        calls_max: 0,
    };
    let change = RuleChange::Replace {
        scope: b.scope,
        text: text_b,
    };
    Ok(RulesComparison {
        both: u32::try_from(of_a.len() - only_a.len()).unwrap_or(u32::MAX),
        only_b: alone(&of_b, &of_a),
        only_a,
        effect: run_backtest(&tested, place, &change)?,
    })
}
