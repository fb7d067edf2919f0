//! One service that a person set up: its operations as tools, what was approved of them, and what they share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::apis::{ApiSettings, ApiTool as Told, ApiView};
use protocol::servers::Pin;
use protocol::shown::{in_a_sentence, shown};
use protocol::{Fault, ToolError, ToolMode};
use runtime::Clock;
use similar::TextDiff;
use tools::Tool;
use tools::limits::ID_BYTES_MAX;
use tools::refs::Lookup;
use tools::searching::Searches;
use url::Url;

use crate::base::Bases;
use crate::document::{Document, Filters};
use crate::limits::{DIFF_BYTES_MAX, NAMED_CHARS_MAX};
use crate::names;
use crate::operation::Operation;
use crate::pin::{Looked, Pinned, Pins};
use crate::source::Source;
use crate::token::Tokens;
use crate::tool::ApiTool;

/// What every service of a desk stands on.
#[derive(Clone)]
pub struct Ground {
    /// Where references are looked up.
    pub lookup: Arc<dyn Lookup>,
    /// The clock by which tokens end.
    pub clock: Arc<dyn Clock>,
}

/// A service that a person set up. All of its tools share it.
pub struct Api {
    settings: ApiSettings,
    ground: Ground,
    pub(crate) tokens: Tokens,
    kept: Mutex<Kept>,
    /// Grows with everything that may make the tools others.
    version: AtomicU64,
}

#[derive(Default)]
struct Kept {
    pins: Arc<Pins>,
    looked: Option<Arc<Looked>>,
}

impl Api {
    /// A service with what was approved of it. Its document is not looked at.
    pub fn new(settings: ApiSettings, pins: Pins, ground: Ground) -> Self {
        Self {
            settings,
            ground,
            tokens: Tokens::default(),
            kept: Mutex::new(Kept {
                pins: Arc::new(pins),
                looked: None,
            }),
            version: AtomicU64::new(0),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As it was set up.
    pub fn settings(&self) -> &ApiSettings {
        &self.settings
    }

    /// What it stands on.
    pub(crate) fn ground(&self) -> &Ground {
        &self.ground
    }

    /// What may make its tools others grows this.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// What was approved.
    pub fn pins(&self) -> Arc<Pins> {
        self.kept().pins.clone()
    }

    /// Puts other approvals in force; a call of a tool that was made before still needs what it was made from.
    pub fn set_pins(&self, pins: Pins) {
        self.kept().pins = Arc::new(pins);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Its document as it was looked at last; none if it was not since the start.
    pub fn looked(&self) -> Option<Arc<Looked>> {
        self.kept().looked.clone()
    }

    /// Reads its document: what became another is told, and its tools are not used before it is approved.
    ///
    /// # Errors
    /// It is no document; then everything stays as it was.
    pub fn look(&self, source: &Source) -> Result<Arc<Looked>, Fault> {
        let setup = &self.settings.setup;
        let bases = Bases {
            base_url: setup.base_url.clone(),
            variables: setup.variables.clone(),
            document: None,
        };
        let filters = Filters {
            tags: setup.tags.clone(),
            operations: setup.operations.clone(),
            paths: setup.paths.clone(),
        };
        let document = Document::read(source, &bases, &filters)?;
        if document.operations.is_empty() {
            let why = document.left_out.first().map_or_else(
                || "no operation fits what you chose".to_owned(),
                |why| why.trim_end_matches('.').to_owned(),
            );
            return Err(Fault::new(
                format!(
                    "The document of `{}` gives no tool: {why}.",
                    self.settings.id
                ),
                "Choose other operations, set a `base_url`, or correct the document.",
            ));
        }
        let looked = Arc::new(Looked::new(document));
        self.kept().looked = Some(looked.clone());
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(looked)
    }

    /// Its operations that are as they were approved, each as a tool under the name that it keeps (`S001-53`).
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let made = |pinned| Arc::new(ApiTool::new(self.clone(), pinned)) as Arc<dyn Tool>;
        self.usable(|_| true).iter().map(made).collect()
    }

    /// The operation of this name among its tools, to be called as a search; none if it is not as it was approved.
    pub fn searches(self: &Arc<Self>, id: &str) -> Option<Arc<dyn Searches>> {
        let named = |pinned: &Pinned| {
            names::id(self.settings.id.as_str(), &pinned.called, ID_BYTES_MAX) == id
        };
        let found = self.usable(named).into_iter().next()?;
        Some(Arc::new(ApiTool::new(self.clone(), &found)))
    }

    /// What is as it was approved.
    fn usable(&self, wanted: impl Fn(&Pinned) -> bool) -> Vec<Pinned> {
        let (pins, looked) = {
            let kept = self.kept();
            (kept.pins.clone(), kept.looked.clone())
        };
        let usable = pins.tools.iter().filter(|pinned| {
            wanted(pinned) && Pins::standing(&pinned.operation, looked.as_deref()) == Pin::Pinned
        });
        usable.cloned().collect()
    }

    /// Only what is as it was approved is called.
    pub(crate) fn check(&self, operation: &Operation) -> Result<(), ToolError> {
        let (pins, looked) = {
            let kept = self.kept();
            (kept.pins.clone(), kept.looked.clone())
        };
        let is_pinned = pins
            .find(&operation.key())
            .is_some_and(|pinned| *pinned.operation == *operation);
        let what = match Pins::standing(operation, looked.as_deref()) {
            Pin::Pinned if is_pinned => return Ok(()),
            Pin::Pinned | Pin::Changed | Pin::New => "is not what it was when it was approved",
            Pin::Gone => "is not in the document any more",
        };
        Err(ToolError::Failed(format!(
            "`{}` of `{}` {what}, so it was not called. Only the person can approve it anew. Do without it.",
            in_a_sentence(&operation.key(), NAMED_CHARS_MAX),
            self.settings.id
        )))
    }

    /// Everything that is known of it.
    pub fn view(&self) -> ApiView {
        let (pins, looked) = {
            let kept = self.kept();
            (kept.pins.clone(), kept.looked.clone())
        };
        let id = self.settings.id.as_str();
        let known = pins.tools.iter().map(|pinned| {
            let pin = Pins::standing(&pinned.operation, looked.as_deref());
            let now = looked
                .as_ref()
                .and_then(|now| now.find(&pinned.operation.key()));
            let name = names::id(id, &pinned.called, ID_BYTES_MAX);
            told(
                Some(name),
                now.unwrap_or(&pinned.operation),
                pin,
                Some(&pinned.operation),
            )
        });
        let now = looked.iter().flat_map(|now| &now.document.operations);
        let new = now.filter(|now| pins.find(&now.key()).is_none());
        let tools = known
            .chain(new.map(|now| told(None, now, Pin::New, None)))
            .collect();
        let waits = looked.as_ref().filter(|now| pins.waits(&now.document));
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

/// Whether the document of a service stands at an address, and not in a file.
pub fn is_address(document: &str) -> bool {
    Url::parse(document).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// How a call of an operation is treated: by its method, and more strictly where its name says that it takes something away.
fn mode(operation: &Operation) -> Option<ToolMode> {
    match operation.takes_away() {
        true => Some(ToolMode::Destructive),
        false => operation.method.mode(),
    }
}

fn told(id: Option<String>, operation: &Operation, pin: Pin, pinned: Option<&Operation>) -> Told {
    let changes = match (pin, pinned) {
        (Pin::Changed, Some(pinned)) => difference(&pinned.text(), &operation.text()),
        (Pin::New, _) => difference("", &operation.text()),
        (Pin::Pinned | Pin::Gone | Pin::Changed, _) => String::new(),
    };
    let said = match operation.title.is_empty() {
        true => &operation.description,
        false => &operation.title,
    };
    Told {
        id,
        operation: shown(&operation.key()),
        description: shown(said),
        mode: mode(operation),
        pin,
        changes: shown(&changes),
    }
}

/// Cut, since an approval of more than can be read is none.
fn difference(before: &str, after: &str) -> String {
    let text = TextDiff::from_lines(before, after)
        .unified_diff()
        .header("approved", "now")
        .to_string();
    match text.char_indices().find(|(at, _)| *at >= DIFF_BYTES_MAX) {
        None => text,
        Some((at, _)) => format!("{}\n[cut here]\n", &text[..at]),
    }
}
