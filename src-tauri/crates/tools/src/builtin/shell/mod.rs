//! The built-in tool that runs shell commands.

pub(crate) mod bash;
pub(crate) mod command_facts;
mod command_output;
