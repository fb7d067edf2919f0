//! The values of words when a command runs: variables, printed texts, and all known spellings.

pub(crate) mod printed;
pub(crate) mod set_variables;
pub(crate) mod setters;
pub(crate) mod spellings;
pub(crate) mod unknown_text;
pub(crate) mod variables;
