//! The one page that every tool call walks, from the model's words to its recorded outcome.
//!
//! No line here knows a particular tool. A gate is one line and one file; it returns a value, and this page says what
//! follows from it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use policy::Approved;
use protocol::{Fault, Outcome, ToolCall, Verdict};

use crate::conversation::OpenCall;
use crate::hooks::{self, Hooked};
use crate::session::Session;
use crate::stages::consent::{self, Answer, Card};
use crate::stages::{Ended, execute, finish, found, judged, prepared, secured, stopped, watched};
use crate::{door, state, uses};

/// Walks the page with one call and records how it ended. Fails only if the record does.
pub(crate) async fn run(session: &Arc<Session>, open: &OpenCall) -> Result<Outcome, Fault> {
    let call = &open.call;
    // A tool that panics, wherever on the page, ends its own call and nothing beside it.
    let mut hooked = None;
    let walk = AssertUnwindSafe(walk(session, open, &mut hooked));
    let (mut outcome, touched) = match walk.catch_unwind().await {
        Ok(Ok(ended)) => ended,
        Ok(Err(Ended::Early(outcome))) => (finish::redacted(*outcome), false),
        Ok(Err(Ended::Closing)) => return Err(Fault::new("The app is closing.", "")),
        Ok(Err(Ended::Fault(fault))) => return Err(fault),
        Err(_panic) => (finish::failed(&execute::broke_off()), false),
    };
    outcome.ended_at = session.shared.config.clock.now();
    session
        .journal
        .keep_end(&call.id, &outcome, touched)
        .await?;
    hooks::after(session, hooked, !outcome.is_success()).await;
    Ok(outcome)
}

/// The outcome, and whether the call may have changed something.
async fn walk(
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
    let mut changed: Option<String> = None;
    let mut unsecured: Option<String> = None;
    loop {
        judged::forbidden_outright(session, call, &tool, &arguments)?;
        let facts = prepared::facts(session, &tool, &arguments);
        judged::forbidden(session, call, &tool, &arguments, &facts)?;
        let ready = prepared::prepare(session, &tool, &arguments, &facts, unsecured.take()).await?;
        let alarms = watched::ask(session, &tool, &arguments, &facts).await;
        let known = judged::weigh(session, call, &tool, &arguments, &facts, &ready, alarms);
        let judgement = judged::judge(session, call, &tool, &arguments, &ready, &known);
        if !uses::take(session, &judgement) {
            continue;
        }
        judged::tell(session, call, &tool, &arguments, &ready, &known, &judgement);

        let answer = match judgement.verdict() {
            Verdict::Deny => return Err(finish::denied(&tool, &judgement)),
            Verdict::Allow => Answer::unasked(&ready),
            Verdict::Ask => {
                let card = Card::new(&judgement, &ready, known, changed.take());
                consent::ask(session, call, &tool, card).await?
            }
        };
        let (plan, consent, mut said) = match answer {
            Answer::Go {
                plan,
                consent,
                said,
            } => (plan, consent, said),
            Answer::Changed(what) => {
                changed = Some(what);
                continue;
            }
            Answer::Edited(wanted) => {
                let (at, by) = (&mut arguments, &mut edited);
                changed = Some(found::replace(session, call, &tool, at, by, wanted).await);
                continue;
            }
        };
        said.edited.clone_from(&edited);
        let approved: Approved = judgement
            .approve(arguments.clone(), plan, consent)
            .map_err(|refused| finish::refused(&tool, &refused))?;
        let about = hooks::hooked(session, &call.id, Some(&tool), tool.id(), &arguments);
        *hooked = hooks::before(session, about)
            .await
            .map_err(stopped::hooked)?;

        let copy = match secured::before_image(session, &approved, &ready).await? {
            secured::Copy::Taken(entry) => entry,
            secured::Copy::Failed(why) => {
                unsecured = Some(why);
                continue;
            }
        };
        session
            .journal
            .keep_start(&call.id, tool.may_change())
            .await?;
        let hands = door::opened(session, call, &tool, &facts, &ready);
        let ran = execute::run(session, &tool, approved, hands, hooked.clone()).await;
        if let Some(what) = execute::files_changed(&ran) {
            changed = Some(what);
            continue;
        }
        let outcome = finish::fold(session, call, &tool, ran, copy, &said);
        let outcome = state::keep(session, call, &tool, &edited, outcome);
        judged::remember(session, ready, &outcome);
        return Ok((outcome, tool.may_change()));
    }
}
