//! Requirements without a test: what brings them.

const REACH: &str = "issue 6, the reach: sub-agents, MCP, OpenAPI, skills, the web";
const GATEWAY: &str = "the gateway to editors (ACP)";

/// Ids that a later issue brings. A test that names one of them takes it from here.
pub const OPEN: &[(&str, &str)] = &[
    ("S001-53", REACH),
    ("S001-54", REACH),
    ("S001-55", REACH),
    ("S001-56", REACH),
    ("S002-98", GATEWAY),
];
