//! Renders a request that a server makes while one of its tools runs.

use protocol::server::elicitation::{ServerRequestKind, ServerRequestView};

use super::card::{TerminalSize, render_untrusted_text};
use super::text_wrap::escape_to_one_line;
use crate::output::{OutputWriter, TextStyle};

/// Renders the request of a server. The fields of its form are prompted for below, one by one.
pub(super) fn render_elicitation(
    out: &OutputWriter,
    ask: &ServerRequestView,
    size: TerminalSize,
) -> String {
    let request = &ask.request;
    let wants = match &request.wants {
        ServerRequestKind::Form { .. } => "asks you to fill in a form",
        ServerRequestKind::Address { .. } => "asks you to open an address",
        ServerRequestKind::Model { .. } => "asks for the answer of a model",
    };
    let mut lines = vec![
        String::new(),
        out.apply_style(
            TextStyle::Warn,
            &format!("◐ The server {} {wants}", request.server),
        ),
    ];
    if !request.message.is_empty() {
        lines.push(render_untrusted_text(out, &request.message, size));
    }
    match &request.wants {
        ServerRequestKind::Form { .. } => {}
        ServerRequestKind::Address {
            url,
            host,
            warnings,
        } => {
            let warnings = warnings.iter().map(|warning| format!("! {warning}"));
            lines.extend(
                warnings.map(|text| out.apply_style(TextStyle::Warn, &escape_to_one_line(&text))),
            );
            lines.push(format!(
                "Host: {}",
                out.apply_style(TextStyle::Strong, &escape_to_one_line(host))
            ));
            lines.push(out.apply_style(TextStyle::Plain, &escape_to_one_line(url)));
        }
        ServerRequestKind::Model {
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
            lines.push(out.apply_style(TextStyle::Faint, &escape_to_one_line(&words)));
            if !system.is_empty() {
                lines.push(render_untrusted_text(out, system, size));
            }
            lines.extend(
                messages
                    .iter()
                    .map(|line| render_untrusted_text(out, &line.text, size)),
            );
        }
    }
    let keys = match &request.wants {
        ServerRequestKind::Form { .. } => "",
        ServerRequestKind::Address { .. } => "\ny  I go on there    n  no    Esc  neither",
        ServerRequestKind::Model { .. } => "\ny  it may answer, once    n  no    Esc  neither",
    };
    format!("{}{keys}\n", lines.join("\n"))
}
