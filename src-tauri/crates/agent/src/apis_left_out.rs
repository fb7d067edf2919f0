//! What stands in the place of services where they were left out when this was built (`S001-56`).

use std::sync::Arc;

use protocol::Fault;
use protocol::apis::{ApiChange, ApiView};
use protocol::op::Receipt;
use protocol::servers::ServerId;
use provider::Keys;
use tools::Tool;
use tools::searching::Searches;

use crate::config::DeskConfig;
use crate::desk::Shared;

/// No service.
pub(crate) struct Apis;

/// Nothing that could become another.
pub(crate) type Seen = ();

impl Apis {
    /// None.
    pub fn of_desk(_config: &DeskConfig, _keys: &Arc<dyn Keys>) -> Self {
        Self
    }

    /// Nothing is read.
    pub fn read(&self) {}

    /// Nothing is seen.
    pub fn seen(&self) -> Seen {}

    /// No tool.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Nothing searches.
    pub fn searches(&self, _id: &str) -> Option<Arc<dyn Searches>> {
        None
    }

    /// What was set up is not used, and nothing is wrong with it.
    pub fn faults(&self) -> Vec<Fault> {
        Vec::new()
    }

    /// None.
    pub fn views(&self) -> Vec<ApiView> {
        Vec::new()
    }
}

/// Nothing can be set up.
///
/// # Errors
/// Always.
pub(crate) async fn change(
    _shared: &Shared,
    id: ServerId,
    _change: ApiChange,
) -> Result<Receipt, Fault> {
    Err(Fault::new(
        format!("`{id}` cannot be used: this build was made without OpenAPI documents."),
        "Use a build with the feature `openapi`.",
    ))
}
