//! `keys`: the keys of providers, their sources, and those that the keychain holds.

use std::io::IsTerminal;

use agent::Engine;
use protocol::Op;
use protocol::op::KeyLifetime;
use serde_json::json;

use super::prompt::read_stdin;
use super::providers::{provider_row, unknown_provider};
use super::source_commands::report_done;
use crate::args::KeysCommand;
use crate::exit::{CliError, CliResult};
use crate::limits::SECRET_BYTES_MAX;
use crate::output::OutputWriter;
use crate::table;
use crate::terminal::line_editor;

/// Lists, sets or removes keys. No key is ever shown.
pub(crate) async fn run_keys(
    desk: &Engine,
    command: KeysCommand,
    out: &mut OutputWriter,
) -> CliResult {
    match command {
        KeysCommand::List => list_keys(desk, out).await,
        KeysCommand::Set { provider } => {
            require_provider(desk, &provider).await?;
            let key = read_key(&provider)?;
            desk.submit(store_key(provider, key)).await?;
            report_done(out, "The key is in the system keychain.")
        }
        KeysCommand::Remove { provider } => {
            require_provider(desk, &provider).await?;
            let key = String::new();
            desk.submit(store_key(provider, key)).await?;
            report_done(out, "The system keychain holds no key of it.")
        }
    }
}

async fn list_keys(desk: &Engine, out: &mut OutputWriter) -> CliResult {
    let providers = desk.snapshot().await?.providers;
    let keys: Vec<_> = providers
        .iter()
        .map(|view| json!({ "provider": view.id, "ready": view.ready, "note": view.note }))
        .collect();
    out.write_answer(&json!({ "keys": keys }), |out| {
        let rows: Vec<_> = providers.iter().map(provider_row).collect();
        table::write_rows(out, &rows, None)
    })
}

async fn require_provider(desk: &Engine, provider: &str) -> Result<(), CliError> {
    let providers = desk.snapshot().await?.providers;
    match providers.iter().any(|view| view.id == provider) {
        true => Ok(()),
        false => Err(unknown_provider(provider, &providers)),
    }
}

/// Reads a key: typed without echo on a terminal, otherwise all of standard input.
fn read_key(provider: &str) -> Result<String, CliError> {
    let key = match std::io::stdin().is_terminal() {
        true => line_editor::read_secret(&format!("Key of {provider}: "))?,
        false => read_stdin("key")?,
    };
    let key = key.trim().to_owned();
    if key.is_empty() {
        return Err(CliError::usage(
            "There is no key on standard input.",
            "Give it like: countersign keys set anthropic < key.txt.",
        ));
    }
    if key.len() as u64 > SECRET_BYTES_MAX || key.contains(char::is_control) {
        return Err(CliError::usage(
            "This is not a key: it is too long, or has more than one line.",
            "Give the key and nothing else.",
        ));
    }
    Ok(key)
}

/// Returns the op that stores a key in the system keychain, or removes it if it is empty.
fn store_key(provider: String, key: String) -> Op {
    Op::SetKey {
        provider,
        key,
        lasts: KeyLifetime::Kept,
    }
}
