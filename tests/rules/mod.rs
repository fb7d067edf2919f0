//! Rules and grants as a person makes, edits and tests them.

// Rules looked at, tried out, and held against what happened.
pub(crate) mod changes_and_backtests;
// What a person allows or refuses from now on, how far it reaches and how it ends.
pub(crate) mod grants;
// Rules files as a person writes them through the desk.
pub(crate) mod saved_files;
