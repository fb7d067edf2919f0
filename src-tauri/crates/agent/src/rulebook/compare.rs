//! What distinguishes two texts of rules, and what that would change.

use policy::rules_file::{self, Source};
use protocol::backtest::RuleChange;
use protocol::rules_view::{RuleText, RulesCompared};
use protocol::{Fault, Rule};

use super::{Place, Tested, backtest};
use crate::desk::Shared;

/// Compares two texts. The effect is that of the second in the place of the file of its scope as it is.
pub(super) fn rules(
    shared: &Shared,
    place: &Place,
    a: &RuleText,
    b: &RuleText,
) -> Result<RulesCompared, Fault> {
    let data_dir = &shared.config.data_dir;
    let text = |of: &RuleText| -> Result<String, Fault> {
        match &of.text {
            Some(text) => Ok(text.clone()),
            None => Ok(place.text(data_dir, of.scope)?.unwrap_or_default()),
        }
    };
    let read = |name: &str, of: &RuleText| -> Result<(String, Vec<Rule>), Fault> {
        let text = text(of)?;
        let file = rules_file::read(&text, &Source::new(name, of.scope))?;
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
    let tested = Tested {
        data_dir,
        record: &shared.record,
        ask_for_everything: shared.settings().ask_for_everything,
        now: shared.config.clock.now(),
        calls_max: 0,
    };
    let change = RuleChange::Replace {
        scope: b.scope,
        text: text_b,
    };
    Ok(RulesCompared {
        both: u32::try_from(of_a.len() - only_a.len()).unwrap_or(u32::MAX),
        only_b: alone(&of_b, &of_a),
        only_a,
        effect: backtest(&tested, place, &change)?,
    })
}
