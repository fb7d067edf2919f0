//! `apis`: services by their OpenAPI documents, set up, looked at, switched and approved.

use agent::Desk;
use protocol::apis::{API_TIMEOUT_MS, ApiAuth, ApiChange, ApiSetup, ApiView};
use protocol::query::{Answer, Query};
use protocol::servers::ServerId;
use protocol::shown::plain;
use protocol::{Digest, Fault, Op, ToolMode};

use super::kept::{self, Kind, ToolLine, done};
use super::servers::pairs;
use crate::args::{AddApi, Apis};
use crate::ending::{Ended, Ending};
use crate::out::{Ink, Out};

/// Services by their documents.
enum Kept {}

impl Kind for Kept {
    type View = ApiView;
    type Change = ApiChange;
    const VERB: &'static str = "apis";
    const ONE: &'static str = "service";
    const ADD: &'static str = "countersign apis add --help";
    const QUERY: Query = Query::Apis;

    fn found(answer: Answer) -> Option<(Vec<ApiView>, Option<Fault>)> {
        match answer {
            Answer::Apis(found) => Some((found.apis, found.fault)),
            _ => None,
        }
    }

    fn op(api: ServerId, change: ApiChange) -> Op {
        Op::ChangeApi { api, change }
    }

    fn switch(enabled: bool) -> ApiChange {
        ApiChange::Switch { enabled }
    }

    fn look() -> ApiChange {
        ApiChange::Read
    }

    fn approve(digest: Digest) -> ApiChange {
        ApiChange::Approve { digest }
    }

    fn id(view: &ApiView) -> &ServerId {
        &view.settings.id
    }

    fn head(view: &ApiView) -> (Ink, String, String) {
        let settings = &view.settings;
        let (ink, state) = match settings.enabled {
            true => (Ink::Good, "on"),
            false => (Ink::Faint, "off"),
        };
        (ink, state.to_owned(), settings.setup.document.clone())
    }

    fn tools(view: &ApiView) -> Vec<ToolLine> {
        let all = view.tools.iter().map(|tool| {
            let id = tool.id.as_deref().unwrap_or_default();
            let mode = tool.mode.map_or("asks", ToolMode::as_str);
            let name = plain(&tool.operation);
            ToolLine {
                pin: tool.pin,
                line: format!("{id}  {mode}  {name}"),
                name,
                changes: plain(&tool.changes),
            }
        });
        all.collect()
    }

    fn left_out(view: &ApiView) -> &[String] {
        &view.left_out
    }

    fn waits(view: &ApiView) -> Option<&Digest> {
        view.waits.as_ref()
    }
}

/// Does what was asked.
pub(crate) async fn run(desk: &Desk, asked: Apis, out: &mut Out) -> Ended {
    match asked {
        Apis::List => kept::list::<Kept>(desk, out).await,
        Apis::Add(add) => {
            let setup = Box::new(setup(&add)?);
            let id = kept::free_name::<Kept>(desk, &add.api, add.replace).await?;
            desk.submit(Kept::op(id.clone(), ApiChange::Set { setup }))
                .await?;
            kept::show::<Kept>(desk, &id, out).await
        }
        Apis::Enable { api } => kept::switch::<Kept>(desk, &api, true, out).await,
        Apis::Disable { api } => kept::switch::<Kept>(desk, &api, false, out).await,
        Apis::Approve { api, accept } => {
            let id = kept::named::<Kept>(&api)?;
            kept::approve::<Kept>(desk, &id, accept, out).await
        }
        Apis::Remove { api } => {
            let id = kept::named::<Kept>(&api)?;
            kept::change::<Kept>(desk, &id, ApiChange::Remove).await?;
            done(out, &format!("{api} is removed."))
        }
    }
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
