//! The command line as scripts use it: the real program in folders of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    missing_docs,
    reason = "tests set up real files and start the program, end where they fail, and say what this machine cannot do"
)]

mod acp;
// Commands of agents run in the sandbox.
#[cfg(target_os = "linux")]
mod agent_hooks;
mod agents;
mod apis;
mod attention;
mod calls;
// Shell scripts for runners on Linux.
#[cfg(target_os = "linux")]
mod ci_templates;
#[cfg(unix)]
mod connect;
mod data_backup;
mod data_erase;
mod data_size;
mod documentation;
mod gateway;
mod inspect;
#[cfg(target_os = "linux")]
mod keychain;
// Needs the server of OpenSSH.
#[cfg(target_os = "linux")]
mod other_machine;
mod policy;
mod policy_explain;
mod policy_replay;
mod policy_replay_transcripts;
mod policy_rules;
mod problem_report;
mod prompt_input;
mod provider_addresses;
mod provider_wire;
mod record_rescue;
mod runs;
#[cfg(unix)]
mod server_file_tools;
mod servers;
mod session_deletion;
mod session_import;
mod settings;
mod short_ids;
mod support;
#[cfg(unix)]
mod terminal;
