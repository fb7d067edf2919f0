//! The person's requests: each is checked, recorded, and done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::event::{Enclosure, FormerAgentSession, PlanningActor, SessionEvent, SessionOptions};
use protocol::history::RestoreRequest;
use protocol::model::TEMPERATURE_RANGE;
use protocol::op::{KeyLifetime, OpReceipt};
use protocol::server::mcp_servers::ServerId;
use protocol::session::list_place::ListPlace;
use protocol::session::skipped_asks::AsksResumption;
use protocol::settings::ToolSettings;
use protocol::text::depth::{DEPTH_MAX, exceeds_depth};
use protocol::{EventBody, ModelChoice, NoticeLevel, Op, SessionId, Settings, UserError};
use provider::Secret;
use serde_json::Value;

use crate::engine::demo;
use crate::engine::maintenance::{recovery, retention};
use crate::engine::ongoing_work::check_is_idle;
use crate::engine::{
    agent_options, agent_servers, decisions, editors, enclosed_turns, session_deletion,
    session_fork, skipped_asks, tool_trial,
};
use crate::permissions::{manifest, trust};
use crate::rulebook::{self, RulebookScope};
use crate::run;
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::conversation::Conversation;
use crate::session::engine_state::EngineState;
use crate::session::manual_calls::{self, IMPORTED_PROVIDER};
use crate::session::skipped_asks as session_skip;
use crate::session::toolbox::Toolbox;
use crate::session::user_message::UserMessage;
use crate::session::{Session, elicitation, grants, planning};
use crate::toolset::api_context::ApiContext;
use crate::toolset::{apis, servers};
use crate::undo::{self, coverage};

/// Carries out a request of the person.
#[expect(
    clippy::cognitive_complexity,
    reason = "one arm for each request, which only passes it on"
)]
pub(crate) async fn run_op(engine: &Arc<EngineState>, op: Op) -> Result<OpReceipt, UserError> {
    match op {
        Op::OpenSession {
            workspace,
            model,
            prompt,
            output_schema,
            temperature,
            agent,
            planning,
            enclosure,
            servers,
            former,
        } => {
            let asked = AskedOptions {
                output_schema,
                temperature,
                manifest: agent,
                enclosure,
                servers,
                former,
            };
            let options = asked.into_options(engine, &workspace, &model).await?;
            let new = NewSession {
                workspace: Path::new(&workspace),
                model,
                prompt,
                options,
                starts_planning: planning,
            };
            open_session(engine, new).await
        }
        Op::PlayDemo => play_demo(engine).await,
        Op::Say {
            session,
            text,
            images,
        } => {
            let said = UserMessage::parse(text, images)?;
            run::add_user_message(&own_session(engine, &session)?, said)
                .await
                .map(|_run| OpReceipt::default())
        }
        Op::SetPlanning { session, on } => {
            let session = own_session(engine, &session)?;
            planning::set_planning(&session, on, PlanningActor::Person)
                .await
                .map(|()| OpReceipt::default())
        }
        Op::SetAgentOption {
            session,
            option,
            value,
        } => agent_options::set_agent_option(engine, &session, &option, &value).await,
        Op::SkipAsks { session, minutes } => {
            skipped_asks::skip_asks(engine, session, minutes).await
        }
        Op::ResumeAsks { session } => skipped_asks::resume_asks(engine, session).await,
        Op::Interrupt { session } => interrupt_session(engine, &session).await,
        Op::Resume { session } => {
            run::start_run(&own_session(engine, &session)?)?;
            Ok(OpReceipt::default())
        }
        Op::Decide {
            session,
            call,
            digest,
            decision,
        } => decisions::apply_decision(engine, &session, &call, &digest, decision).await,
        Op::DecideGroup { calls, decision } => {
            decisions::apply_group_decision(engine, calls, decision).await
        }
        Op::AnswerServer {
            session,
            call,
            request_id,
            answer,
        } => elicitation::answer_elicitation(engine, &session, &call, &request_id, answer).await,
        Op::Undo { entry } => {
            undo::restore_entries(engine, undo::single_entry(entry), Vec::new()).await
        }
        Op::Redo { entry } => {
            undo::restore_entries(engine, RestoreRequest::Redo { entry }, Vec::new()).await
        }
        Op::Restore { restore, choices } => undo::restore_entries(engine, restore, choices).await,
        Op::CollectHistory => retention::collect_receipt(engine).await,
        Op::RenameSession { session, title } => rename_session(engine, &session, &title).await,
        Op::PlaceSession { session, place } => place_session(engine, &session, place).await,
        Op::ForkSession { session, before } => {
            session_fork::fork_session(engine, &session, before).await
        }
        Op::CloseSession { session } => close_session(engine, &session).await,
        Op::DeleteSession { session, host } => {
            session_deletion::delete_session(engine, &session, host).await
        }
        Op::TrustRules { workspace, digest } => {
            let data_dir = &engine.config.data_dir;
            let root = trust::trust_project(data_dir, Path::new(&workspace), &digest);
            after_rules_saved(engine, Some(root?))
        }
        Op::DistrustRules { workspace } => {
            let root = trust::revoke_trust(&engine.config.data_dir, Path::new(&workspace));
            after_rules_saved(engine, Some(root?))
        }
        Op::OpenInEditor {
            workspace,
            path,
            line,
        } => {
            editors::open_in_editor(engine, &workspace, &path, line).map(|()| OpReceipt::default())
        }
        Op::RevokeGrant { grant } => grants::revoke_grant(engine, &grant),
        Op::SaveRules {
            scope,
            workspace,
            text,
            base,
        } => {
            let place = RulebookScope::from_folder(workspace.as_deref())?;
            let data_dir = &engine.config.data_dir;
            let saved = rulebook::save_rules(data_dir, &place, scope, &text, base.as_ref());
            after_rules_saved(engine, saved?)
        }
        Op::AddRules {
            scope,
            workspace,
            rules,
        } => {
            let place = RulebookScope::from_folder(workspace.as_deref())?;
            let saved = rulebook::add_rules(&engine.config.data_dir, &place, scope, &rules);
            after_rules_saved(engine, saved?)
        }
        Op::ChangeRule { place, rule } => {
            let saved = rulebook::change_rule(&engine.config.data_dir, &place, rule.as_ref());
            after_rules_saved(engine, saved?)
        }
        Op::SetSettings { settings } => engine
            .set_settings(*settings)
            .map(|()| OpReceipt::default()),
        Op::SetTool {
            tool,
            enabled,
            mode,
        } => set_tool(engine, tool, ToolSettings { enabled, mode }),
        Op::TryTool {
            workspace,
            tool,
            arguments,
        } => tool_trial::open_trial(engine, Path::new(&workspace), &tool, arguments).await,
        Op::ChangeServer { server, change } => {
            servers::change_servers(&engine.servers, server, change).await
        }
        Op::ChangeApi { api, change } => {
            let context = ApiContext {
                apis: &engine.apis,
                servers: &engine.servers,
                config: &engine.config,
            };
            apis::change_apis(&context, api, change).await
        }
        Op::SetKey {
            provider,
            key,
            lasts,
        } => set_key(engine, provider, &key, lasts).await,
    }
}

/// What a person asks of a session that is to be opened, beside its model and first message.
struct AskedOptions {
    output_schema: Option<Value>,
    temperature: Option<f64>,
    /// Manifest of the agent that works in the session, absolute.
    manifest: Option<String>,
    enclosure: Option<Enclosure>,
    /// Servers whose tools an agent of somebody else is given.
    servers: Option<Vec<ServerId>>,
    /// The session of its own with which an agent of somebody else goes on.
    former: Option<FormerAgentSession>,
}

impl AskedOptions {
    /// Returns the options of the session; none if nothing is asked.
    ///
    /// # Errors
    /// Something that is asked cannot be had in this workspace, or by this model.
    async fn into_options(
        self,
        engine: &Arc<EngineState>,
        workspace: &str,
        model: &ModelChoice,
    ) -> Result<Option<SessionOptions>, UserError> {
        check_request(self.output_schema.as_ref(), self.temperature)?;
        if self.enclosure.is_some() {
            enclosed_turns::check_enclosure(engine, Path::new(workspace), model).await?;
        }
        if let Some(servers) = &self.servers {
            let enclosure = self.enclosure.as_ref();
            agent_servers::check_agent_servers(engine, model, enclosure, servers)?;
        }
        if self.former.is_some() && model.provider != AGENT_PROVIDER {
            return Err(UserError::new(
                "A model answers in this session, which has no sessions of its own.",
                "To go on with a session of ours, resume or fork it.",
            ));
        }
        let asked = SessionOptions {
            output_schema: self.output_schema,
            temperature: self.temperature,
            enclosure: self.enclosure,
            agent_servers: self.servers,
            former: self.former,
            ..SessionOptions::default()
        };
        let Some(file) = self.manifest else {
            return Ok((asked != SessionOptions::default()).then_some(asked));
        };
        let tools = Toolbox::for_folder(engine, Some(workspace))?;
        manifest::apply_manifest(&file, &tools, asked).map(Some)
    }
}

/// Opens a session that plays the demo in a sample workspace.
async fn play_demo(engine: &Arc<EngineState>) -> Result<OpReceipt, UserError> {
    let workspace = demo::workspace(&engine.config.data_dir)?;
    let new = NewSession {
        workspace: &workspace,
        model: demo::demo_model(),
        prompt: Some(demo::DEMO_PROMPT.to_owned()),
        options: None,
        starts_planning: false,
    };
    open_session(engine, new).await
}

/// Stops what a session does.
async fn interrupt_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
) -> Result<OpReceipt, UserError> {
    let session = engine.session(id)?;
    if session.stop() || end_abandoned_session(engine, &session.id).await? {
        return Ok(OpReceipt::default());
    }
    let _nobody_else = session.lock.acquire(&session.tool_context.folder)?;
    Err(UserError::new(
        "This session does nothing at the moment, so there is nothing to stop.",
        "",
    ))
}

/// Switches a tool on or off, and makes its mode stricter.
fn set_tool(
    engine: &Arc<EngineState>,
    tool: String,
    set: ToolSettings,
) -> Result<OpReceipt, UserError> {
    engine.default_tools().check_setting(&tool, set.mode)?;
    let mut settings = Settings::clone(&engine.settings());
    match set == ToolSettings::default() {
        true => settings.tools.remove(&tool),
        false => settings.tools.insert(tool, set),
    };
    engine.set_settings(settings).map(|()| OpReceipt::default())
}

/// Stores a provider's key, in the system keychain or in memory, or removes it if the key is empty.
async fn set_key(
    engine: &Arc<EngineState>,
    provider: String,
    key: &str,
    lasts: KeyLifetime,
) -> Result<OpReceipt, UserError> {
    let (keys, secret) = (engine.keys.clone(), Secret::new(key));
    // A keychain may ask the person to unlock it first.
    let kept = tokio::task::spawn_blocking(move || match (secret, lasts) {
        (Some(secret), KeyLifetime::Kept) => keys.set(&provider, &secret),
        (Some(secret), KeyLifetime::Run) => {
            keys.set_for_run(&provider, &secret);
            Ok(())
        }
        (None, _) => keys.remove(&provider),
    });
    kept.await
        .map_err(|_| UserError::new("The keychain broke off.", "Try again."))??;
    Ok(OpReceipt::default())
}

/// Checks what a session is to ask of its model.
fn check_request(output_schema: Option<&Value>, temperature: Option<f64>) -> Result<(), UserError> {
    if output_schema.is_some_and(|schema| exceeds_depth(schema, DEPTH_MAX)) {
        return Err(UserError::new(
            format!("The output schema is nested more than {DEPTH_MAX} levels deep."),
            "Write it flatter, with `$defs`.",
        ));
    }
    match temperature.filter(|given| !TEMPERATURE_RANGE.contains(given)) {
        Some(given) => Err(UserError::new(
            format!("The temperature is {given}, and models take one from 0 to 2."),
            "Give one of these, or none to have it as the provider has it.",
        )),
        None => Ok(()),
    }
}

/// Puts saved rules in force: those of a project in its workspace, the person's own everywhere.
fn after_rules_saved(engine: &EngineState, root: Option<PathBuf>) -> Result<OpReceipt, UserError> {
    match root {
        Some(root) => engine.reload_rules_in(&root),
        None => engine.reload_rules_matching(|_| true),
    }
    Ok(OpReceipt::default())
}

/// Returns a session that can be continued here.
///
/// # Errors
/// There is no such session, or it was imported from another agent.
pub(super) fn own_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
) -> Result<Arc<Session>, UserError> {
    let view = engine.record.session(id)?;
    match view.filter(|view| view.model.provider == IMPORTED_PROVIDER) {
        Some(view) => Err(manual_calls::imported_session_error(&view.model.model)),
        None => engine.session(id),
    }
}

/// Ends the work of a session whose process no longer exists. Returns whether it had any.
async fn end_abandoned_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
) -> Result<bool, UserError> {
    match engine.record.session(id)? {
        Some(view) => recovery::recover_if_abandoned(engine, &view).await,
        None => Ok(false),
    }
}

/// Gives a session another title.
async fn rename_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
    title: &str,
) -> Result<OpReceipt, UserError> {
    let title = title.trim().to_owned();
    if title.is_empty() {
        return Err(UserError::new(
            "A session needs a title.",
            "Write at least one character.",
        ));
    }
    let session = engine.session(id)?;
    session
        .journal
        .record_synced(SessionEvent::Renamed { title })
        .await
        .map(|()| OpReceipt::default())
}

/// Moves a session in the list. Nothing that still needs the person is put out of the way.
async fn place_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
    place: ListPlace,
) -> Result<OpReceipt, UserError> {
    if place == ListPlace::Archived {
        check_is_idle(engine, id, "Stop it first, then archive it.")?;
    }
    engine
        .session(id)?
        .journal
        .record_synced(SessionEvent::Placed { place })
        .await
        .map(|()| OpReceipt::default())
}

/// Closes a session, and removes the files that it left beside its record.
async fn close_session(engine: &Arc<EngineState>, id: &SessionId) -> Result<OpReceipt, UserError> {
    let session = engine.session(id)?;
    if !session.is_running() {
        // Whoever else works in it is named.
        drop(session.lock.acquire(&session.tool_context.folder)?);
    }
    check_is_idle(engine, id, "Stop it first, then close it.")?;
    grants::end_session_grants(&session)?;
    session_skip::end_skip(&session, AsksResumption::Closed).await?;
    let folder = session.tool_context.folder.clone();
    let removed = tokio::task::spawn_blocking(move || folder.clear()).await;
    removed
        .map_err(|_| UserError::new("The session's files could not be removed.", "Try again."))??;
    let fault = UserError::new(
        "The session was closed, and its long outputs were removed.",
        "Its record stays. Say something to go on with it.",
    );
    let notice = EventBody::notice(NoticeLevel::Note, fault);
    session.journal.record_synced(notice).await?;
    engine.remove_session(id);
    if let Some(runner) = engine.agent_runner.get() {
        runner.close_session(id).await;
    }
    Ok(OpReceipt::default())
}

/// A session that is to be opened.
pub(crate) struct NewSession<'a> {
    pub workspace: &'a Path,
    pub model: ModelChoice,
    /// First message of the person; none if there is none yet.
    pub prompt: Option<String>,
    pub options: Option<SessionOptions>,
    /// Whether the session begins in plan mode.
    pub starts_planning: bool,
}

/// Opens a session, records it, and runs it if there is a first message.
pub(crate) async fn open_session(
    engine: &Arc<EngineState>,
    new: NewSession<'_>,
) -> Result<OpReceipt, UserError> {
    let NewSession {
        workspace,
        model,
        prompt,
        options,
        starts_planning,
    } = new;
    let prompt = prompt
        .filter(|text| !text.trim().is_empty())
        .map(|text| UserMessage::parse(text, Vec::new()))
        .transpose()?;
    engine.check_model(&model)?;
    if starts_planning {
        planning::check_can_plan(&model.provider)?;
    }
    let id = SessionId(engine.config.ids.next_id("ses"));
    let conversation = Conversation::new(options.clone().unwrap_or_default(), None);
    let session = engine.admit_session(id.clone(), workspace, model.clone(), conversation)?;
    let root = session.tool_context.workspace.root();
    let folder = root.file_name().map_or_else(
        || root.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let title = prompt
        .as_ref()
        .map_or(folder, |said| title_from_prompt(&said.text));
    let opened = EventBody::Session(SessionEvent::Opened {
        title,
        workspace: root.display().to_string(),
        model,
        parent: None,
        options: options.map(Box::new),
    });
    session.journal.record_synced(opened).await?;
    if let Some(warning) = coverage::home_folder_notice(session.tool_context.workspace.root()) {
        session
            .journal
            .record(SessionEvent::NoticeAdded { notice: warning });
    }
    if starts_planning {
        planning::set_planning(&session, true, PlanningActor::Person).await?;
    }
    if let Some(said) = prompt {
        run::add_user_message(&session, said).await?;
    }
    Ok(OpReceipt {
        session: Some(id),
        ..OpReceipt::default()
    })
}

/// Returns the first line of the prompt, without marks, cut between words.
pub(crate) fn title_from_prompt(prompt: &str) -> String {
    const CHARS_MAX: usize = 64;
    let line: String = prompt
        .trim()
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !matches!(c, '`' | '*' | '#') && !protocol::text::display_text::is_hidden(*c))
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
