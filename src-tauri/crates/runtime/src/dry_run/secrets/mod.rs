//! Which paths a sandbox masks: credentials, homes, closed files and their other names.

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod closed_files;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod credentials;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod file_stamp;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod folder_watch;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod homes;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod links;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod masks;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod mounts;
#[cfg(target_os = "linux")]
pub(crate) mod staged_files;
