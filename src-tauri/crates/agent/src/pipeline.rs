//! The one page that every tool call walks, from the model's words to its outcome.
//!
//! No line here knows a particular tool. A gate is one line and one file; it returns a value, and this page says what
//! follows from it. Where something came up that changes what is shown, the call walks once more.

use std::sync::Arc;

use policy::Approved;
use protocol::{Outcome, ToolCall, Verdict};

use crate::conversation::OpenCall;
use crate::hooks::Hooked;
use crate::session::Session;
use crate::stages::again::Again;
use crate::stages::consent::{self, Answer, Card};
use crate::stages::found::Called;
use crate::stages::in_place::{self, Judged};
use crate::stages::rehearsed::{self, Rehearsed, Trial};
use crate::stages::secured::Copy;
use crate::stages::{Ended, came, execute, finish, found, judged, secured, verdict};
use crate::{door, state, surface, uses};

type Arguments = serde_json::Map<String, serde_json::Value>;

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
    at: (&Called<'_>, &mut Arguments, &mut Option<Arguments>),
    hooked: &mut Hooked,
    again: Again,
) -> Result<Result<Outcome, Again>, Ended> {
    let (tool, arguments, edited) = at;
    let (changed, tried) = (again.changed, again.tried);
    let assessed = verdict::assess(session, call, tool, arguments, &tried, again.unsecured).await?;
    let is_agreed = assessed.is_agreed();
    let is_hooked = tried.as_ref().is_some_and(Rehearsed::is_hooked);
    let (facts, ready, known) = (assessed.facts, assessed.ready, assessed.known);
    let (judgement, open) = (assessed.judgement, assessed.open);
    if !uses::take(session, &judgement, is_agreed) {
        return Ok(Err(Again::judged(changed, tried)));
    }
    judged::tell(session, call, tool, arguments, &ready, &known, &judgement);

    let answer = match judgement.verdict() {
        Verdict::Deny => return Err(judged::denied(session, tool, &ready, &judgement)),
        Verdict::Allow => Answer::unasked(session, &ready),
        Verdict::Ask if ready.can_try && rehearsed::comes_first(session) => Answer::sealed(),
        Verdict::Ask => {
            let card = Card::new(&judgement, &ready, known.clone(), changed);
            consent::ask(session, call, tool, card).await?
        }
    };
    let mut go = match answer {
        Answer::Go(go) => go,
        Answer::Try { hosts } if ready.can_try || tried.is_some() => {
            let trial = Trial::of(session, call, tool, arguments, &ready);
            return trial.again(hosts, hooked, None).await.map(Err);
        }
        Answer::Try { .. } => return Ok(Err(Again::changed(rehearsed::NO_PLACE))),
        Answer::Ruled(what) => return Ok(Err(Again::judged(Some(what), tried))),
        Answer::Changed(what) => return Ok(Err(Again::changed(what))),
        Answer::Edited(wanted) => {
            let what = found::replace(session, call, tool, arguments, edited, wanted).await;
            return Ok(Err(Again::changed(what)));
        }
    };
    go.said.edited.clone_from(edited);
    let real = go.for_real(session, &ready, &open)?;
    let is_agreed = go.consent.is_some();
    let approved: Approved = judgement
        .approve(arguments.clone(), go.plan, go.consent)
        .map_err(|refused| finish::refused(tool, &refused))?;
    if surface::opened(session, &ready.opens)? {
        return Ok(Err(Again::default()));
    }
    if !is_hooked {
        execute::ask_hooks(session, &call.id, tool, arguments, hooked).await?;
    }
    if ready.can_try && real.is_none() {
        let trial = Trial::of(session, call, tool, arguments, &ready).hooked();
        return trial.again(open, hooked, Some(go.said)).await.map(Err);
    }
    let kept = match secured::before_image(session, tool, &approved, &ready, real.is_some()).await?
    {
        Copy::Taken(kept) => kept,
        Copy::Failed(why) => {
            let again = Again::unsecured(why, tried);
            return in_place::unless_chosen(session, &ready, &real, again).map(Err);
        }
        Copy::Changed => return Ok(Err(Again::changed(execute::CHANGED))),
    };
    let journal = &session.journal;
    journal.keep_start(&call.id, tool.may_change()).await?;
    let ran = match &tried {
        Some(tried) if real.is_none() => tried.commit(session, &approved, &mut go.said).await,
        _ => {
            let hands = door::opened(session, call, tool, &facts, &ready);
            let hands = in_place::hands(session, hands, &ready, &kept, real);
            execute::run(session, tool, approved, hands, hooked.clone()).await
        }
    };
    let judged = Judged::of(call, tool, arguments, (&ready, &known), is_agreed);
    let (mut ran, copy) = in_place::settle(session, &judged, kept, ran).await?;
    if let Some(again) = came::again(session, tool, (&facts, &ready, &tried), &mut ran, &go.said) {
        return Ok(Err(again));
    }
    let outcome = finish::fold(session, call, tool, ran, copy, &go.said);
    let outcome = state::keep(session, call, tool, edited, outcome);
    Ok(Ok(judged::count(session, tool, &ready, outcome)))
}
