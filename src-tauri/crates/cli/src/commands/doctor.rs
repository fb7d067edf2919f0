//! `doctor`: reports this machine's guarantees for commands, and the services that are set up.

use std::path::{Path, PathBuf};

use agent::EngineConfig;
use agent::engine::settings::file;
use protocol::query::{Answer, Query};
use protocol::server::language_servers::LanguageServerView;
use protocol::settings::{SearchApi, WebSearchSettings};
use protocol::view::effects::Assurance;

use super::provider_addresses;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};

/// Shows the report.
pub(crate) async fn show_report(
    data_dir: Option<PathBuf>,
    workspace: &Path,
    out: &mut OutputWriter,
) -> CliResult {
    let folder =
        EngineConfig::resolve_data_dir(data_dir.clone()).map_err(CliError::config_error)?;
    let settings_file = file::settings_path(&folder);
    let desk = super::open_readonly_engine(data_dir).await?;
    let query = Query::Promise {
        workspace: workspace.display().to_string(),
    };
    let Answer::Promise(promise) = desk.query(query).await? else {
        return Err(CliError::unexpected_answer());
    };
    if out.is_json() {
        out.write_json(&promise)?;
        return Ok(ExitReason::Done);
    }
    let (ink, lead) = match promise.assurance {
        Assurance::Speculative => (
            TextStyle::Good,
            "Commands get a dry run in a sandbox: nothing real changes before you have seen it.",
        ),
        Assurance::Snapshot if promise.net_off => (
            TextStyle::Plain,
            "Commands run for real in a sandbox; what they change in the workspace can be undone.",
        ),
        Assurance::Snapshot => (
            TextStyle::Warn,
            "Commands run for real, without a sandbox; what they change in the workspace can be undone, and nothing else.",
        ),
        Assurance::GateOnly => (
            TextStyle::Bad,
            "Commands run without a sandbox: there is no dry run, and what they change cannot be undone.",
        ),
    };
    let mut lines = vec![out.apply_style(ink, lead)];
    lines.extend(promise.reasons.iter().map(|reason| format!("  {reason}")));
    for (holds, yes, no) in [
        (
            promise.net_off,
            "network access only to the hosts that you name",
            "the network is open to them",
        ),
        (
            promise.unix_sockets_off,
            "no access to programs on this machine",
            "programs on this machine are open to them",
        ),
        (
            promise.in_place,
            "one can be run for real over a snapshot of the workspace, and what it changes there undone (--in-place)",
            "none can be run for real in a way that can be undone",
        ),
        (
            promise.kill_tree,
            "nothing that they start outlives them",
            "what they start may outlive them",
        ),
    ] {
        let (ink, mark, what) = match holds {
            true => (TextStyle::Good, "✓", yes),
            false => (TextStyle::Bad, "✗", no),
        };
        lines.push(out.apply_style(ink, &format!("  {mark} {what}")));
    }
    let settings = desk.snapshot().await?.settings;
    lines.push(describe_web_search(&settings.web_search));
    lines.extend(provider_addresses::list_redirected_providers(
        &settings.providers,
        out,
    ));
    if let Answer::LanguageServers { servers } = desk.query(Query::LanguageServers).await? {
        lines.extend(list_language_servers(&servers, out));
    }
    let file = out.apply_style(TextStyle::Plain, &settings_file.display().to_string());
    lines.push(format!(
        "The settings are in {file}; change them: countersign config edit."
    ));
    out.write_text(&format!("{}\n", lines.join("\n")))?;
    Ok(ExitReason::Done)
}

/// Instructions for setting up a web search provider.
const NO_SEARCH_PROVIDER: &str = "\
Nobody searches the web for agents. Set one up (brave, tavily, exa, or a searxng instance with its base_url), such as:
  countersign config set web_search.providers '[{ id = \"brave\", wire = \"brave\", key_env = \"BRAVE_API_KEY\" }]'";

/// Describes the web search provider for agents. Its key is resolved when it is needed, not here: a keychain may ask.
fn describe_web_search(settings: &WebSearchSettings) -> String {
    let named = settings
        .providers
        .iter()
        .map(|one| match (&one.key_env, one.wire) {
            (_, SearchApi::Searxng) => one.id.clone(),
            (Some(variable), _) => format!("{} (key from {variable} or the keychain)", one.id),
            (None, _) => format!("{} (key from the keychain)", one.id),
        });
    let operations = settings.operations.iter();
    let operations = operations.map(|one| format!("{} (an operation of a service)", one.operation));
    let named: Vec<String> = named.chain(operations).collect();
    match named.is_empty() {
        true => NO_SEARCH_PROVIDER.to_owned(),
        false => format!(
            "The web is searched by {}: {} times a session, {} ms each at most.",
            named.join(", "),
            settings.calls_max,
            settings.timeout_ms
        ),
    }
}

/// Lists the language servers that are on, and those that could be.
fn list_language_servers(servers: &[LanguageServerView], out: &OutputWriter) -> Vec<String> {
    let (on, off): (Vec<_>, Vec<_>) = servers.iter().partition(|one| one.settings.enabled);
    let mut lines = Vec::new();
    match on.is_empty() {
        true => lines.push(
            "No language server is on; switch one on under [[language_servers]] in the settings."
                .to_owned(),
        ),
        false => lines.push("Language servers that are on:".to_owned()),
    }
    for one in on {
        let (ink, mark, place) = match &one.found {
            Some(file) => (TextStyle::Good, "✓", file.clone()),
            None => (
                TextStyle::Bad,
                "✗",
                format!("`{}` is not on PATH", one.settings.command),
            ),
        };
        lines.push(out.apply_style(
            ink,
            &format!("  {mark} {} ({}): {place}", one.title, one.language),
        ));
    }
    let off = off.into_iter().filter(|one| one.found.is_some());
    let off: Vec<&str> = off.map(|one| one.title.as_str()).collect();
    if !off.is_empty() {
        lines.push(format!("  found and off: {}", off.join(", ")));
    }
    lines
}
