//! System-call filters: the calls that are denied, and the calls that the supervisor is notified of and answers.

pub(crate) mod answering;
pub(crate) mod call_path;
pub(crate) mod deny_filter;
pub(crate) mod git_process;
pub(crate) mod notify_filter;
pub(crate) mod path_access;
pub(crate) mod read_scope;
pub(crate) mod seccomp_notify;
