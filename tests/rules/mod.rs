//! Rules and grants as a person makes, edits and tests them.

// Rules looked at, tried out, and held against what happened.
pub(crate) mod changes_and_backtests;
// Grants of a person: how far they reach and how they end.
pub(crate) mod grants;
// The files of the data folder, which only people change.
pub(crate) mod own_files;
// Rules files as a person writes them through the desk.
pub(crate) mod saved_files;
