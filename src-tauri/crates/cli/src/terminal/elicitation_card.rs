//! Renders a request that a server makes while one of its tools runs.

use protocol::model::ToolChoice;
use protocol::server::elicitation::{SamplingTool, ServerRequestKind, ServerRequestView};
use protocol::text::display_text::{DisplaySpan, join_spans, to_spans};

use super::card::{TerminalSize, render_untrusted_text};
use super::text_wrap::escape_to_one_line;
use crate::output::{OutputWriter, TextStyle};

/// Describes whether the model calls tools, to go on with what it is.
fn describe_tool_choice(tools: &[SamplingTool], choice: ToolChoice) -> &'static str {
    match (tools, choice) {
        ([], _) => "",
        (_, ToolChoice::Auto) => ", may call tools of the server",
        (_, ToolChoice::Required) => ", has to call a tool of the server",
        (_, ToolChoice::None) => ", must call no tool",
    }
}

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
            tools,
            tool_choice,
            ..
        } => {
            let words = format!(
                "{} {}, at most {tokens_max} tokens{}",
                model.provider,
                model.model,
                describe_tool_choice(tools, *tool_choice)
            );
            lines.push(out.apply_style(TextStyle::Faint, &escape_to_one_line(&words)));
            let mut push_text = |spans: &[DisplaySpan]| {
                if !spans.is_empty() {
                    lines.push(render_untrusted_text(out, spans, size));
                }
            };
            push_text(system);
            for tool in tools {
                push_text(&to_spans(&format!("Tool {}:", tool.name)));
                push_text(&tool.description);
                push_text(&tool.parameters);
            }
            for message in messages {
                if let Some(name) = &message.result_of {
                    push_text(&to_spans(&format!("Result of {}:", join_spans(name))));
                }
                push_text(&message.text);
                for call in &message.calls {
                    push_text(&to_spans(&format!("Call of {}:", join_spans(&call.name))));
                    push_text(&call.arguments);
                }
            }
        }
    }
    let keys = match &request.wants {
        ServerRequestKind::Form { .. } => "",
        ServerRequestKind::Address { .. } => "\ny  I go on there    n  no    Esc  neither",
        ServerRequestKind::Model { .. } => "\ny  it may answer, once    n  no    Esc  neither",
    };
    format!("{}{keys}\n", lines.join("\n"))
}
