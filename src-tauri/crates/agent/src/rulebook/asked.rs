//! Questions about rules, one function for each.

use std::path::Path;
use std::sync::Arc;

use protocol::backtest::RuleChange;
use protocol::event::Asked;
use protocol::query::Answer;
use protocol::rules_view::{NewRule, RulePlace, RuleText};
use protocol::{Fault, RuleScope, SessionId};
use serde_json::{Map, Value};

use super::{Place, Tested, check, compare, edit, imports, suggest, view};
use crate::desk::Shared;
use crate::explain::Explainer;
use crate::rules::Draft;
use crate::toolbox::Toolbox;
use crate::trial::Trial;

/// Every rule that holds in a workspace.
pub(crate) fn rules(
    shared: &Shared,
    workspace: Option<&str>,
    session: Option<&SessionId>,
) -> Result<Answer, Fault> {
    view::rules(shared, &Place::of(workspace)?, session).map(Answer::Rules)
}

/// What a change would have made of the calls on record.
pub(crate) fn backtest(
    shared: &Shared,
    workspace: Option<&str>,
    change: &RuleChange,
    calls_max: u32,
) -> Result<Answer, Fault> {
    let tested = Tested {
        data_dir: &shared.config.data_dir,
        record: &shared.record,
        ask_for_everything: shared.settings().ask_for_everything,
        now: shared.config.clock.now(),
        calls_max,
    };
    super::backtest(&tested, &Place::of(workspace)?, change).map(Answer::Backtest)
}

/// What would be said of a call, as if the rules were changed so. In a folder it is what the pipeline says.
pub(crate) async fn try_call(
    shared: &Arc<Shared>,
    workspace: Option<&str>,
    (tool, arguments): (&str, &Map<String, Value>),
    draft: Option<&RuleChange>,
) -> Result<Answer, Fault> {
    let data_dir = &shared.config.data_dir;
    let place = Place::of(workspace)?;
    let rules = match draft {
        Some(change) => place.changed(data_dir, change)?.rules,
        None => place.load(data_dir, &Draft::Nothing).rules,
    };
    let trail = match workspace {
        Some(folder) => {
            let explainer = Explainer::open(shared, Path::new(folder), Asked::default())?;
            explainer.use_rules(rules);
            explainer.explain(tool, arguments).await?.trail
        }
        None => {
            let registry = Toolbox::of_folder(shared, None)?;
            let now = shared.config.clock.now();
            Trial::of_rules(rules, registry, now).weigh(tool, arguments)?
        }
    };
    Ok(Answer::TryCall { trail })
}

/// Whether a text of rules could be saved.
pub(crate) fn check_rules(shared: &Shared, text: &str, scope: RuleScope) -> Answer {
    Answer::CheckRules(check::rules(text, scope, shared.config.clock.now()))
}

/// Whether one rule could be saved; `instead` is the one that it is to take the place of.
pub(crate) fn check_rule(shared: &Shared, rule: &NewRule, instead: Option<&RulePlace>) -> Answer {
    let mut checked = check::rule(rule);
    if let Some(place) = instead {
        match edit::block_with(&shared.config.data_dir, place, rule) {
            Ok(text) => checked.text = text,
            Err(fault) => {
                checked.fault.get_or_insert(fault);
            }
        }
    }
    Answer::CheckRule(checked)
}

/// What distinguishes two texts of rules.
pub(crate) fn compare(
    shared: &Shared,
    workspace: Option<&str>,
    a: &RuleText,
    b: &RuleText,
) -> Result<Answer, Fault> {
    compare::rules(shared, &Place::of(workspace)?, a, b).map(Answer::CompareRules)
}

/// Rules that would have spared the person answers.
pub(crate) fn suggestions(shared: &Shared, workspace: Option<&str>) -> Result<Answer, Fault> {
    let suggestions = suggest::rules(shared, &Place::of(workspace)?)?;
    Ok(Answer::Suggestions { suggestions })
}

/// Permissions of other products.
pub(crate) fn imports(workspace: Option<&str>) -> Result<Answer, Fault> {
    let found = imports::found(&Place::of(workspace)?);
    Ok(Answer::Imports { found })
}
