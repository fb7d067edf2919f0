//! Reasons why a file or process operation failed, each as a sentence that names the path and the next step.

use std::io;

/// An error of a file or process operation. The display text is for the model and the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// There is no file or folder at the path.
    #[error(
        "There is no file or folder at `{path}`. Check the name, or list the folder with glob."
    )]
    NotFound {
        /// Path as the caller gave it.
        path: String,
    },
    /// A long output that was kept for a while and removed since.
    #[error(
        "The output at `{path}` was removed on {on} to save space. Make the call again if it is still needed."
    )]
    OutputRemoved {
        /// Path as the caller gave it.
        path: String,
        /// The day, in UTC.
        on: String,
    },
    /// A folder stands where a file was expected.
    #[error("`{path}` is a folder, not a file. Name a file in it, or list it with glob.")]
    IsFolder {
        /// Path as the caller gave it.
        path: String,
    },
    /// A file stands where a folder was expected, at the path or above it.
    #[error("`{path}` is not a folder, or a part of it is a file. Check the path with glob.")]
    NotAFolder {
        /// Path as the caller gave it.
        path: String,
    },
    /// The system forbids it.
    #[error(
        "The system does not permit this for `{path}`. Check who owns it and its mode, or choose another path."
    )]
    NoPermission {
        /// Path as the caller gave it.
        path: String,
    },
    /// The path leads out of every granted folder.
    #[error(
        "`{path}` leads to `{real}`, outside the workspace. Only paths inside the workspace can be used."
    )]
    Outside {
        /// Path as the caller gave it.
        path: String,
        /// Real target of the path, absolute.
        real: String,
    },
    /// More bytes than the limit.
    #[error(
        "`{path}` is {bytes} bytes long; at most {bytes_max} can be handled at once. Read it in ranges, or work on a smaller file."
    )]
    TooLarge {
        /// Path as the caller gave it.
        path: String,
        /// Its length.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// More entries than the limit.
    #[error(
        "There are more than {items_max} entries below `{path}`. Choose a smaller folder, or take it in parts."
    )]
    TooMany {
        /// Path as the caller gave it.
        path: String,
        /// The limit.
        items_max: usize,
    },
    /// A pipe, a socket or a device stands at the path.
    #[error("`{path}` is a pipe, socket or device, not a regular file. Choose a regular file.")]
    Special {
        /// Path as the caller gave it.
        path: String,
    },
    /// The path changed since it was looked at.
    #[error(
        "`{path}` changed since it was looked at, so nothing was done. Read it again, then repeat."
    )]
    Changed {
        /// Path as the caller gave it.
        path: String,
    },
    /// A command that the call was not judged on.
    #[error(
        "`{command}` is not the command that was judged, so it was not run. Call the tool again with what is to run."
    )]
    NotJudged {
        /// The command.
        command: String,
    },
    /// No space left on the device, or a quota is used up.
    #[error("The disk is full, so `{path}` could not be written. Free some space, then repeat.")]
    DiskFull {
        /// Path as the caller gave it.
        path: String,
    },
    /// A pattern that cannot be understood.
    #[error("The pattern `{pattern}` cannot be used: {reason}. Correct the pattern.")]
    Pattern {
        /// Pattern as the caller gave it.
        pattern: String,
        /// The error in the pattern, with its position where it is known.
        reason: String,
    },
    /// A command cannot run in a sandbox, or did more there than can be reviewed.
    #[error("{reason}")]
    SandboxUnavailable {
        /// The obstacle and the next step, as sentences.
        reason: String,
    },
    /// The person or the engine cancelled the operation.
    #[error("Stopped before it was finished.")]
    Cancelled,
    /// Anything else, with the system's own words.
    #[error("`{path}` could not be used: {source_text}. Check the path and repeat.")]
    Other {
        /// Path as the caller gave it.
        path: String,
        /// The cause.
        source_text: String,
    },
}

impl FileError {
    /// Converts the system's error about `path`.
    pub fn from_io(path: impl Into<String>, error: &io::Error) -> Self {
        let path = path.into();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NoPermission { path }
            }
            io::ErrorKind::IsADirectory => Self::IsFolder { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::from_display(path, error),
        }
    }

    /// Returns the error for a command that cannot run in a sandbox, with the obstacle and the next step.
    pub(crate) fn sandbox_unavailable(reason: impl Into<String>) -> Self {
        Self::SandboxUnavailable {
            reason: reason.into(),
        }
    }

    /// Returns an error in other words than the named kinds have.
    pub fn from_display(path: impl Into<String>, source: impl std::fmt::Display) -> Self {
        Self::Other {
            path: path.into(),
            source_text: source.to_string(),
        }
    }
}

impl From<FileError> for protocol::UserError {
    fn from(error: FileError) -> Self {
        protocol::UserError::new(error.to_string(), "")
    }
}

/// Whether an open was refused because a link or another device stood where none was a moment before.
pub(crate) fn is_link_refused(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let code = error.raw_os_error();
        [Errno::LOOP, Errno::XDEV, Errno::AGAIN]
            .iter()
            .any(|errno| code == Some(errno.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::InvalidInput
    }
}
