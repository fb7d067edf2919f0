//! Obtains the person's consent to a request of the page, so that a compromised page cannot decide anything.
//!
//! A request that only stops, refuses or tightens needs no consent. One that allows, loosens or changes files needs a
//! press of the person that the window system reported ([`crate::press_tracker`]); without a press, a dialog of the
//! app's own asks. A request that starts a program on the machine, or trusts a file, always asks in that dialog, in
//! words that the page cannot influence.

use std::path::Path;
use std::time::Instant;

use protocol::connection::{ConnectionAction, ConnectionView};
use protocol::engine_process::EngineRequest;
use protocol::server::apis::ApiChange;
use protocol::server::mcp_servers::ServerChange;
use protocol::update::UpdateStep;
use protocol::{Decision, Op, ServerAnswer, Settings, UserError};
use tauri::{AppHandle, Manager};

use crate::confirm_dialog::{self, ConfirmQuestion};
use crate::engine_process::EngineProcess;
use crate::press_tracker::PressTracker;

/// Consent that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequiredConsent {
    /// None: the request grants nothing.
    Nothing,
    /// A press of the person that was not used for another request.
    Press,
    /// A confirmation in a dialog.
    Dialog,
}

/// Returns once the request may be carried out.
///
/// # Errors
/// The person did not consent, or is being asked about another request.
pub(crate) async fn obtain_consent(
    app: &AppHandle,
    engine: &EngineProcess,
    op: &Op,
) -> Result<(), UserError> {
    let required = match op {
        Op::SetSettings { settings } => {
            required_consent_for_settings(settings, &engine.settings().await?)
        }
        op => required_consent(op),
    };
    let is_given = match required {
        RequiredConsent::Nothing => true,
        RequiredConsent::Press => app.state::<PressTracker>().consume(Instant::now()),
        RequiredConsent::Dialog => false,
    };
    match is_given {
        true => Ok(()),
        false => {
            let question = confirm_dialog::question_for_op(engine, op).await?;
            confirm_dialog::ask_person(app, question).await
        }
    }
}

/// Returns once the URL may be opened in the browser: the data in the URL leaves the machine.
///
/// # Errors
/// As [`obtain_consent`].
pub(crate) async fn obtain_consent_for_address(
    app: &AppHandle,
    address: &str,
) -> Result<(), UserError> {
    obtain_press(app, confirm_dialog::question_for_address(address)).await
}

/// Returns once a file may be shown in the file manager.
///
/// # Errors
/// As [`obtain_consent`].
pub(crate) async fn obtain_consent_for_file(app: &AppHandle, file: &Path) -> Result<(), UserError> {
    obtain_press(app, confirm_dialog::question_for_file(file)).await
}

/// Returns once the configuration of an agent may be changed: without our hooks its calls are not judged.
///
/// # Errors
/// As [`obtain_consent`].
pub(crate) async fn obtain_consent_for_connection(
    app: &AppHandle,
    engine: &EngineProcess,
    agent: &str,
    action: ConnectionAction,
) -> Result<(), UserError> {
    let agents: Vec<ConnectionView> = engine.ask_for(EngineRequest::ListConnections).await?;
    let known = agents.into_iter().find(|one| one.id == agent);
    let title = known.map_or_else(|| agent.to_owned(), |one| one.title);
    obtain_press(app, confirm_dialog::question_for_connection(&title, action)).await
}

/// Returns once a step to a newer version may be taken: each asks a server, or replaces the app.
///
/// # Errors
/// As [`obtain_consent`].
pub(crate) async fn obtain_consent_for_update(
    app: &AppHandle,
    step: UpdateStep,
) -> Result<(), UserError> {
    obtain_press(app, confirm_dialog::question_for_update(step)).await
}

/// Returns once there was a press of the person that was not used for another request, or a yes in a dialog.
async fn obtain_press(app: &AppHandle, question: ConfirmQuestion) -> Result<(), UserError> {
    match app.state::<PressTracker>().consume(Instant::now()) {
        true => Ok(()),
        false => confirm_dialog::ask_person(app, question).await,
    }
}

/// Returns the consent that a request needs; a change of the settings needs a dialog, unless the present ones tell otherwise
/// ([`required_consent_for_settings`]).
fn required_consent(op: &Op) -> RequiredConsent {
    match op {
        Op::PlayDemo
        | Op::Say { .. }
        | Op::Interrupt { .. }
        | Op::Resume { .. }
        | Op::RenameSession { .. }
        | Op::DistrustRules { .. }
        | Op::RevokeGrant { .. }
        | Op::ResumeAsks { .. }
        | Op::OpenSession { agent: None, .. }
        | Op::SetPlanning { on: true, .. }
        | Op::SetTool { enabled: false, .. }
        | Op::Decide {
            decision: Decision::Reject { .. } | Decision::Skip,
            ..
        }
        | Op::DecideGroup {
            decision: Decision::Reject { .. },
            ..
        }
        | Op::AnswerServer {
            answer: ServerAnswer::Declined | ServerAnswer::Dismissed,
            ..
        }
        | Op::ChangeServer {
            change: ServerChange::Switch { enabled: false } | ServerChange::SignOut,
            ..
        }
        | Op::ChangeApi {
            change: ApiChange::Switch { enabled: false },
            ..
        } => RequiredConsent::Nothing,
        Op::SetSettings { .. }
        | Op::TrustRules { .. }
        | Op::ChangeServer {
            change: ServerChange::Switch { enabled: true },
            ..
        } => RequiredConsent::Dialog,
        // Everything else, and whatever is added to it.
        _ => RequiredConsent::Press,
    }
}

/// Returns the consent that a change of the settings needs: none for the window's appearance, a dialog for programs
/// that would be started.
fn required_consent_for_settings(new_settings: &Settings, settings: &Settings) -> RequiredConsent {
    let looks = Settings {
        theme: new_settings.theme,
        diff: new_settings.diff,
        notify: new_settings.notify,
        ..settings.clone()
    };
    if *new_settings == looks {
        RequiredConsent::Nothing
    } else if list_new_programs(new_settings, settings).is_empty() {
        RequiredConsent::Press
    } else {
        RequiredConsent::Dialog
    }
}

/// Returns the command lines that the wanted settings would start and the present ones do not.
pub(crate) fn list_new_programs(new_settings: &Settings, settings: &Settings) -> Vec<String> {
    let known = list_programs(settings);
    let mut new = list_programs(new_settings);
    new.retain(|program| !known.contains(program));
    new
}

fn list_programs(settings: &Settings) -> Vec<String> {
    let languages = settings.language_servers.iter();
    let languages = languages.filter(|server| server.enabled).map(|server| {
        let words = std::iter::once(&server.command).chain(&server.args);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    });
    let watchdogs = settings.watchdogs.iter().map(|one| one.program.clone());
    let hooks = settings.hooks.iter().map(|one| one.program.clone());
    let editor = Some(&settings.editor).filter(|editor| !editor.program.is_empty());
    let editor = editor.map(|editor| {
        let words = std::iter::once(&editor.program).chain(&editor.args);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    });
    languages
        .chain(watchdogs)
        .chain(hooks)
        .chain(editor)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{RequiredConsent, required_consent, required_consent_for_settings};
    use protocol::{Op, Settings};

    fn needs(op: Value) -> RequiredConsent {
        let op: Op = serde_json::from_value(op.clone()).unwrap_or_else(|e| panic!("{op}: {e}"));
        required_consent(&op)
    }

    fn decide(decision: Value) -> RequiredConsent {
        needs(
            json!({ "type": "decide", "session": "s", "call": "c", "digest": "d", "decision": decision }),
        )
    }

    #[test]
    fn a_no_needs_nothing_and_everything_that_lets_a_call_run_needs_a_press() {
        let no = json!({ "type": "reject", "note": "", "stop": false });
        assert_eq!(decide(no), RequiredConsent::Nothing);
        assert_eq!(decide(json!({ "type": "skip" })), RequiredConsent::Nothing);
        for yes in [
            json!({ "type": "allow", "hunks": null, "note": "" }),
            json!({ "type": "answer", "answers": [] }),
            json!({ "type": "dry_run" }),
            json!({ "type": "with_network", "hosts": ["docs.rs"] }),
            json!({ "type": "in_place", "hosts": [] }),
            json!({ "type": "edit", "arguments": {} }),
        ] {
            assert_eq!(decide(yes.clone()), RequiredConsent::Press, "{yes}");
        }
        let group = |decision: Value| {
            let calls = json!([{ "session": "s", "call": "c", "digest": "d" }]);
            needs(json!({ "type": "decide_group", "calls": calls, "decision": decision }))
        };
        let no = json!({ "type": "reject", "note": "", "stop": false });
        assert_eq!(group(no), RequiredConsent::Nothing);
        let yes = json!({ "type": "allow", "hunks": null, "note": "" });
        assert_eq!(group(yes), RequiredConsent::Press);
    }

    #[test]
    fn what_starts_a_program_or_trusts_a_file_asks_in_a_dialog() {
        let server = |change: Value| {
            needs(json!({ "type": "change_server", "server": "notes", "change": change }))
        };
        assert_eq!(
            server(json!({ "type": "switch", "enabled": true })),
            RequiredConsent::Dialog
        );
        assert_eq!(server(json!({ "type": "restart" })), RequiredConsent::Press);
        assert_eq!(
            server(json!({ "type": "switch", "enabled": false })),
            RequiredConsent::Nothing
        );
        assert_eq!(
            server(json!({ "type": "approve", "digest": "d" })),
            RequiredConsent::Press
        );
        assert_eq!(
            needs(json!({ "type": "trust_rules", "workspace": "/w", "digest": "d" })),
            RequiredConsent::Dialog
        );
        assert_eq!(
            needs(json!({ "type": "distrust_rules", "workspace": "/w" })),
            RequiredConsent::Nothing
        );
    }

    #[test]
    fn settings_need_what_they_would_do() {
        let set = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            required_consent_for_settings(&settings, &Settings::default())
        };
        assert_eq!(
            set(|settings| settings.notify = false),
            RequiredConsent::Nothing
        );
        assert_eq!(
            set(|settings| settings.expire_after_min = 5),
            RequiredConsent::Press
        );
        let watchdog = json!([{ "name": "w", "program": "/bin/sh" }]);
        let with = |watchdogs: &Value| Settings {
            watchdogs: serde_json::from_value(watchdogs.clone()).unwrap(),
            ..Settings::default()
        };
        let watched = with(&watchdog);
        assert_eq!(
            required_consent_for_settings(&watched, &Settings::default()),
            RequiredConsent::Dialog
        );
        assert_eq!(
            required_consent_for_settings(&watched, &watched),
            RequiredConsent::Nothing
        );
        // A hook is a program that is started, too. When it is started is no other program.
        let hooked = |on: &[&str]| Settings {
            hooks: vec![
                serde_json::from_value(json!({ "name": "h", "program": "/bin/sh", "on": on }))
                    .unwrap(),
            ],
            ..Settings::default()
        };
        let before = hooked(&["before"]);
        for (present, required) in [
            (Settings::default(), RequiredConsent::Dialog),
            (hooked(&["after"]), RequiredConsent::Press),
            (before.clone(), RequiredConsent::Nothing),
        ] {
            assert_eq!(required_consent_for_settings(&before, &present), required);
        }
        // Whoever does not know the present ones asks.
        let op = Op::SetSettings {
            settings: Box::new(Settings::default()),
        };
        assert_eq!(required_consent(&op), RequiredConsent::Dialog);
    }

    #[test]
    fn rules_tools_keys_and_the_history_need_a_press() {
        for op in [
            json!({ "type": "save_rules", "scope": "user", "workspace": null, "text": "", "base": null }),
            json!({ "type": "add_rules", "scope": "user", "workspace": null, "rules": [] }),
            json!({ "type": "set_tool", "tool": "bash", "enabled": true, "mode": null }),
            json!({ "type": "set_key", "provider": "p", "key": "k" }),
            json!({ "type": "undo", "entry": "u" }),
            json!({ "type": "collect_history" }),
            json!({ "type": "close_session", "session": "s" }),
            json!({ "type": "delete_session", "session": "s", "host": "window" }),
            json!({ "type": "set_planning", "session": "s", "on": false }),
            json!({ "type": "try_tool", "workspace": "/w", "tool": "bash", "arguments": {} }),
            json!({ "type": "skip_asks", "session": null, "minutes": 5 }),
        ] {
            assert_eq!(needs(op.clone()), RequiredConsent::Press, "{op}");
        }
    }
}
