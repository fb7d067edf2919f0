//! `dry-run` and `doctor`: what a command does in a sealed copy, and what this machine can promise of commands.

use std::path::{Path, PathBuf};

use agent::{Desk, DeskConfig, Host};
use protocol::effects::{Assurance, Promise};
use protocol::languages::LanguageServerView;
use protocol::query::{Answer, Query};
use protocol::settings::{SearchWire, WebSearchSettings};
use protocol::{Effects, Preview, UndoEntry, UndoState};
use provider::ScriptCall;
use serde_json::json;

use super::{addresses, call};
use crate::args::{Call, Consent};
use crate::ending::{Code, Ended, Ending};
use crate::limits::DIFF_LINES_MAX;
use crate::out::{Ink, Out};
use crate::{exact, previews, story};

/// Runs a command in a sealed copy and shows what it did.
pub(crate) async fn show(
    desk: &Desk,
    workspace: &Path,
    command: &[String],
    allowed: &[String],
    out: &mut Out,
) -> Ended {
    let ran = desk.dry_run(workspace, line(command), allowed).await?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    let last = match ran.effects.reached.is_empty() {
        true => "Nothing real changed.",
        false => "Nothing real changed here; what it sent is out.",
    };
    tell(&ran.effects, (&stdout, &stderr), None, last, out)?;
    Ok(Code::Done)
}

/// Runs a command for real, through the whole pipeline, and shows what it did. What it prints is told in one stream.
pub(crate) async fn in_place(
    data_dir: Option<PathBuf>,
    workspace: PathBuf,
    command: &[String],
    hosts: Vec<String>,
    out: &mut Out,
) -> Ended {
    let config = super::config(data_dir, Host::Headless { approve_all: true })?;
    let config = DeskConfig {
        in_place: Some(hosts),
        ..config
    };
    let made = ScriptCall {
        name: "bash".to_owned(),
        arguments: json!({ "command": line(command) }).to_string(),
    };
    let (session, view) = call::make(config, &workspace, made, out).await?;
    let Preview::Effects(shown) = &view.preview else {
        // It did not run: the trail or the error says why.
        match out.is_json() {
            true => out.json(&json!({ "session": session, "call": view }))?,
            false => out.text(&story::call_in_full(out, &view))?,
        }
        return Ok(call::code(view.state));
    };
    let printed = protocol::shown::plain(&shown.effects.output);
    let entry = view.undo.as_ref();
    let last = match entry {
        Some(entry) if entry.state == UndoState::Undone => {
            "The rules deny what it did, so it was taken back.".to_owned()
        }
        Some(entry) => format!(
            "It was done for real; take it back: countersign undo {}",
            entry.id
        ),
        None => "It was done for real, and nothing in the folder changed.".to_owned(),
    };
    tell(&shown.effects, (&printed, ""), entry, &last, out)?;
    Ok(call::code(view.state))
}

/// Tells of what a command did; programs by the very names of what is different, see [`exact`].
fn tell(
    effects: &Effects,
    (stdout, stderr): (&str, &str),
    entry: Option<&UndoEntry>,
    last: &str,
    out: &mut Out,
) -> Result<(), Ending> {
    if out.is_json() {
        let mut told = json!({
            "assurance": effects.assurance,
            "exit_code": effects.exit_code,
            "ended": effects.ended,
            "effects": exact::effects(&effects.changes)?,
            "refused": effects.refused,
            "reached": effects.reached,
            "notes": effects.notes,
            "stdout": stdout,
            "stderr": stderr,
            "digest": effects.digest,
        });
        if let Some(entry) = entry {
            told["entry"] = json!(entry);
        }
        return out.json(&told);
    }
    let mut lines = Vec::new();
    for (name, text) in [("stdout", stdout), ("stderr", stderr)] {
        if !text.is_empty() {
            lines.push(out.ink(Ink::Faint, name));
            lines.extend(text.lines().map(crate::out::named));
        }
    }
    lines.push(out.ink(Ink::Faint, &ended(effects)));
    previews::effects(effects, DIFF_LINES_MAX, &mut |ink, line| {
        lines.push(out.ink(ink, line))
    });
    lines.extend(effects.notes.iter().map(|note| out.ink(Ink::Faint, note)));
    lines.push(last.to_owned());
    out.text(&format!("{}\n", lines.join("\n")))
}

/// Lets happen what was captured, through the whole pipeline: denied by the rules as any call, and an act that can be undone.
pub(crate) async fn commit(
    data_dir: Option<PathBuf>,
    workspace: PathBuf,
    command: &[String],
    out: &mut Out,
) -> Ended {
    let call = Call {
        tool: "bash".to_owned(),
        arguments: json!({ "command": line(command) }).to_string(),
        workspace,
        consent: Consent {
            approve_all: true,
            rules: None,
        },
    };
    call::run(data_dir, call, out).await
}

/// Says what this machine can promise.
pub(crate) async fn doctor(
    desk: &Desk,
    workspace: &Path,
    settings_file: &Path,
    out: &mut Out,
) -> Ended {
    let query = Query::Promise {
        workspace: workspace.display().to_string(),
    };
    let promise: Promise = super::ask(desk, query, |answer| match answer {
        Answer::Promise(promise) => Some(promise),
        _ => None,
    })
    .await?;
    if out.is_json() {
        out.json(&promise)?;
        return Ok(Code::Done);
    }
    let (ink, lead) = match promise.assurance {
        Assurance::Speculative => (
            Ink::Good,
            "Commands run in a sealed copy: nothing real changes before it was shown.",
        ),
        Assurance::Snapshot if promise.net_off => (
            Ink::Plain,
            "Commands run for real inside a sealed room; what they change in the workspace can be taken back.",
        ),
        Assurance::Snapshot => (
            Ink::Warn,
            "Commands run for real, in no sealed room; what they change in the workspace can be taken back, and nothing else.",
        ),
        Assurance::GateOnly => (
            Ink::Bad,
            "Commands run as they stand: there is no preview, and what they change cannot be taken back.",
        ),
    };
    let mut lines = vec![out.ink(ink, lead)];
    lines.extend(promise.reasons.iter().map(|reason| format!("  {reason}")));
    for (holds, yes, no) in [
        (
            promise.net_off,
            "no way to any network but the hosts that you name",
            "the network is open to them",
        ),
        (
            promise.unix_sockets_off,
            "no way to programs on this machine",
            "programs on this machine are open to them",
        ),
        (
            promise.in_place,
            "one can be run for real over a picture of the workspace, and what it changes in the workspace undone (--in-place)",
            "none can be run for real in a way that can be undone",
        ),
        (
            promise.kill_tree,
            "nothing that they start outlives them",
            "what they start may outlive them",
        ),
    ] {
        let (ink, mark, what) = match holds {
            true => (Ink::Good, "✓", yes),
            false => (Ink::Bad, "✗", no),
        };
        lines.push(out.ink(ink, &format!("  {mark} {what}")));
    }
    let settings = desk.snapshot().await?.settings;
    lines.push(searches(&settings.web_search));
    lines.extend(addresses::redirected(&settings.providers, out));
    if let Answer::LanguageServers { servers } = desk.query(Query::LanguageServers).await? {
        lines.extend(languages(&servers, out));
    }
    let file = out.ink(Ink::Plain, &settings_file.display().to_string());
    lines.push(format!(
        "The settings are in {file}; change them: countersign config edit."
    ));
    out.text(&format!("{}\n", lines.join("\n")))?;
    Ok(Code::Done)
}

/// How somebody is set up who searches the web.
const NO_SEARCH: &str = "\
Nobody searches the web for agents. Set one up (brave, tavily, exa, or a searxng instance with its base_url), such as:
  countersign config set web_search.providers '[{ id = \"brave\", wire = \"brave\", key_env = \"BRAVE_API_KEY\" }]'";

/// Who searches the web for agents. Keys are looked up when they are needed, not here: a keychain may ask.
fn searches(settings: &WebSearchSettings) -> String {
    let named = settings
        .providers
        .iter()
        .map(|one| match (&one.key_env, one.wire) {
            (_, SearchWire::Searxng) => one.id.clone(),
            (Some(variable), _) => format!("{} (key from {variable} or the keychain)", one.id),
            (None, _) => format!("{} (key from the keychain)", one.id),
        });
    let operations = settings.operations.iter();
    let operations = operations.map(|one| format!("{} (an operation of a service)", one.operation));
    let named: Vec<String> = named.chain(operations).collect();
    match named.is_empty() {
        true => NO_SEARCH.to_owned(),
        false => format!(
            "The web is searched by {}: {} times a session, {} ms each at most.",
            named.join(", "),
            settings.calls_max,
            settings.timeout_ms
        ),
    }
}

/// Which language servers are on, and which could be.
fn languages(servers: &[LanguageServerView], out: &Out) -> Vec<String> {
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
            Some(file) => (Ink::Good, "✓", file.clone()),
            None => (
                Ink::Bad,
                "✗",
                format!("`{}` is not on PATH", one.settings.command),
            ),
        };
        lines.push(out.ink(
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

/// One word is a line for the shell; several are a program and its arguments.
fn line(command: &[String]) -> String {
    match command {
        [line] => line.clone(),
        words => words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// A word that the shell takes for itself.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn ended(effects: &Effects) -> String {
    match (effects.exit_code, effects.ended.as_str()) {
        (Some(code), _) => format!("exit {code}"),
        (None, how) => format!("ended by {how}"),
    }
}
