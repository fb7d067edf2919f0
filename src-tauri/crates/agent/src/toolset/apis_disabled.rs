//! Stand-ins for OpenAPI services in a build without them (`S001-56`).

use std::sync::Arc;

use protocol::UserError;
use protocol::op::OpReceipt;
use protocol::server::apis::{ApiChange, ApiView};
use protocol::server::mcp_servers::ServerId;
use provider::KeyStore;
use tools::Tool;
use tools::web_search::OperationCaller;

use crate::host::config::EngineConfig;
use crate::toolset::api_context::ApiContext;

/// No service.
pub(crate) struct Apis;

/// The version of a file that is never read.
pub(crate) type ConfigVersion = ();

impl Apis {
    /// No service, whatever is configured.
    pub fn from_config(_config: &EngineConfig, _keys: &Arc<dyn KeyStore>) -> Self {
        Self
    }

    /// Reads nothing.
    pub fn reload(&self) {}

    /// The version of a file that is never read.
    pub fn seen(&self) -> ConfigVersion {}

    /// No tool.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// No operation.
    pub fn search_operation(&self, _id: &str) -> Option<Arc<dyn OperationCaller>> {
        None
    }

    /// No error: a configuration that is not used cannot be wrong.
    pub fn errors(&self) -> Vec<UserError> {
        Vec::new()
    }

    /// No service.
    pub fn views(&self) -> Vec<ApiView> {
        Vec::new()
    }
}

/// Refuses every change of a service.
///
/// # Errors
/// Always.
pub(crate) async fn change_apis(
    _context: &ApiContext<'_>,
    id: ServerId,
    _change: ApiChange,
) -> Result<OpReceipt, UserError> {
    Err(UserError::new(
        format!("`{id}` cannot be used: this build was made without OpenAPI documents."),
        "Use a build with the feature `openapi`.",
    ))
}
