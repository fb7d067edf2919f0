//! `dry-run`: what a command does in a sealed copy, or for real where it can be taken back.

use std::path::{Path, PathBuf};

use agent::{Desk, DeskConfig, Host};
use protocol::{Effects, Preview, UndoEntry, UndoState};
use provider::ScriptCall;
use serde_json::json;

use super::call;
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
