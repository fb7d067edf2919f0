//! Questions about rules, one function for each.

use std::path::Path;
use std::sync::Arc;

use protocol::event::SessionOptions;
use protocol::query::Answer;
use protocol::rule::backtest::{RuleChange, RuleSuggestion};
use protocol::rule::rules_view::{NewRule, RuleLocation, RuleText};
use protocol::{At, CallId, RuleScope, SessionId, UserError};
use serde_json::{Map, Value};

use super::{BacktestOptions, RulebookScope, check, compare, edit, imports, suggestions, view};
use crate::permissions::rules::RuleDraft;
use crate::rulebook::explain::Explainer;
use crate::rulebook::simulation::PolicySimulation;
use crate::session::engine_state::EngineState;
use crate::session::toolbox::Toolbox;

/// Returns every rule in force in a workspace.
pub(crate) fn list_rules(
    engine: &EngineState,
    workspace: Option<&str>,
    session: Option<&SessionId>,
) -> Result<Answer, UserError> {
    view::build_rules_view(engine, &RulebookScope::from_folder(workspace)?, session)
        .map(Answer::Rules)
}

/// Returns the effect that a change of rules would have had on the recorded calls.
pub(crate) fn backtest_change(
    engine: &EngineState,
    workspace: Option<&str>,
    change: &RuleChange,
    calls_max: u32,
) -> Result<Answer, UserError> {
    let tested = BacktestOptions {
        data_dir: &engine.config.data_dir,
        record: &engine.record,
        ask_for_everything: engine.settings().ask_for_everything,
        now: engine.now(),
        calls_max,
    };
    super::run_backtest(&tested, &RulebookScope::from_folder(workspace)?, change)
        .map(Answer::Backtest)
}

/// Returns the verdict on a call as if the rules were changed this way. In a folder it is the verdict of the pipeline.
pub(crate) async fn simulate_call(
    engine: &Arc<EngineState>,
    workspace: Option<&str>,
    tool: &str,
    arguments: &Map<String, Value>,
    draft: Option<&RuleChange>,
) -> Result<Answer, UserError> {
    let data_dir = &engine.config.data_dir;
    let place = RulebookScope::from_folder(workspace)?;
    let rules = match draft {
        Some(change) => place.load_changed(data_dir, change)?.rules,
        None => place.load_draft(data_dir, &RuleDraft::Unchanged).rules,
    };
    let trail = match workspace {
        Some(folder) => {
            let explainer = Explainer::open(engine, Path::new(folder), SessionOptions::default())?;
            explainer.use_rules(rules);
            explainer.explain(tool, arguments).await?.trail
        }
        None => {
            let registry = Toolbox::for_folder(engine, None)?;
            let now = engine.now();
            PolicySimulation::from_rules(rules, registry, now).simulate(tool, arguments)?
        }
    };
    Ok(Answer::EvaluateCall { trail })
}

/// Checks whether a text of rules could be saved.
pub(crate) fn check_rules(engine: &EngineState, text: &str, scope: RuleScope) -> Answer {
    Answer::CheckRules(check::check_rules(text, scope, engine.now()))
}

/// Checks whether one rule could be saved; `instead` is the rule that it is to replace.
pub(crate) fn check_rule(
    engine: &EngineState,
    rule: &NewRule,
    instead: Option<&RuleLocation>,
) -> Answer {
    let mut checked = check::check_rule(rule);
    if let Some(place) = instead {
        match edit::preview_block(&engine.config.data_dir, place, rule) {
            Ok(text) => checked.text = text,
            Err(fault) => {
                checked.fault.get_or_insert(fault);
            }
        }
    }
    Answer::CheckRule(checked)
}

/// Returns the differences between two texts of rules.
pub(crate) fn compare_rules(
    engine: &EngineState,
    workspace: Option<&str>,
    a: &RuleText,
    b: &RuleText,
) -> Result<Answer, UserError> {
    compare::compare_rules(engine, &RulebookScope::from_folder(workspace)?, a, b)
        .map(Answer::CompareRules)
}

/// Returns rules that would have spared the person answers.
pub(crate) fn suggest_rules(
    engine: &EngineState,
    workspace: Option<&str>,
) -> Result<Answer, UserError> {
    let place = RulebookScope::from_folder(workspace)?;
    let suggestions = suggestions::suggest_rules(engine, &place, At::MIN)?;
    Ok(Answer::Suggestions { suggestions })
}

/// Returns the narrowest rule that would have given the person's last answers to calls like one that was just allowed.
pub(crate) fn offer_rule(
    engine: &EngineState,
    session: &SessionId,
    call: &CallId,
) -> Result<Answer, UserError> {
    let offer = suggestions::offer_rule(engine, session, call)?;
    Ok(Answer::RuleOffer {
        offer: offer.map(Box::new),
    })
}

/// Returns the rule that would have spared the person the most answers since a time, of those that cover the fewest
/// rejected calls.
pub(crate) fn find_best_rule(
    engine: &EngineState,
    since: At,
) -> Result<Option<RuleSuggestion>, UserError> {
    let everywhere = RulebookScope::from_folder(None)?;
    let suggestions = suggestions::suggest_rules(engine, &everywhere, since)?;
    Ok(suggestions.into_iter().next())
}

/// Returns permissions of other products that could be imported.
pub(crate) fn list_imports(workspace: Option<&str>) -> Result<Answer, UserError> {
    let found = imports::found(&RulebookScope::from_folder(workspace)?);
    Ok(Answer::Imports { found })
}
