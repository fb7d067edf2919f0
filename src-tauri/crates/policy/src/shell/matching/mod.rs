//! The parts of a command that an allow or a rule that names a program matches.

pub(crate) mod command_names;
pub(crate) mod named_only;
pub(crate) mod plain;
