//! One operation as a tool of ours: it says which host it reaches, shows what it sends, and sends exactly that (`S001-54`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use policy::Approved;
use protocol::grounds::Confinement;
use protocol::interface::Origin;
use protocol::{
    Access, Capability, Digest, Plan, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolOutput,
};
use runtime::{Net, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::limits::ID_BYTES_MAX;
use tools::mentions::mentions;
use tools::text::{shortened, visible};
use tools::{Hands, Mentions, Prepared, Tool, ToolContext};

use crate::api::Api;
use crate::auth::{Credential, credentials};
use crate::base::host;
use crate::limits::{BODY_BYTES_MAX, CALL_MARGIN_MS, NAME_CHARS_MAX, TARGET_CHARS_MAX};
use crate::operation::{BodyKind, Method, Operation};
use crate::pin::Pinned;
use crate::request::{self, Request};
use crate::sending::{client, send};
use crate::{answer, names, preview};

/// Calls with files that are remembered between what was shown and what is sent.
const SHOWN_MAX: usize = 64;

/// An operation of a service.
pub struct ApiTool {
    api: Arc<Api>,
    operation: Arc<Operation>,
    interface: ToolInterface,
    /// What was sent by which arguments when it was shown, for calls that send files: those may change.
    shown: Mutex<VecDeque<(Digest, Digest)>>,
}

impl ApiTool {
    /// An operation that was approved, under the name that it keeps: `api__operation` (`S001-53`, M11).
    pub fn new(api: Arc<Api>, pinned: &Pinned) -> Self {
        let operation = pinned.operation.clone();
        let settings = api.settings();
        let id = names::id(settings.id.as_str(), &pinned.called, ID_BYTES_MAX);
        let mut requires = RequirementSet::nothing().reaches(&host(&operation.base));
        if let Ok(all) = credentials(&operation, &settings.setup)
            && let Some(client) = client(&all)
        {
            requires = requires.reaches(&host(&client.token_url));
        }
        if takes_files(&operation) {
            requires = requires.reads("**");
        }
        let named = match operation.title.as_str() {
            "" => operation.key(),
            title => visible(title),
        };
        let native = BTreeMap::from([
            ("openapi.service".to_owned(), settings.id.to_string()),
            ("openapi.operation".to_owned(), operation.key()),
        ]);
        let mut given = String::new();
        for parameter in &operation.parameters {
            given.push_str(&format!(" {{{}}}", parameter.argument));
        }
        if let Some(body) = &operation.body {
            given.push_str(&format!(" {{{}}}", body.argument));
        }
        let is_read_only = operation.method.is_read_only();
        let mut interface = ToolInterface::tool(pinned.called.as_str())
            .namespace(settings.id.as_str())
            .tool_id(id)
            .native_ids(native)
            .user_facing_name(shortened(named.trim_end_matches('.'), NAME_CHARS_MAX))
            .description(description(&operation))
            .search_hint(operation.title.clone())
            .model_input_schema(operation.input_schema.clone())
            .strict(false)
            .requires(requires)
            .kind(kind(operation.method))
            .is_open_world(true)
            .is_read_only(is_read_only)
            .is_concurrency_safe(is_read_only)
            .requires_user_interaction(false)
            .classifier_input(format!(
                "{} {}{given}",
                operation.key(),
                host(&operation.base)
            ))
            .execution_profile_ref("service")
            .timeout_ms(2 * u64::from(settings.setup.timeout_ms()) + CALL_MARGIN_MS)
            .origin(Origin::Foreign {
                source: format!("openapi:{}", settings.id),
            });
        if let Some(mode) = operation.method.mode() {
            interface = interface.mode(mode);
        }
        if operation.method == Method::Delete || operation.takes_away() {
            interface = interface.is_destructive(true);
        }
        Self {
            interface: interface.build(),
            api,
            operation,
            shown: Mutex::default(),
        }
    }

    fn credentials(&self) -> Result<Vec<Credential>, String> {
        credentials(&self.operation, &self.api.settings().setup)
    }

    fn request(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<Request, ToolError> {
        Request::new(&self.operation, arguments, &|path| file(workspace, path))
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, VecDeque<(Digest, Digest)>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is sent must be what was shown, also where a file became another in between.
    fn remember(&self, arguments: &Map<String, Value>, request: &Request) {
        if let Some(pair) = self.of_files(arguments, request) {
            let mut shown = self.shown();
            shown.retain(|known| *known != pair);
            shown.push_back(pair);
            while shown.len() > SHOWN_MAX {
                shown.pop_front();
            }
        }
    }

    fn is_as_shown(&self, arguments: &Map<String, Value>, request: &Request) -> bool {
        let pair = self.of_files(arguments, request);
        pair.is_none_or(|pair| self.shown().contains(&pair))
    }

    fn of_files(
        &self,
        arguments: &Map<String, Value>,
        request: &Request,
    ) -> Option<(Digest, Digest)> {
        let has_files = !request::paths(&self.operation, arguments).is_empty();
        let body = request.body.as_ref().filter(|_| has_files)?;
        Some((Digest::of_json(arguments), Digest::of(&body.bytes)))
    }
}

/// A file of the workspace that a call sends.
fn file(workspace: &Workspace, path: &str) -> Result<Vec<u8>, ToolError> {
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

fn takes_files(operation: &Operation) -> bool {
    operation
        .body
        .as_ref()
        .is_some_and(|body| match &body.kind {
            BodyKind::Json | BodyKind::Form { .. } | BodyKind::Text => false,
            BodyKind::Bytes => true,
            BodyKind::Multipart { parts } => parts.values().any(|part| part.is_file),
        })
}

fn kind(method: Method) -> ToolKind {
    match method {
        Method::Get | Method::Head | Method::Options | Method::Trace => ToolKind::Fetch,
        Method::Delete => ToolKind::Delete,
        Method::Put | Method::Post | Method::Patch => ToolKind::Other,
    }
}

/// What a model reads of it: what it does, and what is sent.
fn description(operation: &Operation) -> String {
    let mut said: Vec<String> = Vec::new();
    for text in [&operation.title, &operation.description] {
        if !text.is_empty() && !said.contains(text) {
            said.push(text.clone());
        }
    }
    said.push(format!(
        "({} on {})",
        operation.key(),
        host(&operation.base)
    ));
    said.join("\n")
}

#[async_trait]
impl Tool for ApiTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let request = Request::new(&self.operation, arguments, &|_| Ok(Vec::new()));
        let address = match request {
            Ok(request) => request.address,
            Err(_) => format!("{}{}", self.operation.base, self.operation.path),
        };
        let line = format!("{} {address}", self.operation.method.as_str());
        shortened(&visible(&line), TARGET_CHARS_MAX)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let mut hosts = vec![host(&self.operation.base)];
        if let Ok(all) = self.credentials()
            && let Some(client) = client(&all)
        {
            let token = host(&client.token_url);
            if !hosts.contains(&token) {
                hosts.push(token);
            }
        }
        let hosts = hosts
            .into_iter()
            .map(|host| Access::new(Capability::NetFetch, host));
        let files = request::paths(&self.operation, arguments).into_iter();
        let files = files.map(|path| Access::new(Capability::FsRead, path));
        hosts.chain(files).collect()
    }

    /// The hosts in its arguments: a service may be made to reach them. What else it is sent stays there, so paths are names of
    /// its own.
    fn mentions(&self, arguments: &Map<String, Value>) -> Mentions {
        let mut found = mentions(&self.operation.input_schema, arguments, false);
        found.words.clear();
        found.accesses.retain(|access| {
            let is_host = access.capability == Capability::NetFetch;
            is_host && policy::host::resolve(&access.target).unresolved.is_none()
        });
        found
    }

    fn confinement(&self) -> Confinement {
        Confinement::Remote
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        Request::new(&self.operation, arguments, &|_| Ok(Vec::new())).map(drop)
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        self.shows(arguments, &hands.workspace)
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let (workspace, net) = (&hands.workspace, &hands.net);
        self.call(approved.arguments(), workspace, net, &cx.cancel)
            .await
    }

    fn missing_setup(&self) -> Option<String> {
        self.credentials().err()
    }
}

impl ApiTool {
    /// What a call would send.
    ///
    /// # Errors
    /// It is not as it was approved, nobody said who asks, or a file cannot be read.
    pub fn shows(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<Prepared, ToolError> {
        self.api.check(&self.operation)?;
        let credentials = self.credentials().map_err(ToolError::Failed)?;
        let request = self.request(arguments, workspace)?;
        self.remember(arguments, &request);
        Ok(Prepared {
            preview: preview::preview(&self.operation, arguments, &request, &credentials),
            plan: Plan::None,
        })
    }

    /// Calls it with arguments that were approved.
    ///
    /// # Errors
    /// It is not as it was approved, cannot be reached, or says that it went wrong.
    pub async fn call(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
        net: &Net,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.api.check(&self.operation)?;
        let credentials = self.credentials().map_err(ToolError::Failed)?;
        let request = self.request(arguments, workspace)?;
        if !self.is_as_shown(arguments, &request) {
            return Err(ToolError::Stale(
                "A file that is sent became another since it was shown; nothing was sent."
                    .to_owned(),
            ));
        }
        let (reply, masks) = send(&self.api, &request, &credentials, net, cancel).await?;
        answer::output(&self.operation, &reply, &masks)
    }
}
