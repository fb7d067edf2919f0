//! What rules look at: the facts of a call, each made ready once, however many rules there are.

use protocol::grounds::Argument;
use protocol::{Capability, Digest, Fact, ToolMode};

use crate::facts::Facts;
use crate::limits::QUOTED_CHARS_MAX;
use crate::shell::ShellFacts;

/// One thing that rules speak of, with what they may name.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The tool's id.
    pub tool: &'a str,
    /// Its mode.
    pub mode: Option<ToolMode>,
    /// What of the call.
    pub seen: Seen<'a>,
    /// Whether it can only make the verdict stricter: without a matching rule it says nothing.
    pub tightens: bool,
    /// Whether it is a folder that is read with everything below it.
    pub below: bool,
    /// Whether a word of a command only may use it: a rule speaks of it that names such a place, and no other.
    pub maybe: bool,
    /// What a grant for exactly this call names.
    pub exactly: Option<&'a Digest>,
    /// The arguments of the call; none where they are not known.
    pub arguments: Option<&'a [Argument]>,
}

/// A piece of a call.
#[derive(Debug, Clone)]
pub enum Seen<'a> {
    /// The call as a whole, of a tool that declares nothing; `about` is what its arguments seem to name.
    Whole {
        /// Facts that were guessed.
        about: Vec<&'a Fact>,
    },
    /// One simple command.
    Command {
        /// Its words; empty where no command could be made out.
        words: Vec<String>,
        /// Whether it is certain that this and nothing else runs: what an allow needs.
        plain: bool,
    },
    /// A path.
    Path(&'a Fact),
    /// A path that a call changed when it ran for show.
    Effect(&'a Fact),
    /// A host.
    Host(&'a Fact),
    /// What came from a host.
    Came(&'a Fact),
}

impl<'a> Subject<'a> {
    /// Everything that rules look at in a call.
    pub fn all(tool: &'a str, mode: Option<ToolMode>, facts: &'a Facts) -> Vec<Self> {
        let mut all = Vec::new();
        let mut push = |seen: Seen<'a>, tightens: bool, below: bool| {
            all.push(Self {
                tool,
                mode,
                seen,
                tightens,
                below,
                maybe: false,
                exactly: facts.exactly(),
                arguments: facts.arguments(),
            });
        };
        if facts.all().iter().all(|fact| fact.derived) {
            let about = facts.all().iter().collect();
            push(Seen::Whole { about }, false, false);
        }
        for (at, fact) in facts.all().iter().enumerate() {
            match fact.capability {
                Capability::ShellRun => {
                    for (words, plain, tightens) in pieces(facts.command(&fact.target)) {
                        let tightens = tightens || fact.derived;
                        push(Seen::Command { words, plain }, tightens, false);
                    }
                }
                Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
                    push(Seen::Path(fact), fact.derived, facts.is_read_below(at));
                }
                Capability::NetFetch => push(Seen::Host(fact), fact.derived, false),
            }
        }
        all.extend(facts.uses().iter().map(|fact| Self {
            tool,
            mode,
            seen: Seen::Path(fact),
            tightens: true,
            below: false,
            maybe: true,
            exactly: facts.exactly(),
            arguments: facts.arguments(),
        }));
        all
    }

    /// The capability that it needs; none for a call as a whole.
    pub fn capability(&self) -> Option<Capability> {
        match &self.seen {
            Seen::Whole { .. } | Seen::Came(_) => None,
            Seen::Command { .. } => Some(Capability::ShellRun),
            Seen::Path(fact) | Seen::Effect(fact) | Seen::Host(fact) => Some(fact.capability),
        }
    }

    /// As a person reads it.
    pub fn shown(&self) -> String {
        match &self.seen {
            Seen::Whole { .. } => ["`", self.tool, "`"].concat(),
            Seen::Command { words, .. } if words.is_empty() => "the command".to_owned(),
            Seen::Command { words, .. } => format!("`{}`", quoted(&words.join(" "))),
            Seen::Path(fact) | Seen::Effect(fact) => {
                let verb = match fact.capability {
                    Capability::FsRead => "reading",
                    Capability::FsWrite => "writing",
                    Capability::FsDelete => "deleting",
                    Capability::NetFetch | Capability::ShellRun => "touching",
                };
                format!("{verb} `{}`", quoted(&fact.target))
            }
            Seen::Came(fact) => format!("reading what came from `{}`", quoted(&fact.real)),
            Seen::Host(fact) => format!("reaching `{}`", quoted(&fact.real)),
        }
    }
}

/// What a call names, within a sentence.
pub(crate) fn quoted(text: &str) -> String {
    protocol::shown::in_a_sentence(text, QUOTED_CHARS_MAX)
}

/// The simple commands of a command: words, whether an allow may look at them, whether they can only tighten.
fn pieces(command: Option<&ShellFacts>) -> Vec<(Vec<String>, bool, bool)> {
    let Some(read) = command else {
        return vec![(Vec::new(), false, false)];
    };
    let may_run = read.may_run();
    let Some(plain) = read.plain() else {
        return match may_run.is_empty() {
            true => vec![(Vec::new(), false, false)],
            false => may_run
                .iter()
                .map(|words| (words.clone(), false, false))
                .collect(),
        };
    };
    let more = may_run
        .iter()
        .filter(|words| !plain.contains(words))
        .map(|words| (words.clone(), false, true));
    let certain = plain.iter().map(|words| (words.clone(), true, false));
    certain.chain(more).collect()
}
