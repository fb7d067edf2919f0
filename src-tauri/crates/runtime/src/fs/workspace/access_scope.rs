//! The scope of one call: the places that it was judged on, and no others (`S002-97`, `S002-100`).

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
    /// The places that a call was judged on.
    Approved(Arc<[ResolvedAccess]>),
    /// The names of files that are not closed, and none of their content.
    NamesOnly,
}

/// The use of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathUse {
    /// The names in the place are listed, or only its metadata is read.
    List,
    /// The content of the place is read.
    Read,
    /// The place is created or changed.
    Write,
    /// The place is removed.
    Delete,
}

impl Workspace {
    /// Returns the workspace for one call: only the places that these facts name can be opened, where they were found
    /// to lead. A path that leads elsewhere by then is [`FileError::Changed`], and nothing is touched. Its processes
    /// inherit of the environment that is set now.
    #[must_use]
    pub fn restricted_to(&self, facts: &[ResolvedAccess]) -> Self {
        Self {
            reach: AccessScope::Approved(facts.into()),
            inherited: self.inherited.fixed(),
            ..self.clone()
        }
    }

    /// Returns the workspace for the engine itself.
    pub(crate) fn unrestricted(&self) -> Self {
        Self {
            reach: AccessScope::Whole,
            ..self.clone()
        }
    }

    /// Returns the workspace for finding names that are close to one that was asked for: nothing in it can be opened. A
    /// call that was judged on no path finds none.
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

    /// Whether a name is hidden from listings.
    pub(crate) fn is_hidden(&self, path: &str) -> bool {
        match self.reach {
            AccessScope::NamesOnly => self.is_closed(path),
            AccessScope::Whole | AccessScope::Approved(_) => false,
        }
    }

    /// Refuses a place that the call was not judged on. `path` is the path that was asked for, `real` the one that it
    /// leads to now.
    pub(super) fn check_access(
        &self,
        path: &str,
        real: &Path,
        path_use: PathUse,
    ) -> Result<(), FileError> {
        let open = match &self.reach {
            AccessScope::Whole => true,
            AccessScope::NamesOnly => path_use == PathUse::List,
            AccessScope::Approved(facts) => {
                let mut facts = facts.iter().filter(|fact| fact.inside && !fact.derived);
                facts.any(|fact| self.covers(fact, real, path_use))
            }
        };
        match open {
            true => Ok(()),
            false => Err(FileError::Changed {
                path: path.to_owned(),
            }),
        }
    }

    /// Refuses a command that was not judged, word for word.
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

    /// Whether a fact covers the use of a place. A path that is changed may be read as well, for its preview; a path
    /// that is removed may be read with everything below it. Below a folder closed files stay closed.
    fn covers(&self, fact: &ResolvedAccess, real: &Path, path_use: PathUse) -> bool {
        let fits = match fact.capability {
            Capability::FsRead => matches!(path_use, PathUse::List | PathUse::Read),
            Capability::FsWrite => {
                matches!(path_use, PathUse::List | PathUse::Read | PathUse::Write)
            }
            Capability::FsDelete => {
                matches!(path_use, PathUse::List | PathUse::Read | PathUse::Delete)
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
            || matches!(path_use, PathUse::List | PathUse::Read)
                && !self.is_closed(&display_path(rel))
    }
}

fn is_path_capability(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}
