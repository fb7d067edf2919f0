//! All rules that hold in a workspace, with what became of each, and the ledger of grants.

use policy::builtin::Protections;
use policy::rules_file::{self, Source, look};
use policy::trust;
use protocol::ledger::GrantView;
use protocol::rules_view::{RuleSource, RuleState, RuleView, RulesView, WatchdogView};
use protocol::{At, Fault, Rule, RuleScope, SessionId};
use record::{Hits, rule_key};

use super::{Place, check};
use crate::desk::Shared;
use crate::ledger::{self, Granted};
use crate::uses;

/// What is known of the use of rules.
struct Used<'a> {
    shared: &'a Shared,
    hits: Hits,
    /// The sessions that count: those of the workspace, or all.
    sessions: Option<Vec<SessionId>>,
    now: At,
}

impl Used<'_> {
    fn of(&self, rule: &Rule) -> (u64, Option<At>) {
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

    fn fill(&self, mut view: RuleView) -> RuleView {
        (view.hits, view.last_used) = self.of(&view.rule);
        view.uses_left = view
            .rule
            .max_uses
            .map(|max| max.saturating_sub(uses::had(&self.shared.config.data_dir, &view.rule)));
        if view.uses_left == Some(0) {
            view.state = RuleState::Spent;
        }
        view
    }
}

/// Everything that the screen of rules shows.
pub(super) fn rules(
    shared: &Shared,
    place: &Place,
    session: Option<&SessionId>,
) -> Result<RulesView, Fault> {
    let root = place.root();
    let sessions = shared.record.sessions()?;
    let here = root.as_ref().map(|root| {
        let here = sessions.iter().filter(|one| one.workspace == *root);
        here.map(|one| one.id.clone()).collect()
    });
    let used = Used {
        shared,
        hits: shared.record.hits()?,
        sessions: here,
        now: shared.config.clock.now(),
    };
    let mut sources = vec![built_in(&used)];
    sources.push(source(&used, place, RuleScope::User));
    if root.is_some() {
        sources.push(source(&used, place, RuleScope::Project));
    }
    let (granted, _) = ledger::all(&shared.config.data_dir);
    let shows = |one: &&Granted| {
        let is_here = one.workspace.is_none() || root.is_none() || one.workspace == root;
        let of_session = session.is_none_or(|id| one.session().is_none_or(|own| own == id));
        is_here && of_session
    };
    Ok(RulesView {
        sources,
        grants: granted
            .iter()
            .filter(shows)
            .map(|one| grant(&used, one))
            .collect(),
        watchdogs: shared
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

fn built_in(used: &Used<'_>) -> RuleSource {
    let protections = Protections::standard();
    let rules = protections.rules().map(|rule| {
        used.fill(RuleView {
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

fn source(used: &Used<'_>, place: &Place, scope: RuleScope) -> RuleSource {
    let data_dir = &used.shared.config.data_dir;
    let shown = place.file_shown(data_dir, scope);
    let mut found = RuleSource {
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
    let text = match place.text(data_dir, scope) {
        Ok(Some(text)) => text,
        Ok(None) => return found,
        Err(fault) => {
            (found.fault, found.editable, found.text) = (Some(fault), false, None);
            return found;
        }
    };
    let mut source = Source::new(&shown, scope);
    if let (RuleScope::Project, Some(root)) = (scope, place.root()) {
        let known = crate::trust::trusted(data_dir).unwrap_or_default();
        let trust = trust::check(&root, &text, &known);
        source.trusted = trust.may_loosen();
        found.trust = Some(trust);
    }
    match rules_file::read(&text, &source) {
        Ok(read) => {
            found.default = read.default;
            found.warnings = check::warnings(read.warnings);
        }
        Err(fault) => found.fault = Some(fault),
    }
    found.rules = look(&text, &source)
        .into_iter()
        .filter_map(|one| check::shown(one, used.now))
        .map(|view| used.fill(view))
        .collect();
    found.digest = Some(trust::digest(&text));
    found.text = Some(text);
    found
}

fn grant(used: &Used<'_>, granted: &Granted) -> GrantView {
    let rule = granted.rule();
    let (hits, last_used) = used.of(&rule);
    let uses = match rule.max_uses {
        Some(_) => uses::had(&used.shared.config.data_dir, &rule),
        None => 0,
    };
    let over = granted.until_ms.is_some_and(|at| at <= used.now);
    let spent = granted.max_uses.is_some_and(|max| uses >= max);
    GrantView {
        id: granted.id.clone(),
        lasts: granted.lasts,
        workspace: granted.workspace.clone(),
        session: granted.session().cloned(),
        words: granted.words(),
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
