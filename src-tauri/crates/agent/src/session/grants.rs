//! Creates grants from a person's decisions on cards, after checking them with the policy, and revokes grants.

use std::sync::Arc;

use policy::grants::{self, grant_rule_scope};
use policy::rules_file::{self, RulesFileSource};
use policy::watchdogs;
use policy::watchdogs::SecretMask;
use protocol::op::OpReceipt;
use protocol::rule::grants::{GrantOffer, GrantOffers, GrantOrigin, GrantRequest, GrantScope};
use protocol::rule::rules_view::NewRule;
use protocol::text::display_text::to_single_line;
use protocol::{CallId, Decision, GrantId, RuleAction, RuleScope, UserError};

use crate::limits::GRANT_CHARS_MAX;
use crate::permissions::grant_ledger;
use crate::permissions::grant_ledger::StoredGrant;
use crate::permissions::policy_input::{PolicyInput, empty_digest};
use crate::session::Session;
use crate::session::engine_state::EngineState;

/// Returns the grants that the card of a call may offer.
pub(crate) fn offer_grants(session: &Session, weighed: &PolicyInput) -> GrantOffers {
    // A response came only once; a rule on responses is written where the other rules are.
    if weighed
        .dry_run
        .as_ref()
        .is_some_and(|dry_run| !dry_run.response_hosts.is_empty())
    {
        return GrantOffers::default();
    }
    let rules = session.rules();
    let request = weighed.to_request(&rules, session.policy_context(), &empty_digest);
    let mask = session.journal.secret_mask(&weighed.call);
    omit_secrets(grants::list_offers(&request), &mask)
}

/// Leaves out the offers of rules that would hold a secret of the call.
fn omit_secrets(mut all: GrantOffers, mask: &SecretMask) -> GrantOffers {
    if mask.is_empty() {
        return all;
    }
    let holds_secret =
        |offer: &GrantOffer| offer.pattern.as_deref().is_some_and(|it| mask.is_in(it));
    all.offers.retain(|offer| !holds_secret(offer));
    for offer in &mut all.offers {
        offer.words = mask.mask_text(&offer.words);
    }
    let is_allow = |offer: &GrantOffer| offer.action == RuleAction::Allow;
    if !all.offers.iter().any(is_allow) {
        let why = all.refused.as_deref();
        let why = why.unwrap_or("A rule that names this call would hold its secret.");
        all.refused = Some(mask.mask_text(why));
    }
    all
}

/// Creates the grant of a decision and saves it to disk; none if the decision grants nothing. The grant is not in force
/// before [`reload_affected_rules`].
pub(crate) fn create_grant(
    session: &Session,
    call: &CallId,
    weighed: &PolicyInput,
    decision: &Decision,
) -> Result<Option<StoredGrant>, UserError> {
    let (always, action) = match decision {
        Decision::Allow {
            always: Some(always),
            ..
        } => (always, RuleAction::Allow),
        Decision::Reject {
            always: Some(always),
            ..
        } => (always, RuleAction::Deny),
        Decision::Allow { always: None, .. } => {
            return find_verb_grant(session, weighed)
                .map(|permission| grant_verb(session, call, permission))
                .transpose();
        }
        Decision::Reject { always: None, .. }
        | Decision::Answer { .. }
        | Decision::Skip
        | Decision::DryRun
        | Decision::WithNetwork { .. }
        | Decision::InPlace { .. }
        | Decision::Edit { .. } => return Ok(None),
    };
    let mut granted = build_grant(session, call, always, action);
    if always.exactly {
        let mask = session.journal.secret_mask(call);
        restrict_to_call(weighed, &mask, &mut granted)?;
    }
    check_grant(session, weighed, &granted)?;
    grant_ledger::save_grant(&session.engine.config.data_dir, &granted)?;
    Ok(Some(granted))
}

/// Returns the permission that a plain *allow* of a call grants for the session: its server's reading verb (M26).
pub(crate) fn find_verb_grant(session: &Session, weighed: &PolicyInput) -> Option<String> {
    let rules = session.rules();
    let request = weighed.to_request(&rules, session.policy_context(), &empty_digest);
    grants::find_verb_grant(&request).map(str::to_owned)
}

/// Creates the grant for a reading verb and saves it to disk.
fn grant_verb(
    session: &Session,
    call: &CallId,
    permission: String,
) -> Result<StoredGrant, UserError> {
    let always = GrantRequest {
        lasts: GrantScope::Session,
        permission,
        pattern: None,
        exactly: false,
        until_ms: None,
        max_uses: None,
    };
    let granted = StoredGrant {
        is_verb: true,
        reason: Some("what reads by its name, where no rule speaks".to_owned()),
        ..build_grant(session, call, &always, RuleAction::Allow)
    };
    grant_ledger::save_grant(&session.engine.config.data_dir, &granted)?;
    Ok(granted)
}

fn build_grant(
    session: &Session,
    call: &CallId,
    always: &GrantRequest,
    action: RuleAction,
) -> StoredGrant {
    let config = &session.engine.config;
    let root = session.tool_context.workspace.root().to_string_lossy();
    StoredGrant {
        id: GrantId(config.ids.next_id("grt")),
        lasts: always.lasts,
        workspace: match always.lasts {
            GrantScope::Session | GrantScope::Project => Some(root.into_owned()),
            GrantScope::Everywhere => None,
        },
        permission: always.permission.clone(),
        pattern: always.pattern.clone(),
        exactly: None,
        reason: None,
        is_verb: false,
        action,
        since: config.clock.now(),
        until_ms: always.until_ms,
        max_uses: always.max_uses,
        made_by: GrantOrigin {
            session: session.id.clone(),
            call: call.clone(),
        },
        revoked: None,
    }
}

/// Restricts a grant to exactly the call that is shown, with the questions of its watchdogs (`S002-90`).
fn restrict_to_call(
    weighed: &PolicyInput,
    mask: &SecretMask,
    granted: &mut StoredGrant,
) -> Result<(), UserError> {
    let is_plain = granted.pattern.is_none()
        && granted.action == RuleAction::Allow
        && granted.lasts == GrantScope::Session;
    let Some(call) = weighed.facts.exact_digest().filter(|_| is_plain) else {
        return Err(UserError::new(
            "Exactly this call can only be allowed, in this session, where a watchdog asks about it.",
            OFFER_HINT,
        ));
    };
    let reasons = watchdogs::grantable_reasons(&weighed.alarms).join(" ");
    granted.exactly = Some(call.clone());
    granted.reason = Some(format!("exactly this call, although: {reasons}"));
    granted.pattern = weighed
        .facts
        .all()
        .first()
        .map(|fact| to_single_line(&mask.mask_target(&fact.target), GRANT_CHARS_MAX));
    Ok(())
}

const OFFER_HINT: &str = "Choose what the card offers, or decide once.";

/// Checks that a grant is a valid rule of the card's own tool, and that it decides exactly the call that is shown.
fn check_grant(
    session: &Session,
    weighed: &PolicyInput,
    granted: &StoredGrant,
) -> Result<(), UserError> {
    let verb = weighed.classified.verb_permission.as_ref();
    let mut remotes = weighed.facts.remotes().iter();
    if granted.permission != weighed.tool
        && Some(&granted.permission) != verb
        && !remotes.any(|remote| remote.kind.permission() == granted.permission)
    {
        return Err(UserError::new(
            format!("A grant on this card is for `{}`.", weighed.tool),
            OFFER_HINT,
        ));
    }
    let as_written = NewRule {
        permission: granted.permission.clone(),
        pattern: granted
            .pattern
            .clone()
            .filter(|_| granted.exactly.is_none()),
        action: granted.action,
        expires_ms: granted.until_ms,
        max_uses: granted.max_uses,
        ..NewRule::default()
    };
    rules_file::parse_new_rule(
        &as_written,
        &RulesFileSource::new("", grant_rule_scope(granted.lasts)),
    )?;
    let rules = session.rules();
    let request = weighed.to_request(&rules, session.policy_context(), &empty_digest);
    let rule = granted
        .compile_rule()
        .map_err(|why| UserError::new(why, OFFER_HINT))?;
    grants::check_grant(&request, &rule).map_err(|why| UserError::new(why, OFFER_HINT))
}

/// Removes a grant from the ledger whose decision could not be recorded.
pub(crate) fn withdraw_grant(session: &Session, granted: &StoredGrant) {
    let engine = &session.engine;
    let now = engine.now();
    if let Err(fault) = grant_ledger::mark_revoked(&engine.config.data_dir, &granted.id, now) {
        engine.raise_error(&fault);
    }
}

/// Puts the ledger in force, at once, in the sessions that the grant affects.
pub(crate) fn reload_affected_rules(engine: &EngineState, granted: &StoredGrant) {
    engine.reload_rules_matching(|session| match grant_rule_scope(granted.lasts) {
        RuleScope::Project => {
            let root = session.tool_context.workspace.root().to_string_lossy();
            granted.workspace.as_deref() == Some(root.as_ref())
        }
        // A session's grant also speaks to those that work for it.
        RuleScope::Session | RuleScope::User | RuleScope::Manifest | RuleScope::Builtin => true,
    });
}

/// Revokes a grant.
pub(crate) fn revoke_grant(
    engine: &Arc<EngineState>,
    id: &GrantId,
) -> Result<OpReceipt, UserError> {
    let now = engine.now();
    let revoked = grant_ledger::mark_revoked(&engine.config.data_dir, id, now)?;
    reload_affected_rules(engine, &revoked);
    Ok(OpReceipt::default())
}

/// Revokes the grants for a session that ends.
pub(crate) fn end_session_grants(session: &Session) -> Result<(), UserError> {
    let config = &session.engine.config;
    let (all, _) = grant_ledger::load_grants(&config.data_dir);
    let own = all.iter().filter(|one| {
        one.lasts == GrantScope::Session
            && one.made_by.session == session.id
            && one.revoked.is_none()
    });
    for granted in own {
        grant_ledger::mark_revoked(&config.data_dir, &granted.id, config.clock.now())?;
    }
    Ok(())
}
