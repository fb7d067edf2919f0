//! A person's approvals of a document's operations, compared with the current document: an operation that differs is
//! not used.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::UserError;
use protocol::server::mcp_servers::{PinState, ServerId};
use serde::{Deserialize, Serialize};

use crate::document::ApiDocument;
use crate::document::operation::Operation;
use crate::limits::PINS_BYTES_MAX;
use crate::names;

const VERSION: u32 = 1;

/// The approved operations of one document, in the order of their approval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationPins {
    /// Title of the document.
    pub title: String,
    /// The operations.
    pub tools: Vec<PinnedOperation>,
    by_key: HashMap<String, usize>,
}

/// An approved operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedOperation {
    /// The second half of the operation's name in Countersign. The operation keeps this name for as long as it is
    /// approved, so that a rule never comes to mean another operation.
    pub called: String,
    /// The definition that was approved.
    pub operation: Arc<Operation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredOperationPins {
    version: u32,
    title: String,
    tools: Vec<PinnedOperation>,
}

/// Returns the path of a service's pins.
pub fn pins_path(data_dir: &Path, id: &ServerId) -> PathBuf {
    data_dir.join("apis").join(format!("{id}.json"))
}

impl OperationPins {
    fn from_operations(title: &str, tools: Vec<PinnedOperation>) -> Self {
        let keys = tools.iter().enumerate();
        let by_key = keys
            .map(|(at, pinned)| (pinned.operation.key(), at))
            .collect();
        Self {
            title: title.to_owned(),
            tools,
            by_key,
        }
    }

    /// Loads the stored pins; none if nothing was ever approved.
    ///
    /// # Errors
    /// The pins cannot be read: then none of the operations is approved.
    pub fn load(data_dir: &Path, id: &ServerId) -> Result<Option<Self>, UserError> {
        let file = pins_path(data_dir, id);
        let Some(text) = runtime::read_text_within(&file, PINS_BYTES_MAX)? else {
            return Ok(None);
        };
        let kept: Result<StoredOperationPins, _> = serde_json::from_str(&text);
        let wrong = |what: String| {
            UserError::new(
                format!("{} cannot be read: {what}.", file.display()),
                format!(
                    "Look at the tools of `{id}` and approve them again. Until then none of them is used."
                ),
            )
        };
        match kept {
            Ok(kept) if kept.version == VERSION => {
                Ok(Some(Self::from_operations(&kept.title, kept.tools)))
            }
            Ok(kept) => Err(wrong(format!("its version is {}", kept.version))),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Stores the pins atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, data_dir: &Path, id: &ServerId) -> Result<(), UserError> {
        let kept = StoredOperationPins {
            version: VERSION,
            title: self.title.clone(),
            tools: self.tools.clone(),
        };
        let text = serde_json::to_vec(&kept).map_err(|error| {
            UserError::new("What you approve cannot be written.", "Report this.")
                .with_source(&error)
        })?;
        Ok(runtime::write_atomic(
            &pins_path(data_dir, id),
            &text,
            0o600,
        )?)
    }

    /// Returns the pins of a first approval: every operation without hidden text. An operation that hides text waits
    /// for a second look.
    pub fn approve_initial(document: &ApiDocument) -> Self {
        Self::default().merge_document(document, |operation| !operation.has_hidden_text())
    }

    /// Returns the pins after an approval of every current operation of the document.
    #[must_use]
    pub fn approve_all(&self, document: &ApiDocument) -> Self {
        self.merge_document(document, |_| true)
    }

    fn merge_document(&self, document: &ApiDocument, takes: impl Fn(&Operation) -> bool) -> Self {
        let now: HashMap<String, &Operation> = document
            .operations
            .iter()
            .map(|operation| (operation.key(), operation))
            .collect();
        let still = self.tools.iter().filter_map(|pinned| {
            let operation = now.get(&pinned.operation.key())?;
            Some(PinnedOperation {
                called: pinned.called.clone(),
                operation: Arc::new((*operation).clone()),
            })
        });
        let mut tools: Vec<PinnedOperation> = still.collect();
        let mut taken: HashSet<String> = tools.iter().map(|pinned| pinned.called.clone()).collect();
        for operation in &document.operations {
            if self.by_key.contains_key(&operation.key()) || !takes(operation) {
                continue;
            }
            let called =
                names::unique_name(&operation.callable_name(), |name| taken.contains(name));
            taken.insert(called.clone());
            let operation = Arc::new(operation.clone());
            tools.push(PinnedOperation { called, operation });
        }
        Self::from_operations(&document.title, tools)
    }

    /// Returns the operation with this key.
    pub fn find(&self, key: &str) -> Option<&PinnedOperation> {
        self.by_key.get(key).and_then(|at| self.tools.get(*at))
    }

    /// Compares a pinned operation with the current document; pinned if the document was not read.
    pub fn pin_state(pinned: &Operation, now: Option<&IndexedDocument>) -> PinState {
        match now.map(|now| now.find(&pinned.key())) {
            None => PinState::Pinned,
            Some(Some(now)) if now == pinned => PinState::Pinned,
            Some(Some(_)) => PinState::Changed,
            Some(None) => PinState::Gone,
        }
    }

    /// Whether any operation of the document waits for an approval.
    pub fn has_pending_changes(&self, document: &ApiDocument) -> bool {
        let mut all = document.operations.iter();
        all.any(|now| {
            self.find(&now.key())
                .is_none_or(|known| *known.operation != *now)
        })
    }
}

/// A document with an index of its operations by their keys.
#[derive(Debug)]
pub struct IndexedDocument {
    /// The document.
    pub document: ApiDocument,
    by_key: HashMap<String, usize>,
}

impl IndexedDocument {
    /// Indexes a document.
    pub fn new(document: ApiDocument) -> Self {
        let keys = document.operations.iter().enumerate();
        Self {
            by_key: keys.map(|(at, operation)| (operation.key(), at)).collect(),
            document,
        }
    }

    /// Returns the operation with this key.
    pub fn find(&self, key: &str) -> Option<&Operation> {
        let at = self.by_key.get(key)?;
        self.document.operations.get(*at)
    }
}
