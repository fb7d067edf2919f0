//! Step 5: looking for known secrets in the commits that a command pushes.

use policy::watchdogs::{Alarm, KnownSecret, Push, find_known_secrets, find_pushes};
use protocol::Plan;
use runtime::Workspace;
use runtime::git::visit_unpushed_texts;

use crate::pipeline::call_context::CallContext;
use crate::pipeline::outgoing;
use crate::pipeline::prepare::PreparedCall;

/// Returns the question about known secrets in commits that the call pushes and that the remote does not have, and in the
/// names of branches and tags. It is
/// asked each time: the same command pushes other commits the next time.
pub(crate) async fn check_pushes(cx: &CallContext<'_>, prepared: &PreparedCall) -> Option<Alarm> {
    let pushes = find_pushes(&prepared.facts);
    if pushes.is_empty() {
        return None;
    }
    let workspace = cx.session.tool_context.workspace.clone();
    let keys = cx.session.engine.keys.clone();
    let plan = prepared.plan.clone();
    let searched = tokio::task::spawn_blocking(move || {
        let known = outgoing::collect_known_secrets(&workspace, &*keys);
        let mut found = pushes.iter();
        found.find_map(|push| search_push(&workspace, &plan, push, &known))
    });
    let reason = searched
        .await
        .unwrap_or_else(|_| Some(UNSEARCHED_REASON.to_owned()));
    reason.map(Alarm::ask_every_time)
}

const UNSEARCHED_REASON: &str = "The commits that it pushes could not be searched for secrets.";

fn search_push(
    workspace: &Workspace,
    plan: &Plan,
    push: &Push,
    known: &[KnownSecret],
) -> Option<String> {
    if known.is_empty() {
        return None;
    }
    let told = |secret: &KnownSecret, place: &str| {
        let origin = &secret.origin;
        format!("It pushes the secret {origin}, which stands in {place}.")
    };
    let named = find_known_secrets(push.refs.join("\n").as_bytes(), known);
    if let Some(secret) = named.first() {
        return Some(told(secret, "the name of a branch or a tag"));
    }
    let mut found = None;
    let remote = push.target.as_deref();
    let is_searched = visit_unpushed_texts(workspace, plan, remote, &mut |text| {
        let secret = find_known_secrets(text.content, known).into_iter().next();
        if let Some(secret) = secret.filter(|_| found.is_none()) {
            found = Some(told(secret, &text.place));
        }
    });
    found.or_else(|| (!is_searched).then(|| UNSEARCHED_REASON.to_owned()))
}
