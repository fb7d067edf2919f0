//! All rules in force in a workspace, with the use of each, and the ledger of grants.

use policy::rules::protections::Protections;
use policy::rules_file::{self, RulesFileSource, parse_rule_examples};
use policy::trust;
use protocol::rule::grants::GrantView;
use protocol::rule::rules_view::{RuleSource, RuleState, RuleView, RulesView, WatchdogView};
use protocol::{At, Rule, RuleScope, SessionId, UserError};
use record::{RuleHits, rule_key};

use super::{RulebookScope, check};
use crate::permissions::grant_ledger;
use crate::permissions::grant_ledger::StoredGrant;
use crate::permissions::rule_uses;
use crate::session::engine_state::EngineState;

/// Data about the use of rules.
struct RuleUsage<'a> {
    engine: &'a EngineState,
    hits: RuleHits,
    /// Sessions to count: those of the workspace, or all.
    sessions: Option<Vec<SessionId>>,
    now: At,
}

impl RuleUsage<'_> {
    fn usage_of(&self, rule: &Rule) -> (u64, Option<At>) {
        let key = rule_key(rule);
        let everywhere = rule.scope == RuleScope::User || rule.grant.is_some();
        let counts = |session: &SessionId| match &self.sessions {
            Some(sessions) if !everywhere => sessions.contains(session),
            _ => true,
        };
        let mine = self
            .hits
            .iter()
            .filter(|((rule, session), _)| *rule == key && counts(session));
        mine.fold((0, None), |(hits, last), (_, (more, at))| {
            (hits + more, last.max(Some(*at)))
        })
    }

    fn add_usage(&self, mut view: RuleView) -> RuleView {
        (view.hits, view.last_used) = self.usage_of(&view.rule);
        view.uses_left = view.rule.max_uses.map(|max| {
            max.saturating_sub(rule_uses::count_uses(
                &self.engine.config.data_dir,
                &view.rule,
            ))
        });
        if view.uses_left == Some(0) {
            view.state = RuleState::Spent;
        }
        view
    }
}

/// Builds the contents of the rules screen.
pub(super) fn build_rules_view(
    engine: &EngineState,
    place: &RulebookScope,
    session: Option<&SessionId>,
) -> Result<RulesView, UserError> {
    let root = place.root();
    let sessions = engine.record.sessions()?;
    let here = root.as_ref().map(|root| {
        let here = sessions.iter().filter(|one| one.workspace == *root);
        here.map(|one| one.id.clone()).collect()
    });
    let used = RuleUsage {
        engine,
        hits: engine.record.rule_hits()?,
        sessions: here,
        now: engine.now(),
    };
    let mut sources = vec![built_in_source(&used)];
    sources.push(file_source(&used, place, RuleScope::User));
    if root.is_some() {
        sources.push(file_source(&used, place, RuleScope::Project));
    }
    let (granted, _) = grant_ledger::load_grants(&engine.config.data_dir);
    let shows = |one: &&StoredGrant| {
        let is_here = one.workspace.is_none() || root.is_none() || one.workspace == root;
        let of_session = session.is_none_or(|id| one.session_id().is_none_or(|own| own == id));
        is_here && of_session
    };
    Ok(RulesView {
        sources,
        grants: granted
            .iter()
            .filter(shows)
            .map(|one| grant_view(&used, one))
            .collect(),
        watchdogs: engine
            .settings()
            .watchdogs
            .iter()
            .map(|one| WatchdogView {
                name: one.name.clone(),
                program: one.program.clone(),
                timeout_ms: one.timeout_ms,
            })
            .collect(),
        workspace: root,
    })
}

fn built_in_source(used: &RuleUsage<'_>) -> RuleSource {
    let protections = Protections::standard();
    let rules = protections.rules().map(|rule| {
        used.add_usage(RuleView {
            rule: rule.clone(),
            matches: Vec::new(),
            not_matches: Vec::new(),
            hits: 0,
            last_used: None,
            uses_left: None,
            state: RuleState::Active,
            grant: None,
        })
    });
    RuleSource {
        scope: RuleScope::Builtin,
        file: None,
        text: None,
        digest: None,
        editable: false,
        default: None,
        rules: rules.collect(),
        fault: None,
        warnings: Vec::new(),
        trust: None,
    }
}

fn file_source(used: &RuleUsage<'_>, place: &RulebookScope, scope: RuleScope) -> RuleSource {
    let data_dir = &used.engine.config.data_dir;
    let shown = place.display_path(data_dir, scope);
    let mut rule_source = RuleSource {
        scope,
        file: Some(shown.clone()),
        text: Some(String::new()),
        digest: None,
        editable: true,
        default: None,
        rules: Vec::new(),
        fault: None,
        warnings: Vec::new(),
        trust: None,
    };
    let text = match place.read_text(data_dir, scope) {
        Ok(Some(text)) => text,
        Ok(None) => return rule_source,
        Err(fault) => {
            (rule_source.fault, rule_source.editable, rule_source.text) =
                (Some(fault), false, None);
            return rule_source;
        }
    };
    let mut source = RulesFileSource::new(&shown, scope);
    if let (RuleScope::Project, Some(root)) = (scope, place.root()) {
        let known = crate::permissions::trust::load_trusted(data_dir).unwrap_or_default();
        let trust = trust::check_trust(&root, &text, &known);
        source.trusted = trust.can_loosen();
        rule_source.trust = Some(trust);
    }
    match rules_file::parse_rules_file(&text, &source) {
        Ok(read) => {
            rule_source.default = read.default;
            rule_source.warnings = check::warning_views(read.warnings);
        }
        Err(fault) => rule_source.fault = Some(fault),
    }
    rule_source.rules = parse_rule_examples(&text, &source)
        .into_iter()
        .filter_map(|one| check::rule_view(one, used.now))
        .map(|view| used.add_usage(view))
        .collect();
    rule_source.digest = Some(trust::text_digest(&text));
    rule_source.text = Some(text);
    rule_source
}

fn grant_view(used: &RuleUsage<'_>, granted: &StoredGrant) -> GrantView {
    let rule = granted.to_rule();
    let (hits, last_used) = used.usage_of(&rule);
    let uses = match rule.max_uses {
        Some(_) => rule_uses::count_uses(&used.engine.config.data_dir, &rule),
        None => 0,
    };
    let over = granted.until_ms.is_some_and(|at| at <= used.now);
    let spent = granted.max_uses.is_some_and(|max| uses >= max);
    GrantView {
        id: granted.id.clone(),
        lasts: granted.lasts,
        workspace: granted.workspace.clone(),
        session: granted.session_id().cloned(),
        words: granted.describe(),
        since: granted.since,
        until: granted.until_ms,
        uses,
        max_uses: granted.max_uses,
        hits,
        last_used,
        made_by: granted.made_by.clone(),
        revoked: granted.revoked,
        in_force: granted.revoked.is_none() && !over && !spent,
        rule,
    }
}
