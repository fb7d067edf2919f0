//! Network access of a sandboxed command: the proxy and its log.

#[cfg(target_os = "linux")]
pub(crate) mod log;
#[cfg(target_os = "linux")]
pub(crate) mod proxy;
