//! What a server may say and ask while nobody asked it: heard, counted, and answered as little as possible.

#![allow(
    deprecated,
    reason = "roots and logging are on their way out of the protocol; servers of today use them"
)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::servers::ServerVoice;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, ErrorData, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::Notify;
use tools::tool::ProgressFn;

use crate::log::Log;

/// Why a server gets no answer of a model.
pub(crate) const NO_SAMPLING: &str =
    "This client gives servers no model: the request was not answered.";

/// What is shared by every connection to one server.
#[derive(Clone)]
pub(crate) struct Handler {
    pub log: Log,
    /// Workspaces that its tools are used in.
    roots: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Who hears of the progress of a call.
    listeners: Arc<Mutex<HashMap<ProgressToken, ProgressFn>>>,
    /// Told when the list of tools may be another.
    pub relist: Arc<Notify>,
}

impl Handler {
    pub(crate) fn new(log: Log) -> Self {
        Self {
            log,
            roots: Arc::default(),
            listeners: Arc::default(),
            relist: Arc::default(),
        }
    }

    /// Adds a workspace; false if it is known.
    pub(crate) fn add_root(&self, root: &Path) -> bool {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        roots.insert(root.to_owned())
    }

    /// The workspaces, as the protocol has them.
    pub(crate) fn roots(&self) -> ListRootsResult {
        let roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = roots.iter().map(|root| {
            let name = root.file_name().map(|name| name.to_string_lossy());
            let found = Root::new(runtime::net::file_address(root));
            match name {
                Some(name) => found.with_name(name),
                None => found,
            }
        });
        ListRootsResult::new(roots.collect())
    }

    /// Lets somebody hear of a call's progress, until what is returned is dropped.
    pub(crate) fn listen(&self, token: ProgressToken, to: Option<ProgressFn>) -> Option<Listening> {
        let to = to?;
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.insert(token.clone(), to);
        Some(Listening {
            token,
            listeners: self.listeners.clone(),
        })
    }
}

/// That somebody hears of a call's progress.
pub(crate) struct Listening {
    token: ProgressToken,
    listeners: Arc<Mutex<HashMap<ProgressToken, ProgressFn>>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.remove(&self.token);
    }
}

impl rmcp::ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(true);
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(roots);
        let ours = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, ours.with_title("Countersign"))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.log.add(
            ServerVoice::Us,
            "It asked the person something, which is not passed on yet: declined.",
        );
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.log.add(
            ServerVoice::Us,
            "It asked for the answer of a model: refused.",
        );
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            NO_SAMPLING,
            None,
        ))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let listener = {
            let listeners = self
                .listeners
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            listeners.get(&progress.progress_token).cloned()
        };
        if let Some(listener) = listener {
            listener(&told(&progress));
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(message.level).unwrap_or_default();
        let level = level.as_str().unwrap_or("log").to_owned();
        let text = match message.data {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        self.log.add(ServerVoice::Log, &format!("{level}: {text}"));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.relist.notify_one();
    }
}

/// "3 of 10: reading"
fn told(progress: &ProgressNotificationParam) -> String {
    let count = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match progress.message.as_deref() {
        Some(message) if !message.is_empty() => format!("{count}: {message}"),
        Some(_) | None => count,
    }
}
