//! What a change of a service looks at beside the service itself.

use crate::host::config::EngineConfig;
use crate::toolset::apis::Apis;
use crate::toolset::servers::Servers;

/// The services, the servers beside them, and where the engine keeps its things.
#[cfg_attr(
    not(feature = "openapi"),
    expect(dead_code, reason = "without OpenAPI every change is refused")
)]
pub(crate) struct ApiContext<'a> {
    pub apis: &'a Apis,
    pub servers: &'a Servers,
    pub config: &'a EngineConfig,
}
