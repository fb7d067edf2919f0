//! Limits of judging. Every one of them can only make a verdict stricter.

/// Longest command that rules may allow, in bytes. A longer one is still searched for what is denied.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;
/// Most rules in one file; more are an error, and the file counts as broken.
pub const RULES_MAX: usize = 10_000;
/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 4 * 1024;
