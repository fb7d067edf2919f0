//! Requests of the person: each is checked, recorded, and done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::depth::{DEPTH_MAX, exceeds};
use protocol::event::{Asked, PlanningBy};
use protocol::history::Restore;
use protocol::model::TEMPERATURES;
use protocol::op::Receipt;
use protocol::settings::ToolSettings;
use protocol::{EventBody, Fault, ModelChoice, Op, SessionId, Settings};
use provider::Secret;

use crate::conversation::Conversation;
use crate::demo;
use crate::desk::Shared;
use crate::rulebook::{self, Place};
use crate::said::Said;
use crate::toolbox::Toolbox;
use crate::{
    apis, asks, coverage, decide, grant, manifest, planning, recover, retention, servers, trust,
    try_tool, turn, undo,
};

/// Does what the person asks.
pub(crate) async fn submit(shared: &Arc<Shared>, op: Op) -> Result<Receipt, Fault> {
    match op {
        Op::OpenSession {
            workspace,
            model,
            prompt,
            output_schema,
            temperature,
            agent,
            planning,
        } => {
            if output_schema
                .as_ref()
                .is_some_and(|schema| exceeds(schema, DEPTH_MAX))
            {
                return Err(Fault::new(
                    format!("The output schema is nested more than {DEPTH_MAX} levels deep."),
                    "Write it flatter, with `$defs`.",
                ));
            }
            if let Some(given) = temperature
                && !TEMPERATURES.contains(&given)
            {
                return Err(Fault::new(
                    format!("The temperature is {given}, and models take one from 0 to 2."),
                    "Give one of these, or none to have it as the provider has it.",
                ));
            }
            let is_asked = output_schema.is_some() || temperature.is_some();
            let mut asked = is_asked.then(|| Asked {
                output_schema,
                temperature,
                ..Asked::default()
            });
            let folder = Path::new(&workspace);
            if let Some(file) = agent {
                let tools = Toolbox::of_folder(shared, Some(&workspace))?;
                let words = asked.unwrap_or_default();
                asked = Some(manifest::asked(&file, &tools, words)?);
            }
            open(shared, folder, model, prompt, asked, planning).await
        }
        Op::PlayDemo => {
            let workspace = demo::workspace(&shared.config.data_dir)?;
            open(
                shared,
                &workspace,
                demo::model(),
                Some(demo::PROMPT.to_owned()),
                None,
                false,
            )
            .await
        }
        Op::Say {
            session,
            text,
            images,
        } => {
            let said = Said::checked(text, images)?;
            turn::say(&shared.session(&session)?, said)
                .await
                .map(|_run| Receipt::default())
        }
        Op::SetPlanning { session, on } => {
            let session = shared.session(&session)?;
            planning::set(&session, on, PlanningBy::Person)
                .await
                .map(|()| Receipt::default())
        }
        Op::Interrupt { session } => {
            let session = shared.session(&session)?;
            if session.stop() || end_left_behind(shared, &session.id).await? {
                return Ok(Receipt::default());
            }
            let _nobody_else = session.held.here(&session.hands.folder)?;
            Err(Fault::new(
                "This session does nothing at the moment, so there is nothing to stop.",
                "",
            ))
        }
        Op::Resume { session } => {
            turn::start(&shared.session(&session)?)?;
            Ok(Receipt::default())
        }
        Op::Decide {
            session,
            call,
            digest,
            decision,
        } => decide::decide(shared, &session, &call, &digest, decision).await,
        Op::AnswerServer {
            session,
            call,
            ask,
            answer,
        } => asks::answer(shared, &session, &call, &ask, answer).await,
        Op::Undo { entry } => undo::restore(shared, undo::one(entry), Vec::new()).await,
        Op::Redo { entry } => undo::restore(shared, Restore::Redo { entry }, Vec::new()).await,
        Op::Restore { restore, choices } => undo::restore(shared, restore, choices).await,
        Op::CollectHistory => retention::receipt(shared).await,
        Op::RenameSession { session, title } => {
            let title = title.trim().to_owned();
            if title.is_empty() {
                return Err(Fault::new(
                    "A session needs a title.",
                    "Write at least one character.",
                ));
            }
            let session = shared.session(&session)?;
            session
                .journal
                .keep(EventBody::SessionRenamed { title })
                .await
                .map(|()| Receipt::default())
        }
        Op::CloseSession { session } => close(shared, &session).await,
        Op::TrustRules { workspace, digest } => {
            let root = trust::accept(&shared.config.data_dir, Path::new(&workspace), &digest)?;
            shared.reload_rules_in(&root);
            Ok(Receipt::default())
        }
        Op::DistrustRules { workspace } => {
            let root = trust::revoke(&shared.config.data_dir, Path::new(&workspace))?;
            shared.reload_rules_in(&root);
            Ok(Receipt::default())
        }
        Op::RevokeGrant { grant } => grant::revoke(shared, &grant),
        Op::SaveRules {
            scope,
            workspace,
            text,
            base,
        } => {
            let place = Place::of(workspace.as_deref())?;
            let data_dir = &shared.config.data_dir;
            let saved = rulebook::save(data_dir, &place, scope, &text, base.as_ref());
            rules_saved(shared, saved?)
        }
        Op::AddRules {
            scope,
            workspace,
            rules,
        } => {
            let place = Place::of(workspace.as_deref())?;
            let saved = rulebook::add(&shared.config.data_dir, &place, scope, &rules);
            rules_saved(shared, saved?)
        }
        Op::ChangeRule { place, rule } => {
            let saved = rulebook::change(&shared.config.data_dir, &place, rule.as_ref());
            rules_saved(shared, saved?)
        }
        Op::SetSettings { settings } => shared.set_settings(*settings).map(|()| Receipt::default()),
        Op::SetTool {
            tool,
            enabled,
            mode,
        } => {
            shared.tools_unset().check_setting(&tool, mode)?;
            let mut settings = Settings::clone(&shared.settings());
            let set = ToolSettings { enabled, mode };
            match set == ToolSettings::default() {
                true => settings.tools.remove(&tool),
                false => settings.tools.insert(tool, set),
            };
            shared.set_settings(settings).map(|()| Receipt::default())
        }
        Op::TryTool {
            workspace,
            tool,
            arguments,
        } => try_tool::open(shared, Path::new(&workspace), &tool, arguments).await,
        Op::ChangeServer { server, change } => {
            servers::change(&shared.servers, server, change).await
        }
        Op::ChangeApi { api, change } => apis::change(shared, api, change).await,
        Op::SetKey { provider, key } => {
            let keys = shared.keys.clone();
            // A keychain may ask the person to unlock it first.
            let kept = tokio::task::spawn_blocking(move || match Secret::new(&key) {
                Some(secret) => keys.set(&provider, &secret),
                None => keys.forget(&provider),
            });
            kept.await
                .map_err(|_| Fault::new("The keychain broke off.", "Try again."))??;
            Ok(Receipt::default())
        }
    }
}

/// Puts rules that were saved in force: those of a project there, the person's own everywhere.
fn rules_saved(shared: &Shared, root: Option<PathBuf>) -> Result<Receipt, Fault> {
    match root {
        Some(root) => shared.reload_rules_in(&root),
        None => shared.reload_rules_where(|_| true),
    }
    Ok(Receipt::default())
}

/// Ends what a session was at whose process is no more. Gives whether it was at anything.
async fn end_left_behind(shared: &Arc<Shared>, id: &SessionId) -> Result<bool, Fault> {
    match shared.record.session(id)? {
        Some(view) => recover::left_behind(shared, &view).await,
        None => Ok(false),
    }
}

/// Removes what a session left beside its record.
async fn close(shared: &Arc<Shared>, id: &SessionId) -> Result<Receipt, Fault> {
    let session = shared.session(id)?;
    if session.is_running() {
        return Err(Fault::new(
            "This session is at work or waits for you.",
            "Stop it first, then close it.",
        ));
    }
    drop(session.held.here(&session.hands.folder)?);
    grant::end(&session)?;
    let folder = session.hands.folder.clone();
    let removed = tokio::task::spawn_blocking(move || folder.clear()).await;
    removed
        .map_err(|_| Fault::new("The session's files could not be removed.", "Try again."))??;
    let notice = protocol::Notice {
        level: protocol::NoticeLevel::Note,
        fault: Fault::new(
            "The session was closed, and its long outputs were removed.",
            "Its record stays. Say something to go on with it.",
        ),
    };
    session.journal.keep(EventBody::Noted { notice }).await?;
    shared.forget(id);
    Ok(Receipt::default())
}

pub(crate) async fn open(
    shared: &Arc<Shared>,
    workspace: &Path,
    model: ModelChoice,
    prompt: Option<String>,
    asked: Option<Asked>,
    plans: bool,
) -> Result<Receipt, Fault> {
    let prompt = prompt
        .filter(|text| !text.trim().is_empty())
        .map(|text| Said::checked(text, Vec::new()))
        .transpose()?;
    shared.provider(&model.provider)?;
    let id = SessionId(shared.config.ids.next("ses"));
    let conversation = Conversation::beginning(asked.clone().unwrap_or_default(), None);
    let session = shared.admit(id.clone(), workspace, model.clone(), conversation)?;
    let root = session.hands.workspace.root();
    let folder = root.file_name().map_or_else(
        || root.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let title = prompt.as_ref().map_or(folder, |said| title_of(&said.text));
    let opened = EventBody::SessionOpened {
        title,
        workspace: root.display().to_string(),
        model,
        parent: None,
        asked: asked.map(Box::new),
    };
    session.journal.keep(opened).await?;
    if let Some(warning) = coverage::home_notice(session.hands.workspace.root()) {
        session.journal.tell(EventBody::Noted { notice: warning });
    }
    if plans {
        planning::set(&session, true, PlanningBy::Person).await?;
    }
    if let Some(said) = prompt {
        turn::say(&session, said).await?;
    }
    Ok(Receipt {
        session: Some(id),
        ..Receipt::default()
    })
}

/// The first line of what was said, without marks, cut between words.
fn title_of(prompt: &str) -> String {
    const CHARS_MAX: usize = 64;
    let line: String = prompt
        .trim()
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !matches!(c, '`' | '*' | '#') && !protocol::shown::is_hidden(*c))
        .collect();
    let line = line.trim();
    let Some((cut, _)) = line.char_indices().nth(CHARS_MAX) else {
        return line.to_owned();
    };
    let words = line[..cut]
        .rfind(' ')
        .map_or(&line[..cut], |space| &line[..space]);
    format!("{}…", words.trim_end_matches([' ', ',', '.', ';', ':']))
}
