//! `servers`: other people's servers of tools, set up, looked at, switched and approved.

mod has;
mod import;
mod room;
mod sign_in;

use std::collections::BTreeMap;
use std::io::Read;

use agent::Desk;
use protocol::query::{Answer, Query};
use protocol::server_has::ServerAsked;
use protocol::servers::{ServerChange, ServerClient, ServerId, ServerState, ServerView, ServerWay};
use protocol::shown::plain;
use protocol::{Digest, Fault, Op};

use super::ask;
use super::kept::{self, Kind, ToolLine, done};
use crate::args::{Add, Servers};
use crate::ending::{Code, Ended, Ending};
use crate::limits::SECRET_BYTES_MAX;
use crate::out::{Ink, Out};

/// Servers of tools.
pub(super) enum Kept {}

impl Kind for Kept {
    type View = ServerView;
    type Change = ServerChange;
    const VERB: &'static str = "servers";
    const ONE: &'static str = "server";
    const ADD: &'static str = "countersign servers add --help, or import";
    const QUERY: Query = Query::Servers;

    fn found(answer: Answer) -> Option<(Vec<ServerView>, Option<Fault>)> {
        match answer {
            Answer::Servers { servers, fault } => Some((servers, fault)),
            _ => None,
        }
    }

    fn op(server: ServerId, change: ServerChange) -> Op {
        Op::ChangeServer { server, change }
    }

    fn switch(enabled: bool) -> ServerChange {
        ServerChange::Switch { enabled }
    }

    fn look() -> ServerChange {
        ServerChange::Restart
    }

    fn approve(digest: Digest) -> ServerChange {
        ServerChange::Approve { digest }
    }

    fn id(view: &ServerView) -> &ServerId {
        &view.settings.id
    }

    fn head(view: &ServerView) -> (Ink, String, String) {
        let (ink, state) = match &view.state {
            ServerState::Off => (Ink::Faint, "off".to_owned()),
            ServerState::Idle => (Ink::Good, "on, started when it is needed".to_owned()),
            ServerState::Starting => (Ink::Plain, "starting".to_owned()),
            ServerState::Ready => (Ink::Good, "connected".to_owned()),
            ServerState::Unavailable { why, .. } => (Ink::Bad, format!("unavailable: {why}")),
            ServerState::NeedsSignIn => (Ink::Warn, "needs a sign-in".to_owned()),
        };
        (ink, state, view.settings.way.told())
    }

    fn note(view: &ServerView) -> Option<String> {
        sign_in::told(view).or_else(|| room::told(view))
    }

    fn tools(view: &ServerView) -> Vec<ToolLine> {
        let all = view.tools.iter().map(|tool| ToolLine {
            pin: tool.pin,
            line: plain(&tool.name),
            name: plain(&tool.name),
            changes: plain(&tool.changes),
        });
        all.collect()
    }

    fn left_out(view: &ServerView) -> &[String] {
        &view.left_out
    }

    fn waits(view: &ServerView) -> Option<&Digest> {
        view.waits.as_ref()
    }
}

/// Does what was asked.
pub(crate) async fn run(desk: &Desk, asked: Servers, out: &mut Out) -> Ended {
    match asked {
        Servers::List => kept::list::<Kept>(desk, out).await,
        Servers::Add(add) => {
            let way = way(&add)?;
            let id = kept::free_name::<Kept>(desk, &add.server, add.replace).await?;
            let timeout_ms = add.timeout_ms;
            let set = ServerChange::Set { way, timeout_ms };
            desk.submit(Kept::op(id.clone(), set)).await?;
            show(desk, &id, out).await
        }
        Servers::Import {
            from,
            file,
            workspace,
            add,
            replace,
        } => {
            let sources = match (from, file) {
                (Some(product), Some(file)) => import::of_file(&product, &file, &workspace)?,
                _ => import::found(desk, &workspace).await?,
            };
            import::import(desk, &sources, &import::Wanted { add, replace }, out).await
        }
        Servers::Enable { server } => kept::switch::<Kept>(desk, &server, true, out).await,
        Servers::Disable { server } => kept::switch::<Kept>(desk, &server, false, out).await,
        Servers::Approve { server, accept } => {
            let id = named(&server)?;
            is_on(desk, &id).await?;
            kept::approve::<Kept>(desk, &id, accept, out).await
        }
        Servers::Room {
            server,
            folder,
            allow_host,
            leave: _,
        } => {
            let wanted = folder.map(|folder| room::asked(&folder, &allow_host));
            room::set(desk, &named(&server)?, wanted.transpose()?, out).await
        }
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
    let folder = add.folder.as_deref().map(room::placed).transpose()?;
    let room = add.room.as_deref();
    let room = room.map(|folder| room::asked(folder, &add.allow_host));
    let mut words = add.command.iter().cloned();
    Ok(ServerWay::Stdio {
        command: words.next().unwrap_or_default(),
        args: words.collect(),
        env: pairs(&add.env)?,
        folder: folder.map(|folder| folder.display().to_string()),
        room: room.transpose()?,
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

fn named(name: &str) -> Result<ServerId, Ending> {
    kept::named::<Kept>(name)
}

async fn change(desk: &Desk, server: &ServerId, change: ServerChange) -> Result<(), Ending> {
    kept::change::<Kept>(desk, server, change).await
}

async fn show(desk: &Desk, id: &ServerId, out: &mut Out) -> Ended {
    kept::show::<Kept>(desk, id, out).await
}

/// Nobody knows the tools of one that is off.
async fn is_on(desk: &Desk, id: &ServerId) -> Result<(), Ending> {
    match kept::view::<Kept>(desk, id).await?.state {
        ServerState::Off => Err(Ending::usage(Fault::new(
            format!("The server `{id}` is off, so nobody knows what its tools are now."),
            format!("Switch it on first: countersign servers enable {id}."),
        ))),
        ServerState::Idle
        | ServerState::Starting
        | ServerState::Ready
        | ServerState::Unavailable { .. }
        | ServerState::NeedsSignIn => Ok(()),
    }
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
