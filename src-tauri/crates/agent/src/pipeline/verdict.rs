//! Stages 5 to 9: everything from valid arguments to the verdict.
//!
//! The pipeline acts on what comes of it, and `policy explain` shows it. Nothing is run, recorded or counted here.

use std::sync::Arc;

use policy::{CallFacts, Judgement};
use protocol::view::preview::UndoAvailability;
use protocol::{ToolCall, Verdict};
use serde_json::{Map, Value};

use crate::permissions::policy_input::PolicyInput;
use crate::pipeline::abort::Abort;
use crate::pipeline::dry_run;
use crate::pipeline::dry_run::DryRunResult;
use crate::pipeline::prepare;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::{evaluate, watchdogs};
use crate::session::Session;

/// A call with its verdict, and everything that the verdict was made from.
pub(crate) struct Assessment {
    pub facts: CallFacts,
    pub prepared: PreparedCall,
    pub input: Arc<PolicyInput>,
    pub judgement: Judgement,
    /// The hosts that a command of the call may reach, because rules allow all of them.
    pub allowed_hosts: Vec<String>,
}

impl Assessment {
    /// Whether the verdict speaks of effects that somebody let pass before.
    pub fn is_agreed(&self) -> bool {
        self.input.tried.as_ref().is_some_and(|tried| tried.agreed)
    }
}

/// Judges a call. What is denied whatever its preview shows is denied before a preview is made. `unsecured` says why no copy
/// for undo could be taken, once that was tried.
///
/// # Errors
/// The call could not work, so there is nothing to judge.
pub(crate) async fn assess_call(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    tried: &Option<DryRunResult>,
    unsecured: Option<String>,
) -> Result<Assessment, Abort> {
    prepare::restore_outputs(session, called, arguments)?;
    let mut facts = match deny_early(session, call, called, arguments) {
        Ok(facts) => facts,
        Err(denied) => return Ok(*denied),
    };
    let ready =
        prepare::prepare_call(session, called, arguments, &mut facts, tried, unsecured).await?;
    Ok(judge_prepared(session, call, called, arguments, facts, ready).await)
}

/// Judges a call of which nothing can be prepared, for this reason: it would fail before it is judged.
pub(crate) async fn assess_unprepared(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    why: String,
) -> Assessment {
    match deny_early(session, call, called, arguments) {
        Err(denied) => *denied,
        Ok(facts) => {
            let ready = PreparedCall {
                tool_context: session.tool_context.restrict_to(facts.all()),
                new_roots: facts.roots_to_open().map(str::to_owned).collect(),
                ..PreparedCall::empty(session, UndoAvailability::Unsecured { reason: why })
            };
            judge_prepared(session, call, called, arguments, facts, ready).await
        }
    }
}

/// What the call touches, or its verdict where it is denied before anything is prepared.
fn deny_early(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> Result<CallFacts, Box<Assessment>> {
    let denied = |facts: CallFacts, judged: Option<(PolicyInput, Judgement)>| match judged {
        Some((known, judgement)) if judgement.verdict() == Verdict::Deny => {
            Err(Box::new(Assessment {
                facts,
                prepared: PreparedCall::empty(session, UndoAvailability::NotNeeded),
                input: Arc::new(known),
                judgement,
                allowed_hosts: Vec::new(),
            }))
        }
        _ => Ok(()),
    };
    let outright = evaluate::deny_by_name(session, call, called, arguments);
    denied(CallFacts::default(), outright)?;
    let facts = prepare::resolve_facts(session, called, arguments);
    let forbidden = evaluate::deny_by_access(session, call, called, arguments, &facts);
    denied(facts.clone(), forbidden)?;
    Ok(facts)
}

async fn judge_prepared(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: CallFacts,
    ready: PreparedCall,
) -> Assessment {
    let alarms = watchdogs::run_watchdogs(session, called, arguments, &facts).await;
    let known =
        evaluate::build_policy_input(session, call, called, arguments, &facts, &ready, alarms);
    let judgement = evaluate::evaluate(session, call, called, arguments, &ready, &known);
    let (judgement, open) = dry_run::hosts_allowed_by_rules(session, &facts, &ready, judgement);
    Assessment {
        facts,
        prepared: ready,
        input: known,
        judgement,
        allowed_hosts: open,
    }
}
