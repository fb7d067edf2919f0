//! What one call may open: the places that it was judged on, and no others (`S002-97`, `S002-100`).

use std::path::Path;
use std::sync::Arc;

use protocol::{Capability, Fact};

use super::{Workspace, shown};
use crate::FileError;

/// How far a workspace reaches.
#[derive(Debug, Clone, Default)]
pub(super) enum Reach {
    /// Everything in the granted folders: for the engine itself.
    #[default]
    Whole,
    /// What a call was judged on.
    Judged(Arc<[Fact]>),
    /// The names of files that are not closed, and nothing that is in them.
    Names,
}

/// What is done with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Its names are listed, or it is looked at from outside.
    List,
    /// Its content is read.
    Read,
    /// It is created or changed.
    Write,
    /// It goes.
    Delete,
}

impl Workspace {
    /// The same workspace for one call: of everything in it only what these facts name can be opened, where they were
    /// found to lead. A path that leads elsewhere by then is [`FileError::Changed`], and nothing is touched.
    #[must_use]
    pub fn judged(&self, facts: &[Fact]) -> Self {
        Self {
            reach: Reach::Judged(facts.into()),
            ..self.clone()
        }
    }

    /// The same workspace for the engine itself.
    pub(crate) fn whole(&self) -> Self {
        Self {
            reach: Reach::Whole,
            ..self.clone()
        }
    }

    /// The same workspace for finding names that are close to one that was asked for: nothing in it can be opened. A call
    /// that was judged on no path finds none.
    #[must_use]
    pub fn names_only(&self) -> Self {
        let reach = match &self.reach {
            Reach::Judged(facts) if !facts.iter().any(|fact| is_path(fact.capability)) => {
                self.reach.clone()
            }
            Reach::Whole | Reach::Judged(_) | Reach::Names => Reach::Names,
        };
        Self {
            reach,
            ..self.clone()
        }
    }

    /// Whether a name is kept from a listing.
    pub(crate) fn hides(&self, path: &str) -> bool {
        match self.reach {
            Reach::Names => self.is_closed(path),
            Reach::Whole | Reach::Judged(_) => false,
        }
    }

    /// Refuses a place that the call was not judged on. `path` is as it was asked for, `real` where it leads now.
    pub(super) fn admit(&self, path: &str, real: &Path, wanted: Use) -> Result<(), FileError> {
        let open = match &self.reach {
            Reach::Whole => true,
            Reach::Names => wanted == Use::List,
            Reach::Judged(facts) => {
                let mut facts = facts.iter().filter(|fact| fact.inside && !fact.derived);
                facts.any(|fact| self.covers(fact, real, wanted))
            }
        };
        match open {
            true => Ok(()),
            false => Err(FileError::Changed {
                path: path.to_owned(),
            }),
        }
    }

    /// Whether a command was judged, word for word.
    pub(crate) fn admit_command(&self, command: &str) -> Result<(), FileError> {
        let judged = match &self.reach {
            Reach::Whole => true,
            Reach::Names => false,
            Reach::Judged(facts) => facts
                .iter()
                .any(|fact| fact.capability == Capability::ShellRun && fact.target == command),
        };
        match judged {
            true => Ok(()),
            false => Err(FileError::NotJudged {
                command: command.to_owned(),
            }),
        }
    }

    /// What is changed may be read as well, for its preview; what goes is looked at with all that is below it. Below a
    /// folder whatever is closed stays closed.
    fn covers(&self, fact: &Fact, real: &Path, wanted: Use) -> bool {
        let fits = match fact.capability {
            Capability::FsRead => matches!(wanted, Use::List | Use::Read),
            Capability::FsWrite => matches!(wanted, Use::List | Use::Read | Use::Write),
            Capability::FsDelete => matches!(wanted, Use::List | Use::Read | Use::Delete),
            Capability::NetFetch | Capability::ShellRun => false,
        };
        if !fits {
            return false;
        }
        let Ok(below) = real.strip_prefix(super::joined(self.root(), Path::new(&fact.real))) else {
            return false;
        };
        let rel = real.strip_prefix(self.root()).unwrap_or(real);
        below.as_os_str().is_empty()
            || matches!(wanted, Use::List | Use::Read) && !self.is_closed(&shown(rel))
    }
}

fn is_path(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}
