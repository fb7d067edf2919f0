//! `servers`: sets up, lists, switches and approves external servers of tools.

mod import;
mod prompts_and_resources;
mod sandbox;
mod sign_in;

use std::collections::BTreeMap;
use std::io::Read;

use agent::Engine;
use protocol::op::KeyLifetime;
use protocol::query::{Answer, Query};
use protocol::server::audience::Audience;
use protocol::server::mcp_servers::{
    OauthClient, ServerChange, ServerId, ServerState, ServerTransport, ServerView,
};
use protocol::server::resources::ServerResourceQuery;
use protocol::text::display_text::join_spans;
use protocol::{Digest, Op, UserError};

use super::source_commands::{self, SourceCommands, ToolLine, report_done};
use crate::args::{ServerArgs, ServersCommand};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::SECRET_BYTES_MAX;
use crate::output::{OutputWriter, TextStyle};

/// Servers of tools, as a kind of source.
pub(super) enum ServerCommands {}

impl SourceCommands for ServerCommands {
    type View = ServerView;
    type Change = ServerChange;
    const COMMAND: &'static str = "servers";
    const NOUN: &'static str = "server";
    const ADD_HINT: &'static str = "countersign servers add --help, or import";
    const QUERY: Query = Query::Servers;

    fn views_from_answer(answer: Answer) -> Option<(Vec<ServerView>, Option<UserError>)> {
        match answer {
            Answer::Servers { servers, fault } => Some((servers, fault)),
            _ => None,
        }
    }

    fn change_op(server: ServerId, change: ServerChange) -> Op {
        Op::ChangeServer { server, change }
    }

    fn switch_change(enabled: bool) -> ServerChange {
        ServerChange::Switch { enabled }
    }

    fn refresh_change() -> ServerChange {
        ServerChange::Restart
    }

    fn approve_change(digest: Digest) -> ServerChange {
        ServerChange::Approve { digest }
    }

    fn id(view: &ServerView) -> &ServerId {
        &view.settings.id
    }

    fn format_heading(view: &ServerView) -> (TextStyle, String, String) {
        let (ink, state) = match &view.state {
            ServerState::Off => (TextStyle::Faint, "off".to_owned()),
            ServerState::Idle => (TextStyle::Good, "on, started when it is needed".to_owned()),
            ServerState::Starting => (TextStyle::Plain, "starting".to_owned()),
            ServerState::Ready => (TextStyle::Good, "connected".to_owned()),
            ServerState::Unavailable { why, .. } => (TextStyle::Bad, format!("unavailable: {why}")),
            ServerState::NeedsSignIn => (TextStyle::Warn, "needs a sign-in".to_owned()),
        };
        (ink, state, view.settings.transport.summary())
    }

    fn format_note(view: &ServerView) -> Option<String> {
        sign_in::describe_sign_in(view).or_else(|| sandbox::describe_sandbox(view))
    }

    fn audience(view: &ServerView) -> Option<Audience> {
        view.settings.audience
    }

    fn tool_lines(view: &ServerView) -> Vec<ToolLine> {
        let all = view.tools.iter().map(|tool| ToolLine {
            pin: tool.pin,
            line: join_spans(&tool.name),
            name: join_spans(&tool.name),
            changes: join_spans(&tool.changes),
        });
        all.collect()
    }

    fn rejected_reasons(view: &ServerView) -> &[String] {
        &view.left_out
    }

    fn pending_digest(view: &ServerView) -> Option<&Digest> {
        view.pending_digest.as_ref()
    }
}

/// Runs the given subcommand.
pub(crate) async fn run_servers(
    desk: &Engine,
    command: ServersCommand,
    out: &mut OutputWriter,
) -> CliResult {
    match command {
        ServersCommand::List => source_commands::list_sources::<ServerCommands>(desk, out).await,
        ServersCommand::Add(add) => {
            let client = add.client_id.map(|id| OauthClient {
                id,
                secret: add.client_secret,
            });
            let transport = parse_server_transport(&add.settings, &add.command, client)?;
            let id = source_commands::require_free_name::<ServerCommands>(
                desk,
                &add.server,
                add.replace,
            )
            .await?;
            let timeout_ms = add.settings.timeout_ms;
            let set = ServerChange::Set {
                transport,
                timeout_ms,
                audience: add.audience.map(Into::into),
            };
            desk.submit(ServerCommands::change_op(id.clone(), set))
                .await?;
            show_server(desk, &id, out).await
        }
        ServersCommand::Import {
            from,
            file,
            workspace,
            add,
            replace,
        } => {
            let sources = match (from, file) {
                (Some(product), Some(file)) => {
                    import::load_file_sources(&product, &file, &workspace)?
                }
                _ => import::load_sources(desk, &workspace).await?,
            };
            import::import_servers(
                desk,
                &sources,
                &import::ImportSelection { add, replace },
                out,
            )
            .await
        }
        ServersCommand::Enable { server } => {
            source_commands::switch_source::<ServerCommands>(desk, &server, true, out).await
        }
        ServersCommand::Disable { server } => {
            source_commands::switch_source::<ServerCommands>(desk, &server, false, out).await
        }
        ServersCommand::Approve { server, accept } => {
            let id = parse_server_name(&server)?;
            require_enabled(desk, &id).await?;
            source_commands::approve_source::<ServerCommands>(desk, &id, accept, out).await
        }
        ServersCommand::Sandbox {
            server,
            folder,
            allow_host,
            leave: _,
        } => {
            let wanted = folder.map(|folder| sandbox::parse_sandbox(&folder, &allow_host));
            sandbox::set_sandbox(desk, &parse_server_name(&server)?, wanted.transpose()?, out).await
        }
        ServersCommand::Restart { server } => {
            let id = parse_server_name(&server)?;
            submit_server_change(desk, &id, ServerChange::Restart).await?;
            show_server(desk, &id, out).await
        }
        ServersCommand::SignIn { server } => {
            sign_in::start_sign_in(desk, &parse_server_name(&server)?, out).await
        }
        ServersCommand::SignOut { server } => {
            submit_server_change(desk, &parse_server_name(&server)?, ServerChange::SignOut).await?;
            report_done(out, &format!("You are signed out of {server}."))
        }
        ServersCommand::Prompts {
            server,
            prompt,
            arguments,
        } => {
            let command = match prompt {
                None => ServerResourceQuery::Prompts { cursor: None },
                Some(name) => ServerResourceQuery::Prompt {
                    name,
                    arguments: parse_pairs(&arguments)?,
                },
            };
            prompts_and_resources::show_items(desk, &parse_server_name(&server)?, command, out)
                .await
        }
        ServersCommand::Resources { server, uri } => {
            let command = match uri {
                None => ServerResourceQuery::Resources { cursor: None },
                Some(uri) => ServerResourceQuery::Resource { uri },
            };
            prompts_and_resources::show_items(desk, &parse_server_name(&server)?, command, out)
                .await
        }
        ServersCommand::Logs { server } => show_logs(desk, &parse_server_name(&server)?, out).await,
        ServersCommand::Remove { server } => {
            submit_server_change(desk, &parse_server_name(&server)?, ServerChange::Remove).await?;
            report_done(out, &format!("{server} is removed."))
        }
        ServersCommand::Secret { name } => set_secret(desk, &name, out).await,
    }
}

/// Returns how a server is reached: at its address, or by its command.
pub(super) fn parse_server_transport(
    settings: &ServerArgs,
    command: &[String],
    client: Option<OauthClient>,
) -> Result<ServerTransport, CliError> {
    if let Some(url) = &settings.url {
        return Ok(ServerTransport::Http {
            url: url.clone(),
            headers: parse_pairs(&settings.header)?,
            client,
        });
    }
    let folder = settings.folder.as_deref().map(super::absolute_workspace);
    let sandbox = settings.sandbox.as_deref();
    let sandbox = sandbox.map(|folder| sandbox::parse_sandbox(folder, &settings.allow_host));
    let mut words = command.iter().cloned();
    Ok(ServerTransport::Stdio {
        command: words.next().unwrap_or_default(),
        args: words.collect(),
        env: parse_pairs(&settings.env)?,
        folder: folder.transpose()?,
        sandbox: sandbox.transpose()?,
    })
}

pub(super) fn parse_pairs(texts: &[String]) -> Result<BTreeMap<String, String>, CliError> {
    let pairs = texts.iter().map(|pair| match pair.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(CliError::usage(
            "A variable or a header has no value.",
            "Write it like NAME=VALUE.",
        )),
    });
    pairs.collect()
}

pub(super) fn parse_server_name(name: &str) -> Result<ServerId, CliError> {
    source_commands::parse_name::<ServerCommands>(name)
}

async fn submit_server_change(
    desk: &Engine,
    server: &ServerId,
    change: ServerChange,
) -> Result<(), CliError> {
    source_commands::submit_change::<ServerCommands>(desk, server, change).await
}

async fn show_server(desk: &Engine, id: &ServerId, out: &mut OutputWriter) -> CliResult {
    source_commands::show_source::<ServerCommands>(desk, id, out).await
}

/// Returns an error if the server is off: its tools are unknown then.
async fn require_enabled(desk: &Engine, id: &ServerId) -> Result<(), CliError> {
    match source_commands::load_view::<ServerCommands>(desk, id)
        .await?
        .state
    {
        ServerState::Off => Err(CliError::usage(
            format!("The server `{id}` is off, so nobody knows what its tools are now."),
            format!("Switch it on first: countersign servers enable {id}."),
        )),
        ServerState::Idle
        | ServerState::Starting
        | ServerState::Ready
        | ServerState::Unavailable { .. }
        | ServerState::NeedsSignIn => Ok(()),
    }
}

async fn show_logs(desk: &Engine, id: &ServerId, out: &mut OutputWriter) -> CliResult {
    // One that cannot be started says why in its lines.
    let started = submit_server_change(desk, id, ServerChange::Restart).await;
    let server = id.clone();
    let Answer::ServerLog { lines } = desk.query(Query::ServerLog { server }).await? else {
        return Err(CliError::unexpected_answer());
    };
    out.write_answer(&lines, |out| {
        lines.iter().try_for_each(|line| {
            let from = serde_json::to_value(line.from).unwrap_or_default();
            let from = out.apply_style(TextStyle::Faint, from.as_str().unwrap_or_default());
            let text = out.apply_style(TextStyle::Plain, &join_spans(&line.text));
            out.write_line(&format!("{from}  {text}"))
        })
    })?;
    started.map(|()| ExitReason::Done)
}

async fn set_secret(desk: &Engine, name: &str, out: &mut OutputWriter) -> CliResult {
    let mut key = String::new();
    let read = std::io::stdin()
        .take(SECRET_BYTES_MAX)
        .read_to_string(&mut key);
    read.map_err(|error| {
        CliError::usage("The secret cannot be read.", "Give it on standard input.")
            .with_cause(&error)
    })?;
    let key = key.trim_end_matches(['\r', '\n']).to_owned();
    let provider = format!("mcp:{name}");
    let is_gone = key.is_empty();
    let lasts = KeyLifetime::Kept;
    let op = Op::SetKey {
        provider,
        key,
        lasts,
    };
    desk.submit(op).await?;
    match is_gone {
        true => report_done(out, "The keychain holds it no more."),
        false => report_done(out, "It is in the keychain."),
    }
}
