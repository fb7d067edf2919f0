//! Handles notifications and requests that a server sends unasked: received, counted, and answered as little as
//! possible.

#![allow(
    deprecated,
    reason = "roots and logging are being removed from the protocol; servers of today use them"
)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use protocol::server::mcp_servers::{ServerId, ServerLogSource};
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorCode, ErrorData, ExtensionCapabilities, FormElicitationCapability, Implementation,
    JsonObject, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProgressToken, ResourceUpdatedNotificationParam, Root, RootsCapabilities, SamplingCapability,
    TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tools::elicitation::ElicitationRequest;
use tools::tool::ProgressFn;

use crate::lock_mutex;
use crate::log_messages::{LogMessage, LogMessages};
use crate::oauth::AuthChallenge;
use crate::resource_watches::ResourceWatches;
use crate::running_calls::{RunningCall, RunningCalls};
use crate::server_log::ServerLog;
use crate::server_request::{self, ELICITATION, RequestRefusal, SAMPLING};

/// Key in the metadata of a message of 2025 for the task that it belongs to.
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// Error code of the protocol for a request that the person does not allow.
const USER_REJECTED: ErrorCode = ErrorCode(-1);

/// State that every connection to one server shares.
#[derive(Clone)]
pub(crate) struct ServerMessageHandler {
    pub log: ServerLog,
    server: ServerId,
    /// The server's running calls.
    pub running_calls: RunningCalls,
    /// Workspaces in which the server's tools are used.
    roots: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Receivers of the progress of calls.
    listeners: Arc<Mutex<HashMap<ProgressToken, ProgressFn>>>,
    /// Notified when the list of tools may have changed.
    pub tools_changed: Arc<Notify>,
    /// Incremented whenever the list of resources may have changed.
    pub resources_version: watch::Sender<u64>,
    /// Incremented whenever the list of prompts may have changed.
    pub prompts_version: watch::Sender<u64>,
    /// Resources whose changes somebody waits for.
    pub resource_watches: ResourceWatches,
    /// Log messages for those who wait for them.
    pub log_messages: LogMessages,
    /// The server's authentication challenge, until the person signs in.
    challenge: Arc<Mutex<Option<AuthChallenge>>>,
}

impl ServerMessageHandler {
    pub(crate) fn new(log: ServerLog, server: ServerId) -> Self {
        Self {
            log,
            server,
            running_calls: RunningCalls::default(),
            roots: Arc::default(),
            listeners: Arc::default(),
            tools_changed: Arc::default(),
            resources_version: watch::Sender::new(0),
            prompts_version: watch::Sender::new(0),
            resource_watches: ResourceWatches::default(),
            log_messages: LogMessages::new(),
            challenge: Arc::default(),
        }
    }

    /// Notes that the list of resources may have changed.
    pub(crate) fn note_resource_change(&self) {
        self.resources_version.send_modify(|version| *version += 1);
    }

    /// Notes that the list of prompts may have changed.
    pub(crate) fn note_prompt_change(&self) {
        self.prompts_version.send_modify(|version| *version += 1);
    }

    /// Sets the server's authentication challenge.
    pub(crate) fn set_challenge(&self, challenge: impl Into<Option<AuthChallenge>>) {
        *lock_mutex(&self.challenge) = challenge.into();
    }

    /// Returns the server's authentication challenge.
    pub(crate) fn challenge(&self) -> Option<AuthChallenge> {
        lock_mutex(&self.challenge).clone()
    }

    /// Adds a workspace; returns `false` if it is known already.
    pub(crate) fn add_root(&self, root: &Path) -> bool {
        lock_mutex(&self.roots).insert(root.to_owned())
    }

    /// Returns the workspaces in the form of the protocol.
    pub(crate) fn roots(&self) -> ListRootsResult {
        let roots = lock_mutex(&self.roots);
        let roots = roots.iter().map(|root| {
            let name = root.file_name().map(|name| name.to_string_lossy());
            let converted = Root::new(runtime::net::folder_url(root));
            match name {
                Some(name) => converted.with_name(name),
                None => converted,
            }
        });
        ListRootsResult::new(roots.collect())
    }

    /// Answers a request of a server of 2025, on behalf of the call whose task it names, otherwise of the one that runs.
    async fn answer_legacy_request<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        context: &RequestContext<RoleClient>,
    ) -> Result<R, ErrorData> {
        let params = serde_json::to_value(params).unwrap_or_default();
        let task = context.meta.get(RELATED_TASK);
        let task_id = task.and_then(|task| task.get("taskId")?.as_str());
        let call = self.running_calls.require_call(task_id);
        let reply = tokio::select! {
            reply = self.answer_request(call, method, &params) => reply,
            () = context.ct.cancelled() => Ok(server_request::cancelled_answer(method)),
        };
        let mut answer = reply.map_err(|refusal| {
            let code = match refusal.is_unreadable {
                true => ErrorCode::INVALID_PARAMS,
                false => USER_REJECTED,
            };
            ErrorData::new(code, refusal.why, None)
        })?;
        if let (Some(task), Some(members)) = (task, answer.as_object_mut()) {
            members.insert("_meta".to_owned(), json!({ RELATED_TASK: task }));
        }
        serde_json::from_value(answer).map_err(|_| {
            ErrorData::new(ErrorCode::INTERNAL_ERROR, "No answer could be made.", None)
        })
    }

    /// Answers a request that a server makes during one of its calls.
    ///
    /// # Errors
    /// The reason, where the protocol allows only an error as the answer.
    pub(crate) async fn answer_request(
        &self,
        call: Result<Arc<RunningCall>, &'static str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, RequestRefusal> {
        let kind = server_request::parse_server_request(method, params);
        let result = match (kind, call) {
            (Err(why), _) => Err(RequestRefusal::invalid_params(why)),
            (Ok(_), Err(why)) => server_request::declined_answer(method, why),
            (Ok((message, kind)), Ok(call)) => {
                let server = self.server.clone();
                let request = ElicitationRequest {
                    server,
                    message,
                    kind,
                };
                match call.elicit(request).await {
                    Ok(reply) => server_request::encode_reply(reply, method),
                    Err(why) => server_request::declined_answer(method, why),
                }
            }
        };
        let event = match &result {
            Ok(answer) => match answer.get("action").and_then(Value::as_str) {
                Some(action) => format!("It asked the person something: {action}."),
                None => "It asked for the answer of a model, and got it.".to_owned(),
            },
            Err(refusal) => format!("It asked for something, and got an error: {}", refusal.why),
        };
        self.log.add(ServerLogSource::Us, &event);
        result
    }

    /// Subscribes a receiver to a call's progress, until the returned subscription is dropped.
    pub(crate) fn subscribe_progress(
        &self,
        token: ProgressToken,
        to: ProgressFn,
    ) -> ProgressSubscription {
        lock_mutex(&self.listeners).insert(token.clone(), to);
        ProgressSubscription {
            token,
            listeners: self.listeners.clone(),
        }
    }
}

/// Subscription to a call's progress; it ends on drop.
pub(crate) struct ProgressSubscription {
    token: ProgressToken,
    listeners: Arc<Mutex<HashMap<ProgressToken, ProgressFn>>>,
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        lock_mutex(&self.listeners).remove(&self.token);
    }
}

impl rmcp::ClientHandler for ServerMessageHandler {
    fn get_info(&self) -> ClientConfig {
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(true);
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(roots);
        let tasks = (TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        capabilities.extensions = Some(ExtensionCapabilities::from([tasks]));
        let mut sampling = SamplingCapability::default();
        sampling.tools = Some(JsonObject::new());
        capabilities.sampling = Some(sampling);
        let elicitation = ElicitationCapability::new();
        let form = FormElicitationCapability::new().with_schema_validation(true);
        let elicitation = elicitation.with_form(form);
        capabilities.elicitation = Some(elicitation.with_url(UrlElicitationCapability::new()));
        let implementation = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, implementation.with_title("Countersign"))
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
        self.answer_legacy_request(ELICITATION, &params, &context)
            .await
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answer_legacy_request(SAMPLING, &params, &context)
            .await
    }

    /// Receives requests that the library cannot parse, and answers them with the reason.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            method @ (ELICITATION | SAMPLING) => {
                self.answer_legacy_request(method, &request.params, &context)
                    .await
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
        let listener = lock_mutex(&self.listeners)
            .get(&progress.progress_token)
            .cloned();
        if let Some(listener) = listener {
            listener(&format_progress(&progress));
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        context: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(message.level).unwrap_or_default();
        if self.log_messages.is_watched()
            && let Ok(level) = serde_json::from_value(level.clone())
        {
            let token = context.meta.get("progressToken").cloned();
            let token = token.and_then(|token| serde_json::from_value(token).ok());
            let sessions = self.running_calls.find_sessions(token.as_ref());
            let logger = message.logger.as_deref();
            let told = LogMessage::new(level, logger, &message.data);
            self.log_messages.send(told.of_sessions(sessions));
        }
        let level = level.as_str().unwrap_or("log");
        let text = match message.data {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        self.log
            .add(ServerLogSource::Log, &format!("{level}: {text}"));
    }

    async fn on_resource_updated(
        &self,
        update: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.resource_watches.note_update(&update.uri);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_resource_change();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_prompt_change();
    }
}

/// Formats progress such as "3 of 10: reading".
fn format_progress(progress: &ProgressNotificationParam) -> String {
    let count = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match progress.message.as_deref() {
        Some(message) if !message.is_empty() => format!("{count}: {message}"),
        Some(_) | None => count,
    }
}
