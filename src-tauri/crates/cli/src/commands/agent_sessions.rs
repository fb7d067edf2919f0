//! `sessions --agent`: lists the sessions that an agent of somebody else keeps itself.

use agent::Engine;
use gateway::acp_client;
use serde_json::json;

use crate::args::SessionsArgs;
use crate::exit::CliResult;
use crate::output::{OutputWriter, TextStyle};
use crate::table::{self, new_cell};

/// Starts an agent, and lists its sessions in a folder, or in all of them.
pub(super) async fn list_agent_sessions(
    desk: &Engine,
    agent: &str,
    args: &SessionsArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let workspace = args.workspace.as_deref();
    let workspace = workspace.map(super::absolute_workspace).transpose()?;
    let passed = desk.settings().variables.passed.clone();
    let passed: Vec<String> = passed.iter().map(|name| name.as_str().to_owned()).collect();
    let folder = workspace.as_deref().map(std::path::Path::new);
    let mut listed = acp_client::list_agent_sessions(agent, folder, &passed).await?;
    if args.limit > 0 {
        listed.truncate(args.limit);
    }
    out.write_answer(&json!({ "sessions": listed }), |out| {
        if listed.is_empty() {
            return out.write_line("The agent has no session there.");
        }
        let rows = listed.iter().map(|session| {
            vec![
                new_cell(TextStyle::Strong, &session.id),
                new_cell(TextStyle::Faint, &session.changed),
                new_cell(TextStyle::Faint, &session.folder.to_string_lossy()),
                new_cell(TextStyle::Plain, &session.title),
            ]
        });
        let rows: Vec<_> = rows.collect();
        table::write_rows(out, &rows, table::terminal_width())
    })
}
