//! What a server may say and ask while nobody asked it: heard, counted, and answered as little as possible.

#![allow(
    deprecated,
    reason = "roots and logging are on their way out of the protocol; servers of today use them"
)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::servers::{ServerId, ServerVoice};
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorCode, ErrorData, FormElicitationCapability, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, Root,
    RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Notify;
use tools::asks::Asking;
use tools::tool::ProgressFn;

use crate::asked::{Asked, Running};
use crate::log::Log;
use crate::sign::Challenge;
use crate::wanted::{self, ELICITATION, No, SAMPLING};

/// What the protocol has for a request that the person does not allow.
const REJECTED: ErrorCode = ErrorCode(-1);

/// What is shared by every connection to one server.
#[derive(Clone)]
pub(crate) struct Handler {
    pub log: Log,
    server: ServerId,
    /// Its calls that run.
    pub running: Running,
    /// Workspaces that its tools are used in.
    roots: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Who hears of the progress of a call.
    listeners: Arc<Mutex<HashMap<ProgressToken, ProgressFn>>>,
    /// Told when the list of tools may be another.
    pub relist: Arc<Notify>,
    /// How it said that it wants to know who asks, until somebody signed in.
    challenge: Arc<Mutex<Option<Challenge>>>,
}

impl Handler {
    pub(crate) fn new(log: Log, server: ServerId) -> Self {
        Self {
            log,
            server,
            running: Running::default(),
            roots: Arc::default(),
            listeners: Arc::default(),
            relist: Arc::default(),
            challenge: Arc::default(),
        }
    }

    /// It wants to know who asks.
    pub(crate) fn challenged(&self, challenge: impl Into<Option<Challenge>>) {
        let mut said = self
            .challenge
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *said = challenge.into();
    }

    /// How it said so.
    pub(crate) fn challenge(&self) -> Option<Challenge> {
        let said = self.challenge.lock();
        said.unwrap_or_else(PoisonError::into_inner).clone()
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

    /// Answers what a server of 2025 asks, in the name of the one call that runs.
    async fn asked<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        context: &RequestContext<RoleClient>,
    ) -> Result<R, ErrorData> {
        let params = serde_json::to_value(params).unwrap_or_default();
        let answered = tokio::select! {
            answered = self.answer(self.running.only(), method, &params) => answered,
            () = context.ct.cancelled() => Ok(wanted::unanswered(method)),
        };
        let answer = answered.map_err(|no| {
            let code = match no.is_unreadable {
                true => ErrorCode::INVALID_PARAMS,
                false => REJECTED,
            };
            ErrorData::new(code, no.why, None)
        })?;
        serde_json::from_value(answer).map_err(|_| {
            ErrorData::new(ErrorCode::INTERNAL_ERROR, "No answer could be made.", None)
        })
    }

    /// Answers what a server asks in a call of it.
    ///
    /// # Errors
    /// There is no answer to it by the protocol but an error: why.
    pub(crate) async fn answer(
        &self,
        call: Result<Arc<Asked>, &'static str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, No> {
        let wants = wanted::read(method, params);
        let answered = match (wants, call) {
            (Err(why), _) => Err(No::unreadable(why)),
            (Ok(_), Err(why)) => wanted::declined(method, why),
            (Ok((message, wants)), Ok(call)) => {
                let server = self.server.clone();
                let asking = Asking {
                    server,
                    message,
                    wants,
                };
                match call.ask(asking).await {
                    Ok(reply) => wanted::answer(reply, method),
                    Err(why) => wanted::declined(method, why),
                }
            }
        };
        let told = match &answered {
            Ok(answer) => match answer.get("action").and_then(Value::as_str) {
                Some(action) => format!("It asked the person something: {action}."),
                None => "It asked for the answer of a model, and got it.".to_owned(),
            },
            Err(no) => format!("It asked for something, and got an error: {}", no.why),
        };
        self.log.add(ServerVoice::Us, &told);
        answered
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
        capabilities.sampling = Some(SamplingCapability::default());
        let elicitation = ElicitationCapability::new();
        let form = FormElicitationCapability::new().with_schema_validation(true);
        let elicitation = elicitation.with_form(form);
        capabilities.elicitation = Some(elicitation.with_url(UrlElicitationCapability::new()));
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
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked(ELICITATION, &params, &context).await
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.asked(SAMPLING, &params, &context).await
    }

    /// What the library cannot read comes here: it is told why.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            method @ (ELICITATION | SAMPLING) => {
                self.asked(method, &request.params, &context).await
            }
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                request.method,
                None,
            )),
        }
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
