//! One service that a person set up: its operations as tools, their approvals, and the state that they share.

pub(crate) mod send;
pub(crate) mod tool;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::server::apis::{ApiSettings, ApiTool as Told, ApiView};
use protocol::server::mcp_servers::PinState;
use protocol::text::display_text::{to_single_line, to_spans};
use protocol::{ToolError, ToolMode, UserError};
use runtime::Clock;
use similar::TextDiff;
use tools::Tool;
use tools::config_references::ReferenceResolver;
use tools::limits::ID_BYTES_MAX;
use tools::web_search::OperationCaller;
use url::Url;

use crate::call::token::TokenCache;
use crate::document::base_url::BaseUrlOptions;
use crate::document::operation::Operation;
use crate::document::source::DocumentSource;
use crate::document::{ApiDocument, OperationFilter};
use crate::limits::{DIFF_BYTES_MAX, QUOTED_CHARS_MAX};
use crate::names;
use crate::pins::{IndexedDocument, OperationPins, PinnedOperation};
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
    state: Mutex<ApiServiceState>,
    /// Incremented whenever the tools may have changed.
    version: AtomicU64,
}

#[derive(Default)]
struct ApiServiceState {
    pins: Arc<OperationPins>,
    loaded: Option<Arc<IndexedDocument>>,
}

impl ApiService {
    /// Creates a service with its approvals. Its document is not read.
    pub fn new(settings: ApiSettings, pins: OperationPins, context: ApiContext) -> Self {
        Self {
            settings,
            context,
            tokens: TokenCache::default(),
            state: Mutex::new(ApiServiceState {
                pins: Arc::new(pins),
                loaded: None,
            }),
            version: AtomicU64::new(0),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, ApiServiceState> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns the approvals of the service's operations.
    pub fn pins(&self) -> Arc<OperationPins> {
        self.lock_state().pins.clone()
    }

    /// Puts other approvals in force; a call of a tool that was created before still needs the operation that the tool
    /// was created from.
    pub fn set_pins(&self, pins: OperationPins) {
        self.lock_state().pins = Arc::new(pins);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the document as it was read last; none if it was not read since the start.
    pub fn loaded_document(&self) -> Option<Arc<IndexedDocument>> {
        self.lock_state().loaded.clone()
    }

    /// Reads the document: changed operations are reported, and not used before they are approved.
    ///
    /// # Errors
    /// The source is no document; then everything stays as it was.
    pub fn load_document(
        &self,
        source: &DocumentSource,
    ) -> Result<Arc<IndexedDocument>, UserError> {
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
        let looked = Arc::new(IndexedDocument::new(document));
        self.lock_state().loaded = Some(looked.clone());
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(looked)
    }

    /// Returns the operations that are as they were approved, each as a tool under the name that it keeps (`S001-53`).
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let made = |pinned| Arc::new(ApiTool::new(self.clone(), pinned)) as Arc<dyn Tool>;
        self.approved_operations(|_| true)
            .iter()
            .map(made)
            .collect()
    }

    /// Returns the operation with this tool name, to be called as a search; none if it is not as it was approved.
    pub fn find_search_operation(self: &Arc<Self>, id: &str) -> Option<Arc<dyn OperationCaller>> {
        let named = |pinned: &PinnedOperation| {
            names::build_tool_id(self.settings.id.as_str(), &pinned.called, ID_BYTES_MAX) == id
        };
        let found = self.approved_operations(named).into_iter().next()?;
        Some(Arc::new(ApiTool::new(self.clone(), &found)))
    }

    /// Returns the operations that are as they were approved.
    fn approved_operations(
        &self,
        wanted: impl Fn(&PinnedOperation) -> bool,
    ) -> Vec<PinnedOperation> {
        let (pins, looked) = {
            let kept = self.lock_state();
            (kept.pins.clone(), kept.loaded.clone())
        };
        let usable = pins.tools.iter().filter(|pinned| {
            wanted(pinned)
                && OperationPins::pin_state(&pinned.operation, looked.as_deref())
                    == PinState::Pinned
        });
        usable.cloned().collect()
    }

    /// Checks that an operation is as it was approved; no other is called.
    pub(crate) fn check_approved(&self, operation: &Operation) -> Result<(), ToolError> {
        let (pins, looked) = {
            let kept = self.lock_state();
            (kept.pins.clone(), kept.loaded.clone())
        };
        let is_pinned = pins
            .find(&operation.key())
            .is_some_and(|pinned| *pinned.operation == *operation);
        let what = match OperationPins::pin_state(operation, looked.as_deref()) {
            PinState::Pinned if is_pinned => return Ok(()),
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
        let (pins, looked) = {
            let kept = self.lock_state();
            (kept.pins.clone(), kept.loaded.clone())
        };
        let id = self.settings.id.as_str();
        let known = pins.tools.iter().map(|pinned| {
            let pin = OperationPins::pin_state(&pinned.operation, looked.as_deref());
            let now = looked
                .as_ref()
                .and_then(|now| now.find(&pinned.operation.key()));
            let name = names::build_tool_id(id, &pinned.called, ID_BYTES_MAX);
            describe_operation(
                Some(name),
                now.unwrap_or(&pinned.operation),
                pin,
                Some(&pinned.operation),
            )
        });
        let now = looked.iter().flat_map(|now| &now.document.operations);
        let new = now.filter(|now| pins.find(&now.key()).is_none());
        let tools = known
            .chain(new.map(|now| describe_operation(None, now, PinState::New, None)))
            .collect();
        let waits = looked
            .as_ref()
            .filter(|now| pins.has_pending_changes(&now.document));
        let title = match &looked {
            Some(now) => format!("{} {}", now.document.title, now.document.version),
            None => pins.title.clone(),
        };
        ApiView {
            settings: self.settings.clone(),
            title: Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
            tools,
            left_out: looked
                .as_ref()
                .map(|now| now.document.left_out.clone())
                .unwrap_or_default(),
            waits: waits.map(|now| now.document.digest()),
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

fn describe_operation(
    id: Option<String>,
    operation: &Operation,
    pin: PinState,
    pinned: Option<&Operation>,
) -> Told {
    let changes = match (pin, pinned) {
        (PinState::Changed, Some(pinned)) => operation_diff(&pinned.text(), &operation.text()),
        (PinState::New, _) => operation_diff("", &operation.text()),
        (PinState::Pinned | PinState::Gone | PinState::Changed, _) => String::new(),
    };
    let said = match operation.title.is_empty() {
        true => &operation.description,
        false => &operation.title,
    };
    Told {
        id,
        operation: to_spans(&operation.key()),
        description: to_spans(said),
        mode: tool_mode(operation),
        pin,
        changes: to_spans(&changes),
    }
}

/// Returns the diff of two operations, cut: an approval of more than can be read is no approval.
fn operation_diff(before: &str, after: &str) -> String {
    let text = TextDiff::from_lines(before, after)
        .unified_diff()
        .header("approved", "now")
        .to_string();
    match text.char_indices().find(|(at, _)| *at >= DIFF_BYTES_MAX) {
        None => text,
        Some((at, _)) => format!("{}\n[cut here]\n", &text[..at]),
    }
}
