//! What a person approved of a document's operations, and how they stand to that now: what is other is not used.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::Fault;
use protocol::servers::{Pin, ServerId};
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::limits::PINS_BYTES_MAX;
use crate::names;
use crate::operation::Operation;

const VERSION: u32 = 1;

/// The operations of one document as they were approved, in the order of their approval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pins {
    /// What the document was called.
    pub title: String,
    /// The operations.
    pub tools: Vec<Pinned>,
    by_key: HashMap<String, usize>,
}

/// One operation that was approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The second half of its name here. It keeps it for as long as it is approved, so that a rule never comes to mean another
    /// operation.
    pub called: String,
    /// As it was approved.
    pub operation: Arc<Operation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    title: String,
    tools: Vec<Pinned>,
}

/// Where the pins of a service stand.
pub fn file(data_dir: &Path, id: &ServerId) -> PathBuf {
    data_dir.join("apis").join(format!("{id}.json"))
}

impl Pins {
    fn of(title: &str, tools: Vec<Pinned>) -> Self {
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

    /// Those that were kept; none if nothing was ever approved.
    ///
    /// # Errors
    /// They cannot be read: then none of the operations is approved.
    pub fn load(data_dir: &Path, id: &ServerId) -> Result<Option<Self>, Fault> {
        let file = file(data_dir, id);
        let Some(text) = runtime::read_text_within(&file, PINS_BYTES_MAX)? else {
            return Ok(None);
        };
        let kept: Result<Kept, _> = serde_json::from_str(&text);
        let wrong = |what: String| {
            Fault::new(
                format!("{} cannot be read: {what}.", file.display()),
                format!(
                    "Look at the tools of `{id}` and approve them again. Until then none of them is used."
                ),
            )
        };
        match kept {
            Ok(kept) if kept.version == VERSION => Ok(Some(Self::of(&kept.title, kept.tools))),
            Ok(kept) => Err(wrong(format!("its version is {}", kept.version))),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Keeps them, whole or not at all.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn save(&self, data_dir: &Path, id: &ServerId) -> Result<(), Fault> {
        let kept = Kept {
            version: VERSION,
            title: self.title.clone(),
            tools: self.tools.clone(),
        };
        let text = serde_json::to_vec(&kept).map_err(|error| {
            Fault::new("What you approve cannot be written.", "Report this.").caused_by(&error)
        })?;
        Ok(runtime::write_atomic(&file(data_dir, id), &text, 0o600)?)
    }

    /// What a first approval comes to: everything that can be read as it is. What hides something waits for a second look.
    pub fn first(document: &Document) -> Self {
        Self::default().with(document, |operation| !operation.hides())
    }

    /// The same once everything that the document has now is approved.
    #[must_use]
    pub fn approving(&self, document: &Document) -> Self {
        self.with(document, |_| true)
    }

    fn with(&self, document: &Document, takes: impl Fn(&Operation) -> bool) -> Self {
        let now: HashMap<String, &Operation> = document
            .operations
            .iter()
            .map(|operation| (operation.key(), operation))
            .collect();
        let still = self.tools.iter().filter_map(|pinned| {
            let operation = now.get(&pinned.operation.key())?;
            Some(Pinned {
                called: pinned.called.clone(),
                operation: Arc::new((*operation).clone()),
            })
        });
        let mut tools: Vec<Pinned> = still.collect();
        let mut taken: HashSet<String> = tools.iter().map(|pinned| pinned.called.clone()).collect();
        for operation in &document.operations {
            if self.by_key.contains_key(&operation.key()) || !takes(operation) {
                continue;
            }
            let called = names::free(&operation.near(), |name| taken.contains(name));
            taken.insert(called.clone());
            let operation = Arc::new(operation.clone());
            tools.push(Pinned { called, operation });
        }
        Self::of(&document.title, tools)
    }

    /// The operation of this key.
    pub fn find(&self, key: &str) -> Option<&Pinned> {
        self.by_key.get(key).and_then(|at| self.tools.get(*at))
    }

    /// How an operation that is pinned stands to what the document says now; pinned if that was not looked at.
    pub fn standing(pinned: &Operation, now: Option<&Looked>) -> Pin {
        match now.map(|now| now.find(&pinned.key())) {
            None => Pin::Pinned,
            Some(Some(now)) if now == pinned => Pin::Pinned,
            Some(Some(_)) => Pin::Changed,
            Some(None) => Pin::Gone,
        }
    }

    /// Whether anything of the document waits for an approval.
    pub fn waits(&self, document: &Document) -> bool {
        let mut all = document.operations.iter();
        all.any(|now| {
            self.find(&now.key())
                .is_none_or(|known| *known.operation != *now)
        })
    }
}

/// A document that was looked at, with its operations by their keys.
#[derive(Debug)]
pub struct Looked {
    /// The document.
    pub document: Document,
    by_key: HashMap<String, usize>,
}

impl Looked {
    /// A document, looked at now.
    pub fn new(document: Document) -> Self {
        let keys = document.operations.iter().enumerate();
        Self {
            by_key: keys.map(|(at, operation)| (operation.key(), at)).collect(),
            document,
        }
    }

    /// The operation of this key.
    pub fn find(&self, key: &str) -> Option<&Operation> {
        let at = self.by_key.get(key)?;
        self.document.operations.get(*at)
    }
}
