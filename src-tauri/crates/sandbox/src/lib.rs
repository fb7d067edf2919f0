//! The sealed room: where a command runs so that what it does can be looked at before it happens, or cannot reach further
//! than it may.
//!
//! Here stands what a room is made of ([`Room`]), what its program says of it ([`Told`]) and how it is entered: on Linux with all
//! its walls, on macOS by what Seatbelt has ([`seatbelt`]).
//! The program `countersign-room` makes ready, reads a room from its standard input, enters it with everything it has closed
//! behind it, and runs one command; it has one thread and no runtime, so that it can fork.
//!
//! **It does not know why a command runs, what its effects mean, or what a person thinks of them.** What cannot be closed is
//! an error: a command never runs in a room with a hole in it.
//!
//! Start reading at [`Room`], then `linux/mod.rs`, which enters it from top to bottom.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls of a room are files and processes: it is built with the kernel's own calls"
)]

mod room;
pub mod seatbelt;
mod told;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "linux")]
mod outside;

pub use room::{BARE, Layers, Limits, Room};
pub use told::{End, REFUSED_MAX, Refused, RefusedKind, TARGET_BYTES_MAX, Told, read_told};

#[cfg(target_os = "linux")]
pub use linux::{enter, enter_bare, keeps_memory, keeps_signals_in};
#[cfg(target_os = "macos")]
pub use macos::enter;
#[cfg(target_os = "linux")]
pub use outside::Outside;
