//! The context of changes to services.

use crate::host::config::EngineConfig;
use crate::toolset::apis::Apis;
use crate::toolset::servers::Servers;

/// Services, servers, and the configuration of the engine.
#[cfg_attr(
    not(feature = "openapi"),
    expect(dead_code, reason = "without OpenAPI every change is refused")
)]
pub(crate) struct ApiContext<'a> {
    pub apis: &'a Apis,
    pub servers: &'a Servers,
    pub config: &'a EngineConfig,
}
