//! One rule, ready to match.

mod caches;
mod mentions;
mod remotes;

pub(crate) use caches::HOME_KEEP;
use protocol::rule::evidence::RemoteUseKind;
use protocol::{Capability, Digest, ResolvedAccess, Rule, RuleAction};

use super::NET_READ;
use super::index::RuleTopic;
use super::precedence::PermissionRank;
use super::server_permission::resolve_permission;
use super::subject::{Subject, SubjectKind};
use crate::path::Os;
use crate::patterns::host::HostPattern;
use crate::patterns::{
    ArgumentPattern, CommandPattern, PathForms, PathPattern, ProgramName, RemoteAddress,
    has_wildcard, matches_everything,
};
use crate::shell::{names_program_by_path, requires_named_rule};

/// A rule with its pattern ready to match.
#[derive(Debug, Clone)]
pub struct CompiledRule {
    /// The rule as written.
    pub rule: Rule,
    /// Whether the rule may loosen: a project's file has to be trusted first, and an agent that works for another never
    /// may.
    pub trusted: bool,
    /// Whether the rule decided as many calls as it may.
    pub spent: bool,
    pattern: CompiledPattern,
    os: Os,
    /// The name in the rule's permission.
    names: String,
}

#[derive(Debug, Clone)]
enum CompiledPattern {
    Everything,
    /// Exactly one call, by its digest.
    Exactly(Digest),
    /// Calls by one of their arguments.
    Argument(Box<ArgumentPattern>),
    /// Uses of the remote at one address.
    Remote(RemoteAddress),
    /// What commands write in one cache of the home folder.
    Cache(String),
    Some {
        command: Option<CommandPattern>,
        path: Option<Box<PathPattern>>,
        host: Option<Box<HostPattern>>,
    },
}

impl CompiledRule {
    /// Makes a rule ready; the error is one sentence.
    pub fn new(rule: Rule, os: Os, trusted: bool) -> Result<Self, String> {
        Ok(Self {
            pattern: CompiledPattern::new(&rule, os)?,
            names: resolve_permission(&rule.permission)?.into_owned(),
            rule,
            trusted,
            spent: false,
            os,
        })
    }

    /// Creates a grant for exactly one call; the rule's pattern is only the text by which a person is shown the call.
    pub fn for_exact_call(rule: Rule, call: Digest) -> Self {
        Self {
            // It names the tool of that call.
            names: rule.permission.clone(),
            rule,
            trusted: true,
            spent: false,
            pattern: CompiledPattern::Exactly(call),
            // No command is matched by it.
            os: Os::Linux,
        }
    }

    /// The name in the rule's permission: a tool, however that is spelt, a capability, a mode or everything.
    pub fn permission(&self) -> &str {
        &self.names
    }

    /// Digest of the only call that the rule is for, if it is for one call.
    pub(crate) fn exact_digest(&self) -> Option<&Digest> {
        match &self.pattern {
            CompiledPattern::Exactly(call) => Some(call),
            CompiledPattern::Everything
            | CompiledPattern::Argument(_)
            | CompiledPattern::Remote(_)
            | CompiledPattern::Cache(_)
            | CompiledPattern::Some { .. } => None,
        }
    }

    /// Returns the rule with a pattern whose last word may not go on: `rm*` does not mean `rmdir`.
    #[must_use]
    pub fn with_whole_words(mut self) -> Self {
        if let CompiledPattern::Some { command, .. } = &mut self.pattern {
            *command = command.take().map(CommandPattern::with_whole_words);
        }
        self
    }

    /// The topic by which the index finds the rule.
    pub(super) fn topic(&self) -> RuleTopic {
        match &self.pattern {
            CompiledPattern::Everything | CompiledPattern::Exactly(_) => RuleTopic {
                everything: true,
                places: false,
                heads: None,
            },
            CompiledPattern::Argument(_) => RuleTopic {
                everything: false,
                places: true,
                heads: None,
            },
            CompiledPattern::Remote(_) => RuleTopic {
                everything: false,
                places: false,
                heads: Some(vec![ProgramName::Exact("git".to_owned())]),
            },
            CompiledPattern::Cache(_) => RuleTopic {
                everything: false,
                places: false,
                heads: Some(Vec::new()),
            },
            CompiledPattern::Some {
                command,
                path,
                host,
            } => RuleTopic {
                everything: false,
                places: path.is_some() || host.is_some(),
                heads: command
                    .as_ref()
                    .map(|one| one.program_names(self.rule.action, self.os)),
            },
        }
    }

    /// Returns how directly the rule names a call; none if it is about something else.
    pub(super) fn permission_rank(&self, subject: &Subject<'_>) -> Option<PermissionRank> {
        let permission = self.permission();
        if let SubjectKind::Response(_) = subject.seen {
            return (permission == NET_READ).then_some(PermissionRank::Capability);
        }
        // A subject that was read out of a command, guessed, or observed as an effect is the matter of rules on
        // capabilities and of patterns for everything.
        let aside = match subject.seen {
            SubjectKind::Effect(_) | SubjectKind::Response(_) => true,
            SubjectKind::Path(_) | SubjectKind::Host(_) => subject.tightens,
            SubjectKind::Command { .. } | SubjectKind::WholeCall { .. } => false,
        };
        let rank = if permission == "*" {
            PermissionRank::Everything
        } else if let Some(mode) = permission.strip_prefix("mode:") {
            subject
                .mode
                .filter(|given| given.as_str() == mode)
                .map(|_| PermissionRank::Mode)?
        } else if self.remote_address().is_some() {
            PermissionRank::Capability
        } else if let Some(family) = permission.strip_suffix('*') {
            subject
                .tool
                .strip_prefix(family)
                .filter(|_| !aside)
                .map(|_| PermissionRank::Family)?
        } else if permission == subject.tool {
            (!aside).then_some(PermissionRank::Tool)?
        } else {
            let capability = subject.capability()?;
            // To delete is to write: who may not write may not delete. Who may write may not yet delete.
            let deletes = capability == Capability::FsDelete
                && permission == Capability::FsWrite.as_str()
                && self.rule.action != RuleAction::Allow;
            (capability.as_str() == permission || deletes).then_some(PermissionRank::Capability)?
        };
        let is_general = matches!(rank, PermissionRank::Everything | PermissionRank::Mode);
        // They spoke of the call already.
        let repeats = aside && is_general && matches!(self.pattern, CompiledPattern::Everything);
        (!repeats).then_some(rank)
    }

    /// Whether its pattern fits: narrowly for an allow, broadly for all others.
    pub(super) fn matches_subject(&self, subject: &Subject<'_>, root: Option<&str>) -> bool {
        let narrow = self.rule.action == RuleAction::Allow;
        match (&self.pattern, &subject.seen) {
            (_, SubjectKind::Command { plain: false, .. }) if narrow => false,
            (
                _,
                SubjectKind::Path(fact)
                | SubjectKind::Effect(fact)
                | SubjectKind::Host(fact)
                | SubjectKind::Response(fact),
            ) if narrow && fact.doubt.is_some() => false,
            (CompiledPattern::Exactly(call), _) => subject.exact_digest == Some(call),
            // A rule for reading anything means the files here.
            (_, SubjectKind::Effect(fact)) if narrow && !fact.inside => {
                self.names_outside_path(fact)
            }
            (CompiledPattern::Remote(_), _) => {
                subject.remote.is_some_and(|used| self.names_remote(used))
            }
            (CompiledPattern::Cache(_), _) => false,
            (CompiledPattern::Argument(pattern), _) => match narrow {
                true => pattern.allows(subject.arguments),
                false => pattern.covers(subject.arguments),
            },
            // Whoever may run everything named no path, and no program that has to be named.
            (CompiledPattern::Everything, SubjectKind::Command { words, .. })
                if narrow && (names_program_by_path(words) || requires_named_rule(words)) =>
            {
                false
            }
            (CompiledPattern::Everything, _) => !subject.is_possible_use,
            (CompiledPattern::Some { command, .. }, SubjectKind::Command { words, .. }) => {
                command.as_ref().is_some_and(|pattern| match narrow {
                    true => pattern.allows(words),
                    false => pattern.covers(words, self.os),
                })
            }
            (
                _,
                SubjectKind::Path(fact)
                | SubjectKind::Effect(fact)
                | SubjectKind::Host(fact)
                | SubjectKind::Response(fact),
            ) => self.matches_fact(fact, narrow, root),
            (_, SubjectKind::WholeCall { about }) => match narrow {
                true => {
                    !about.is_empty() && about.iter().all(|fact| self.allows_mention(fact, root))
                }
                false => about
                    .iter()
                    .any(|fact| self.matches_fact(fact, narrow, root)),
            },
        }
    }

    /// Whether a path that the rule denies may lie below a folder that is read as a whole.
    pub(super) fn may_match_below(&self, subject: &Subject<'_>, root: Option<&str>) -> bool {
        let (
            CompiledPattern::Some {
                path: Some(path), ..
            },
            SubjectKind::Path(fact) | SubjectKind::Effect(fact),
            RuleAction::Deny,
        ) = (&self.pattern, &subject.seen, self.rule.action)
        else {
            return false;
        };
        path.may_cover_below(&path_forms(fact, root))
    }

    fn matches_fact(&self, fact: &ResolvedAccess, narrow: bool, root: Option<&str>) -> bool {
        let CompiledPattern::Some {
            command,
            path,
            host,
        } = &self.pattern
        else {
            return matches!(self.pattern, CompiledPattern::Everything);
        };
        match fact.capability {
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
                path.as_ref().is_some_and(|pattern| match narrow {
                    true => pattern.allows(&path_forms(fact, root)),
                    false => covers_fact(pattern, fact, root),
                })
            }
            Capability::NetFetch => host.as_ref().is_some_and(|pattern| match narrow {
                true => pattern.allows(&fact.real),
                false => pattern.covers(&fact.real),
            }),
            Capability::ShellRun => command.as_ref().is_some_and(|pattern| {
                !narrow && {
                    let words: Vec<String> =
                        fact.target.split_whitespace().map(str::to_owned).collect();
                    pattern.covers(&words, self.os)
                }
            }),
        }
    }

    /// The path pattern that a file has to match before the rule asks or denies; none if the rule may do so for any
    /// file.
    pub(super) fn mask_pattern(&self) -> Option<&PathPattern> {
        match &self.pattern {
            CompiledPattern::Some { path, .. } => path.as_deref(),
            CompiledPattern::Everything
            | CompiledPattern::Exactly(_)
            | CompiledPattern::Argument(_)
            | CompiledPattern::Remote(_)
            | CompiledPattern::Cache(_) => None,
        }
    }

    /// Whether the rule itself is about a protected place: it names the place, instead of only reaching it.
    pub(crate) fn names_protected(&self, protected: &PathPattern) -> bool {
        match &self.pattern {
            CompiledPattern::Some {
                path: Some(path), ..
            } => path.targets_paths_of(protected),
            _ => false,
        }
    }

    /// Whether the rule opens a host that is closed unless a rule names it.
    pub(crate) fn opens_host(&self, real: &str) -> bool {
        match &self.pattern {
            CompiledPattern::Some {
                host: Some(host), ..
            } => self.trusted && self.rule.action == RuleAction::Allow && host.names_host(real),
            _ => false,
        }
    }

    /// Whether an allow of the rule could ever match a command; none if the rule is not about commands.
    pub(crate) fn can_allow_command(&self) -> Option<bool> {
        match (&self.pattern, self.rule.permission.as_str()) {
            (
                CompiledPattern::Some {
                    command: Some(command),
                    ..
                },
                "bash" | "shell.run",
            ) => Some(command.can_allow()),
            _ => None,
        }
    }

    /// Whether the rule was written with a pattern that means everything.
    pub(crate) fn is_catch_all(&self) -> bool {
        matches!(self.pattern, CompiledPattern::Everything)
    }
}

impl CompiledPattern {
    fn new(rule: &Rule, os: Os) -> Result<Self, String> {
        if RemoteUseKind::from_permission(&rule.permission).is_some() {
            return Self::new_remote(rule);
        }
        if rule.permission == HOME_KEEP {
            return Self::new_cache(rule);
        }
        let Some(pattern) = rule
            .pattern
            .as_deref()
            .filter(|text| !matches_everything(text))
        else {
            return Ok(Self::Everything);
        };
        if let Some(argument) = ArgumentPattern::from_rule(&rule.permission, pattern)? {
            return Ok(Self::Argument(Box::new(argument)));
        }
        let (mut command, mut path, mut host) = (None, None, None);
        match rule.permission.as_str() {
            "bash" | "shell.run" => command = Some(CommandPattern::new(pattern)),
            "fs.read" | "fs.write" | "fs.delete" => {
                path = Some(Box::new(PathPattern::new(pattern, os)?));
            }
            "net.fetch" | NET_READ | "web_fetch" | "web_search" => {
                host = Some(Box::new(HostPattern::new(pattern)?));
            }
            // The subjects of other permissions are known only with the call.
            _ => {
                path = Some(Box::new(PathPattern::new(pattern, os)?));
                command = Some(CommandPattern::new(pattern));
                host = HostPattern::new(pattern).ok().map(Box::new);
            }
        }
        Ok(Self::Some {
            command,
            path,
            host,
        })
    }
}

pub(crate) fn path_forms<'a>(fact: &'a ResolvedAccess, root: Option<&'a str>) -> PathForms<'a> {
    PathForms {
        real: &fact.real,
        root,
        inside: fact.inside,
    }
}

/// Whether a pattern covers a path, what a wildcard in it may stand for, or what may be removed with it.
pub(crate) fn covers_fact(
    pattern: &PathPattern,
    fact: &ResolvedAccess,
    root: Option<&str>,
) -> bool {
    covers_named_path(pattern, fact, root)
        || (fact.derived
            && fact.doubt.is_some()
            && has_wildcard(&fact.real)
            && pattern.may_overlap(&fact.real))
        || (fact.capability == Capability::FsDelete
            && pattern.may_cover_in_removed(&path_forms(fact, root)))
}

/// Whether a pattern covers a path itself, by its resolved form or by its written one.
pub(crate) fn covers_named_path(
    pattern: &PathPattern,
    fact: &ResolvedAccess,
    root: Option<&str>,
) -> bool {
    matches_named_path(fact, root, |forms| pattern.covers(forms))
}

/// Whether a path matches by its resolved form or by its written one.
pub(crate) fn matches_named_path(
    fact: &ResolvedAccess,
    root: Option<&str>,
    matches: impl Fn(&PathForms<'_>) -> bool,
) -> bool {
    let target = collapse_dots(&fact.target);
    let as_said = PathForms {
        real: &target,
        root: None,
        inside: false,
    };
    matches(&path_forms(fact, root)) || (target != fact.real && matches(&as_said))
}

/// Removes `.` and `..` from a path as it was written: the name of a link counts as well as its target.
fn collapse_dots(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    names.join("/")
}
