//! One operation as a tool of ours: it declares the host that it reaches, shows the request, and sends exactly that
//! request (`S001-54`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::rule::evidence::Confinement;
use protocol::server::audience::Audience;
use protocol::{
    Access, Capability, Digest, Plan, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolOutput,
};
use runtime::{NetworkClient, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::mentions::collect_mentions;
use tools::sources::PinnedTool;
use tools::text::{escape_invisible, truncate_chars};
use tools::{ExecutionContext, Mentions, PreviewedPlan, Tool, ToolContext};

use crate::call::credentials::{Credential, resolve_credentials};
use crate::call::request;
use crate::call::request::ApiRequest;
use crate::call::{preview, response};
use crate::document::base_url::url_host;
use crate::document::operation::{BodyKind, HttpMethod, Operation};
use crate::limits::{BODY_BYTES_MAX, CALL_MARGIN_MS, NAME_CHARS_MAX, TARGET_CHARS_MAX};
use crate::service::ApiService;
use crate::service::send::{find_oauth_client, send_request};

/// Number of calls with files whose previewed requests are remembered.
const PREVIEWED_MAX: usize = 64;

/// A tool for an operation of a service.
pub struct ApiTool {
    api: Arc<ApiService>,
    operation: Arc<Operation>,
    interface: ToolInterface,
    /// Digests of the arguments and of the previewed request, for calls that send files: a file may change between
    /// preview and call.
    previewed: Mutex<VecDeque<(Digest, Digest)>>,
}

impl ApiTool {
    /// Creates the tool of an approved operation, under the name that it keeps: `api__operation` (`S001-53`, M11).
    pub fn new(api: Arc<ApiService>, pinned: &PinnedTool<Operation>) -> Self {
        let operation = pinned.definition.clone();
        let settings = api.settings();
        let mut requires = RequirementSet::empty().with_host(&url_host(&operation.base));
        if let Ok(all) = resolve_credentials(&operation, &settings.setup)
            && let Some(client) = find_oauth_client(&all)
        {
            requires = requires.with_host(&url_host(&client.token_url));
        }
        if accepts_files(&operation) {
            requires = requires.with_read("**");
        }
        let named = match operation.title.as_str() {
            "" => operation.key(),
            title => escape_invisible(title),
        };
        let native = BTreeMap::from([
            ("openapi.service".to_owned(), settings.id.to_string()),
            ("openapi.operation".to_owned(), operation.key()),
        ]);
        let mut placeholders = String::new();
        for parameter in &operation.parameters {
            placeholders.push_str(&format!(" {{{}}}", parameter.argument));
        }
        if let Some(body) = &operation.body {
            placeholders.push_str(&format!(" {{{}}}", body.argument));
        }
        let is_read_only = operation.method.is_read_only();
        let mut interface = ToolInterface::builder(pinned.called.as_str())
            .namespace(settings.id.as_str())
            .tool_id(api.tool_id(pinned))
            .native_ids(native)
            .user_facing_name(truncate_chars(named.trim_end_matches('.'), NAME_CHARS_MAX))
            .description(build_description(&operation))
            .search_hint(operation.title.clone())
            .model_input_schema(operation.input_schema.clone())
            .strict(false)
            .requires(requires)
            .kind(tool_kind(operation.method))
            .is_open_world(true)
            .is_read_only(is_read_only)
            .is_concurrency_safe(is_read_only)
            .requires_user_interaction(false)
            .classifier_input(format!(
                "{} {}{placeholders}",
                operation.key(),
                url_host(&operation.base)
            ))
            .execution_profile_ref("service")
            .timeout_ms(2 * u64::from(settings.setup.timeout_ms()) + CALL_MARGIN_MS)
            .origin(ToolOrigin::Foreign {
                source: format!("openapi:{}", settings.id),
            });
        if let Some(mode) = operation.method.tool_mode() {
            interface = interface.mode(mode);
        }
        if operation.method == HttpMethod::Delete || operation.is_destructive_by_name() {
            interface = interface.is_destructive(true);
        }
        Self {
            interface: interface.build(),
            api,
            operation,
            previewed: Mutex::default(),
        }
    }

    fn resolve_credentials(&self) -> Result<Vec<Credential>, String> {
        resolve_credentials(&self.operation, &self.api.settings().setup)
    }

    fn build_request(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<ApiRequest, ToolError> {
        ApiRequest::new(&self.operation, arguments, &|path| {
            read_workspace_file(workspace, path)
        })
    }

    fn lock_previewed(&self) -> std::sync::MutexGuard<'_, VecDeque<(Digest, Digest)>> {
        self.previewed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the previewed request: the request that is sent must be the same, also where a file changed in
    /// between.
    fn remember_preview(&self, arguments: &Map<String, Value>, request: &ApiRequest) {
        if let Some(pair) = self.file_call_digests(arguments, request) {
            let mut shown = self.lock_previewed();
            shown.retain(|other| *other != pair);
            shown.push_back(pair);
            while shown.len() > PREVIEWED_MAX {
                shown.pop_front();
            }
        }
    }

    fn matches_preview(&self, arguments: &Map<String, Value>, request: &ApiRequest) -> bool {
        let pair = self.file_call_digests(arguments, request);
        pair.is_none_or(|pair| self.lock_previewed().contains(&pair))
    }

    fn file_call_digests(
        &self,
        arguments: &Map<String, Value>,
        request: &ApiRequest,
    ) -> Option<(Digest, Digest)> {
        let has_files = !request::file_paths(&self.operation, arguments).is_empty();
        let body = request.body.as_ref().filter(|_| has_files)?;
        Some((
            Digest::from_json(arguments),
            Digest::from_bytes(&body.bytes),
        ))
    }
}

/// Reads a workspace file that a call sends.
fn read_workspace_file(workspace: &Workspace, path: &str) -> Result<Vec<u8>, ToolError> {
    let failed = |why: String| ToolError::Failed(why);
    let fact = workspace.resolve(&Access::new(Capability::FsRead, path));
    if let Some(why) = fact.unresolved {
        return Err(failed(format!(
            "`{path}` leads nowhere that can be used: {why}."
        )));
    }
    let content = workspace.read_whole(&fact.real, BODY_BYTES_MAX as u64);
    let content = content.map_err(|error| failed(error.to_string()))?;
    content.ok_or_else(|| failed(format!("There is no `{path}` in the workspace.")))
}

fn accepts_files(operation: &Operation) -> bool {
    operation
        .body
        .as_ref()
        .is_some_and(|body| match &body.kind {
            BodyKind::Json | BodyKind::Form { .. } | BodyKind::Text => false,
            BodyKind::Bytes => true,
            BodyKind::Multipart { parts } => parts.values().any(|part| part.is_file),
        })
}

fn tool_kind(method: HttpMethod) -> ToolKind {
    match method {
        HttpMethod::Get | HttpMethod::Head | HttpMethod::Options | HttpMethod::Trace => {
            ToolKind::Fetch
        }
        HttpMethod::Delete => ToolKind::Delete,
        HttpMethod::Put | HttpMethod::Post | HttpMethod::Patch => ToolKind::Other,
    }
}

/// Builds the description for the model: the effect of the operation, and its request.
fn build_description(operation: &Operation) -> String {
    let mut parts: Vec<String> = Vec::new();
    for text in [&operation.title, &operation.description] {
        if !text.is_empty() && !parts.contains(text) {
            parts.push(text.clone());
        }
    }
    parts.push(format!(
        "({} on {})",
        operation.key(),
        url_host(&operation.base)
    ));
    parts.join("\n")
}

#[async_trait]
impl Tool for ApiTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let request = ApiRequest::new(&self.operation, arguments, &|_| Ok(Vec::new()));
        let address = match request {
            Ok(request) => request.address,
            Err(_) => format!("{}{}", self.operation.base, self.operation.path),
        };
        let line = format!("{} {address}", self.operation.method.as_str());
        truncate_chars(&escape_invisible(&line), TARGET_CHARS_MAX)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let mut hosts = vec![url_host(&self.operation.base)];
        if let Ok(all) = self.resolve_credentials()
            && let Some(client) = find_oauth_client(&all)
        {
            let token = url_host(&client.token_url);
            if !hosts.contains(&token) {
                hosts.push(token);
            }
        }
        let hosts = hosts
            .into_iter()
            .map(|host| Access::new(Capability::NetFetch, host));
        let files = request::file_paths(&self.operation, arguments).into_iter();
        let files = files.map(|path| Access::new(Capability::FsRead, path));
        hosts.chain(files).collect()
    }

    /// Returns the hosts in the arguments, since the service may be made to reach them. Other arguments stay at the
    /// service, so paths in them are the service's own names.
    fn mentions(&self, arguments: &Map<String, Value>) -> Mentions {
        let mut mentions = collect_mentions(&self.operation.input_schema, arguments, false);
        mentions.words.clear();
        mentions.accesses.retain(|access| {
            let is_host = access.capability == Capability::NetFetch;
            is_host
                && policy::patterns::host::resolve_host(&access.target)
                    .unresolved
                    .is_none()
        });
        mentions
    }

    fn confinement(&self) -> Confinement {
        Confinement::Remote
    }

    fn audience(&self) -> Option<Audience> {
        self.api.settings().setup.audience
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        ApiRequest::new(&self.operation, arguments, &|_| Ok(Vec::new())).map(drop)
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        self.preview_request(arguments, &context.workspace)
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let (workspace, net) = (&context.workspace, &context.net);
        self.call_approved(approved.arguments(), workspace, net, &execution.cancel)
            .await
    }

    fn missing_setup(&self) -> Option<String> {
        self.resolve_credentials().err()
    }
}

impl ApiTool {
    /// Builds the request that a call would send.
    ///
    /// # Errors
    /// The operation is not as it was approved, a credential is not set up, or a file cannot be read.
    pub fn preview_request(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<PreviewedPlan, ToolError> {
        self.api.check_approved(&self.operation)?;
        let credentials = self.resolve_credentials().map_err(ToolError::Failed)?;
        let request = self.build_request(arguments, workspace)?;
        self.remember_preview(arguments, &request);
        Ok(PreviewedPlan {
            preview: preview::build_request_preview(
                &self.operation,
                arguments,
                &request,
                &credentials,
            ),
            plan: Plan::None,
        })
    }

    /// Calls the operation with approved arguments.
    ///
    /// # Errors
    /// The operation is not as it was approved, its service cannot be reached, or the service reports an error.
    pub async fn call_approved(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
        net: &NetworkClient,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.api.check_approved(&self.operation)?;
        let credentials = self.resolve_credentials().map_err(ToolError::Failed)?;
        let request = self.build_request(arguments, workspace)?;
        if !self.matches_preview(arguments, &request) {
            return Err(ToolError::Stale(
                "A file that is sent became another since it was shown; nothing was sent."
                    .to_owned(),
            ));
        }
        let (reply, masks) = send_request(&self.api, &request, &credentials, net, cancel).await?;
        response::response_to_output(&self.operation, &reply, &masks)
    }
}
