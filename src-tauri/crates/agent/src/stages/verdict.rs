//! Stages 5 to 9: everything from valid arguments to the verdict.
//!
//! The pipeline acts on what comes of it, and `policy explain` shows it. Nothing is run, recorded or counted here.

use std::sync::Arc;

use policy::{Facts, Judgement};
use protocol::preview::UndoOutlook;
use protocol::{ToolCall, Verdict};
use serde_json::{Map, Value};

use super::found::Called;
use super::prepared::{self, Ready};
use super::rehearsed::{self, Rehearsed};
use super::{Ended, judged, watched};
use crate::session::Session;
use crate::weighed::Weighed;

/// A call with its verdict, and everything that the verdict was made from.
pub(crate) struct Assessed {
    pub facts: Facts,
    pub ready: Ready,
    pub known: Arc<Weighed>,
    pub judgement: Judgement,
    /// The hosts that a command of the call may reach, because rules allow all of them.
    pub open: Vec<String>,
}

impl Assessed {
    /// Whether the verdict speaks of effects that somebody let pass before.
    pub fn is_agreed(&self) -> bool {
        self.known.tried.as_ref().is_some_and(|tried| tried.agreed)
    }
}

/// Judges a call. What is denied whatever its preview shows is denied before a preview is made. `unsecured` says why no copy
/// for undo could be taken, once that was tried.
///
/// # Errors
/// The call could not work, so there is nothing to judge.
pub(crate) async fn assess(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    tried: &Option<Rehearsed>,
    unsecured: Option<String>,
) -> Result<Assessed, Ended> {
    prepared::restore_outputs(session, called, arguments)?;
    let mut facts = match denied_early(session, call, called, arguments) {
        Ok(facts) => facts,
        Err(denied) => return Ok(*denied),
    };
    let ready = prepared::prepare(session, called, arguments, &mut facts, tried, unsecured).await?;
    Ok(judge(session, call, called, arguments, facts, ready).await)
}

/// Judges a call of which nothing can be prepared, for this reason: it would fail before it is judged.
pub(crate) async fn assess_unprepared(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    why: String,
) -> Assessed {
    match denied_early(session, call, called, arguments) {
        Err(denied) => *denied,
        Ok(facts) => {
            let ready = Ready {
                hands: session.hands.judged(facts.all()),
                opens: facts.opens().map(str::to_owned).collect(),
                ..Ready::nothing(session, UndoOutlook::Unsecured { reason: why })
            };
            judge(session, call, called, arguments, facts, ready).await
        }
    }
}

/// What the call touches, or its verdict where it is denied before anything is prepared.
fn denied_early(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
) -> Result<Facts, Box<Assessed>> {
    let denied = |facts: Facts, judged: Option<(Weighed, Judgement)>| match judged {
        Some((known, judgement)) if judgement.verdict() == Verdict::Deny => {
            Err(Box::new(Assessed {
                facts,
                ready: Ready::nothing(session, UndoOutlook::NotNeeded),
                known: Arc::new(known),
                judgement,
                open: Vec::new(),
            }))
        }
        _ => Ok(()),
    };
    let outright = judged::forbidden_outright(session, call, called, arguments);
    denied(Facts::default(), outright)?;
    let facts = prepared::facts(session, called, arguments);
    let forbidden = judged::forbidden(session, call, called, arguments, &facts);
    denied(facts.clone(), forbidden)?;
    Ok(facts)
}

async fn judge(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: Facts,
    ready: Ready,
) -> Assessed {
    let alarms = watched::ask(session, called, arguments, &facts).await;
    let known = judged::weigh(session, call, called, arguments, &facts, &ready, alarms);
    let judgement = judged::judge(session, call, called, arguments, &ready, &known);
    let (judgement, open) = rehearsed::let_out(session, &facts, &ready, judgement);
    Assessed {
        facts,
        ready,
        known,
        judgement,
        open,
    }
}
