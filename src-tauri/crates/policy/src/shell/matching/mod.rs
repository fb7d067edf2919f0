//! What an allow or a named rule matches of a command.

pub(crate) mod command_names;
pub(crate) mod named_only;
pub(crate) mod plain;
