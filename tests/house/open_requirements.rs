//! Requirements without a test: what brings them.

/// Ids that a later issue brings. A test that names one of them takes it from here.
pub const OPEN: &[(&str, &str)] = &[];
