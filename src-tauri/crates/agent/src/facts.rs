//! From what a call says it touches to where that leads: by the disk, or by the rules of a system that is not this one.

use policy::Facts;
use policy::path::{self, Os, Roots};
use policy::shell::Touch;
use protocol::{Access, Capability, Fact};
use runtime::Workspace;

/// What paths are looked up in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ground<'a> {
    /// This machine's disk.
    Disk(&'a Workspace),
    /// No disk: names are taken as they stand.
    Names {
        /// Whose rules for paths hold.
        os: Os,
        /// The root of the workspace, absolute.
        root: &'a str,
    },
}

/// Places that hold nothing and keep nothing.
const NEUTRAL: [&str; 6] = [
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "-",
];

impl Ground<'_> {
    /// Where each access leads, and what else a command touches.
    pub fn facts(&self, accesses: &[Access]) -> Facts {
        let mut facts = Facts::default();
        for access in accesses {
            facts.add(self.fact(access));
            let read = match access.capability {
                Capability::ShellRun => facts.command(&access.target),
                Capability::FsRead
                | Capability::FsWrite
                | Capability::FsDelete
                | Capability::NetFetch => None,
            };
            let touches = read.map(|read| read.touches().to_vec());
            for touched in touches.iter().flatten() {
                if let Some(fact) = self.touched(touched)
                    && !facts.all().contains(&fact)
                {
                    facts.add(fact);
                }
            }
        }
        facts
    }

    /// Where one access leads.
    pub fn fact(&self, access: &Access) -> Fact {
        let mut fact = Fact::inside(access.capability, access.target.clone());
        match access.capability {
            Capability::ShellRun => fact,
            // A host that only its provider knows.
            Capability::NetFetch if access.target.is_empty() => fact,
            Capability::NetFetch => {
                let host = policy::host::resolve(&access.target);
                fact.real = host.real;
                fact.inside = host.unresolved.is_none();
                fact.unresolved = host.unresolved;
                fact.doubt = path::doubt(&access.target);
                fact
            }
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete => self.path(access),
        }
    }

    fn path(&self, access: &Access) -> Fact {
        let (os, root) = match self {
            Self::Disk(workspace) => (Os::HERE, workspace.root().to_string_lossy()),
            Self::Names { os, root } => (*os, (*root).into()),
        };
        let roots = Roots {
            workspace: &root,
            readable: &[],
        };
        let named = path::resolve(os, &roots, "", &access.target);
        let leads_home = access.target.starts_with('~') && !named.inside;
        match self {
            Self::Disk(workspace) if named.unresolved.is_none() && !leads_home => Fact {
                doubt: named.doubt,
                ..workspace.resolve(access)
            },
            Self::Disk(_) | Self::Names { .. } => Fact {
                capability: access.capability,
                target: access.target.clone(),
                real: named.real,
                inside: named.inside,
                unresolved: named.unresolved,
                doubt: named.doubt,
                derived: false,
            },
        }
    }

    /// A fact that was read out of a command: it only tightens.
    fn touched(&self, touched: &Touch) -> Option<Fact> {
        if NEUTRAL.contains(&touched.target.as_str()) || touched.target.starts_with("/dev/fd/") {
            return None;
        }
        if touched.literal {
            let fact = self.fact(&Access::new(touched.capability, touched.target.clone()));
            return Some(Fact {
                derived: true,
                ..fact
            });
        }
        // What the shell puts in is not known; a home folder is not in the workspace, whoever's it is.
        let home = ["~", "$HOME", "${HOME}"]
            .iter()
            .any(|home| touched.target.starts_with(home));
        Some(Fact {
            derived: true,
            inside: !home,
            ..Fact::inside(touched.capability, touched.target.clone())
        })
    }
}
