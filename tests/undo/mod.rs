//! Changes that are undone and redone.

// Patches over several files: judged path by path, accepted in part, taken back as one.
pub(crate) mod patches;
// Deletions and changes taken back and brought again.
pub(crate) mod restore;
