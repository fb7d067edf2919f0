//! Requirements without a test: what brings them.

const GATEWAY: &str = "the gateway to editors (ACP)";

/// Ids that a later issue brings. A test that names one of them takes it from here.
pub const OPEN: &[(&str, &str)] = &[("S002-98", GATEWAY)];
