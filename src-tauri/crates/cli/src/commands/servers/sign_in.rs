//! `servers sign-in`: shows the URL that the person opens, and waits until the sign-in ends.

use agent::Engine;
use protocol::server::mcp_servers::{ServerChange, ServerId, ServerView, SignInState};
use serde_json::json;

use super::super::source_commands;
use super::{ServerCommands, show_server, submit_server_change};
use crate::exit::{CliError, CliResult};
use crate::limits::SIGN_IN_POLL_INTERVAL;
use crate::output::OutputWriter;

/// Begins the sign-in, and waits until it succeeds or fails.
pub(super) async fn start_sign_in(
    desk: &Engine,
    id: &ServerId,
    out: &mut OutputWriter,
) -> CliResult {
    submit_server_change(desk, id, ServerChange::SignIn).await?;
    let mut is_url_shown = false;
    loop {
        match source_commands::load_view::<ServerCommands>(desk, id)
            .await?
            .sign_in
        {
            Some(SignInState::Waiting { url, host }) => {
                if !std::mem::replace(&mut is_url_shown, true) {
                    match out.is_json() {
                        true => out.write_json(&json!({ "open": url, "host": host }))?,
                        false => out.write_line(&format!(
                            "Open this address, which is at {host}, and sign in there:\n\n  {url}\n\nWaiting until you come back."
                        ))?,
                    }
                }
                tokio::time::sleep(SIGN_IN_POLL_INTERVAL).await;
            }
            Some(SignInState::Done) => return show_server(desk, id, out).await,
            Some(SignInState::Needed { why }) => return Err(sign_in_failed(id, why)),
            None => return Err(sign_in_failed(id, None)),
        }
    }
}

fn sign_in_failed(id: &ServerId, why: Option<String>) -> CliError {
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let again = format!("Try it again: countersign servers sign-in {id}.");
    CliError::config(format!("You are not signed in to `{id}`{why}."), again)
}

/// Describes the person's sign-in state at a server, in a sentence; none if the server requires no sign-in.
pub(super) fn describe_sign_in(view: &ServerView) -> Option<String> {
    let id = &view.settings.id;
    match view.sign_in.as_ref()? {
        SignInState::Needed { why } => {
            let why = why.as_ref();
            let why = why.map_or_else(String::new, |why| {
                format!(" The last time it did not work: {why}.")
            });
            Some(format!(
                "It wants to know who asks.{why} To sign in: countersign servers sign-in {id}"
            ))
        }
        SignInState::Waiting { url, .. } => Some(format!("To sign in, open {url}")),
        SignInState::Done => Some("You are signed in.".to_owned()),
    }
}
