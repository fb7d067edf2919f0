//! `servers prompts` and `servers resources`: a server's offers for a person besides its tools.

use agent::Engine;
use protocol::UserError;
use protocol::query::{Answer, Query};
use protocol::server::mcp_servers::ServerId;
use protocol::server::resources::{
    ServerItem, ServerResourceQuery, ServerResources, ServerTextPart,
};
use protocol::text::display_text::join_spans;

use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::SERVER_PAGES_MAX;
use crate::output::{OutputWriter, TextStyle};

/// Queries a server and prints the items; of a list every page.
pub(super) async fn show_items(
    desk: &Engine,
    server: &ServerId,
    mut resource_query: ServerResourceQuery,
    out: &mut OutputWriter,
) -> CliResult {
    for _ in 0..SERVER_PAGES_MAX {
        let query = Query::ServerResources {
            server: server.clone(),
            wanted: resource_query.clone(),
        };
        let answer = desk.query(query).await.map_err(|fault| {
            let hint = format!("Look at what it said: countersign servers logs {server}.");
            UserError::new(fault.message, hint)
        })?;
        let Answer::ServerResources { resources } = answer else {
            return Err(CliError::unexpected_answer());
        };
        out.write_answer(&resources, |out| match &resources {
            ServerResources::Page {
                items, left_out, ..
            } => print_page(items, *left_out, out),
            ServerResources::Text { parts } => print_parts(parts, out),
        })?;
        let next = match resources {
            ServerResources::Page { next, .. } => next,
            ServerResources::Text { .. } => None,
        };
        match (&mut resource_query, next) {
            (
                ServerResourceQuery::Prompts { cursor } | ServerResourceQuery::Resources { cursor },
                Some(next),
            ) if cursor.as_ref() != Some(&next) => {
                *cursor = Some(next);
            }
            (
                ServerResourceQuery::Prompts { .. }
                | ServerResourceQuery::Resources { .. }
                | ServerResourceQuery::Prompt { .. }
                | ServerResourceQuery::Resource { .. },
                _,
            ) => return Ok(ExitReason::Done),
        }
    }
    if !out.is_json() {
        out.write_line("The rest of the list is left out: it does not end.")?;
    }
    Ok(ExitReason::Done)
}

fn print_page(items: &[ServerItem], left_out: u32, out: &mut OutputWriter) -> Result<(), CliError> {
    for item in items {
        let arguments = item
            .arguments
            .iter()
            .map(|argument| match argument.required {
                true => format!(" {}=…", argument.name),
                false => format!(" [{}=…]", argument.name),
            });
        let head = out.apply_style(TextStyle::Strong, &item.name);
        let title = out.apply_style(TextStyle::Faint, &join_spans(&item.title));
        out.write_line(format!("{head}{}  {title}", arguments.collect::<String>()).trim_end())?;
        let description = join_spans(&item.description);
        if !description.trim().is_empty() {
            out.write_styled(
                TextStyle::Plain,
                &format!("  {}", description.replace('\n', " ")),
            )?;
        }
    }
    match (items.is_empty(), left_out) {
        (true, 0) => out.write_line("There is none in this list."),
        (_, 0) => Ok(()),
        (_, more) => out.write_line(&format!("{more} more are left out.")),
    }
}

fn print_parts(parts: &[ServerTextPart], out: &mut OutputWriter) -> Result<(), CliError> {
    let several = parts.len() > 1;
    for part in parts {
        if several {
            let whose = if part.by_model { "model" } else { "person" };
            out.write_styled(TextStyle::Faint, whose)?;
        }
        out.write_line(&join_spans(&part.text))?;
    }
    Ok(())
}
