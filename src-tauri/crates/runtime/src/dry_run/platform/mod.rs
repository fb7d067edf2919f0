//! The means of each operating system to confine a command, and the probe for them.

#[cfg(any(not(target_os = "linux"), test))]
pub(crate) mod in_place_only;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
#[cfg(target_os = "linux")]
pub(crate) mod probe;
pub(crate) mod probe_common;
#[cfg(target_os = "macos")]
pub(crate) mod seatbelt;
#[cfg(any(windows, test))]
pub(crate) mod unconfined;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub(crate) mod unsupported;
