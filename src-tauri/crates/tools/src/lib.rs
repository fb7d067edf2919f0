//! What an agent can ask for.
