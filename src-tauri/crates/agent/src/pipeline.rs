//! The one page that every tool call walks, from the model's words to its outcome.
//!
//! No line here knows a particular tool. A gate is one line and one file; it returns a value, and this page says what
//! follows from it. Where something came up that changes what is shown, the call walks once more.

use std::sync::Arc;

use policy::Approved;
use protocol::{Outcome, ToolCall, Verdict};
use serde_json::{Map, Value};

use crate::conversation::OpenCall;
use crate::hooks::Hooked;
use crate::session::Session;
use crate::stages::again::Again;
use crate::stages::consent::{self, Answer, Card};
use crate::stages::found::Called;
use crate::stages::rehearsed::{self, Rehearsed, Trial};
use crate::stages::secured::Copy;
use crate::stages::{Ended, execute, finish, found, judged, prepared, secured, watched};
use crate::{door, state, surface, uses};

/// The outcome, and whether the call may have changed something.
pub(crate) async fn walk(
    session: &Arc<Session>,
    open: &OpenCall,
    hooked: &mut Hooked,
) -> Result<(Outcome, bool), Ended> {
    let call: &ToolCall = &open.call;
    let tools = session.tools();
    let tool = found::tool(&tools, session, call, hooked).await?;
    let mut edited = open.edited.clone();
    let given = edited.as_ref().unwrap_or(&call.arguments);
    let mut arguments = found::arguments(session, call, &tool, given)
        .await
        .map_err(|error| finish::failed(&error))?;
    let mut again = Again::default();
    loop {
        let at = (&tool, &mut arguments, &mut edited);
        match once(session, call, at, hooked, again).await? {
            Ok(outcome) => return Ok((outcome, tool.may_change())),
            Err(next) => again = next,
        }
    }
}

/// Walks once: to the outcome, or to what it walks with once more.
async fn once(
    session: &Arc<Session>,
    call: &ToolCall,
    at: (
        &Called<'_>,
        &mut Map<String, Value>,
        &mut Option<Map<String, Value>>,
    ),
    hooked: &mut Hooked,
    again: Again,
) -> Result<Result<Outcome, Again>, Ended> {
    let (tool, arguments, edited) = at;
    let (changed, unsecured, tried) = (again.changed, again.unsecured, again.tried);
    judged::forbidden_outright(session, call, tool, arguments)?;
    let facts = prepared::facts(session, tool, arguments);
    judged::forbidden(session, call, tool, arguments, &facts)?;
    let ready = prepared::prepare(session, tool, arguments, &facts, &tried, unsecured).await?;
    let alarms = watched::ask(session, tool, arguments, &facts).await;
    let known = judged::weigh(session, call, tool, arguments, &facts, &ready, alarms);
    let judgement = judged::judge(session, call, tool, arguments, &ready, &known);
    let is_agreed = tried.as_ref().is_some_and(Rehearsed::is_agreed);
    let is_hooked = tried.as_ref().is_some_and(Rehearsed::is_hooked);
    let (judgement, open) = rehearsed::let_out(session, &facts, &ready, judgement);
    if !uses::take(session, &judgement, is_agreed) {
        return Ok(Err(Again::judged(changed, tried)));
    }
    judged::tell(session, call, tool, arguments, &ready, &known, &judgement);

    let answer = match judgement.verdict() {
        Verdict::Deny => return Err(finish::denied(tool, &judgement)),
        Verdict::Allow => Answer::unasked(&ready),
        Verdict::Ask if ready.can_try && rehearsed::comes_first(session) => Answer::sealed(),
        Verdict::Ask => {
            let card = Card::new(&judgement, &ready, known, changed);
            consent::ask(session, call, tool, card).await?
        }
    };
    let (plan, consent, mut said) = match answer {
        Answer::Go {
            plan,
            consent,
            said,
        } => (plan, consent, said),
        Answer::Try { hosts } if ready.can_try || tried.is_some() => {
            let trial = Trial::of(session, call, tool, arguments, &ready);
            let trial = trial.with_a_way_to(hosts, hooked).await?;
            return Ok(Err(Again::tried(trial.run(hooked, None).await?)));
        }
        Answer::Try { .. } => return Ok(Err(Again::changed(rehearsed::NO_PLACE))),
        Answer::Ruled(what) => return Ok(Err(Again::judged(Some(what), tried))),
        Answer::Changed(what) => return Ok(Err(Again::changed(what))),
        Answer::Edited(wanted) => {
            let what = found::replace(session, call, tool, arguments, edited, wanted).await;
            return Ok(Err(Again::changed(what)));
        }
    };
    said.edited.clone_from(edited);
    let approved: Approved = judgement
        .approve(arguments.clone(), plan, consent)
        .map_err(|refused| finish::refused(tool, &refused))?;
    if surface::opened(session, &ready.opens)? {
        return Ok(Err(Again::default()));
    }
    if !is_hooked {
        execute::ask_hooks(session, &call.id, tool, arguments, hooked).await?;
    }
    if ready.can_try {
        let trial = Trial::of(session, call, tool, arguments, &ready).hooked();
        let trial = trial.with_a_way_to(open, hooked).await?;
        return Ok(Err(Again::tried(trial.run(hooked, Some(said)).await?)));
    }
    let copy = match secured::before_image(session, &approved, &ready).await? {
        Copy::Taken(entry) => entry,
        Copy::Failed(why) => return Ok(Err(Again::unsecured(why, tried))),
        Copy::Changed => return Ok(Err(Again::changed(execute::CHANGED))),
    };
    let journal = &session.journal;
    journal.keep_start(&call.id, tool.may_change()).await?;
    let ran = match &tried {
        Some(tried) => tried.commit(session, &approved, &mut said).await,
        None => {
            let hands = door::opened(session, call, tool, &facts, &ready);
            execute::run(session, tool, approved, hands, hooked.clone()).await
        }
    };
    if let Some(what) = execute::files_changed(&ran) {
        return Ok(Err(Again::changed(what)));
    }
    let outcome = finish::fold(session, call, tool, ran, copy, &said);
    let outcome = state::keep(session, call, tool, edited, outcome);
    judged::remember(session, ready, &outcome);
    Ok(Ok(outcome))
}
