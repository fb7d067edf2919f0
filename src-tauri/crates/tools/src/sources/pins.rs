//! A person's approvals of the tools of one source, each stored as it was approved.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::catalogue::{Catalogue, SourceTool, has_hidden_text, index_by_key};
use super::names::unique_name;
use crate::limits::PINS_BYTES_MAX;

const VERSION: u32 = 1;

/// The approved tools of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "C: Catalogue")]
pub struct Pins<C: Catalogue> {
    version: u32,
    /// Title of the source at the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tools, in the order of their approval.
    pub tools: Vec<PinnedTool<C::Tool>>,
    /// Whether the source had resources at the approval; used as long as nothing newer is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_resources: Option<bool>,
}

/// An approved tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: SourceTool")]
pub struct PinnedTool<T> {
    /// The second half of the tool's name in Countersign. The tool keeps this name for as long as it is approved,
    /// whatever tools come and go beside it, so that a rule never comes to mean another tool.
    pub called: String,
    /// The definition that was approved.
    #[serde(rename = "tool", alias = "operation")]
    pub definition: Arc<T>,
}

impl<T: SourceTool> Serialize for PinnedTool<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("PinnedTool", 2)?;
        members.serialize_field("called", &self.called)?;
        members.serialize_field(T::MEMBER, &self.definition)?;
        members.end()
    }
}

impl<C: Catalogue> Default for Pins<C> {
    fn default() -> Self {
        Self {
            version: VERSION,
            title: None,
            tools: Vec::new(),
            has_resources: None,
        }
    }
}

impl<C: Catalogue> Pins<C> {
    /// Returns the path of a source's pins.
    pub fn path(data_dir: &Path, id: &ServerId) -> PathBuf {
        data_dir.join(C::FOLDER).join(format!("{id}.json"))
    }

    /// Loads the stored pins; none if nothing was ever approved.
    ///
    /// # Errors
    /// The pins cannot be read: then none of the tools is approved.
    pub fn load(data_dir: &Path, id: &ServerId) -> Result<Option<Self>, UserError> {
        let file = Self::path(data_dir, id);
        let Some(text) = runtime::read_text_within(&file, PINS_BYTES_MAX)? else {
            return Ok(None);
        };
        let why = match serde_json::from_str::<Self>(&text) {
            Ok(pins) if pins.version == VERSION => return Ok(Some(pins)),
            Ok(pins) => format!("its version is {}", pins.version),
            Err(error) => error.to_string(),
        };
        Err(UserError::new(
            format!("{} cannot be read: {why}.", file.display()),
            format!(
                "Look at the tools of `{id}` and approve them again. Until then none of them is used."
            ),
        ))
    }

    /// Stores the pins atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, data_dir: &Path, id: &ServerId) -> Result<(), UserError> {
        let text = serde_json::to_vec(self).map_err(|error| {
            UserError::new("What you approve cannot be written.", "Report this.")
                .with_source(&error)
        })?;
        let file = Self::path(data_dir, id);
        Ok(runtime::write_atomic(&file, &text, 0o600)?)
    }

    /// Returns the pins of a first approval: every tool without hidden text. A tool that hides text waits for a second
    /// look.
    pub fn approve_initial(catalogue: &C) -> Self {
        Self::default().merge_catalogue(catalogue, |tool| !has_hidden_text(tool))
    }

    /// Returns the pins after an approval of every current tool of the source.
    #[must_use]
    pub fn approve_all(&self, catalogue: &C) -> Self {
        self.merge_catalogue(catalogue, |_| true)
    }

    /// Returns the pins with the current definitions of their tools, without tools that are gone, and with the new
    /// tools that `is_approved` accepts, each under a name that no other tool has.
    fn merge_catalogue(&self, catalogue: &C, is_approved: impl Fn(&C::Tool) -> bool) -> Self {
        let current = index_by_key(catalogue.tools());
        let approved = index_by_key(self.definitions());
        let still = self.tools.iter().filter_map(|pinned| {
            let tool = *current.get(&pinned.definition.key())?;
            Some(PinnedTool {
                called: pinned.called.clone(),
                definition: Arc::new(tool.clone()),
            })
        });
        let mut tools: Vec<_> = still.collect();
        let mut taken: HashSet<String> = tools.iter().map(|pinned| pinned.called.clone()).collect();
        for tool in catalogue.tools() {
            if approved.contains_key(&tool.key()) || !is_approved(tool) {
                continue;
            }
            let called = unique_name(&tool.callable_name(), |name| taken.contains(name));
            taken.insert(called.clone());
            let definition = Arc::new(tool.clone());
            tools.push(PinnedTool { called, definition });
        }
        Self {
            version: VERSION,
            title: catalogue.title().map(str::to_owned),
            tools,
            has_resources: catalogue.has_resources(),
        }
    }

    /// Returns the definitions that were approved.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &C::Tool> {
        self.tools.iter().map(|pinned| &*pinned.definition)
    }

    /// Whether exactly this definition was approved.
    pub fn contains(&self, tool: &C::Tool) -> bool {
        self.definitions().any(|pinned| pinned == tool)
    }

    /// Whether any tool of the source waits for an approval.
    pub fn has_pending_changes(&self, catalogue: &C) -> bool {
        let approved = index_by_key(self.definitions());
        let mut tools = catalogue.tools().iter();
        tools.any(|tool| {
            approved
                .get(&tool.key())
                .is_none_or(|pinned| *pinned != tool)
        })
    }
}
