//! Asks the person in a dialog of the operating system, which no page can draw over or answer.

use std::path::Path;

use protocol::connection::ConnectionAction;
use protocol::engine_process::{CallName, EngineRequest};
use protocol::op::ShownCall;
use protocol::server::mcp_servers::{
    ServerChange, ServerId, ServerSandbox, ServerSettings, ServerTransport,
};
use protocol::text::display_text::{format_count, to_single_line};
use protocol::update::UpdateStep;
use protocol::{Decision, Op, UserError};
use tauri::AppHandle;
use tokio::sync::{Mutex, oneshot};

use crate::consent::list_new_programs;
use crate::engine_process::EngineProcess;

/// Title of the dialog.
const DIALOG_TITLE: &str = "Confirm · Countersign";

/// How long the dialog must have been shown before a confirmation counts.
#[cfg(target_os = "linux")]
const ARM_DELAY: std::time::Duration = std::time::Duration::from_millis(700);

/// Maximum length of a name in a dialog, in characters.
const NAME_CHARS_MAX: usize = 300;

/// Held while a dialog is open: one at a time, so that a page cannot flood the person with dialogs.
static OPEN_DIALOG: Mutex<()> = Mutex::const_new(());

/// Content of a dialog.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfirmQuestion {
    text: String,
    accept_label: &'static str,
}

/// Asks the person to confirm.
///
/// # Errors
/// The person declined, or another dialog is open.
pub(crate) async fn ask_person(
    app: &AppHandle,
    question: ConfirmQuestion,
) -> Result<(), UserError> {
    let Ok(_open) = OPEN_DIALOG.try_lock() else {
        return Err(UserError::new(
            "Another request waits for your confirmation.",
            "Answer the dialog first, then try again.",
        ));
    };
    let (answer, answered) = oneshot::channel();
    show_dialog(app, question, answer);
    match answered.await {
        Ok(true) => Ok(()),
        _ => Err(UserError::new(
            "You did not confirm this.",
            "Nothing was changed.",
        )),
    }
}

/// Shows the dialog. If the dialog cannot be shown, its answer is dropped and nothing is carried out.
#[cfg(target_os = "linux")]
fn show_dialog(app: &AppHandle, question: ConfirmQuestion, answer: oneshot::Sender<bool>) {
    let window = crate::main_window(app);
    let shown = app.run_on_main_thread(move || {
        let window = window.and_then(|window| window.gtk_window().ok());
        show_dialog_above(window.as_ref(), &question, answer);
    });
    if let Err(error) = shown {
        tracing::error!(%error, "the dialog cannot be shown");
    }
}

/// Shows the dialog above the window. Enter, Space and Escape decline, and confirming is possible only once the dialog
/// has been shown for a moment: a key that was meant for the page decides nothing.
#[cfg(target_os = "linux")]
fn show_dialog_above(
    window: Option<&gtk::ApplicationWindow>,
    question: &ConfirmQuestion,
    answer: oneshot::Sender<bool>,
) {
    use gtk::prelude::{DialogExt, GtkWindowExt, WidgetExt};
    use gtk::{ButtonsType, DialogFlags, MessageDialog, MessageType, ResponseType};

    let flags = DialogFlags::MODAL | DialogFlags::DESTROY_WITH_PARENT;
    let dialog = MessageDialog::new(
        window,
        flags,
        MessageType::Warning,
        ButtonsType::None,
        &question.text,
    );
    dialog.set_title(DIALOG_TITLE);
    dialog.add_button("Cancel", ResponseType::Cancel);
    dialog.add_button(question.accept_label, ResponseType::Accept);
    dialog.set_default_response(ResponseType::Cancel);
    dialog.set_response_sensitive(ResponseType::Accept, false);
    let armed = dialog.clone();
    gtk::glib::timeout_add_local_once(ARM_DELAY, move || {
        armed.set_response_sensitive(ResponseType::Accept, true);
    });
    let answer = std::cell::Cell::new(Some(answer));
    dialog.connect_response(move |dialog, response| {
        if let Some(answer) = answer.take() {
            // Nobody waits any more once the page is gone: then nothing is carried out.
            let _ = answer.send(response == ResponseType::Accept);
            dialog.close();
        }
    });
    dialog.show_all();
}

/// Shows the dialog.
#[cfg(not(target_os = "linux"))]
fn show_dialog(app: &AppHandle, question: ConfirmQuestion, answer: oneshot::Sender<bool>) {
    use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};

    let buttons =
        MessageDialogButtons::OkCancelCustom(question.accept_label.to_owned(), "Cancel".to_owned());
    let mut dialog = app
        .dialog()
        .message(question.text)
        .title(DIALOG_TITLE)
        .kind(MessageDialogKind::Warning)
        .buttons(buttons);
    if let Some(window) = crate::main_window(app) {
        dialog = dialog.parent(&window);
    }
    dialog.show(move |is_yes| {
        // Nobody waits any more once the page is gone: then nothing is carried out.
        let _ = answer.send(is_yes);
    });
}

/// Builds the question whether to open a URL in the browser.
pub(crate) fn question_for_address(address: &str) -> ConfirmQuestion {
    ConfirmQuestion {
        text: format!(
            "Open this address in your browser?\n\n{}",
            format_name(address)
        ),
        accept_label: "Open",
    }
}

/// Builds the question whether to show a file in the file manager.
pub(crate) fn question_for_file(file: &Path) -> ConfirmQuestion {
    ConfirmQuestion {
        text: format!(
            "Show this file in its folder?\n\n{}",
            format_name(&file.display().to_string())
        ),
        accept_label: "Show",
    }
}

/// Builds the question whether to take a step to a newer version.
pub(crate) fn question_for_update(step: UpdateStep) -> ConfirmQuestion {
    let (text, accept_label) = match step {
        UpdateStep::Check => (
            "Ask the server with the releases for a newer version?",
            "Ask",
        ),
        UpdateStep::Download => ("Download the newer version of the app?", "Download"),
        UpdateStep::Install => (
            "Install the newer version of the app, and start it again?",
            "Install",
        ),
    };
    ConfirmQuestion {
        text: text.to_owned(),
        accept_label,
    }
}

/// Builds the question whether to change the configuration of an agent.
pub(crate) fn question_for_connection(title: &str, action: ConnectionAction) -> ConfirmQuestion {
    match action {
        ConnectionAction::Connect => ConfirmQuestion {
            text: format!("Put Countersign's hooks into the configuration of {title}?"),
            accept_label: "Connect",
        },
        ConnectionAction::Disconnect => ConfirmQuestion {
            text: format!(
                "Take Countersign's hooks out of the configuration of {title}?\n\nNobody then judges its calls any more."
            ),
            accept_label: "Disconnect",
        },
        ConnectionAction::ConnectServers => ConfirmQuestion {
            text: format!(
                "Put the servers of {title} behind Countersign, in its own configuration?"
            ),
            accept_label: "Put behind Countersign",
        },
        ConnectionAction::RestoreServers => ConfirmQuestion {
            text: format!(
                "Put the servers of {title} back as they were?\n\nNobody then judges their calls any more."
            ),
            accept_label: "Put back",
        },
    }
}

/// Builds the question whether to carry out a request.
///
/// # Errors
/// The engine ended.
pub(crate) async fn question_for_op(
    engine: &EngineProcess,
    op: &Op,
) -> Result<ConfirmQuestion, UserError> {
    let ask = |text: String, yes| ConfirmQuestion {
        text,
        accept_label: yes,
    };
    Ok(match op {
        Op::Decide {
            session,
            call,
            digest,
            decision,
        } => {
            let shown = ShownCall {
                session: session.clone(),
                call: call.clone(),
                digest: digest.clone(),
            };
            let waiting = name_waiting_calls(engine, vec![shown]).await?;
            ask(describe_decision(waiting.first(), decision), "Allow")
        }
        Op::DecideGroup { calls, .. } => {
            let waiting = name_waiting_calls(engine, calls.clone()).await?;
            ask(describe_group(&waiting), "Allow all")
        }
        Op::TrustRules { workspace, .. } => ask(
            format!(
                "Trust the rules file of {}?\n\nIts rules may then allow calls without asking you.",
                format_name(workspace)
            ),
            "Trust",
        ),
        Op::ChangeServer {
            server,
            change: ServerChange::Switch { .. },
        } => ask(
            format!(
                "Start the server “{server}”?\n\n{}",
                describe_server_start(engine, server).await?
            ),
            "Start",
        ),
        Op::SetSettings { settings } => {
            let programs = list_new_programs(settings, &engine.settings().await?);
            let text = match programs.is_empty() {
                true => "Change the settings?".to_owned(),
                false => format!(
                    "Let Countersign start these programs, with your permissions?\n\n{}",
                    format_programs(&programs)
                ),
            };
            ask(text, "Change")
        }
        other => ask(format!("{}?", describe_op(other)), "Confirm"),
    })
}

/// Describes a request in a few words, for a request without a press.
fn describe_op(op: &Op) -> &'static str {
    match op {
        Op::OpenSession { .. } => "Start a session",
        Op::AnswerServer { .. } => "Answer the server's question",
        Op::Undo { .. } | Op::Redo { .. } | Op::Restore { .. } => {
            "Change files back, as the history has them"
        }
        Op::CollectHistory => "Delete old entries of the history",
        Op::CloseSession { .. } => "Close the session",
        Op::DeleteSession { .. } => "Delete a session, which cannot be undone",
        Op::SetPlanning { .. } => "End planning",
        Op::SkipAsks { .. } => "Skip asks for a while",
        Op::SetAgentOption { .. } => "Change the model, or an option of the agent",
        Op::SaveRules { .. } | Op::AddRules { .. } | Op::ChangeRule { .. } => "Change the rules",
        Op::SetTool { .. } => "Change how a tool may be used",
        Op::TryTool { .. } => "Run a tool",
        Op::ChangeServer { .. } => "Change a server",
        Op::ChangeApi { .. } => "Change a service",
        Op::SetKey { .. } => "Change a key in the keychain",
        Op::OpenInEditor { .. } => "Open a file in your editor",
        _ => "Carry out this request",
    }
}

/// Describes what a decision would allow to run, according to the engine.
fn describe_decision(waiting: Option<&CallName>, decision: &Decision) -> String {
    let how = match decision {
        Decision::WithNetwork { hosts } => {
            format!("\n\nIt may reach {}.", format_name(&hosts.join(", ")))
        }
        Decision::InPlace { .. } => "\n\nIt runs directly in the workspace.".to_owned(),
        Decision::Allow {
            always: Some(always),
            ..
        } => format!(
            "\n\nA rule then allows such calls from now on: {} {}",
            format_name(&always.permission),
            format_name(always.pattern.as_deref().unwrap_or("*"))
        ),
        _ => String::new(),
    };
    match waiting {
        Some(name) => format!("Allow this call?\n\n{}{how}", format_call(name)),
        None => format!("Allow a call that does not wait any more?{how}"),
    }
}

/// Describes the calls that one answer would allow to run, each of them, according to the engine.
fn describe_group(waiting: &[CallName]) -> String {
    let lines: Vec<String> = waiting.iter().map(format_call).collect();
    match lines.len() {
        0 => "Allow calls that do not wait any more?".to_owned(),
        count => format!(
            "Allow {}?\n\n{}",
            format_count(count as u64, "call"),
            lines.join("\n")
        ),
    }
}

fn format_call(name: &CallName) -> String {
    format!("{} {}", format_name(&name.title), format_name(&name.target))
}

/// Returns the names of those calls that still wait.
async fn name_waiting_calls(
    engine: &EngineProcess,
    calls: Vec<ShownCall>,
) -> Result<Vec<CallName>, UserError> {
    engine
        .ask_for(EngineRequest::NameWaitingCalls { calls })
        .await
}

/// Describes the consequences of starting a server.
async fn describe_server_start(
    engine: &EngineProcess,
    server: &ServerId,
) -> Result<String, UserError> {
    let request = EngineRequest::ServerSettings {
        server: server.clone(),
    };
    let known: Option<ServerSettings> = engine.ask_for(request).await?;
    Ok(match known.map(|settings| settings.transport) {
        Some(ServerTransport::Stdio {
            command,
            args,
            sandbox,
            ..
        }) => format!(
            "This program then runs on your machine, {}:\n\n{}",
            describe_server_access(sandbox.as_ref()),
            format_name(&format!("{command} {}", args.join(" ")))
        ),
        Some(ServerTransport::Http { url, .. }) => {
            format!("It is reached at {}", format_name(&url))
        }
        None => String::new(),
    })
}

/// Describes the permissions of a server's program.
fn describe_server_access(sandbox: Option<&ServerSandbox>) -> String {
    let Some(sandbox) = sandbox else {
        return "with your permissions".to_owned();
    };
    let hosts = match sandbox.hosts.is_empty() {
        true => "no host".to_owned(),
        false => format_name(&sandbox.hosts.join(", ")),
    };
    format!(
        "in a sandbox: it can change {} and reach {hosts}",
        format_name(&sandbox.workspace)
    )
}

fn format_programs(programs: &[String]) -> String {
    let told: Vec<String> = programs
        .iter()
        .map(|program| format_name(program))
        .collect();
    told.join("\n")
}

fn format_name(text: &str) -> String {
    to_single_line(text.trim(), NAME_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_may_do_is_said_by_its_sandbox() {
        let sandbox = |hosts: &[&str]| ServerSandbox {
            workspace: "/srv/one".to_owned(),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        for (sandbox, says) in [
            (None, "with your permissions"),
            (
                Some(sandbox(&[])),
                "in a sandbox: it can change /srv/one and reach no host",
            ),
            (
                Some(sandbox(&["docs.rs", "localhost:8080"])),
                "in a sandbox: it can change /srv/one and reach docs.rs, localhost:8080",
            ),
        ] {
            assert_eq!(describe_server_access(sandbox.as_ref()), says);
        }
    }
}
