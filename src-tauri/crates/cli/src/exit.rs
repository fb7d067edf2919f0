//! How the program ends: an exit code for scripts and an error message for people.

use protocol::UserError;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitReason {
    /// Everything was done.
    Done = 0,
    /// The run or the call failed, or what was asked could not be done.
    Failed = 1,
    /// The command line, or something that it names, is wrong.
    Usage = 2,
    /// The call, or at least one call of the run, was denied.
    Denied = 3,
    /// The record, the settings or the rules cannot be used.
    Unusable = 4,
    /// The run came to one of its limits.
    Limited = 5,
    /// An undo or redo would overwrite what changed since.
    Conflict = 6,
    /// Stopped by the keyboard.
    Interrupted = 130,
}

/// An end before the work was done.
#[derive(Debug)]
pub(crate) enum CliError {
    /// An error to report.
    User(ExitReason, Box<UserError>),
    /// The output was closed by its reader: nothing to report.
    OutputClosed,
}

impl CliError {
    /// Returns an error for a command line that is wrong, or that names something wrong, with its next step.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::usage_error(UserError::new(message, hint))
    }

    /// Returns an error for a record, settings or rules that cannot be used, with its next step.
    pub(crate) fn config(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::config_error(UserError::new(message, hint))
    }

    /// Returns the usage error of a fault.
    pub(crate) fn usage_error(fault: UserError) -> Self {
        Self::User(ExitReason::Usage, Box::new(fault))
    }

    /// Returns the error of a fault in the record, the settings or the rules.
    pub(crate) fn config_error(fault: UserError) -> Self {
        Self::User(ExitReason::Unusable, Box::new(fault))
    }

    /// Returns an error for a request that could not be done.
    pub(crate) fn failure(message: &str) -> Self {
        UserError::new(message, "").into()
    }

    /// Returns an error for an answer of the engine that is not of the query's kind.
    pub(crate) fn unexpected_answer() -> Self {
        Self::failure("The engine answered a different question.")
    }

    /// Returns the error with its cause.
    pub(crate) fn with_cause(self, error: &dyn std::error::Error) -> Self {
        match self {
            Self::User(code, fault) => Self::User(code, Box::new(fault.with_source(error))),
            Self::OutputClosed => Self::OutputClosed,
        }
    }
}

impl From<UserError> for CliError {
    fn from(fault: UserError) -> Self {
        Self::User(ExitReason::Failed, Box::new(fault))
    }
}

/// Result of a subcommand.
pub(crate) type CliResult = Result<ExitReason, CliError>;
