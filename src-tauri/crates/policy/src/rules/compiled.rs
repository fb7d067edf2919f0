//! One rule, ready to match.

mod mentioned;

use protocol::{Action, Capability, Digest, Fact, Rule};

use super::NET_READ;
use super::index::About;
use super::key::Rank;
use super::seen::{Seen, Subject};
use super::server_word::named;
use crate::host::HostPattern;
use crate::path::Os;
use crate::pattern::{ArgumentPattern, CommandPattern, Forms, PathPattern, is_everything, is_open};
use crate::shell::{is_pathed, must_be_named};

/// A rule with its pattern ready to match.
#[derive(Debug, Clone)]
pub struct CompiledRule {
    /// The rule as written.
    pub rule: Rule,
    /// Whether it may loosen: a project's file has to be trusted first, and who works for an agent never may.
    pub trusted: bool,
    /// Whether it decided as many calls as it may.
    pub spent: bool,
    pattern: Pattern,
    folds: bool,
    /// What its permission names.
    names: String,
}

#[derive(Debug, Clone)]
enum Pattern {
    Everything,
    /// One call and no other, by what it alone has.
    Exactly(Digest),
    /// Calls by one of their arguments.
    Argument(Box<ArgumentPattern>),
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
            pattern: Pattern::new(&rule, os)?,
            names: named(&rule.permission)?.into_owned(),
            rule,
            trusted,
            spent: false,
            folds: os == Os::Windows,
        })
    }

    /// A grant for one call and no other; what the rule names as its pattern is how that is told to a person.
    pub fn for_exactly(rule: Rule, call: Digest) -> Self {
        Self {
            // It names the tool of that call.
            names: rule.permission.clone(),
            rule,
            trusted: true,
            spent: false,
            pattern: Pattern::Exactly(call),
            folds: false,
        }
    }

    /// What its permission names: a tool, however that is spelt, a capability, a mode or everything.
    pub fn permission(&self) -> &str {
        &self.names
    }

    /// The one call that it is for, if it is for no other.
    pub(crate) fn exactly(&self) -> Option<&Digest> {
        match &self.pattern {
            Pattern::Exactly(call) => Some(call),
            Pattern::Everything | Pattern::Argument(_) | Pattern::Some { .. } => None,
        }
    }

    /// The same, but the last word of its pattern may not go on: `rm*` does not mean `rmdir`.
    #[must_use]
    pub fn whole_words(mut self) -> Self {
        if let Pattern::Some { command, .. } = &mut self.pattern {
            *command = command.take().map(CommandPattern::whole_words);
        }
        self
    }

    /// What it is found by.
    pub(super) fn about(&self) -> About {
        let broad = self.rule.action != Action::Allow;
        match &self.pattern {
            Pattern::Everything | Pattern::Exactly(_) => About {
                everything: true,
                places: false,
                heads: None,
            },
            Pattern::Argument(_) => About {
                everything: false,
                places: true,
                heads: None,
            },
            Pattern::Some {
                command,
                path,
                host,
            } => About {
                everything: false,
                places: path.is_some() || host.is_some(),
                heads: command.as_ref().map(|one| one.heads(broad, self.folds)),
            },
        }
    }

    /// How directly it names a call; none if it speaks of something else.
    pub(super) fn rank(&self, subject: &Subject<'_>) -> Option<Rank> {
        let permission = self.permission();
        if let Seen::Came(_) = subject.seen {
            return (permission == NET_READ).then_some(Rank::Capability);
        }
        // What was read out of a command, guessed, or seen of it, is the matter of rules on capabilities and of patterns
        // for everything.
        let aside = match subject.seen {
            Seen::Effect(_) | Seen::Came(_) => true,
            Seen::Path(_) | Seen::Host(_) => subject.tightens,
            Seen::Command { .. } | Seen::Whole { .. } => false,
        };
        let rank = if permission == "*" {
            Rank::Everything
        } else if let Some(mode) = permission.strip_prefix("mode:") {
            subject
                .mode
                .filter(|given| given.as_str() == mode)
                .map(|_| Rank::Mode)?
        } else if let Some(family) = permission.strip_suffix('*') {
            subject
                .tool
                .strip_prefix(family)
                .filter(|_| !aside)
                .map(|_| Rank::Family)?
        } else if permission == subject.tool {
            (!aside).then_some(Rank::Tool)?
        } else {
            let capability = subject.capability()?;
            // To delete is to write: who may not write may not delete. Who may write may not yet delete.
            let deletes = capability == Capability::FsDelete
                && permission == Capability::FsWrite.as_str()
                && self.rule.action != Action::Allow;
            (capability.as_str() == permission || deletes).then_some(Rank::Capability)?
        };
        let is_general = matches!(rank, Rank::Everything | Rank::Mode);
        // They spoke of the call already.
        let repeats = aside && is_general && matches!(self.pattern, Pattern::Everything);
        (!repeats).then_some(rank)
    }

    /// Whether its pattern fits: narrowly for an allow, broadly for all others.
    pub(super) fn fits(&self, subject: &Subject<'_>, root: Option<&str>) -> bool {
        let narrow = self.rule.action == Action::Allow;
        match (&self.pattern, &subject.seen) {
            (_, Seen::Command { plain: false, .. }) if narrow => false,
            (_, Seen::Path(fact) | Seen::Effect(fact) | Seen::Host(fact) | Seen::Came(fact))
                if narrow && fact.doubt.is_some() =>
            {
                false
            }
            (Pattern::Exactly(call), _) => subject.exactly == Some(call),
            (Pattern::Argument(pattern), _) => match narrow {
                true => pattern.allows(subject.arguments),
                false => pattern.covers(subject.arguments),
            },
            // Whoever may run everything named no path, and no program that has to be named.
            (Pattern::Everything, Seen::Command { words, .. })
                if narrow && (is_pathed(words) || must_be_named(words)) =>
            {
                false
            }
            (Pattern::Everything, _) => !subject.maybe,
            (Pattern::Some { command, .. }, Seen::Command { words, .. }) => {
                command.as_ref().is_some_and(|pattern| match narrow {
                    true => pattern.allows(words),
                    false => pattern.covers(words, self.folds),
                })
            }
            (_, Seen::Path(fact) | Seen::Effect(fact) | Seen::Host(fact) | Seen::Came(fact)) => {
                self.fits_fact(fact, narrow, root)
            }
            (_, Seen::Whole { about }) => match narrow {
                true => !about.is_empty() && about.iter().all(|fact| self.allows(fact, root)),
                false => about.iter().any(|fact| self.fits_fact(fact, narrow, root)),
            },
        }
    }

    /// Whether what it denies may lie below a folder that is read whole.
    pub(super) fn may_lie_below(&self, subject: &Subject<'_>, root: Option<&str>) -> bool {
        let (
            Pattern::Some {
                path: Some(path), ..
            },
            Seen::Path(fact) | Seen::Effect(fact),
            Action::Deny,
        ) = (&self.pattern, &subject.seen, self.rule.action)
        else {
            return false;
        };
        path.may_lie_below(&forms(fact, root))
    }

    fn fits_fact(&self, fact: &Fact, narrow: bool, root: Option<&str>) -> bool {
        let Pattern::Some {
            command,
            path,
            host,
        } = &self.pattern
        else {
            return matches!(self.pattern, Pattern::Everything);
        };
        match fact.capability {
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
                path.as_ref().is_some_and(|pattern| match narrow {
                    true => pattern.allows(&forms(fact, root)),
                    false => covers(pattern, fact, root),
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
                    pattern.covers(&words, self.folds)
                }
            }),
        }
    }

    /// The pattern of paths that its files have to fit before it asks or denies; none if it may do that of any file.
    pub(super) fn path(&self) -> Option<&PathPattern> {
        match &self.pattern {
            Pattern::Some { path, .. } => path.as_deref(),
            Pattern::Everything | Pattern::Exactly(_) | Pattern::Argument(_) => None,
        }
    }

    /// Whether this rule itself is about what a protection covers: it names it, instead of only reaching it.
    pub(crate) fn is_about(&self, protected: &PathPattern) -> bool {
        match &self.pattern {
            Pattern::Some {
                path: Some(path), ..
            } => path.is_about(protected),
            _ => false,
        }
    }

    /// Whether it opens a host that is closed unless it is named.
    pub(crate) fn opens_host(&self, real: &str) -> bool {
        match &self.pattern {
            Pattern::Some {
                host: Some(host), ..
            } => self.trusted && self.rule.action == Action::Allow && host.names(real),
            _ => false,
        }
    }

    /// Whether an allow of it could ever match a command; none if it is not about commands.
    pub(crate) fn can_allow_command(&self) -> Option<bool> {
        match (&self.pattern, self.rule.permission.as_str()) {
            (
                Pattern::Some {
                    command: Some(command),
                    ..
                },
                "bash" | "shell.run",
            ) => Some(command.can_allow()),
            _ => None,
        }
    }

    /// Whether it was written with a pattern that means everything.
    pub(crate) fn is_for_everything(&self) -> bool {
        matches!(self.pattern, Pattern::Everything)
    }
}

impl Pattern {
    fn new(rule: &Rule, os: Os) -> Result<Self, String> {
        let Some(pattern) = rule.pattern.as_deref().filter(|text| !is_everything(text)) else {
            return Ok(Self::Everything);
        };
        if let Some(argument) = ArgumentPattern::of(&rule.permission, pattern)? {
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
            // What others touch is known with the call.
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

pub(crate) fn forms<'a>(fact: &'a Fact, root: Option<&'a str>) -> Forms<'a> {
    Forms {
        real: &fact.real,
        root,
        inside: fact.inside,
    }
}

/// Whether a pattern covers a path, by where it leads and by how it was said.
pub(crate) fn covers(pattern: &PathPattern, fact: &Fact, root: Option<&str>) -> bool {
    let said = collapsed(&fact.target);
    let as_said = Forms {
        real: &said,
        root: None,
        inside: false,
    };
    let real = forms(fact, root);
    pattern.covers(&real)
        || (fact.derived
            && fact.doubt.is_some()
            && is_open(&fact.real)
            && pattern.may_meet(&fact.real))
        || (said != fact.real && pattern.covers(&as_said))
        || (fact.capability == Capability::FsDelete && pattern.lies_below(&real))
}

/// A path as it was said, its `.` and `..` taken out: the name of a link counts as well as where it leads.
fn collapsed(said: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in said.split(['/', '\\']) {
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
