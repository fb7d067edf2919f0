//! Files of a workspace, and the application's own files on disk.

pub mod apply;
pub(crate) mod at_path;
pub mod atomic;
pub mod config_file;
pub(crate) mod dir;
pub(crate) mod fault_injection;
pub mod folder_archive;
pub mod folder_contents;
pub mod lock;
pub mod output_retention;
pub(crate) mod repository_folders;
pub mod sample;
pub mod scratch_folder;
pub mod session_folder;
pub(crate) mod temp;
pub mod watch;
pub mod workspace;
