//! What a server asks while one of its tools runs, in text.

use protocol::server_asks::{AskView, ServerWants};

use super::card::{Size, foreign};
use super::wrap::one_line;
use crate::out::{Ink, Out};

/// The question of a server. What its form asks is asked below, field by field.
pub(super) fn draw(out: &Out, ask: &AskView, size: Size) -> String {
    let asked = &ask.asked;
    let wants = match &asked.wants {
        ServerWants::Form { .. } => "asks you to fill in a form",
        ServerWants::Address { .. } => "asks you to open an address",
        ServerWants::Model { .. } => "asks for the answer of a model",
    };
    let mut lines = vec![
        String::new(),
        out.ink(Ink::Warn, &format!("◐ The server {} {wants}", asked.server)),
    ];
    if !asked.message.is_empty() {
        lines.push(foreign(out, &asked.message, size));
    }
    match &asked.wants {
        ServerWants::Form { .. } => {}
        ServerWants::Address {
            url,
            host,
            warnings,
        } => {
            let warnings = warnings.iter().map(|warning| format!("! {warning}"));
            lines.extend(warnings.map(|text| out.ink(Ink::Warn, &one_line(&text))));
            lines.push(format!("Host: {}", out.ink(Ink::Strong, &one_line(host))));
            lines.push(out.ink(Ink::Plain, &one_line(url)));
        }
        ServerWants::Model {
            model,
            system,
            messages,
            tokens_max,
            ..
        } => {
            let words = format!(
                "{} {}, at most {tokens_max} tokens",
                model.provider, model.model
            );
            lines.push(out.ink(Ink::Faint, &one_line(&words)));
            if !system.is_empty() {
                lines.push(foreign(out, system, size));
            }
            lines.extend(messages.iter().map(|line| foreign(out, &line.text, size)));
        }
    }
    let keys = match &asked.wants {
        ServerWants::Form { .. } => "",
        ServerWants::Address { .. } => "\ny  I go on there    n  no    Esc  neither",
        ServerWants::Model { .. } => "\ny  it may answer, once    n  no    Esc  neither",
    };
    format!("{}{keys}\n", lines.join("\n"))
}
