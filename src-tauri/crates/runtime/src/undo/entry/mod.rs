//! Undo entries on disk: their manifests, nodes and states.

pub(crate) mod manifest;
pub(crate) mod node;
pub(crate) mod states;
