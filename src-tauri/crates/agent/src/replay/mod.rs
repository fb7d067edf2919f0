//! Replays: calls judged and run one after the other by the real pipeline, in a private copy of a workspace, so that a
//! policy can be tried on a day of work before it holds.
//!
//! The calls of a replay are made by an external client, as those of the gateway are. What asks is answered in a
//! person's place. The workspace itself, the person's data folder, and the network are left alone: what would take
//! effect beyond the copy is judged and does not run.

mod folder_names;
mod recorded_calls;
mod report;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use directories::BaseDirs;
use policy::rules_file::{self, RulesFileSource};
use protocol::event::{CallChange, ClientInfo};
use protocol::{
    CallId, Decision, Digest, EventBody, Op, Preview, RuleScope, SessionId, Settings, UserError,
};
use runtime::{PrivateCopy, SkippedPaths, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use crate::engine::since::parse_since;
pub use crate::replay::recorded_calls::RecordedCalls;
pub use crate::replay::report::{
    ChangedPath, ReplayEffects, ReplaySums, ReplayVerdict, ReplayedCall,
};

use crate::engine::external_client::ExternalClient;
use crate::engine::{Engine, settings};
use crate::host::config::{EngineConfig, Host, RulesText};
use crate::permissions::trust;
use crate::replay::folder_names::FolderNames;
use crate::replay::report::{AskedQuestion, FinishedCall};

/// Number of sessions that are open at a time; the one that was used longest ago is closed for another.
const SESSIONS_OPEN_MAX: usize = 64;

/// Options of a replay.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The workspace whose copy the calls work in.
    pub workspace: PathBuf,
    /// Folder for the copy, best on the same disk.
    pub copies: PathBuf,
    /// Rules files that stand in the place of the person's own; none to use those.
    pub rules: Vec<PathBuf>,
}

impl ReplayOptions {
    /// Returns the usual folder for copies, in the person's folder for what can be made again.
    pub fn default_copies() -> PathBuf {
        let cache = BaseDirs::new().map(|dirs| dirs.cache_dir().to_owned());
        let cache = cache.unwrap_or_else(std::env::temp_dir);
        cache.join("countersign").join("replays")
    }
}

/// A call to replay.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayCall {
    /// Id by which the report names the call.
    pub id: String,
    /// Name of the session that the call belongs to.
    pub session: Option<String>,
    /// The tool's id or an alias.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Map<String, Value>,
}

/// Answer to a call that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayAnswer {
    /// The call is approved, for exactly what was shown.
    Allow,
    /// The call is rejected.
    Deny,
}

/// A session of a replay, with its name among the calls.
struct ReplaySession {
    name: Option<String>,
    client: Arc<ExternalClient>,
}

/// A replay, with its copy of the workspace.
pub struct Replay {
    engine: Engine,
    /// Open sessions, the one that was used last at the end.
    sessions: VecDeque<ReplaySession>,
    names: FolderNames,
    copy: PrivateCopy,
}

impl Replay {
    /// Copies the workspace, and opens an engine over the copy with the settings of the person's data folder. Hooks and
    /// language servers of the settings are left out: they run outside of the copy.
    ///
    /// # Errors
    /// The workspace cannot be copied; settings or a rules file cannot be read.
    pub async fn open(person: EngineConfig, options: ReplayOptions) -> Result<Self, UserError> {
        let workspace = Workspace::open(&options.workspace)?;
        let (settings, fault) = settings::load_settings(&person.data_dir);
        fault.map_or(Ok(()), Err)?;
        let rules = read_rules(&person.data_dir, &options.rules)?;
        let posture = person.posture;
        let posture = posture.unwrap_or_else(|| settings.posture_for(workspace.root()));
        let copies = options.copies;
        let (copy, workspace) = tokio::task::spawn_blocking(move || {
            let copy = PrivateCopy::create(&workspace, &copies);
            copy.map(|copy| (copy, workspace))
        })
        .await
        .map_err(|error| {
            UserError::new("The workspace was not copied.", "").with_source(&error)
        })??;
        let names = FolderNames {
            original: path_text(workspace.root()),
            copy: path_text(Workspace::open(&copy.workspace())?.root()),
        };
        let settings = Settings {
            hooks: Vec::new(),
            language_servers: Vec::new(),
            ..settings
        };
        settings::save_settings(&copy.data_dir(), &settings)?;
        copy_trust(&person.data_dir, workspace.root(), &copy)?;
        let engine = Engine::open(EngineConfig {
            data_dir: copy.data_dir(),
            host: Host::Person,
            posture: Some(posture),
            user_rules: Some(
                rules
                    .into_iter()
                    .map(|one| names.rules_to_copy(one))
                    .collect(),
            ),
            contained: true,
            ..person
        })
        .await?;
        Ok(Self {
            engine,
            sessions: VecDeque::new(),
            names,
            copy,
        })
    }

    /// Returns the paths of the workspace that are not in the copy.
    pub fn skipped(&self) -> &SkippedPaths {
        self.copy.skipped()
    }

    /// Judges a call, answers what it asks, runs it if it may, and reports on it. A call that breaks off is reported as
    /// failed.
    pub async fn run_call(&mut self, call: ReplayCall, answer: ReplayAnswer) -> ReplayedCall {
        let began = Instant::now();
        let finished = self.make_call(&call, answer).await;
        let report = match finished {
            Ok(finished) => self.names.to_original(finished.into_report(call)),
            Err(fault) => ReplayedCall::failed(call.id, call.session, call.tool, fault.message),
        };
        report.with_time(began.elapsed())
    }

    /// Ends what still runs, and removes the copy.
    ///
    /// # Errors
    /// The record of the replay cannot be written.
    pub async fn close(mut self) -> Result<(), UserError> {
        for session in self.sessions.drain(..) {
            session.client.close().await?;
        }
        Ok(())
    }

    async fn make_call(
        &mut self,
        call: &ReplayCall,
        answer: ReplayAnswer,
    ) -> Result<FinishedCall, UserError> {
        let client = self.open_session(call.session.as_deref()).await?;
        let state = &self.engine.state;
        let mut events = self.engine.subscribe(self.engine.last_seq()?);
        let arguments = self.names.arguments_to_copy(call.arguments.clone());
        let cancel = CancellationToken::new();
        let mut ended = pin!(client.call(&call.tool, arguments, &cancel, None));
        let mut asked = None;
        let outcome = loop {
            tokio::select! {
                outcome = &mut ended => break outcome?,
                batch = events.next() => for event in batch?.iter().flat_map(|batch| batch.iter()) {
                    if let EventBody::Call { call, change: CallChange::Waiting { digest, .. } } = &event.body
                        && event.session == *client.session()
                    {
                        let question = self.answer_call(&event.session, call, digest, answer).await?;
                        asked.get_or_insert(question);
                    }
                },
            }
        };
        let view = state.call_view(client.session(), &outcome.call)?;
        let view = view.ok_or_else(|| UserError::new("The call is not on record.", ""))?;
        Ok(FinishedCall { view, asked })
    }

    /// Answers a waiting call in a person's place: a question is skipped, because no answer is invented. Returns what
    /// was asked.
    async fn answer_call(
        &self,
        session: &SessionId,
        call: &CallId,
        digest: &Digest,
        answer: ReplayAnswer,
    ) -> Result<AskedQuestion, UserError> {
        let view = self.engine.state.call_view(session, call)?;
        let is_form = matches!(
            view.as_ref().map(|view| &view.preview),
            Some(Preview::Form { .. })
        );
        let decide = |decision| Op::Decide {
            session: session.clone(),
            call: call.clone(),
            digest: digest.clone(),
            decision,
        };
        let reject = || Decision::reject("The replay answers so.");
        let decision = match answer {
            _ if is_form => Decision::Skip,
            ReplayAnswer::Allow => Decision::allow(),
            ReplayAnswer::Deny => reject(),
        };
        // An answer that does not fit ends the call. One that is refused because the card changed does not: then the
        // call waits again, for an answer to what it shows now.
        if self.engine.submit(decide(decision)).await.is_err() {
            let _ = self.engine.submit(decide(reject())).await;
        }
        Ok(AskedQuestion {
            trail: view.and_then(|view| view.trail),
            answer: (!is_form).then_some(answer),
        })
    }

    /// Returns the client with the session of this name, and opens it if it is not open.
    async fn open_session(&mut self, name: Option<&str>) -> Result<Arc<ExternalClient>, UserError> {
        let is_it = |session: &ReplaySession| session.name.as_deref() == name;
        if let Some(session) = self
            .sessions
            .iter()
            .position(is_it)
            .and_then(|at| self.sessions.remove(at))
        {
            let client = session.client.clone();
            self.sessions.push_back(session);
            return Ok(client);
        }
        if self.sessions.len() >= SESSIONS_OPEN_MAX
            && let Some(oldest) = self.sessions.pop_front()
        {
            oldest.client.close().await?;
            self.engine.state.remove_session(oldest.client.session());
        }
        let info = ClientInfo {
            name: name.unwrap_or("replay").to_owned(),
            version: String::new(),
            by: "replay".to_owned(),
            session: String::new(),
            token: String::new(),
        };
        let client = self
            .engine
            .open_client(&self.copy.workspace(), info)
            .await?;
        self.sessions.push_back(ReplaySession {
            name: name.map(str::to_owned),
            client: client.clone(),
        });
        Ok(client)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.engine.close();
    }
}

/// Reads the rules that hold as the person's: those of the given files, or of the data folder if none is given.
fn read_rules(data_dir: &Path, files: &[PathBuf]) -> Result<Vec<RulesText>, UserError> {
    let own = [data_dir.join("rules.toml")];
    let is_own = files.is_empty();
    let mut rules = Vec::new();
    for file in if is_own { &own } else { files } {
        let name = path_text(file);
        let Some(text) = runtime::read_text(file)? else {
            if is_own {
                continue;
            }
            let message = format!("There is no rules file {name}.");
            return Err(UserError::new(message, "Check the path."));
        };
        rules_file::parse_rules_file(&text, &RulesFileSource::new(&name, RuleScope::User))?;
        rules.push(RulesText { file: name, text });
    }
    Ok(rules)
}

/// Trusts the rules file in the copy if the person trusts that of the workspace.
fn copy_trust(data_dir: &Path, root: &Path, copy: &PrivateCopy) -> Result<(), UserError> {
    match trust::project_rules_view(data_dir, root)? {
        Some(rules) if rules.trust.can_loosen() => {
            trust::trust_project(&copy.data_dir(), &copy.workspace(), &rules.digest).map(drop)
        }
        Some(_) | None => Ok(()),
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
