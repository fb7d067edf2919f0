//! The surface of one call: what its tool and its agent's manifest require together, as patterns (`S002-09`,
//! `S002-94`).

use globset::escape;
use protocol::interface::requirements::{ShellRunRequirement, VariableValues};
use protocol::{Capability, RequirementSet, ResolvedAccess, UserError};

use crate::path::Os;
use crate::patterns::host::HostPattern;
use crate::patterns::{PathForms, PathPattern, is_absolute, join_root};
use crate::rules::quote_truncated;
use crate::shell::ShellFacts;

/// The limit of a call's accesses, whatever the rules say. An access that the surface does not name is closed: the
/// empty surface closes everything (`S002-59`).
#[derive(Debug, Clone)]
pub struct Surface {
    /// Owner of the surface, as a sentence names it: "the tool `x`".
    owner: String,
    /// The workspace, absolute; empty if none is open.
    root: String,
    read: SurfacePaths,
    write: SurfacePaths,
    hosts: Vec<HostPattern>,
    shell: Vec<ShellRunRequirement>,
}

/// Patterns of paths, all of them absolute.
#[derive(Debug, Clone, Default)]
struct SurfacePaths {
    /// Whether the patterns cover everything in the workspace, which is checked so often that it is computed
    /// beforehand.
    whole: bool,
    patterns: Vec<PathPattern>,
    /// For each pattern, the folder or file that everything that it names lies at or below.
    places: Vec<String>,
}

impl Surface {
    /// Compiles every pattern, with the current values of the variables.
    ///
    /// # Errors Names the pattern, its owner, and what is wrong with it (`S002-60`).
    pub fn new(
        requires: &RequirementSet,
        owner: &str,
        around: &VariableValues,
        os: Os,
    ) -> Result<Self, UserError> {
        // A place is what it is called, whatever is in its name.
        let literal = |place: &String| escape(slashed(place, os).trim_end_matches('/'));
        let escaped = VariableValues {
            workspace: around.workspace.iter().map(literal).collect(),
            ad_hoc: around.ad_hoc.iter().map(literal).collect(),
            user_data: around.user_data.as_ref().map(literal),
        };
        let expanded = requires.compile(owner)?.expand(&escaped);
        let root = escaped.workspace.first().map(String::as_str);
        let bad = |why: String| {
            UserError::new(
                format!("What {owner} requires cannot be understood: {why}."),
                "Correct the pattern.",
            )
        };
        let paths = |patterns: &[String]| SurfacePaths::new(patterns, root, os).map_err(bad);
        let hosts = expanded.hosts.iter().map(|host| HostPattern::new(host));
        Ok(Self {
            owner: owner.to_owned(),
            root: around
                .workspace
                .first()
                .map(|root| slashed(root, os))
                .unwrap_or_default(),
            read: paths(&expanded.read)?,
            write: paths(&expanded.write)?,
            hosts: hosts.collect::<Result<_, String>>().map_err(bad)?,
            shell: expanded.shell,
        })
    }

    /// Checks that requirements can be compiled, wherever they will be used.
    ///
    /// # Errors As [`Self::new`].
    pub fn validate(requires: &RequirementSet, owner: &str) -> Result<(), UserError> {
        let somewhere = VariableValues {
            workspace: vec!["/workspace".to_owned()],
            ad_hoc: vec!["/open".to_owned()],
            user_data: Some("/data".to_owned()),
        };
        Self::new(requires, owner, &somewhere, Os::CURRENT).map(drop)
    }

    /// Returns the surface with one more folder, by its absolute path, if the surface reads files at all.
    ///
    /// # Errors A path that no pattern can hold.
    pub fn with_readable(mut self, folder: &str, os: Os) -> Result<Self, String> {
        if !self.read.patterns.is_empty() {
            let folder = escape(&slashed(folder, os));
            self.read.add(&format!("{folder}/**"), os)?;
        }
        Ok(self)
    }

    /// The folder or file that a person would have to open first, where the requirements name something to read that
    /// lies outside of every granted folder (M15).
    pub fn folder_to_open(&self, fact: &ResolvedAccess) -> Option<&str> {
        let is_asked = fact.capability == Capability::FsRead
            && !fact.inside
            && !fact.derived
            && fact.unresolved.is_none();
        let forms = PathForms {
            real: &fact.real,
            root: None,
            inside: true,
        };
        let mut named = self.read.patterns.iter().zip(&self.read.places);
        let (_, place) = named.find(|(pattern, _)| is_asked && pattern.allows(&forms))?;
        Some(place)
    }

    /// Returns why an access lies beyond the surface, if it does. `read` holds the shell facts of the command, if the
    /// access is one. Accesses that were only read out of a command are judged by rules and enforced by the sandbox of
    /// the command.
    pub fn find_denial_reason(
        &self,
        fact: &ResolvedAccess,
        read: Option<&ShellFacts>,
    ) -> Option<String> {
        if fact.derived {
            return None;
        }
        let covered = match fact.capability {
            Capability::FsRead => self.read.covers(fact, &self.root),
            Capability::FsWrite | Capability::FsDelete => self.write.covers(fact, &self.root),
            // A host that only its provider knows.
            Capability::NetFetch if fact.target.is_empty() => !self.hosts.is_empty(),
            Capability::NetFetch => self.hosts.iter().any(|host| host.allows(&fact.real)),
            Capability::ShellRun => self.allows_command(fact, read),
        };
        (!covered).then(|| {
            format!(
                "{} of `{}` is beyond what {} requires.",
                fact.capability.as_str(),
                quote_truncated(&fact.target),
                self.owner
            )
        })
    }

    fn allows_command(&self, fact: &ResolvedAccess, read: Option<&ShellFacts>) -> bool {
        let whole = |run: &ShellRunRequirement| {
            run.cmd == "*" && run.args.is_none() || run.covers(&[&fact.target])
        };
        self.shell.iter().any(whole)
            || read.and_then(ShellFacts::plain).is_some_and(|plain| {
                plain.iter().all(|words| {
                    let argv: Vec<&str> = words.iter().map(String::as_str).collect();
                    self.shell.iter().any(|run| run.covers(&argv))
                })
            })
    }
}

impl SurfacePaths {
    /// Compiles patterns. Relative patterns begin at the root; without a root they match nothing.
    fn new(patterns: &[String], root: Option<&str>, os: Os) -> Result<Self, String> {
        let mut all = Self::default();
        for pattern in patterns {
            let whole = match (is_absolute(pattern), root) {
                (true, _) => pattern.clone(),
                (false, Some(root)) => join_root(root, pattern.trim_start_matches("./")),
                (false, None) => {
                    PathPattern::new(pattern, os)?;
                    continue;
                }
            };
            // Whoever may have everything in a folder may have the folder, and the other way round.
            let named = whole.trim_end_matches('/');
            let folder = match named.strip_suffix("/**") {
                Some(folder) => Some(folder),
                None => is_literal(named).then_some(named),
            };
            all.whole |= folder.is_some() && folder == root;
            let texts = match folder {
                Some(folder) => vec![folder.to_owned(), format!("{folder}/**")],
                None => vec![named.to_owned()],
            };
            for text in texts {
                all.add(&text, os)?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, text: &str, os: Os) -> Result<(), String> {
        self.patterns.push(PathPattern::new(text, os)?);
        let place = match text.find(['*', '?', '[', '{', '\\']) {
            Some(open) => text[..open].rfind('/').map_or("", |end| &text[..end]),
            None => text,
        };
        self.places
            .push(if place.is_empty() { "/" } else { place }.to_owned());
        Ok(())
    }

    fn covers(&self, fact: &ResolvedAccess, root: &str) -> bool {
        if !fact.inside {
            // Where it leads is outside of every granted folder, which is told of by itself.
            return true;
        }
        let in_workspace = !is_absolute(&fact.real);
        if in_workspace && (self.whole || root.is_empty()) {
            return self.whole;
        }
        let whole = match in_workspace {
            true => join_root(root, &fact.real),
            false => fact.real.clone(),
        };
        let forms = PathForms {
            real: &whole,
            root: None,
            inside: true,
        };
        self.patterns.iter().any(|pattern| pattern.allows(&forms))
    }
}

fn slashed(place: &str, os: Os) -> String {
    match os {
        Os::Windows => place.replace('\\', "/"),
        Os::Linux | Os::Macos => place.to_owned(),
    }
}

/// Whether a pattern names one path, escaped characters included.
fn is_literal(pattern: &str) -> bool {
    let escaped = ["[[]", "[]]", "[*]", "[?]", "[{]", "[}]"];
    let bare = escaped
        .iter()
        .fold(pattern.to_owned(), |bare, one| bare.replace(one, ""));
    !bare.contains(['*', '?', '[', '{', '\\'])
}

#[cfg(test)]
mod tests;
