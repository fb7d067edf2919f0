//! The life of a session: desk, turn, pipeline, consent, undo.
