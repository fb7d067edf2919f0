//! Step 5: looking for known secrets in what a call sends out.

use std::net::IpAddr;

use policy::CallFacts;
use policy::rules::protections::Protections;
use policy::watchdogs::{Alarm, KnownSecret, check_outgoing_secrets};
use protocol::Capability;
use runtime::{Workspace, read_named_files};

use crate::pipeline::call_context::CallContext;

/// Returns an alarm if the arguments of the call hold a secret and may leave this machine, or reach another agent or a
/// program of somebody else's.
pub(crate) async fn check_secrets(cx: &CallContext<'_>, facts: &CallFacts) -> Option<Alarm> {
    let receiver = find_receiver(cx, facts)?;
    let workspace = cx.session.tool_context.workspace.clone();
    let arguments = cx.arguments.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let secrets = collect_secrets(&workspace);
        check_outgoing_secrets(&arguments, &secrets, &receiver)
    });
    checked.await.unwrap_or_else(|_| {
        Some(Alarm::ask_every_time(
            "What it sends could not be searched for secrets.",
        ))
    })
}

/// Returns who receives the arguments of a call; none if they stay with the app and in its sandbox.
fn find_receiver(cx: &CallContext<'_>, facts: &CallFacts) -> Option<String> {
    let mut hosts = facts
        .all()
        .iter()
        .filter(|fact| fact.capability == Capability::NetFetch);
    if let Some(host) = hosts.next() {
        return Some(format!("`{}`", shorten_host(&host.real)));
    }
    let tool = &cx.tool.0.tool;
    if !tool.confinement().is_default() {
        return Some(format!("`{}`", cx.tool.id()));
    }
    // A search, or a task for another agent.
    let is_message = facts.all().is_empty() && cx.tool.interface().safety.is_open_world;
    is_message.then(|| format!("`{}`", cx.tool.id()))
}

/// Returns the end of a host's name: the labels before it may be the very secret that is sent.
fn shorten_host(host: &str) -> String {
    let labels: Vec<&str> = host.split('.').collect();
    match labels.as_slice() {
        [_, .., domain, top] if host.parse::<IpAddr>().is_err() => format!("….{domain}.{top}"),
        _ => host.to_owned(),
    }
}

/// Collects the secrets in the files of the workspace that are protected because they hold secrets.
fn collect_secrets(workspace: &Workspace) -> Vec<KnownSecret> {
    let protections = Protections::standard();
    let files = read_named_files(workspace, &|path| protections.is_secret(path));
    files
        .iter()
        .flat_map(|file| KnownSecret::find_in_file(&file.path, &file.content))
        .collect()
}
