//! Step 5: looking for known secrets in what a call sends out.

use std::net::IpAddr;

use policy::CallFacts;
use policy::path::Os;
use policy::rules::protections::Protections;
use policy::watchdogs::{
    Alarm, KnownSecret, OutgoingSecret, SecretMask, collect_letters, find_outgoing_secrets,
    find_second_halves,
};
use protocol::rule::verdict::TrailStep;
use protocol::{CallId, Capability, Gate, ToolCall};
use provider::{KeySource, KeyStore, LoadedKey};
use runtime::{Workspace, read_named_files};
use serde_json::{Map, Value};

use crate::permissions::access_resolver::AccessResolver;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::resolve;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;
use crate::session::run_state::released_secrets::SecretRelease;

/// What the arguments of a call send of secrets.
#[derive(Default)]
pub(crate) struct OutgoingSecrets {
    /// The question about those that the person did not let go to this receiver.
    pub alarm: Option<Alarm>,
    /// What an answer that allows the call lets go from then on.
    pub releases: Vec<SecretRelease>,
    /// The explanation of those that the person let go before.
    pub released: Option<TrailStep>,
}

/// Looks for secrets in arguments of a call that may send them out, and masks them in all events of the call. Called
/// before the arguments are recorded.
pub(crate) async fn mask_secrets(
    session: &Session,
    call: &ToolCall,
    arguments: &Map<String, Value>,
) {
    if let Some(receivers) = find_likely_receivers(session, &call.name, arguments) {
        let _found = search_arguments(session, &call.id, arguments, &receivers).await;
    }
}

/// Returns who may receive these arguments of a call, as far as it can be told without a look at the disk; none if nobody
/// does. Of one that is not understood nobody is known, and somebody might.
fn find_likely_receivers(
    session: &Session,
    name: &str,
    arguments: &Map<String, Value>,
) -> Option<Vec<String>> {
    let tools = session.tools();
    let Ok(tool) = tools.find(name).map(ResolvedTool) else {
        return Some(Vec::new());
    };
    let Ok(arguments) = resolve::validate_arguments(session, &tool, arguments) else {
        return Some(Vec::new());
    };
    let resolver = AccessResolver::Names {
        os: Os::CURRENT,
        root: &session.tool_context.workspace.root().to_string_lossy(),
    };
    let facts = resolver.resolve_accesses(&tool.0.tool.accesses(&arguments));
    find_receiver(&tool, &facts).map(|receiver| receiver.all)
}

/// Looks for secrets in the arguments of the call, if they may leave this machine, or reach another agent or a program
/// of somebody else's.
pub(crate) async fn check_secrets(cx: &CallContext<'_>, facts: &CallFacts) -> OutgoingSecrets {
    let Some(receiver) = find_receiver(&cx.tool, facts) else {
        return OutgoingSecrets::default();
    };
    let found = search_arguments(cx.session, &cx.call.id, &cx.arguments, &receiver.all).await;
    match found {
        Some(found) => sort_secrets(cx, &receiver, found),
        None => OutgoingSecrets {
            alarm: Some(Alarm::ask_every_time(
                "What it sends could not be searched for secrets.",
            )),
            ..OutgoingSecrets::default()
        },
    }
}

/// Remembers what the call is about to send, so that the rest of a secret is recognized in a later one.
pub(crate) fn remember_sent(cx: &CallContext<'_>, facts: &CallFacts) {
    if let Some(receiver) = find_receiver(&cx.tool, facts) {
        let letters = collect_letters(&cx.arguments);
        cx.session.add_sent_letters(&receiver.all, &letters);
    }
}

/// Finds the secrets in arguments of a call, and masks them in all events of the call from then on. Returns none if the
/// arguments could not be searched; then all of them are masked.
async fn search_arguments(
    session: &Session,
    call: &CallId,
    arguments: &Map<String, Value>,
    receivers: &[String],
) -> Option<Vec<OutgoingSecret>> {
    let workspace = session.tool_context.workspace.clone();
    let keys = session.engine.keys.clone();
    let searched = arguments.clone();
    let sent = session.sent_letters(receivers);
    let searched = tokio::task::spawn_blocking(move || {
        let known = collect_known_secrets(&workspace, &*keys);
        let mut found = find_outgoing_secrets(&searched, &known);
        found.extend(find_second_halves(&searched, &sent, &known));
        let mask = SecretMask::new(&found, &searched);
        (found, mask)
    });
    let (found, mask) = match searched.await {
        Ok((found, mask)) => (Some(found), mask),
        Err(_) => (None, SecretMask::unsearched()),
    };
    session.journal.mask_secrets(call, &mask);
    found
}

/// Sorts the secrets of a call into those that the person let go to this receiver and those to ask about.
fn sort_secrets(
    cx: &CallContext<'_>,
    receiver: &Receiver,
    found: Vec<OutgoingSecret>,
) -> OutgoingSecrets {
    let known = cx.session.released_secrets();
    let release_of = |one: &OutgoingSecret| {
        let whole = receiver.all.join("\n");
        (receiver.is_whole).then(|| known.release_of(&one.secret, &whole))
    };
    let is_released = |one: &OutgoingSecret| release_of(one).is_some_and(|it| known.contains(it));
    let (released, asked): (Vec<_>, Vec<_>) = found.into_iter().partition(is_released);
    let sends = |secrets: &[OutgoingSecret]| {
        let secrets = OutgoingSecret::describe_all(secrets);
        format!("It sends {secrets} to `{}`", receiver.shown)
    };
    OutgoingSecrets {
        alarm: (!asked.is_empty()).then(|| Alarm::ask(sends(&asked) + ".")),
        releases: asked.iter().filter_map(release_of).collect(),
        released: (!released.is_empty()).then(|| {
            let text = sends(&released) + ", as you let it before in this session.";
            TrailStep::new(Gate::Watchdog, None, text)
        }),
    }
}

/// Who receives the arguments of a call.
struct Receiver {
    /// The name that a person is shown.
    shown: String,
    /// Everybody who is known to receive them.
    all: Vec<String>,
    /// Whether nobody else receives them: only then is anything let go for good.
    is_whole: bool,
}

/// Returns who receives the arguments of a call; none if they stay with the app and in its sandbox.
fn find_receiver(tool: &ResolvedTool<'_>, facts: &CallFacts) -> Option<Receiver> {
    let all = facts.all().iter();
    let reached = all.filter(|fact| fact.capability == Capability::NetFetch);
    let reached: Vec<&str> = reached.map(|fact| fact.real.as_str()).collect();
    let is_foreign = !tool.0.tool.confinement().is_default();
    // A search, whose host only its provider knows, or a task for another agent.
    let is_message = match reached.as_slice() {
        [] => facts.all().is_empty() && tool.interface().safety.is_open_world,
        hosts => hosts.contains(&""),
    };
    let mut receivers: Vec<&str> = reached
        .into_iter()
        .filter(|host| !host.is_empty())
        .collect();
    let shown = match receivers.first() {
        Some(host) => shorten_host(host),
        None if is_foreign || is_message => tool.id().to_owned(),
        None => return None,
    };
    // A tool of somebody else's receives them beside the hosts that they name.
    if is_message || facts.has_only_mentions() {
        receivers.push(tool.id());
    }
    // A command may send what it is given anywhere else, too.
    let is_command = facts.commands().next().is_some();
    Some(Receiver {
        shown,
        all: receivers.into_iter().map(str::to_owned).collect(),
        is_whole: !is_command,
    })
}

/// Returns the end of a host's name: the labels before it may be the very secret that is sent.
fn shorten_host(host: &str) -> String {
    let labels: Vec<&str> = host.split('.').collect();
    match labels.as_slice() {
        [_, .., domain, top] if host.parse::<IpAddr>().is_err() => format!("….{domain}.{top}"),
        _ => host.to_owned(),
    }
}

/// Collects the secrets that are known: of files of the workspace, and of the app's own. Reads files, so it must not run
/// on an async thread.
pub(crate) fn collect_known_secrets(
    workspace: &Workspace,
    keys: &dyn KeyStore,
) -> Vec<KnownSecret> {
    let mut known = collect_file_secrets(workspace);
    known.extend(collect_own_keys(keys));
    known
}

/// Collects the secrets in the files of the workspace that are protected because they hold secrets.
fn collect_file_secrets(workspace: &Workspace) -> Vec<KnownSecret> {
    let protections = Protections::standard();
    let files = read_named_files(workspace, &|path| protections.is_secret(path));
    files
        .iter()
        .flat_map(|file| KnownSecret::find_in_file(&file.path, &file.content))
        .collect()
}

/// Collects the keys of the app's own that are in memory: no keychain is asked, so nobody has to unlock one.
fn collect_own_keys(keys: &dyn KeyStore) -> Vec<KnownSecret> {
    let keys = keys.loaded_keys().into_iter();
    let secrets = keys.flat_map(|LoadedKey { name, key }| {
        let origin = match key.from {
            KeySource::Environment(variable) => format!("`{variable}` in the environment"),
            KeySource::Keychain => format!("`{name}` in the system keychain"),
            KeySource::Run => format!("the key of `{name}`, which is kept for this run"),
        };
        KnownSecret::find_in_key(&origin, key.secret.reveal())
    });
    secrets.collect()
}
