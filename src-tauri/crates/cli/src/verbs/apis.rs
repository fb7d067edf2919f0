//! `apis`: services by their OpenAPI documents, set up, looked at, switched and approved.

use agent::Desk;
use protocol::apis::{API_TIMEOUT_MS, ApiAuth, ApiChange, ApiSetup, ApiView};
use protocol::query::{Answer, Query};
use protocol::servers::{Pin, ServerId};
use protocol::shown::plain;
use protocol::{Digest, Fault, Op, ToolMode};
use serde_json::json;

use super::ask;
use super::servers::{done, pairs};
use crate::args::{AddApi, Apis};
use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};

/// Does what was asked.
pub(crate) async fn run(desk: &Desk, asked: Apis, out: &mut Out) -> Ended {
    match asked {
        Apis::List => list(desk, out).await,
        Apis::Add(add) => {
            let (id, setup) = (named(&add.api)?, Box::new(setup(&add)?));
            change(desk, &id, ApiChange::Set { setup }).await?;
            show(desk, &id, out).await
        }
        Apis::Enable { api } => switch(desk, &api, true, out).await,
        Apis::Disable { api } => switch(desk, &api, false, out).await,
        Apis::Approve { api, accept } => approve(desk, &named(&api)?, accept, out).await,
        Apis::Remove { api } => {
            change(desk, &named(&api)?, ApiChange::Remove).await?;
            done(out, &format!("{api} is removed."))
        }
    }
}

fn named(name: &str) -> Result<ServerId, Ending> {
    ServerId::try_from(name.to_owned()).map_err(|why| {
        let hint = "Look at the list: countersign apis list.";
        Ending::usage(Fault::new(format!("{why}."), hint))
    })
}

/// As it was written on the command line. A document that is no address is a file, wherever it stands from here.
fn setup(add: &AddApi) -> Result<ApiSetup, Ending> {
    let is_address = ["http://", "https://"]
        .iter()
        .any(|start| add.document.starts_with(start));
    let document = match is_address {
        true => add.document.clone(),
        false => {
            let path = std::path::absolute(&add.document).map_err(|error| {
                let fault = Fault::new("The document has no place.", "Name another file.");
                Ending::usage(fault).because(&error)
            })?;
            path.display().to_string()
        }
    };
    let mut setup = ApiSetup {
        document,
        follow_files: add.follow_files,
        base_url: add.base_url.clone(),
        variables: pairs(&add.variable)?,
        headers: pairs(&add.header)?,
        tags: add.tag.clone(),
        operations: add.operation.clone(),
        paths: add.path.clone(),
        timeout_ms: match add.timeout_ms {
            API_TIMEOUT_MS => 0,
            own => own,
        },
        ..ApiSetup::default()
    };
    for (scheme, token) in pairs(&add.token)? {
        setup.auth.insert(scheme, ApiAuth::Token { token });
    }
    for (scheme, both) in pairs(&add.basic)? {
        let (username, password) = two(&both)?;
        setup
            .auth
            .insert(scheme, ApiAuth::Basic { username, password });
    }
    for (scheme, both) in pairs(&add.client)? {
        let (client_id, client_secret) = two(&both)?;
        let client = ApiAuth::Client {
            client_id,
            client_secret,
        };
        setup.auth.insert(scheme, client);
    }
    Ok(setup)
}

fn two(both: &str) -> Result<(String, String), Ending> {
    let two = both.split_once(',').ok_or_else(|| {
        Ending::usage(Fault::new(
            "Who asks is written with a comma in between.",
            "Write it like SCHEME=keychain:NAME,keychain:PASSWORD.",
        ))
    })?;
    Ok((two.0.to_owned(), two.1.to_owned()))
}

async fn change(desk: &Desk, api: &ServerId, change: ApiChange) -> Result<(), Ending> {
    let api = api.clone();
    desk.submit(Op::ChangeApi { api, change }).await?;
    Ok(())
}

async fn switch(desk: &Desk, api: &str, enabled: bool, out: &mut Out) -> Ended {
    let id = named(api)?;
    change(desk, &id, ApiChange::Switch { enabled }).await?;
    show(desk, &id, out).await
}

async fn views(desk: &Desk) -> Result<(Vec<ApiView>, Option<Fault>), Ending> {
    ask(desk, Query::Apis, |answer| match answer {
        Answer::Apis(found) => Some((found.apis, found.fault)),
        _ => None,
    })
    .await
}

async fn view(desk: &Desk, id: &ServerId) -> Result<ApiView, Ending> {
    let (apis, _) = views(desk).await?;
    let found = apis.into_iter().find(|view| view.settings.id == *id);
    found.ok_or_else(|| {
        Ending::usage(Fault::new(
            format!("There is no service `{id}`."),
            "Look at the list: countersign apis list.",
        ))
    })
}

async fn list(desk: &Desk, out: &mut Out) -> Ended {
    let (apis, fault) = views(desk).await?;
    if out.is_json() {
        out.json(&json!({ "apis": apis, "fault": fault }))?;
    } else {
        if apis.is_empty() && fault.is_none() {
            out.line("No service is set up. See: countersign apis add --help.")?;
        }
        apis.iter().try_for_each(|view| tell(view, out))?;
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

fn tell(view: &ApiView, out: &mut Out) -> Result<(), Ending> {
    let settings = &view.settings;
    let (ink, state) = match settings.enabled {
        true => (Ink::Good, "on"),
        false => (Ink::Faint, "off"),
    };
    let head = format!(
        "{}  {}  {}",
        out.ink(Ink::Strong, settings.id.as_str()),
        out.ink(ink, state),
        out.ink(Ink::Faint, &settings.setup.document)
    );
    out.line(&head)?;
    for tool in &view.tools {
        let (ink, word) = match tool.pin {
            Pin::Pinned => (Ink::Plain, ""),
            Pin::New => (Ink::Warn, "  new, waits for a look"),
            Pin::Changed => (Ink::Warn, "  changed, waits for a look"),
            Pin::Gone => (Ink::Faint, "  not there any more"),
        };
        let id = tool.id.as_deref().unwrap_or_default();
        let line = format!(
            "  {id}  {}  {}{word}",
            tool.mode.map_or("asks", ToolMode::as_str),
            plain(&tool.operation)
        );
        let line = out.ink(ink, &line);
        out.line(&line)?;
    }
    for why in &view.left_out {
        let line = out.ink(Ink::Faint, &format!("  {why}"));
        out.line(&line)?;
    }
    if view.waits.is_some() {
        let id = &settings.id;
        out.line(&format!("  To look at them: countersign apis approve {id}"))?;
    }
    Ok(())
}

async fn approve(desk: &Desk, id: &ServerId, accept: Option<String>, out: &mut Out) -> Ended {
    change(desk, id, ApiChange::Read).await?;
    if let Some(digest) = accept {
        let digest = Digest(digest);
        change(desk, id, ApiChange::Approve { digest }).await?;
        return show(desk, id, out).await;
    }
    let view = view(desk, id).await?;
    if out.is_json() {
        out.json(&view)?;
    } else {
        for tool in view.tools.iter().filter(|tool| tool.pin != Pin::Pinned) {
            let head = out.ink(Ink::Strong, &plain(&tool.operation));
            out.line(&head)?;
            super::servers::tell_lines(&plain(&tool.changes), out)?;
        }
    }
    match view.waits {
        None if out.is_json() => Ok(Code::Done),
        None => done(out, "All of its tools are as they were approved."),
        Some(digest) => {
            if !out.is_json() {
                let digest = digest.0;
                out.line(&format!(
                    "To approve exactly this: countersign apis approve {id} --accept {digest}"
                ))?;
            }
            Ok(Code::Failed)
        }
    }
}
