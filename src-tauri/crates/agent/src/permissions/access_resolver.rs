//! Resolution of the accesses that a call declares: on the disk, or by the path rules of another operating system.

use std::collections::HashSet;

use policy::facts::{CallFacts, OPEN_WORD_DOUBT};
use policy::path::{self, Os, Roots};
use policy::patterns::expand_braces;
use policy::shell::ShellAccess;
use protocol::{Access, Capability, ResolvedAccess};
use runtime::{PathKind, Workspace};
use tools::Mentions;

use crate::permissions::remote_uses::add_remote_uses;

/// Source that paths are resolved with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AccessResolver<'a> {
    /// This machine's disk.
    Disk(&'a Workspace),
    /// No disk: names are taken as written.
    Names {
        /// Operating system whose path rules apply.
        os: Os,
        /// The root of the workspace, absolute.
        root: &'a str,
    },
}

/// Devices that hold and store no data.
const NEUTRAL_DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "-",
];

/// Directories of programs and their dependencies, which everyone may read and only the system's owner may change.
const PROGRAM_FOLDERS: [&str; 8] = [
    "/usr/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "/lib64/",
    "/opt/",
    "/nix/store/",
    "/Library/",
];

/// Returns the reason to ask a person about a word that names the root or a home folder itself and nothing in it; none
/// for any other word. A word that is read recursively, written or removed is not a mere name.
fn name_only_reason(touched: &ShellAccess) -> Option<&'static str> {
    let is_read = touched.capability == Capability::FsRead || touched.is_possible_use;
    let bare = touched.target.trim_matches('"');
    let name = bare.trim_end_matches('/');
    match name {
        _ if !is_read || touched.is_recursive => None,
        "" if bare.starts_with('/') => Some("It names the root of this machine."),
        "~" | "$HOME" | "${HOME}" => Some("It names a home folder."),
        _ => None,
    }
}

/// Whether a command only reads, as far as is known, what an access names, and that only if a text is empty that is not
/// known.
fn is_guessed_read(touched: &ShellAccess) -> bool {
    touched.is_guess && (touched.capability == Capability::FsRead || touched.is_possible_use)
}

impl AccessResolver<'_> {
    /// Resolves each access, and the further accesses of a command.
    pub fn resolve_accesses(&self, accesses: &[Access]) -> CallFacts {
        let mut facts = CallFacts::default();
        let (mut guesses, mut others) = (HashSet::new(), HashSet::new());
        for access in accesses {
            let fact = self.resolve_access(access);
            for fact in self.with_aliases(fact) {
                facts.add(fact);
            }
            let read = match access.capability {
                Capability::ShellRun => facts.find_command(&access.target),
                Capability::FsRead
                | Capability::FsWrite
                | Capability::FsDelete
                | Capability::NetFetch => None,
            };
            let touches = read.map(|read| read.accesses().to_vec());
            for touched in touches.iter().flatten() {
                let is_guess = is_guessed_read(touched);
                for fact in self.resolve_touch(touched) {
                    match is_guess {
                        true => guesses.insert(fact.clone()),
                        false => others.insert(fact.clone()),
                    };
                    match touched.is_recursive {
                        _ if touched.is_possible_use => facts.add_use(fact),
                        true if !self.is_file(&fact) => facts.add_recursive(fact),
                        true | false if facts.all().contains(&fact) => {}
                        true | false => facts.add(fact),
                    }
                }
            }
        }
        facts.set_guesses(guesses.difference(&others).cloned().collect());
        if let Self::Disk(workspace) = self {
            add_remote_uses(&mut facts, workspace);
        }
        facts
    }

    /// Adds the accesses that the arguments of an external tool mention, which only restrict the call further.
    pub fn add_mentions(&self, facts: &mut CallFacts, mentions: &Mentions) {
        let add = |facts: &mut CallFacts, fact: ResolvedAccess| {
            let fact = ResolvedAccess {
                derived: true,
                ..fact
            };
            if !facts.all().contains(&fact) {
                facts.add(fact);
            }
        };
        for access in &mentions.accesses {
            add(facts, self.resolve_access(access));
            let command = facts.find_command(&access.target);
            let touches = command.map(|read| read.accesses().to_vec());
            for touched in touches.iter().flatten() {
                for fact in self.resolve_touch(touched) {
                    add(facts, fact);
                }
            }
        }
        for word in &mentions.words {
            for capability in [Capability::FsRead, Capability::FsWrite] {
                let fact = self.resolve_access(&Access::new(capability, word.as_str()));
                if self.path_exists(&fact) {
                    add(facts, fact);
                }
            }
        }
        if mentions.is_cut {
            let doubt = "It names more than is looked at.".to_owned();
            let whole = ResolvedAccess {
                doubt: Some(doubt),
                ..ResolvedAccess::new_inside(Capability::FsRead, "the arguments")
            };
            add(facts, whole);
        }
    }

    /// Whether the path of a fact exists in the workspace.
    fn path_exists(&self, fact: &ResolvedAccess) -> bool {
        match self {
            Self::Disk(workspace) => {
                let is_inside = fact.inside && fact.unresolved.is_none() && !fact.real.is_empty();
                is_inside && matches!(workspace.path_kind(&fact.real), Ok(Some(_)))
            }
            Self::Names { .. } => false,
        }
    }

    /// Resolves one access.
    pub fn resolve_access(&self, access: &Access) -> ResolvedAccess {
        let mut fact = ResolvedAccess::new_inside(access.capability, access.target.clone());
        match access.capability {
            Capability::ShellRun => fact,
            // A host that only its provider knows.
            Capability::NetFetch if access.target.is_empty() => fact,
            Capability::NetFetch => {
                let host = policy::patterns::host::resolve_host(&access.target);
                fact.real = host.real;
                fact.inside = host.unresolved.is_none();
                fact.unresolved = host.unresolved;
                fact.doubt = path::find_hidden_char(&access.target);
                fact
            }
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
                self.resolve_path(access)
            }
        }
    }

    /// Returns a fact, and one for each other name of the same file. Writing to something that is not a regular file is
    /// marked as doubtful.
    fn with_aliases(&self, mut fact: ResolvedAccess) -> Vec<ResolvedAccess> {
        let is_file = matches!(fact.capability, Capability::FsRead | Capability::FsWrite);
        let Self::Disk(workspace) = self else {
            return vec![fact];
        };
        if !is_file || !fact.inside || fact.unresolved.is_some() || fact.doubt.is_some() {
            return vec![fact];
        }
        let looks = workspace.inspect_path(&fact);
        let is_written = fact.capability == Capability::FsWrite;
        if let Some(special) = looks.special.filter(|_| is_written) {
            fact.doubt = Some(format!(
                "It is {special}, and what is written there goes on."
            ));
        } else if looks.has_more && is_written {
            fact.doubt = Some("The file has other names that were not found.".to_owned());
        }
        let others = looks.names.into_iter().map(|name| ResolvedAccess {
            target: name.clone(),
            real: name,
            ..fact.clone()
        });
        let others: Vec<ResolvedAccess> = others.collect();
        std::iter::once(fact).chain(others).collect()
    }

    /// Whether the path is known to be a file, so that nothing can lie below it.
    fn is_file(&self, fact: &ResolvedAccess) -> bool {
        match self {
            Self::Disk(workspace) => {
                fact.inside && matches!(workspace.path_kind(&fact.real), Ok(Some(PathKind::File)))
            }
            Self::Names { .. } => false,
        }
    }

    fn resolve_path(&self, access: &Access) -> ResolvedAccess {
        let (os, root) = match self {
            Self::Disk(workspace) => (Os::CURRENT, workspace.root().to_string_lossy()),
            Self::Names { os, root } => (*os, (*root).into()),
        };
        let roots = Roots {
            workspace: &root,
            readable: &[],
        };
        let named = path::resolve_path(os, &roots, "", &access.target);
        let leads_home = access.target.starts_with('~') && !named.inside;
        match self {
            Self::Disk(workspace) if named.unresolved.is_none() && !leads_home => ResolvedAccess {
                doubt: named.doubt,
                ..workspace.resolve(access)
            },
            Self::Disk(_) | Self::Names { .. } => ResolvedAccess {
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

    /// Resolves an access that was parsed from a command; such facts only restrict the call further.
    fn resolve_touch(&self, touched: &ShellAccess) -> Vec<ResolvedAccess> {
        if NEUTRAL_DEVICES.contains(&touched.target.as_str())
            || touched.target.starts_with("/dev/fd/")
        {
            return Vec::new();
        }
        if let Some(doubt) = name_only_reason(touched) {
            return vec![ResolvedAccess {
                doubt: Some(doubt.to_owned()),
                derived: true,
                ..ResolvedAccess::new_inside(touched.capability, touched.target.clone())
            }];
        }
        let access = Access::new(touched.capability, touched.target.clone());
        let facts: Vec<ResolvedAccess> = match (touched.is_literal, touched.is_possible_use) {
            (true, false) => vec![self.resolve_access(&access)],
            (true, true) => self.resolve_word(&access).into_iter().collect(),
            (false, _) => expand_braces(&touched.target)
                .iter()
                .map(|word| self.unresolved_fact(touched, word))
                .collect(),
        };
        let facts = facts.into_iter().flat_map(|fact| self.with_aliases(fact));
        facts
            .map(|fact| ResolvedAccess {
                derived: true,
                ..fact
            })
            .collect()
    }

    /// Resolves a word that may be a path; none if it is not one.
    fn resolve_word(&self, access: &Access) -> Option<ResolvedAccess> {
        let fact = self.resolve_access(access);
        let fact = match self {
            // Somebody's home is there, whoever's it is.
            Self::Disk(_) if access.target.starts_with('~') && !fact.inside => fact,
            Self::Disk(workspace) => ResolvedAccess {
                doubt: fact.doubt,
                ..workspace.resolve_command_word(access)?
            },
            Self::Names { .. } => fact,
        };
        let is_programs = !fact.inside
            && fact.unresolved.is_none()
            && PROGRAM_FOLDERS
                .iter()
                .any(|place| fact.real.starts_with(place));
        Some(match is_programs {
            true => ResolvedAccess {
                inside: true,
                doubt: Some("It lies outside the workspace, where programs are.".to_owned()),
                ..fact
            },
            false => fact,
        })
    }

    /// Returns the fact of a word that the shell expands: only its literal beginning is resolved.
    fn unresolved_fact(&self, touched: &ShellAccess, word: &str) -> ResolvedAccess {
        let bare: String = word
            .chars()
            .filter(|c| !matches!(c, '\'' | '"' | '\\'))
            .collect();
        let fixed = bare.split(['*', '?', '[', '{', '$', '`']).next();
        let written = fixed.unwrap_or_default();
        let access = ResolvedAccess {
            target: touched.target.clone(),
            real: bare.clone(),
            doubt: Some(OPEN_WORD_DOUBT.to_owned()),
            ..ResolvedAccess::new_inside(touched.capability, "")
        };
        if touched.capability == Capability::NetFetch {
            return access;
        }
        if written.len() == bare.len() {
            let fact = self.resolve_access(&Access::new(touched.capability, bare));
            return ResolvedAccess {
                target: touched.target.clone(),
                ..fact
            };
        }
        // A home folder is not in the workspace, whoever's it is.
        let home = ["~", "$HOME", "${HOME}"];
        if home.iter().any(|home| bare.starts_with(home)) {
            return ResolvedAccess {
                inside: false,
                ..access
            };
        }
        let Some(slash) = written.rfind('/') else {
            return access;
        };
        let (folder, rest) = bare.split_at(slash + 1);
        let at = self.resolve_access(&Access::new(touched.capability, folder.to_owned()));
        ResolvedAccess {
            real: format!("{}/{rest}", at.real.trim_end_matches('/'))
                .trim_start_matches(if at.inside { "/" } else { "" })
                .to_owned(),
            inside: at.inside,
            unresolved: at.unresolved,
            ..access
        }
    }
}
