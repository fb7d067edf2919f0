//! System access for the engine: files, processes, the network, history, search.
//!
//! Everything that touches the disk, starts a process or fetches for a tool goes through here: files by directory
//! handle, plans carried out exactly, copies for undo taken before an effect, one command in its own process group.
//!
//! **It knows no rule, no tool, no model, no session and no window.** It does what it is told inside the folders it was
//! given, says where a path really leads, and never decides whether something may be done.
//!
//! Start reading at [`Workspace`]; then [`apply_plan`] and [`History`].
//!
//! ```
//! use protocol::{FileChange, Plan};
//! use runtime::{Workspace, apply_plan};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let workspace = Workspace::open(folder.path())?;
//! let plan = Plan::Write(vec![FileChange {
//!     path: "notes.md".to_owned(),
//!     before: None,
//!     after: Some(b"Tidy up.".to_vec()),
//!     from: None,
//! }]);
//! apply_plan(&workspace, &plan)?;
//! assert_eq!(workspace.read_whole("notes.md", 100)?.as_deref(), Some(&b"Tidy up."[..]));
//! // The plan saw no file there, and now there is one.
//! assert!(apply_plan(&workspace, &plan).is_err());
//! # Ok(())
//! # }
//! ```

#![allow(
    clippy::disallowed_methods,
    reason = "this crate is the wall: the only one that touches disk and process, and the network for tools"
)]

pub mod clock;
pub mod dry_run;
pub mod error;
pub mod fs;
pub mod git;
mod inherited_env;
pub mod limits;
pub mod net;
#[cfg(all(test, unix))]
mod ordinary_user;
pub mod process;
mod sandbox_options;
pub mod search;
pub mod undo;

pub use crate::fs::apply::apply_plan;
pub use crate::fs::atomic::{
    create_exclusive, create_private_folder, is_link, list_file_names, read_text, read_text_within,
    remove_if_exists, write_atomic,
};
pub use crate::fs::config_file::ConfigFile;
pub use crate::fs::folder_archive::{
    ArchiveContents, extract_archive, read_manifest, replace_folder, write_archive,
};
pub use crate::fs::folder_contents::{
    list_all_names, read_link_target, remove_empty_folder, remove_tree, visit_files,
};
pub use crate::fs::lock::{FileLock, lock_file, try_lock_file, try_share_lock_file};
pub use crate::fs::scratch_folder::ScratchFolder;
pub use crate::fs::session_folder::SessionFolder;
pub use crate::fs::watch::FileWatcher;
pub use crate::fs::workspace::{
    ClosedFiles, ClosedSource, FileBytes, PathInspection, PathKind, Tree, TreeItem, TreeLimits,
    Workspace,
};
pub use clock::{
    Clock, CountingIdGenerator, FrozenClock, IdGenerator, SystemClock, TimeIdGenerator,
};
pub use dry_run::{
    CacheUse, ContentPair, DryRunEnvironment, DryRunOutput, HomeCache, InPlaceResult, InPlaceRun,
    Isolation, KeptCache, KeptState, LayerKind, LayeredChanges, LayeredCompanion, PrivateCopy,
    RecoveredRuns, SandboxOptions, SandboxProbe, SandboxRequest, SkippedPaths, Snapshot,
    describe_changed_rights, is_home_state, list_home_caches, read_contents,
};
pub use error::FileError;
pub use net::{
    FetchLimits, HostResolver, HttpRequest, HttpResponse, LocalListener, LocalStream, NetError,
    NetworkClient, NetworkPolicy, RequestMethod, connect_local,
};
pub use process::{
    CommandExit, CommandRun, CommandStreams, Companion, CompanionCommand, EndedProgram, ErrorPipe,
    ErrorText, InheritedEnv, OutputSpill, ProcessLifetime, ProgramCommand, ProgramResult,
    SandboxOutcome, ShellCommand, TerminalEnv, find_program, is_secret_name, run, run_program,
    start_companion, start_detached,
};
pub use search::{
    FileSize, FileSizes, FileTraits, GlobInclude, GlobQuery, GlobResult, GrepMatch, GrepQuery,
    GrepResult, NamedFile, find_files, find_same_files, list_file_sizes, read_named_files,
    search_lines,
};
pub use undo::{
    History, RemovedEntries, RestoreCheck, RestoreError, RestoreMeta, RestoreResult,
    RetentionLimits, UndoDirection, UndoEntryMeta,
};
