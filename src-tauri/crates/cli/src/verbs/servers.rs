//! `servers`: other people's servers of tools, set up, looked at, switched and approved.

mod has;
mod import;
mod sign_in;

use std::collections::BTreeMap;
use std::io::Read;

use agent::Desk;
use protocol::query::{Answer, Query};
use protocol::server_has::ServerAsked;
use protocol::servers::{
    Pin, ServerChange, ServerClient, ServerId, ServerState, ServerTool, ServerView, ServerWay,
};
use protocol::shown::plain;
use protocol::{Digest, Fault, Op};
use serde_json::json;

use super::ask;
use crate::args::{Add, Servers};
use crate::ending::{Code, Ended, Ending};
use crate::limits::SECRET_BYTES_MAX;
use crate::out::{Ink, Out};

/// Does what was asked.
pub(crate) async fn run(desk: &Desk, asked: Servers, out: &mut Out) -> Ended {
    match asked {
        Servers::List => list(desk, out).await,
        Servers::Add(add) => {
            let (id, way) = (named(&add.server)?, way(&add)?);
            let timeout_ms = add.timeout_ms;
            change(desk, &id, ServerChange::Set { way, timeout_ms }).await?;
            show(desk, &id, out).await
        }
        Servers::Import {
            from,
            file,
            workspace,
            add,
        } => {
            let sources = match (from, file) {
                (Some(product), Some(file)) => vec![import::of_file(&product, &file)?],
                _ => import::found(desk, &workspace).await?,
            };
            import::import(desk, &sources, &add, out).await
        }
        Servers::Enable { server } => switch(desk, &server, true, out).await,
        Servers::Disable { server } => switch(desk, &server, false, out).await,
        Servers::Approve { server, accept } => approve(desk, &named(&server)?, accept, out).await,
        Servers::Restart { server } => {
            let id = named(&server)?;
            change(desk, &id, ServerChange::Restart).await?;
            show(desk, &id, out).await
        }
        Servers::SignIn { server } => sign_in::begin(desk, &named(&server)?, out).await,
        Servers::SignOut { server } => {
            change(desk, &named(&server)?, ServerChange::SignOut).await?;
            done(out, &format!("You are signed out of {server}."))
        }
        Servers::Prompts {
            server,
            prompt,
            arguments,
        } => {
            let asked = match prompt {
                None => ServerAsked::Prompts { cursor: None },
                Some(name) => ServerAsked::Prompt {
                    name,
                    arguments: pairs(&arguments)?,
                },
            };
            has::tell(desk, &named(&server)?, asked, out).await
        }
        Servers::Resources { server, uri } => {
            let asked = match uri {
                None => ServerAsked::Resources { cursor: None },
                Some(uri) => ServerAsked::Resource { uri },
            };
            has::tell(desk, &named(&server)?, asked, out).await
        }
        Servers::Logs { server } => logs(desk, &named(&server)?, out).await,
        Servers::Remove { server } => {
            change(desk, &named(&server)?, ServerChange::Remove).await?;
            done(out, &format!("{server} is removed."))
        }
        Servers::Secret { name } => secret(desk, &name, out).await,
    }
}

fn named(name: &str) -> Result<ServerId, Ending> {
    ServerId::try_from(name.to_owned()).map_err(|why| {
        let hint = "Look at the list: countersign servers list.";
        Ending::usage(Fault::new(format!("{why}."), hint))
    })
}

fn way(add: &Add) -> Result<ServerWay, Ending> {
    if let Some(url) = &add.url {
        return Ok(ServerWay::Http {
            url: url.clone(),
            headers: pairs(&add.header)?,
            client: add.client_id.clone().map(|id| ServerClient {
                id,
                secret: add.client_secret.clone(),
            }),
        });
    }
    let folder = add.folder.as_ref().map(std::path::absolute).transpose();
    let folder = folder.map_err(|error| {
        Ending::usage(Fault::new("The folder has no place.", "Name another.")).because(&error)
    })?;
    let mut words = add.command.iter().cloned();
    Ok(ServerWay::Stdio {
        command: words.next().unwrap_or_default(),
        args: words.collect(),
        env: pairs(&add.env)?,
        folder: folder.map(|folder| folder.display().to_string()),
    })
}

pub(super) fn pairs(written: &[String]) -> Result<BTreeMap<String, String>, Ending> {
    let pairs = written.iter().map(|pair| match pair.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Ending::usage(Fault::new(
            "A variable or a header has no value.",
            "Write it like NAME=VALUE.",
        ))),
    });
    pairs.collect()
}

async fn change(desk: &Desk, server: &ServerId, change: ServerChange) -> Result<(), Ending> {
    let server = server.clone();
    desk.submit(Op::ChangeServer { server, change }).await?;
    Ok(())
}

async fn switch(desk: &Desk, server: &str, enabled: bool, out: &mut Out) -> Ended {
    let id = named(server)?;
    change(desk, &id, ServerChange::Switch { enabled }).await?;
    show(desk, &id, out).await
}

async fn views(desk: &Desk) -> Result<(Vec<ServerView>, Option<Fault>), Ending> {
    ask(desk, Query::Servers, |answer| match answer {
        Answer::Servers { servers, fault } => Some((servers, fault)),
        _ => None,
    })
    .await
}

async fn view(desk: &Desk, id: &ServerId) -> Result<ServerView, Ending> {
    let (servers, _) = views(desk).await?;
    let found = servers.into_iter().find(|view| view.settings.id == *id);
    found.ok_or_else(|| {
        Ending::usage(Fault::new(
            format!("There is no server `{id}`."),
            "Look at the list: countersign servers list.",
        ))
    })
}

async fn list(desk: &Desk, out: &mut Out) -> Ended {
    let (servers, fault) = views(desk).await?;
    if out.is_json() {
        out.json(&json!({ "servers": servers, "fault": fault }))?;
    } else {
        if servers.is_empty() && fault.is_none() {
            out.line("No server is set up. See: countersign servers add --help, or import.")?;
        }
        servers.iter().try_for_each(|view| tell(view, out))?;
    }
    match fault {
        Some(fault) => Err(Ending::unusable(fault)),
        None => Ok(Code::Done),
    }
}

async fn show(desk: &Desk, id: &ServerId, out: &mut Out) -> Ended {
    let view = view(desk, id).await?;
    match out.is_json() {
        true => out.json(&view)?,
        false => tell(&view, out)?,
    }
    Ok(Code::Done)
}

fn tell(view: &ServerView, out: &mut Out) -> Result<(), Ending> {
    let settings = &view.settings;
    let (ink, state) = match &view.state {
        ServerState::Off => (Ink::Faint, "off".to_owned()),
        ServerState::Idle => (Ink::Good, "on, started when it is needed".to_owned()),
        ServerState::Starting => (Ink::Plain, "starting".to_owned()),
        ServerState::Ready => (Ink::Good, "connected".to_owned()),
        ServerState::Unavailable { why, .. } => (Ink::Bad, format!("unavailable: {why}")),
        ServerState::NeedsSignIn => (Ink::Warn, "needs a sign-in".to_owned()),
    };
    let head = format!(
        "{}  {}  {}",
        out.ink(Ink::Strong, settings.id.as_str()),
        out.ink(ink, &state),
        out.ink(Ink::Faint, &settings.way.told())
    );
    out.line(&head)?;
    if let Some(told) = sign_in::told(view) {
        out.line(&format!("  {told}"))?;
    }
    for tool in &view.tools {
        let (ink, word) = match tool.pin {
            Pin::Pinned => (Ink::Plain, ""),
            Pin::New => (Ink::Warn, "  new, waits for a look"),
            Pin::Changed => (Ink::Warn, "  changed, waits for a look"),
            Pin::Gone => (Ink::Faint, "  not there any more"),
        };
        let line = format!("  {}{}", plain(&tool.name), word);
        let line = out.ink(ink, &line);
        out.line(&line)?;
    }
    for why in &view.left_out {
        let line = out.ink(Ink::Faint, &format!("  {why}"));
        out.line(&line)?;
    }
    if view.waits.is_some() {
        let next = format!(
            "  To look at them: countersign servers approve {}",
            settings.id
        );
        out.line(&next)?;
    }
    Ok(())
}

async fn approve(desk: &Desk, id: &ServerId, accept: Option<String>, out: &mut Out) -> Ended {
    if view(desk, id).await?.state == ServerState::Off {
        return Err(Ending::usage(Fault::new(
            format!("The server `{id}` is off, so nobody knows what its tools are now."),
            format!("Switch it on first: countersign servers enable {id}."),
        )));
    }
    change(desk, id, ServerChange::Restart).await?;
    if let Some(digest) = accept {
        let digest = Digest(digest);
        change(desk, id, ServerChange::Approve { digest }).await?;
        return show(desk, id, out).await;
    }
    let view = view(desk, id).await?;
    if out.is_json() {
        out.json(&view)?;
    } else {
        let others = view.tools.iter().filter(|tool| tool.pin != Pin::Pinned);
        for tool in others {
            tell_change(tool, out)?;
        }
    }
    match view.waits {
        None if out.is_json() => Ok(Code::Done),
        None => done(out, "All of its tools are as they were approved."),
        Some(digest) => {
            if !out.is_json() {
                let next = format!(
                    "To approve exactly this: countersign servers approve {id} --accept {}",
                    digest.0
                );
                out.line(&next)?;
            }
            Ok(Code::Failed)
        }
    }
}

fn tell_change(tool: &ServerTool, out: &mut Out) -> Result<(), Ending> {
    let head = out.ink(Ink::Strong, &plain(&tool.name));
    out.line(&head)?;
    tell_lines(&plain(&tool.changes), out)
}

/// A difference, line by line.
pub(super) fn tell_lines(changes: &str, out: &mut Out) -> Result<(), Ending> {
    for line in changes.lines() {
        let ink = match line.as_bytes().first() {
            Some(b'+') => Ink::Good,
            Some(b'-') => Ink::Bad,
            Some(_) | None => Ink::Plain,
        };
        let line = out.ink(ink, line);
        out.line(&line)?;
    }
    out.line("")
}

async fn logs(desk: &Desk, id: &ServerId, out: &mut Out) -> Ended {
    // One that cannot be started says why in its lines.
    let started = change(desk, id, ServerChange::Restart).await;
    let server = id.clone();
    let lines = ask(desk, Query::ServerLog { server }, |answer| match answer {
        Answer::ServerLog { lines } => Some(lines),
        _ => None,
    })
    .await?;
    if out.is_json() {
        out.json(&lines)?;
    } else {
        for line in &lines {
            let from = serde_json::to_value(line.from).unwrap_or_default();
            let from = out.ink(Ink::Faint, from.as_str().unwrap_or_default());
            let text = out.ink(Ink::Plain, &plain(&line.text));
            out.line(&format!("{from}  {text}"))?;
        }
    }
    started.map(|()| Code::Done)
}

async fn secret(desk: &Desk, name: &str, out: &mut Out) -> Ended {
    let mut key = String::new();
    let read = std::io::stdin()
        .take(SECRET_BYTES_MAX)
        .read_to_string(&mut key);
    read.map_err(|error| {
        Ending::usage(Fault::new(
            "The secret cannot be read.",
            "Give it on standard input.",
        ))
        .because(&error)
    })?;
    let key = key.trim_end_matches(['\r', '\n']).to_owned();
    let provider = format!("mcp:{name}");
    let is_gone = key.is_empty();
    desk.submit(Op::SetKey { provider, key }).await?;
    match is_gone {
        true => done(out, "The keychain holds it no more."),
        false => done(out, "It is in the keychain."),
    }
}

pub(super) fn done(out: &mut Out, text: &str) -> Ended {
    match out.is_json() {
        true => out.json(&json!({ "done": true }))?,
        false => out.line(text)?,
    }
    Ok(Code::Done)
}
