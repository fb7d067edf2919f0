//! `apis`: sets up, lists, switches and approves services described by OpenAPI documents.

use std::path::Path;

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::server::apis::{API_TIMEOUT_MS, ApiAuth, ApiChange, ApiSetup, ApiView};
use protocol::server::audience::Audience;
use protocol::server::mcp_servers::ServerId;
use protocol::text::display_text::join_spans;
use protocol::{Digest, Op, ToolMode, UserError};

use super::servers::parse_pairs;
use super::source_commands::{self, SourceCommands, ToolLine, report_done};
use crate::args::{AddApi, ApisCommand};
use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle};

/// Services described by OpenAPI documents, as a kind of source.
enum ApiCommands {}

impl SourceCommands for ApiCommands {
    type View = ApiView;
    type Change = ApiChange;
    const COMMAND: &'static str = "apis";
    const NOUN: &'static str = "service";
    const ADD_HINT: &'static str = "countersign apis add --help";
    const QUERY: Query = Query::Apis;

    fn views_from_answer(answer: Answer) -> Option<(Vec<ApiView>, Option<UserError>)> {
        match answer {
            Answer::Apis(found) => Some((found.apis, found.fault)),
            _ => None,
        }
    }

    fn change_op(api: ServerId, change: ApiChange) -> Op {
        Op::ChangeApi { api, change }
    }

    fn switch_change(enabled: bool) -> ApiChange {
        ApiChange::Switch { enabled }
    }

    fn refresh_change() -> ApiChange {
        ApiChange::Read
    }

    fn approve_change(digest: Digest) -> ApiChange {
        ApiChange::Approve { digest }
    }

    fn id(view: &ApiView) -> &ServerId {
        &view.settings.id
    }

    fn format_heading(view: &ApiView) -> (TextStyle, String, String) {
        let settings = &view.settings;
        let (ink, state) = match settings.enabled {
            true => (TextStyle::Good, "on"),
            false => (TextStyle::Faint, "off"),
        };
        (ink, state.to_owned(), settings.setup.document.clone())
    }

    fn audience(view: &ApiView) -> Option<Audience> {
        view.settings.setup.audience
    }

    fn tool_lines(view: &ApiView) -> Vec<ToolLine> {
        let all = view.tools.iter().map(|tool| {
            let id = tool.id.as_deref().unwrap_or_default();
            let mode = tool.mode.map_or("asks", ToolMode::as_str);
            let name = join_spans(&tool.operation);
            ToolLine {
                pin: tool.pin,
                line: format!("{id}  {mode}  {name}"),
                name,
                changes: join_spans(&tool.changes),
            }
        });
        all.collect()
    }

    fn rejected_reasons(view: &ApiView) -> &[String] {
        &view.left_out
    }

    fn pending_digest(view: &ApiView) -> Option<&Digest> {
        view.pending_digest.as_ref()
    }
}

/// Runs the given subcommand.
pub(crate) async fn run_apis(
    desk: &Engine,
    command: ApisCommand,
    out: &mut OutputWriter,
) -> CliResult {
    match command {
        ApisCommand::List => source_commands::list_sources::<ApiCommands>(desk, out).await,
        ApisCommand::Add(add) => {
            let setup = Box::new(parse_api_setup(&add)?);
            let id = source_commands::require_free_name::<ApiCommands>(desk, &add.api, add.replace)
                .await?;
            desk.submit(ApiCommands::change_op(id.clone(), ApiChange::Set { setup }))
                .await?;
            source_commands::show_source::<ApiCommands>(desk, &id, out).await
        }
        ApisCommand::Enable { api } => {
            source_commands::switch_source::<ApiCommands>(desk, &api, true, out).await
        }
        ApisCommand::Disable { api } => {
            source_commands::switch_source::<ApiCommands>(desk, &api, false, out).await
        }
        ApisCommand::Approve { api, accept } => {
            let id = source_commands::parse_name::<ApiCommands>(&api)?;
            source_commands::approve_source::<ApiCommands>(desk, &id, accept, out).await
        }
        ApisCommand::Remove { api } => {
            let id = source_commands::parse_name::<ApiCommands>(&api)?;
            source_commands::submit_change::<ApiCommands>(desk, &id, ApiChange::Remove).await?;
            report_done(out, &format!("{api} is removed."))
        }
    }
}

/// Builds the setup from the command line. A document that is no URL is a file, relative to the current folder.
fn parse_api_setup(add: &AddApi) -> Result<ApiSetup, CliError> {
    let is_address = ["http://", "https://"]
        .iter()
        .any(|start| add.document.starts_with(start));
    let document = match is_address {
        true => add.document.clone(),
        false => {
            let path = super::absolute_path("document", Path::new(&add.document))?;
            path.display().to_string()
        }
    };
    let mut setup = ApiSetup {
        document,
        follow_files: add.follow_files,
        base_url: add.base_url.clone(),
        variables: parse_pairs(&add.variable)?,
        headers: parse_pairs(&add.header)?,
        tags: add.tag.clone(),
        operations: add.operation.clone(),
        paths: add.path.clone(),
        timeout_ms: match add.timeout_ms {
            API_TIMEOUT_MS => 0,
            own => own,
        },
        audience: add.audience.map(Into::into),
        ..ApiSetup::default()
    };
    for (scheme, token) in parse_pairs(&add.token)? {
        setup.auth.insert(scheme, ApiAuth::Token { token });
    }
    for (scheme, both) in parse_pairs(&add.basic)? {
        let (username, password) = split_pair(&both)?;
        setup
            .auth
            .insert(scheme, ApiAuth::Basic { username, password });
    }
    for (scheme, both) in parse_pairs(&add.client)? {
        let (client_id, client_secret) = split_pair(&both)?;
        let client = ApiAuth::Client {
            client_id,
            client_secret,
        };
        setup.auth.insert(scheme, client);
    }
    Ok(setup)
}

fn split_pair(both: &str) -> Result<(String, String), CliError> {
    let two = both.split_once(',').ok_or_else(|| {
        CliError::usage(
            "Who asks is written with a comma in between.",
            "Write it like SCHEME=keychain:NAME,keychain:PASSWORD.",
        )
    })?;
    Ok((two.0.to_owned(), two.1.to_owned()))
}
