//! The language servers of the engine: one for each folder and language, started when it is first needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use protocol::ToolError;
use protocol::server::language_servers::LanguageServer;
use protocol::text::display_text::to_single_line;
use runtime::{CompanionCommand, InheritedEnv, Workspace};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::language_service::{LanguageQuery, LanguageResponse, LanguageService, SourceDocument};

use crate::connection::{IDLE_REASON, LspConnection, LspTimeouts};
use crate::limits::{ID_BYTES_MAX, REASON_CHARS_MAX, SERVERS_MAX, STEADY_AFTER};
use crate::lock_mutex;
use crate::open_documents::LanguageDocument;
use crate::presets::{find_preset, initialization_options};
use crate::transport::LspFailure;
use crate::{query, settings};

/// Error text where no server is switched on.
const NO_SERVER_ENABLED: &str = "No language server is switched on, so nothing was asked. The person can switch one on in the settings under \
    Language servers. Until then use grep and read.";
/// Reason given once a server was switched off.
const SHUT_DOWN_REASON: &str = "it was switched off";

/// All language servers. Dropping this ends them.
pub struct LanguageServers {
    inherited: InheritedEnv,
    timeouts: LspTimeouts,
    state: Mutex<LanguageServersState>,
}

#[derive(Default)]
struct LanguageServersState {
    /// Servers that are switched on.
    enabled: Vec<LanguageServer>,
    instances: HashMap<(PathBuf, String), Arc<ServerInstance>>,
}

/// One server in one folder.
struct ServerInstance {
    settings: LanguageServer,
    root: PathBuf,
    inherited: InheritedEnv,
    timeouts: LspTimeouts,
    /// Locked while the server is being started.
    start_attempts: tokio::sync::Mutex<StartAttempts>,
    connection: Mutex<Option<Arc<LspConnection>>>,
    stop: CancellationToken,
}

/// The history of starting a server.
#[derive(Default)]
struct StartAttempts {
    failed: usize,
    /// Reason of the last failure, and the time at which the server may be started again.
    last_failure: Option<(String, Instant)>,
}

impl LanguageServers {
    /// Creates an instance without running servers. Servers that are started later inherit these variables.
    pub fn new(inherited: InheritedEnv, timeouts: LspTimeouts) -> Self {
        Self {
            inherited,
            timeouts,
            state: Mutex::default(),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, LanguageServersState> {
        lock_mutex(&self.state)
    }

    /// Applies these settings: servers that are switched off or changed are ended. A server whose settings are not
    /// valid is off.
    pub fn apply_settings(&self, servers: &[LanguageServer]) {
        let on = servers.iter().take(SERVERS_MAX).filter(|one| one.enabled);
        let usable =
            on.filter(|one| settings::validate_settings(std::slice::from_ref(*one)).is_empty());
        let mut known = self.lock_state();
        known.enabled = usable.cloned().collect();
        let on = known.enabled.clone();
        known.instances.retain(|_, one| {
            let stays = on.contains(&one.settings);
            if !stays {
                one.shut_down();
            }
            stays
        });
    }

    /// Ends all servers.
    pub fn close(&self) {
        let mut known = self.lock_state();
        known.enabled.clear();
        for (_, one) in known.instances.drain() {
            one.shut_down();
        }
    }

    /// Returns the server for a file of a folder, and the id of the file's language.
    fn instance_for_file(
        &self,
        root: &Path,
        file: &str,
    ) -> Result<(Arc<ServerInstance>, String), ToolError> {
        let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut state = self.lock_state();
        let server = state.enabled.iter().find_map(|one| {
            let language = one.files.get(ending)?;
            Some((one.clone(), language.clone()))
        });
        let Some((settings, language)) = server else {
            return Err(ToolError::Failed(no_server_message(file, &state.enabled)));
        };
        let key = (root.to_owned(), settings.id.clone());
        let (inherited, patience) = (self.inherited.clone(), self.timeouts.clone());
        let one = state.instances.entry(key).or_insert_with(|| {
            Arc::new(ServerInstance {
                settings,
                root: root.to_owned(),
                inherited,
                timeouts: patience,
                start_attempts: tokio::sync::Mutex::default(),
                connection: Mutex::default(),
                stop: CancellationToken::new(),
            })
        });
        Ok((one.clone(), language))
    }
}

fn no_server_message(file: &str, on: &[LanguageServer]) -> String {
    if on.is_empty() {
        return NO_SERVER_ENABLED.to_owned();
    }
    let describe = |one: &LanguageServer| {
        let endings: Vec<&str> = one.files.keys().map(String::as_str).collect();
        format!("{} ({})", one.id, endings.join(", "))
    };
    let servers: Vec<String> = on.iter().map(describe).collect();
    format!(
        "No language server that is switched on knows `{}`; on are {}. The person can switch another one on in the settings \
         under Language servers. Until then use grep and read.",
        to_single_line(file, 200),
        servers.join(", ")
    )
}

impl Drop for LanguageServers {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl LanguageService for LanguageServers {
    fn missing_setup(&self) -> Option<String> {
        self.lock_state()
            .enabled
            .is_empty()
            .then(|| NO_SERVER_ENABLED.to_owned())
    }

    async fn ask(
        &self,
        workspace: &Workspace,
        document: &SourceDocument,
        question: &LanguageQuery,
        cancel: &CancellationToken,
    ) -> Result<LanguageResponse, ToolError> {
        let mut again = true;
        loop {
            let (one, language) = self.instance_for_file(workspace.root(), &document.path)?;
            let title = one.title();
            let link = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ToolError::Cancelled),
                link = one.connection() => link.map_err(|why| unavailable_error(&title, &why))?,
            };
            let about = LanguageDocument {
                source: document,
                language_id: &language,
            };
            match query::query_server(&link, workspace, about, question, cancel).await {
                Ok((result, loading)) => {
                    return Ok(LanguageResponse {
                        result,
                        encoding: link.encoding,
                        server: title,
                        loading,
                    });
                }
                // It was ended because nobody asked it, just as somebody did.
                Err(LspFailure::Disconnected)
                    if again && link.wire.close_reason().as_deref() == Some(IDLE_REASON) =>
                {
                    again = false;
                }
                Err(failure) => return Err(to_tool_error(&title, failure, &link).await),
            }
        }
    }
}

fn unavailable_error(title: &str, why: &str) -> ToolError {
    ToolError::Failed(format!(
        "The language server {title} is not available: {}. Use grep and read meanwhile.",
        to_single_line(why.trim_end_matches('.'), 2 * REASON_CHARS_MAX)
    ))
}

/// Converts a failure into the error that the model reads.
async fn to_tool_error(title: &str, failure: LspFailure, link: &LspConnection) -> ToolError {
    match failure {
        LspFailure::Cancelled => ToolError::Cancelled,
        LspFailure::TimedOut(limit) => ToolError::TimedOut(format!(
            "The language server {title} gave no answer within {} s. It may still be loading: ask again later, or use grep and \
             read.",
            limit.as_secs_f64()
        )),
        LspFailure::Disconnected => unavailable_error(title, &link.disconnect_reason().await),
        LspFailure::Rejected { message, .. } => ToolError::Failed(format!(
            "The language server {title} says: {}",
            to_single_line(&message, REASON_CHARS_MAX)
        )),
        LspFailure::Malformed(why) => ToolError::Failed(format!(
            "The language server {title} could not help: {}. Use grep and read.",
            to_single_line(&why, 2 * REASON_CHARS_MAX)
        )),
    }
}

impl ServerInstance {
    /// Returns the display name of the server.
    fn title(&self) -> String {
        let id = &self.settings.id;
        find_preset(id).map_or_else(
            || to_single_line(id, ID_BYTES_MAX).to_string(),
            |known| known.title.to_owned(),
        )
    }

    fn lock_connection(&self) -> MutexGuard<'_, Option<Arc<LspConnection>>> {
        lock_mutex(&self.connection)
    }

    fn shut_down(&self) {
        self.stop.cancel();
        if let Some(link) = self.lock_connection().take() {
            link.close(SHUT_DOWN_REASON);
        }
    }

    /// Returns the existing connection, or opens one. Opening continues even if the caller gives up.
    async fn connection(self: Arc<Self>) -> Result<Arc<LspConnection>, String> {
        let start = tokio::spawn(async move { self.connect().await });
        let aborted = |_| Err("starting it broke off".to_owned());
        start.await.unwrap_or_else(aborted)
    }

    async fn connect(&self) -> Result<Arc<LspConnection>, String> {
        let mut attempts = self.start_attempts.lock().await;
        let current = self.lock_connection().clone();
        if let Some(link) = current {
            if !link.is_closed() {
                return Ok(link);
            }
            self.lock_connection().take();
            self.record_connection_end(&mut attempts, &link).await;
        }
        if let Some((why, until)) = &attempts.last_failure {
            let rest = until.saturating_duration_since(Instant::now());
            if !rest.is_zero() {
                let rest = rest.as_secs() + 1;
                return Err(format!("{why}. It may be started again in {rest} s"));
            }
        }
        let Some(program) = settings::find_program(&self.settings) else {
            let command = to_single_line(&self.settings.command, REASON_CHARS_MAX);
            return Err(format!("its program `{command}` is not installed"));
        };
        let command = CompanionCommand {
            program: program.display().to_string(),
            args: self.settings.args.clone(),
            folder: self.root.clone(),
            inherited: self.inherited.clone(),
            env: Vec::new(),
        };
        let options = initialization_options(&self.settings.id);
        let opened = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(SHUT_DOWN_REASON.to_owned()),
            opened = LspConnection::open(&command, options.as_ref(), &self.timeouts) => opened,
        };
        match opened {
            Ok(link) => {
                attempts.last_failure = None;
                *self.lock_connection() = Some(link.clone());
                // It may have been switched off in the meantime.
                if self.stop.is_cancelled() {
                    self.shut_down();
                    return Err(SHUT_DOWN_REASON.to_owned());
                }
                Ok(link)
            }
            Err(why) => {
                self.record_failure(&mut attempts, why.clone());
                Err(why)
            }
        }
    }

    /// Updates the start history by the way a connection ended.
    async fn record_connection_end(&self, attempts: &mut StartAttempts, link: &LspConnection) {
        let why = link.disconnect_reason().await;
        if link.started_at.elapsed() >= STEADY_AFTER {
            attempts.failed = 0;
        }
        if why != IDLE_REASON {
            self.record_failure(attempts, why);
        }
    }

    /// Records a failure: the next start has to wait, longer each time.
    fn record_failure(&self, attempts: &mut StartAttempts, why: String) {
        let pauses = &self.timeouts.retry_after;
        let pause = pauses.get(attempts.failed).or(pauses.last()).copied();
        attempts.failed = attempts.failed.saturating_add(1);
        attempts.last_failure = pause.map(|pause| (why, Instant::now() + pause));
    }
}
