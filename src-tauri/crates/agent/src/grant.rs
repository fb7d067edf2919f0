//! Makes a grant of what a person said on a card, after holding it against the judge, and takes grants back.

use std::sync::Arc;

use policy::offers::{self, scope_of};
use policy::rules_file::{self, Source};
use policy::watchdog;
use protocol::ledger::{Always, GrantScope, MadeBy, Offers};
use protocol::op::Receipt;
use protocol::rules_view::NewRule;
use protocol::shown::in_a_sentence;
use protocol::{Action, CallId, Decision, Fault, GrantId, RuleScope};

use crate::desk::Shared;
use crate::ledger::{self, Granted};
use crate::limits::GRANT_CHARS_MAX;
use crate::session::Session;
use crate::weighed::{Circumstances, Weighed, nothing};

/// What may be granted from the card of a call.
pub(crate) fn offers(session: &Session, weighed: &Weighed) -> Offers {
    // What came is there once; a rule on it is written where rules are.
    if weighed
        .tried
        .as_ref()
        .is_some_and(|tried| !tried.came.is_empty())
    {
        return Offers::default();
    }
    let rules = session.rules();
    offers::of(&weighed.request(&rules, Circumstances::of(session), &nothing))
}

/// The grant that a decision makes, put on disk; none if it makes none. It is not in force before [`in_force`].
pub(crate) fn make(
    session: &Session,
    call: &CallId,
    weighed: &Weighed,
    decision: &Decision,
) -> Result<Option<Granted>, Fault> {
    let (always, action) = match decision {
        Decision::Allow {
            always: Some(always),
            ..
        } => (always, Action::Allow),
        Decision::Reject {
            always: Some(always),
            ..
        } => (always, Action::Deny),
        Decision::Allow { .. }
        | Decision::Reject { .. }
        | Decision::Answer { .. }
        | Decision::Skip
        | Decision::DryRun
        | Decision::WithNetwork { .. }
        | Decision::InPlace { .. }
        | Decision::Edit { .. } => return Ok(None),
    };
    let mut granted = granted(session, call, always, action);
    if always.exactly {
        exactly(weighed, &mut granted)?;
    }
    check(session, weighed, &granted)?;
    ledger::keep(&session.shared.config.data_dir, &granted)?;
    Ok(Some(granted))
}

fn granted(session: &Session, call: &CallId, always: &Always, action: Action) -> Granted {
    let config = &session.shared.config;
    let root = session.hands.workspace.root().to_string_lossy();
    Granted {
        id: GrantId(config.ids.next("grt")),
        lasts: always.lasts,
        workspace: match always.lasts {
            GrantScope::Session | GrantScope::Project => Some(root.into_owned()),
            GrantScope::Everywhere => None,
        },
        permission: always.permission.clone(),
        pattern: always.pattern.clone(),
        exactly: None,
        reason: None,
        action,
        since: config.clock.now(),
        until_ms: always.until_ms,
        max_uses: always.max_uses,
        made_by: MadeBy {
            session: session.id.clone(),
            call: call.clone(),
        },
        revoked: None,
    }
}

/// Makes a grant one for the very call that is shown, with what its watchdogs ask of it (`S002-90`).
fn exactly(weighed: &Weighed, granted: &mut Granted) -> Result<(), Fault> {
    let is_plain = granted.pattern.is_none()
        && granted.action == Action::Allow
        && granted.lasts == GrantScope::Session;
    let Some(call) = weighed.facts.exactly().filter(|_| is_plain) else {
        return Err(Fault::new(
            "Exactly this call can only be allowed, in this session, where a watchdog asks about it.",
            HINT,
        ));
    };
    let reasons = watchdog::lasting(&weighed.alarms).join(" ");
    granted.exactly = Some(call.clone());
    granted.reason = Some(format!("exactly this call, although: {reasons}"));
    granted.pattern = weighed
        .facts
        .all()
        .first()
        .map(|fact| in_a_sentence(&fact.target, GRANT_CHARS_MAX));
    Ok(())
}

const HINT: &str = "Choose what the card offers, or decide once.";

/// A grant must be a rule like any other, of the card's own tool, and decide the very call that is shown.
fn check(session: &Session, weighed: &Weighed, granted: &Granted) -> Result<(), Fault> {
    if granted.permission != weighed.tool {
        return Err(Fault::new(
            format!("A grant on this card is for `{}`.", weighed.tool),
            HINT,
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
    rules_file::read_new(&as_written, &Source::new("", scope_of(granted.lasts)))?;
    let rules = session.rules();
    let request = weighed.request(&rules, Circumstances::of(session), &nothing);
    let rule = granted.compiled().map_err(|why| Fault::new(why, HINT))?;
    offers::check(&request, rule).map_err(|why| Fault::new(why, HINT))
}

/// Takes a grant out of the ledger again, whose decision could not be recorded.
pub(crate) fn unmake(session: &Session, granted: &Granted) {
    let shared = &session.shared;
    let now = shared.config.clock.now();
    if let Err(fault) = ledger::revoke(&shared.config.data_dir, &granted.id, now) {
        shared.raise(&fault);
    }
}

/// Puts what the ledger says in force: in the sessions that it speaks to, at once.
pub(crate) fn in_force(shared: &Shared, granted: &Granted) {
    shared.reload_rules_where(|session| match scope_of(granted.lasts) {
        RuleScope::Project => {
            let root = session.hands.workspace.root().to_string_lossy();
            granted.workspace.as_deref() == Some(root.as_ref())
        }
        // A session's grant also speaks to those that work for it.
        RuleScope::Session | RuleScope::User | RuleScope::Manifest | RuleScope::Builtin => true,
    });
}

/// Takes a grant back.
pub(crate) fn revoke(shared: &Arc<Shared>, id: &GrantId) -> Result<Receipt, Fault> {
    let now = shared.config.clock.now();
    let revoked = ledger::revoke(&shared.config.data_dir, id, now)?;
    in_force(shared, &revoked);
    Ok(Receipt::default())
}

/// Takes back what was granted for a session that ends.
pub(crate) fn end(session: &Session) -> Result<(), Fault> {
    let config = &session.shared.config;
    let (all, _) = ledger::all(&config.data_dir);
    let own = all.iter().filter(|one| {
        one.lasts == GrantScope::Session
            && one.made_by.session == session.id
            && one.revoked.is_none()
    });
    for granted in own {
        ledger::revoke(&config.data_dir, &granted.id, config.clock.now())?;
    }
    Ok(())
}
