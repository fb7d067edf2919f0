//! The sandbox: runs a command so that its changes can be reviewed before they happen, or so that it cannot reach
//! further than it may.
//!
//! This crate defines the specification of a sandbox ([`SandboxSpec`]), the report of its program ([`SandboxReport`])
//! and how it is entered: on Linux with all its walls, on macOS with those of Seatbelt ([`seatbelt`]). The program
//! `countersign-sandbox` prepares, reads a specification from its standard input, enters the sandbox with everything
//! closed behind it, and runs one command; it has one thread and no runtime, so that it can fork.
//!
//! **It does not know why a command runs, what its effects mean, or what a person thinks of them.** A wall that cannot
//! be built is an error: a command never runs in a sandbox with a hole in it.
//!
//! Start reading at [`SandboxSpec`], then `linux/mod.rs`, which enters it from top to bottom.
//!
//! ```
//! use sandbox::{SandboxLimits, SandboxSpec, WatchedReads, read_report};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = SandboxSpec {
//!     workspace: "/home/me/project".into(),
//!     folder: "/home/me/project".into(),
//!     masked: vec!["/home/me/.ssh".into()],
//!     readable_by_git: Vec::new(),
//!     watched_reads: WatchedReads {
//!         folders: vec!["/home/me".into()],
//!         except: Vec::new(),
//!     },
//!     limits: SandboxLimits::default(),
//!     command: vec!["make".to_owned(), "test".to_owned()],
//!     told: "/home/me/report".into(),
//! #     layers: None,
//! #     bare: None,
//! #     private: Vec::new(),
//! #     read_only: Vec::new(),
//! #     proxy: false,
//! #     input: false,
//! #     environment: Vec::new(),
//!     // … and what else the command is to find.
//! };
//! // One line for the standard input of `countersign-sandbox`, which then writes its report.
//! let line = serde_json::to_string(&spec)?;
//! assert_eq!(serde_json::from_str::<SandboxSpec>(&line)?, spec);
//! assert_eq!(read_report(&spec.told)?, None, "it was not started yet");
//! # Ok(())
//! # }
//! ```

#![allow(
    clippy::disallowed_methods,
    reason = "the walls of a sandbox are files and processes: it is built with the kernel's own calls"
)]

mod report;
pub mod seatbelt;
mod spec;

#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

pub use report::{
    CommandEnd, DENIALS_MAX, Denial, DenialKind, READS_MAX, ReadPaths, SandboxReport,
    TARGET_BYTES_MAX, read_report,
};
pub use spec::{
    LOOPBACK_NAMES, PrivateFolder, SandboxLimits, SandboxSpec, UNPRIVILEGED_ARG, WatchedReads,
    WorkspaceLayers,
};

#[cfg(target_os = "linux")]
pub use connection::SandboxConnection;
#[cfg(target_os = "linux")]
pub use linux::{can_limit_memory, can_scope_signals, enter_sandbox, enter_unprivileged};
#[cfg(target_os = "macos")]
pub use macos::enter_sandbox;
