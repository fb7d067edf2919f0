//! From what a call says it touches to where that leads: by the disk, or by the rules of a system that is not this one.

use policy::facts::{Facts, OPEN};
use policy::path::{self, Os, Roots};
use policy::pattern::alternatives;
use policy::shell::Touch;
use protocol::{Access, Capability, Fact};
use runtime::{PathKind, Workspace};

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
                for fact in self.touched(touched) {
                    match touched.below {
                        true if !self.is_file(&fact) => facts.add_below(fact),
                        true | false if facts.all().contains(&fact) => {}
                        true | false => facts.add(fact),
                    }
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

    /// Whether it is known that nothing can lie below.
    fn is_file(&self, fact: &Fact) -> bool {
        match self {
            Self::Disk(workspace) => {
                fact.inside && matches!(workspace.kind(&fact.real), Ok(Some(PathKind::File)))
            }
            Self::Names { .. } => false,
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

    /// Facts that were read out of a command: they only tighten.
    fn touched(&self, touched: &Touch) -> Vec<Fact> {
        if NEUTRAL.contains(&touched.target.as_str()) || touched.target.starts_with("/dev/fd/") {
            return Vec::new();
        }
        let mut facts = match touched.literal {
            true => vec![self.fact(&Access::new(touched.capability, touched.target.clone()))],
            false => alternatives(&touched.target)
                .iter()
                .map(|word| self.open(touched, word))
                .collect(),
        };
        for fact in &mut facts {
            fact.derived = true;
        }
        facts
    }

    /// A word that the shell completes: where its beginning leads is certain, as far as it is written out.
    fn open(&self, touched: &Touch, word: &str) -> Fact {
        let bare: String = word
            .chars()
            .filter(|c| !matches!(c, '\'' | '"' | '\\'))
            .collect();
        let fixed = bare.split(['*', '?', '[', '{', '$', '`']).next();
        let written = fixed.unwrap_or_default();
        let whole = Fact {
            target: touched.target.clone(),
            real: bare.clone(),
            doubt: Some(OPEN.to_owned()),
            ..Fact::inside(touched.capability, "")
        };
        if touched.capability == Capability::NetFetch {
            return whole;
        }
        if written.len() == bare.len() {
            let fact = self.fact(&Access::new(touched.capability, bare));
            return Fact {
                target: touched.target.clone(),
                ..fact
            };
        }
        // A home folder is not in the workspace, whoever's it is.
        let home = ["~", "$HOME", "${HOME}"];
        if home.iter().any(|home| bare.starts_with(home)) {
            return Fact {
                inside: false,
                ..whole
            };
        }
        let Some(slash) = written.rfind('/') else {
            return whole;
        };
        let (folder, rest) = bare.split_at(slash + 1);
        let at = self.fact(&Access::new(touched.capability, folder.to_owned()));
        Fact {
            real: format!("{}/{rest}", at.real.trim_end_matches('/'))
                .trim_start_matches(if at.inside { "/" } else { "" })
                .to_owned(),
            inside: at.inside,
            unresolved: at.unresolved,
            ..whole
        }
    }
}
