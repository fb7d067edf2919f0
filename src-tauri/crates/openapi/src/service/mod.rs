//! One service that a person set up: its operations as tools, their approvals, and the state that they share.

pub(crate) mod send;
pub(crate) mod tool;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::server::apis::{ApiSettings, ApiTool as ApiToolView, ApiView};
use protocol::server::mcp_servers::PinState;
use protocol::text::display_text::{to_single_line, to_spans};
use protocol::{ToolError, ToolMode, UserError};
use runtime::Clock;
use tools::Tool;
use tools::config_references::ReferenceResolver;
use tools::sources::{PinnedCatalogue, PinnedTool, ToolComparison, build_tool_id};
use tools::web_search::OperationCaller;
use url::Url;

use crate::call::token::TokenCache;
use crate::document::base_url::BaseUrlOptions;
use crate::document::operation::Operation;
use crate::document::source::DocumentSource;
use crate::document::{ApiDocument, OperationFilter, OperationPins};
use crate::limits::QUOTED_CHARS_MAX;
use crate::service::tool::ApiTool;

/// The dependencies that all services of an engine share.
#[derive(Clone)]
pub struct ApiContext {
    /// Resolver of references.
    pub lookup: Arc<dyn ReferenceResolver>,
    /// Clock for the expiry of tokens.
    pub clock: Arc<dyn Clock>,
}

/// A service that a person set up. All of its tools share it.
pub struct ApiService {
    settings: ApiSettings,
    context: ApiContext,
    pub(crate) tokens: TokenCache,
    tools: Mutex<PinnedCatalogue<ApiDocument>>,
    /// Incremented whenever the tools may have changed.
    version: AtomicU64,
}

impl ApiService {
    /// Creates a service with its approvals. Its document is not read.
    pub fn new(settings: ApiSettings, pins: OperationPins, context: ApiContext) -> Self {
        Self {
            settings,
            context,
            tokens: TokenCache::default(),
            tools: Mutex::new(PinnedCatalogue::new(pins)),
            version: AtomicU64::new(0),
        }
    }

    fn lock_tools(&self) -> MutexGuard<'_, PinnedCatalogue<ApiDocument>> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the settings of the service.
    pub fn settings(&self) -> &ApiSettings {
        &self.settings
    }

    /// Returns the dependencies of the service.
    pub(crate) fn context(&self) -> &ApiContext {
        &self.context
    }

    /// Returns the version, which grows whenever the tools may have changed.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Returns the service's approved operations, with its document as it was read last.
    pub fn pinned_tools(&self) -> PinnedCatalogue<ApiDocument> {
        self.lock_tools().clone()
    }

    /// Returns the approvals of the service's operations.
    pub fn pins(&self) -> Arc<OperationPins> {
        self.pinned_tools().pins
    }

    /// Puts other approvals in force; a call of a tool that was created before still needs the operation that the tool
    /// was created from.
    pub fn set_pins(&self, pins: OperationPins) {
        self.lock_tools().pins = Arc::new(pins);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Reads the document: changed operations are reported, and not used before they are approved.
    ///
    /// # Errors
    /// The source is no document; then everything stays as it was.
    pub fn load_document(&self, source: &DocumentSource) -> Result<Arc<ApiDocument>, UserError> {
        let setup = &self.settings.setup;
        let bases = BaseUrlOptions {
            base_url: setup.base_url.clone(),
            variables: setup.variables.clone(),
            document: None,
        };
        let filters = OperationFilter {
            tags: setup.tags.clone(),
            operations: setup.operations.clone(),
            paths: setup.paths.clone(),
        };
        let document = ApiDocument::parse(source, &bases, &filters)?;
        if document.operations.is_empty() {
            let why = document.left_out.first().map_or_else(
                || "no operation fits what you chose".to_owned(),
                |why| why.trim_end_matches('.').to_owned(),
            );
            return Err(UserError::new(
                format!(
                    "The document of `{}` gives no tool: {why}.",
                    self.settings.id
                ),
                "Choose other operations, set a `base_url`, or correct the document.",
            ));
        }
        let document = Arc::new(document);
        self.lock_tools().catalogue = Some(document.clone());
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(document)
    }

    /// Returns the operations that are as they were approved, each as a tool under the name that it keeps (`S001-53`).
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for operation in self.pinned_tools().usable_tools() {
            tools.push(Arc::new(ApiTool::new(self.clone(), operation)));
        }
        tools
    }

    /// Returns the operation with this tool name, to be called as a search; none if it is not as it was approved.
    pub fn find_search_operation(self: &Arc<Self>, id: &str) -> Option<Arc<dyn OperationCaller>> {
        let tools = self.pinned_tools();
        let mut usable = tools.usable_tools();
        let operation = usable.find(|pinned| self.tool_id(pinned) == id)?;
        Some(Arc::new(ApiTool::new(self.clone(), operation)))
    }

    /// Returns the id of an approved operation's tool.
    pub(crate) fn tool_id(&self, pinned: &PinnedTool<Operation>) -> String {
        build_tool_id(self.settings.id.as_str(), &pinned.called, &pinned.called)
    }

    /// Checks that an operation is as it was approved; no other is called.
    pub(crate) fn check_approved(&self, operation: &Operation) -> Result<(), ToolError> {
        let tools = self.pinned_tools();
        let what = match tools.pin_state(operation) {
            PinState::Pinned if tools.pins.contains(operation) => return Ok(()),
            PinState::Pinned | PinState::Changed | PinState::New => {
                "is not what it was when it was approved"
            }
            PinState::Gone => "is not in the document any more",
        };
        Err(ToolError::Failed(format!(
            "`{}` of `{}` {what}, so it was not called. Only the person can approve it anew. Do without it.",
            to_single_line(&operation.key(), QUOTED_CHARS_MAX),
            self.settings.id
        )))
    }

    /// Returns the full view of the service's state.
    pub fn view(&self) -> ApiView {
        let tools = self.pinned_tools();
        let title = match &tools.catalogue {
            Some(document) => Some(format!("{} {}", document.title, document.version)),
            None => tools.pins.title.clone(),
        };
        let title = title.map(|title| title.trim().to_owned());
        let compared = tools.compare_tools();
        ApiView {
            settings: self.settings.clone(),
            title: title.filter(|title| !title.is_empty()),
            tools: compared
                .iter()
                .map(|tool| self.describe_tool(tool))
                .collect(),
            pending_digest: tools.pending_digest(),
            left_out: tools
                .catalogue
                .as_ref()
                .map(|document| document.left_out.clone())
                .unwrap_or_default(),
        }
    }

    fn describe_tool(&self, tool: &ToolComparison<'_, Operation>) -> ApiToolView {
        let operation = tool.definition;
        let description = match operation.title.is_empty() {
            true => &operation.description,
            false => &operation.title,
        };
        ApiToolView {
            id: tool.pinned.map(|pinned| self.tool_id(pinned)),
            operation: to_spans(&operation.key()),
            description: to_spans(description),
            mode: tool_mode(operation),
            pin: tool.state,
            changes: to_spans(&tool.diff()),
        }
    }
}

/// Whether the document of a service is a URL, and not a file.
pub fn is_document_url(document: &str) -> bool {
    Url::parse(document).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Returns the mode of a call of an operation: by its method, and more strictly where its name indicates a deletion.
fn tool_mode(operation: &Operation) -> Option<ToolMode> {
    match operation.is_destructive_by_name() {
        true => Some(ToolMode::Destructive),
        false => operation.method.tool_mode(),
    }
}
