//! `servers sign-in`: shows the address that the person opens, and waits until they come back from there.

use agent::Desk;
use protocol::Fault;
use protocol::servers::{ServerChange, ServerId, ServerView, SignIn};
use serde_json::json;

use super::super::kept;
use super::{Kept, change, show};
use crate::ending::{Ended, Ending};
use crate::limits::SIGN_IN_LOOKED_AT;
use crate::out::Out;

/// Begins, and stays until the person is signed in or is not.
pub(super) async fn begin(desk: &Desk, id: &ServerId, out: &mut Out) -> Ended {
    change(desk, id, ServerChange::SignIn).await?;
    let mut told = false;
    loop {
        match kept::view::<Kept>(desk, id).await?.sign_in {
            Some(SignIn::Waiting { url, host }) => {
                if !std::mem::replace(&mut told, true) {
                    match out.is_json() {
                        true => out.json(&json!({ "open": url, "host": host }))?,
                        false => out.line(&format!(
                            "Open this address, which is at {host}, and sign in there:\n\n  {url}\n\nWaiting until you come back."
                        ))?,
                    }
                }
                tokio::time::sleep(SIGN_IN_LOOKED_AT).await;
            }
            Some(SignIn::Done) => return show(desk, id, out).await,
            Some(SignIn::Needed { why }) => return Err(failed(id, why)),
            None => return Err(failed(id, None)),
        }
    }
}

fn failed(id: &ServerId, why: Option<String>) -> Ending {
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let again = format!("Try it again: countersign servers sign-in {id}.");
    Ending::unusable(Fault::new(
        format!("You are not signed in to `{id}`{why}."),
        again,
    ))
}

/// How the person stands to a server, in a sentence; none if nobody was asked.
pub(super) fn told(view: &ServerView) -> Option<String> {
    let id = &view.settings.id;
    match view.sign_in.as_ref()? {
        SignIn::Needed { why } => {
            let why = why.as_ref();
            let why = why.map_or_else(String::new, |why| {
                format!(" The last time it did not work: {why}.")
            });
            Some(format!(
                "It wants to know who asks.{why} To sign in: countersign servers sign-in {id}"
            ))
        }
        SignIn::Waiting { url, .. } => Some(format!("To sign in, open {url}")),
        SignIn::Done => Some("You are signed in.".to_owned()),
    }
}
