//! `servers prompts` and `servers resources`: what a server has for a person beside its tools.

use agent::Desk;
use protocol::Fault;
use protocol::query::{Answer, Query};
use protocol::server_has::{ServerAsked, ServerHas, ServerItem, ServerPart};
use protocol::servers::ServerId;
use protocol::shown::plain;

use crate::ending::{Code, Ended, Ending};
use crate::limits::SERVER_PAGES_MAX;
use crate::out::{Ink, Out};

/// Asks, and tells what there is: of a list every page.
pub(super) async fn tell(
    desk: &Desk,
    server: &ServerId,
    asked: ServerAsked,
    out: &mut Out,
) -> Ended {
    let mut asked = asked;
    for _ in 0..SERVER_PAGES_MAX {
        let query = Query::ServerHas {
            server: server.clone(),
            asked: asked.clone(),
        };
        let answer = desk.query(query).await.map_err(|fault| {
            let hint = format!("Look at what it said: countersign servers logs {server}.");
            Fault::new(fault.message, hint)
        })?;
        let Answer::ServerHas { has } = answer else {
            return Err(Ending::failed(
                "The desk answered something that was not asked.",
            ));
        };
        if out.is_json() {
            out.json(&has)?;
        }
        let next = match has {
            ServerHas::Page {
                items,
                next,
                left_out,
            } => {
                if !out.is_json() {
                    tell_page(&items, left_out, out)?;
                }
                next
            }
            ServerHas::Text { parts } => {
                if !out.is_json() {
                    tell_parts(&parts, out)?;
                }
                None
            }
        };
        match (&mut asked, next) {
            (ServerAsked::Prompts { cursor } | ServerAsked::Resources { cursor }, Some(next))
                if cursor.as_ref() != Some(&next) =>
            {
                *cursor = Some(next);
            }
            (ServerAsked::Prompts { .. } | ServerAsked::Resources { .. }, _)
            | (ServerAsked::Prompt { .. } | ServerAsked::Resource { .. }, _) => {
                return Ok(Code::Done);
            }
        }
    }
    if !out.is_json() {
        out.line("The rest of the list is left out: it does not end.")?;
    }
    Ok(Code::Done)
}

fn tell_page(items: &[ServerItem], left_out: u32, out: &mut Out) -> Result<(), Ending> {
    for item in items {
        let arguments = item
            .arguments
            .iter()
            .map(|argument| match argument.required {
                true => format!(" {}=…", argument.name),
                false => format!(" [{}=…]", argument.name),
            });
        let head = out.ink(Ink::Strong, &item.name);
        let title = out.ink(Ink::Faint, &plain(&item.title));
        out.line(format!("{head}{}  {title}", arguments.collect::<String>()).trim_end())?;
        let description = plain(&item.description);
        if !description.trim().is_empty() {
            let line = out.ink(Ink::Plain, &format!("  {}", description.replace('\n', " ")));
            out.line(&line)?;
        }
    }
    match (items.is_empty(), left_out) {
        (true, 0) => out.line("There is none in this list."),
        (_, 0) => Ok(()),
        (_, more) => out.line(&format!("{more} more are left out.")),
    }
}

fn tell_parts(parts: &[ServerPart], out: &mut Out) -> Result<(), Ending> {
    let several = parts.len() > 1;
    for part in parts {
        if several {
            let whose = if part.by_model { "model" } else { "person" };
            let whose = out.ink(Ink::Faint, whose);
            out.line(&whose)?;
        }
        out.line(&plain(&part.text))?;
    }
    Ok(())
}
