//! How the program ends: a code for scripts and a fault for people.

use protocol::Fault;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
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
pub(crate) enum Ending {
    /// Something went wrong.
    Fault(Code, Box<Fault>),
    /// Nobody reads the output any more: no reason to complain.
    Unread,
}

impl Ending {
    /// The command line, or something that it names, is wrong.
    pub(crate) fn usage(fault: Fault) -> Self {
        Self::Fault(Code::Usage, Box::new(fault))
    }

    /// The record, the settings or the rules cannot be used.
    pub(crate) fn unusable(fault: Fault) -> Self {
        Self::Fault(Code::Unusable, Box::new(fault))
    }

    /// It could not be done.
    pub(crate) fn failed(message: &str) -> Self {
        Fault::new(message, "").into()
    }

    /// The same with its cause.
    pub(crate) fn because(self, error: &dyn std::error::Error) -> Self {
        match self {
            Self::Fault(code, fault) => Self::Fault(code, Box::new(fault.caused_by(error))),
            Self::Unread => Self::Unread,
        }
    }
}

impl From<Fault> for Ending {
    fn from(fault: Fault) -> Self {
        Self::Fault(Code::Failed, Box::new(fault))
    }
}

/// What a verb comes to.
pub(crate) type Ended = Result<Code, Ending>;
