//! `keys`: the keys of providers, where each comes from, and those that the keychain holds.

use std::io::IsTerminal;

use agent::Desk;
use protocol::{Fault, Op};
use serde_json::json;

use super::kept::done;
use super::prompt::standard_input;
use super::providers::{mark, no_provider};
use crate::args::Keys;
use crate::columns::{self, cell};
use crate::ending::{Code, Ended, Ending};
use crate::limits::SECRET_BYTES_MAX;
use crate::out::{Ink, Out};
use crate::terminal::line;

/// Lists, sets or removes keys. No key is ever shown.
pub(crate) async fn run(desk: &Desk, asked: Keys, out: &mut Out) -> Ended {
    match asked {
        Keys::List => list(desk, out).await,
        Keys::Set { provider } => {
            known(desk, &provider).await?;
            let key = read(&provider)?;
            submit(desk, provider, key).await?;
            done(out, "The key is in the system keychain.")
        }
        Keys::Remove { provider } => {
            known(desk, &provider).await?;
            submit(desk, provider, String::new()).await?;
            done(out, "The system keychain holds no key of it.")
        }
    }
}

async fn list(desk: &Desk, out: &mut Out) -> Ended {
    let providers = desk.snapshot().await?.providers;
    if out.is_json() {
        let keys: Vec<_> = providers
            .iter()
            .map(|view| json!({ "provider": view.id, "ready": view.ready, "note": view.note }))
            .collect();
        out.json(&json!({ "keys": keys }))?;
        return Ok(Code::Done);
    }
    let rows: Vec<_> = providers
        .iter()
        .map(|view| {
            let (mark, ink) = mark(view);
            vec![
                cell(ink, mark),
                cell(Ink::Strong, &view.id),
                cell(Ink::Plain, &view.note),
            ]
        })
        .collect();
    for line in columns::lines(out, &rows, None) {
        out.line(&line)?;
    }
    Ok(Code::Done)
}

async fn known(desk: &Desk, provider: &str) -> Result<(), Ending> {
    let providers = desk.snapshot().await?.providers;
    match providers.iter().any(|view| view.id == provider) {
        true => Ok(()),
        false => Err(no_provider(provider, &providers)),
    }
}

/// The key: typed unseen on a terminal, else all of standard input.
fn read(provider: &str) -> Result<String, Ending> {
    let key = match std::io::stdin().is_terminal() {
        true => line::secret(&format!("Key of {provider}: "))?,
        false => standard_input("key")?,
    };
    let key = key.trim().to_owned();
    if key.is_empty() {
        return Err(Ending::usage(Fault::new(
            "There is no key on standard input.",
            "Give it like: countersign keys set anthropic < key.txt.",
        )));
    }
    if key.len() as u64 > SECRET_BYTES_MAX || key.contains(char::is_control) {
        return Err(Ending::usage(Fault::new(
            "This is no key: it is too long, or has more than one line.",
            "Give the key and nothing else.",
        )));
    }
    Ok(key)
}

async fn submit(desk: &Desk, provider: String, key: String) -> Result<(), Ending> {
    desk.submit(Op::SetKey { provider, key }).await?;
    Ok(())
}
