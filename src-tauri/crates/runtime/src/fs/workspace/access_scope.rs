//! What one call may open: the places that it was judged on, and no others (`S002-97`, `S002-100`).

use std::path::Path;
use std::sync::Arc;

use protocol::{Capability, ResolvedAccess};

use crate::FileError;
use crate::fs::workspace::{Workspace, display_path};

/// How far a workspace reaches.
#[derive(Debug, Clone, Default)]
pub(super) enum AccessScope {
    /// Everything in the granted folders: for the engine itself.
    #[default]
    Whole,
    /// What a call was judged on.
    Approved(Arc<[ResolvedAccess]>),
    /// The names of files that are not closed, and nothing that is in them.
    NamesOnly,
}

/// What is done with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathUse {
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
    pub fn restricted_to(&self, facts: &[ResolvedAccess]) -> Self {
        Self {
            reach: AccessScope::Approved(facts.into()),
            ..self.clone()
        }
    }

    /// The same workspace for the engine itself.
    pub(crate) fn unrestricted(&self) -> Self {
        Self {
            reach: AccessScope::Whole,
            ..self.clone()
        }
    }

    /// The same workspace for finding names that are close to one that was asked for: nothing in it can be opened. A call
    /// that was judged on no path finds none.
    #[must_use]
    pub fn names_only(&self) -> Self {
        let reach = match &self.reach {
            AccessScope::Approved(facts)
                if !facts.iter().any(|fact| is_path_capability(fact.capability)) =>
            {
                self.reach.clone()
            }
            AccessScope::Whole | AccessScope::Approved(_) | AccessScope::NamesOnly => {
                AccessScope::NamesOnly
            }
        };
        Self {
            reach,
            ..self.clone()
        }
    }

    /// Whether a name is kept from a listing.
    pub(crate) fn is_hidden(&self, path: &str) -> bool {
        match self.reach {
            AccessScope::NamesOnly => self.is_closed(path),
            AccessScope::Whole | AccessScope::Approved(_) => false,
        }
    }

    /// Refuses a place that the call was not judged on. `path` is as it was asked for, `real` where it leads now.
    pub(super) fn check_access(
        &self,
        path: &str,
        real: &Path,
        wanted: PathUse,
    ) -> Result<(), FileError> {
        let open = match &self.reach {
            AccessScope::Whole => true,
            AccessScope::NamesOnly => wanted == PathUse::List,
            AccessScope::Approved(facts) => {
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
    pub(crate) fn check_command(&self, command: &str) -> Result<(), FileError> {
        let judged = match &self.reach {
            AccessScope::Whole => true,
            AccessScope::NamesOnly => false,
            AccessScope::Approved(facts) => facts
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
    fn covers(&self, fact: &ResolvedAccess, real: &Path, wanted: PathUse) -> bool {
        let fits = match fact.capability {
            Capability::FsRead => matches!(wanted, PathUse::List | PathUse::Read),
            Capability::FsWrite => matches!(wanted, PathUse::List | PathUse::Read | PathUse::Write),
            Capability::FsDelete => {
                matches!(wanted, PathUse::List | PathUse::Read | PathUse::Delete)
            }
            Capability::NetFetch | Capability::ShellRun => false,
        };
        if !fits {
            return false;
        }
        let Ok(below) = real.strip_prefix(crate::fs::workspace::join_path(
            self.root(),
            Path::new(&fact.real),
        )) else {
            return false;
        };
        let rel = real.strip_prefix(self.root()).unwrap_or(real);
        below.as_os_str().is_empty()
            || matches!(wanted, PathUse::List | PathUse::Read)
                && !self.is_closed(&display_path(rel))
    }
}

fn is_path_capability(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}
