//! The hands: files, processes, the network, history, search.
//!
//! Everything that touches the disk, starts a process or fetches for a tool goes through here: files by directory handle, plans carried
//! out exactly, copies taken before an effect so that it can be taken back, one command in its own process group.
//!
//! **It knows no rule, no tool, no model, no session and no window.** It does what it is told inside the folders it was
//! given, says where a path really leads, and never decides whether something may be done.
//!
//! Start reading at [`Workspace`]; then [`apply`] and [`History`].

#![allow(
    clippy::disallowed_methods,
    reason = "this crate is the wall: the only one that touches disk and process, and the network for tools"
)]

pub mod apply;
pub mod atomic;
pub mod clock;
mod dir;
pub mod environment;
pub mod error;
pub mod files;
#[cfg(target_os = "linux")]
pub mod graphics;
pub mod history;
pub mod limits;
pub mod lock;
pub mod net;
#[cfg(all(test, unix))]
mod ordinary_user;
pub mod outputs;
pub mod process;
pub mod sample;
pub mod search;
pub mod spill;
mod steps;
mod temp;
pub mod watch;

pub use apply::apply;
pub use atomic::{
    claim, forget, is_link, names_in, private_folder, read_text, read_text_within, write_atomic,
};
pub use clock::{Clock, CountingIds, FrozenClock, Ids, SystemClock, TimeIds};
pub use environment::{
    Contents, Environment, InPlace, LayerKind, Picture, Probe, RanInPlace, Rehearsed, RoomOptions,
    TakenUp, Walls, contents,
};
pub use error::FileError;
pub use files::{
    Closed, ClosedBy, FileBytes, Looks, PathKind, Tree, TreeItem, TreeLimits, Workspace,
};
pub use history::{ActMeta, Direction, EntryMeta, History, Keep, Looked, RestoreError, Restored};
pub use lock::{Lock, lock, try_lock};
pub use net::{Doorkeeper, FetchLimits, Fetched, Method, Names, Net, NetError, Outgoing, Reply};
pub use process::{
    Answered, Command, Companion, CompanionCommand, Exit, InRoom, Inherited, Life, Program, Ran,
    Spill, accompany, names_a_secret, program_of, run, run_program,
};
pub use search::{
    FileSize, GlobFound, GlobQuery, GrepFound, GrepMatch, GrepQuery, Include, SizesFound, glob,
    grep, sizes,
};
pub use spill::SessionFolder;
pub use watch::Watch;
