//! The subjects of rules: the facts of a call, each prepared once, however many rules there are.

use protocol::rule::evidence::{ArgumentValue, RemoteUse};
use protocol::{Capability, Digest, ResolvedAccess, ToolMode};

use crate::facts::CallFacts;
use crate::limits::QUOTED_CHARS_MAX;
use crate::shell::ShellFacts;

/// One part of a call that rules are evaluated for, with everything that a rule may name.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The tool's id.
    pub tool: &'a str,
    /// Its mode.
    pub mode: Option<ToolMode>,
    /// The part of the call that rules look at.
    pub seen: SubjectKind<'a>,
    /// Whether the subject can only make the verdict stricter: without a matching rule it has no verdict.
    pub tightens: bool,
    /// Whether the subject is a folder that is read with everything below it.
    pub is_recursive: bool,
    /// Whether the subject is only a possible use by a word of a command: only a rule that names such a place matches
    /// it.
    pub is_possible_use: bool,
    /// Whether the call runs in the sandbox before anything real changes.
    pub is_sandboxed: bool,
    /// Whether the command line of the call names a folder to remove that the subject, an effect, lies in.
    pub is_named_removal: bool,
    /// Digest that a grant for exactly this call names.
    pub exact_digest: Option<&'a Digest>,
    /// The arguments of the call; none where they are not known.
    pub arguments: Option<&'a [ArgumentValue]>,
    /// The use of a remote that the subject, a command, makes.
    pub remote: Option<&'a RemoteUse>,
}

/// The kind of a subject.
#[derive(Debug, Clone)]
pub enum SubjectKind<'a> {
    /// The call as a whole, of a tool that declares nothing; `about` holds the accesses that its arguments seem to
    /// name.
    WholeCall {
        /// Guessed facts.
        about: Vec<&'a ResolvedAccess>,
    },
    /// One simple command.
    Command {
        /// Its words; empty where no command could be made out.
        words: Vec<String>,
        /// Whether it is certain that this command and nothing else runs, as an allow needs.
        plain: bool,
    },
    /// A path.
    Path(&'a ResolvedAccess),
    /// A path that a call changed in a dry run.
    Effect(&'a ResolvedAccess),
    /// A host.
    Host(&'a ResolvedAccess),
    /// The answer of a host.
    Response(&'a ResolvedAccess),
}

impl<'a> Subject<'a> {
    /// Returns a subject of a call of a tool, without a mode and without anything that makes a rule for it stricter.
    pub fn new(tool: &'a str, seen: SubjectKind<'a>) -> Self {
        Self {
            tool,
            mode: None,
            seen,
            tightens: false,
            is_recursive: false,
            is_possible_use: false,
            is_sandboxed: false,
            is_named_removal: false,
            exact_digest: None,
            arguments: None,
            remote: None,
        }
    }

    /// Lists all subjects of a call.
    pub fn from_facts(tool: &'a str, mode: Option<ToolMode>, facts: &'a CallFacts) -> Vec<Self> {
        let of_call = |seen, tightens| Self {
            mode,
            tightens,
            is_sandboxed: facts.is_sandboxed(),
            exact_digest: facts.exact_digest(),
            arguments: facts.arguments(),
            ..Self::new(tool, seen)
        };
        let mut all = Vec::new();
        if facts.all().iter().all(|fact| fact.derived) {
            let about = facts.all().iter().collect();
            all.push(of_call(SubjectKind::WholeCall { about }, false));
        }
        for (at, fact) in facts.all().iter().enumerate() {
            match fact.capability {
                Capability::ShellRun => {
                    for (words, plain, tightens) in command_pieces(facts.find_command(&fact.target))
                    {
                        all.push(Self {
                            remote: facts.find_remote(&words),
                            ..of_call(
                                SubjectKind::Command { words, plain },
                                tightens || fact.derived,
                            )
                        });
                    }
                }
                Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
                    all.push(Self {
                        is_recursive: facts.is_read_recursively(at),
                        ..of_call(SubjectKind::Path(fact), fact.derived)
                    });
                }
                Capability::NetFetch => all.push(of_call(SubjectKind::Host(fact), fact.derived)),
            }
        }
        all.extend(facts.uses().iter().map(|fact| Self {
            is_possible_use: true,
            ..of_call(SubjectKind::Path(fact), true)
        }));
        all
    }

    /// The capability that the subject needs; none for a call as a whole.
    pub fn capability(&self) -> Option<Capability> {
        match &self.seen {
            SubjectKind::WholeCall { .. } | SubjectKind::Response(_) => None,
            SubjectKind::Command { .. } => Some(Capability::ShellRun),
            SubjectKind::Path(fact) | SubjectKind::Effect(fact) | SubjectKind::Host(fact) => {
                Some(fact.capability)
            }
        }
    }

    /// The subject as a person reads it.
    pub fn display_text(&self) -> String {
        match &self.seen {
            SubjectKind::WholeCall { .. } => ["`", self.tool, "`"].concat(),
            SubjectKind::Command { words, .. } if words.is_empty() => "the command".to_owned(),
            SubjectKind::Command { words, .. } => {
                format!("`{}`", quote_truncated(&words.join(" ")))
            }
            SubjectKind::Path(fact) | SubjectKind::Effect(fact) => {
                let verb = match fact.capability {
                    Capability::FsRead => "reading",
                    Capability::FsWrite => "writing",
                    Capability::FsDelete => "deleting",
                    Capability::NetFetch | Capability::ShellRun => "touching",
                };
                format!("{verb} `{}`", quote_truncated(&fact.target))
            }
            SubjectKind::Response(fact) => {
                format!("reading what came from `{}`", quote_truncated(&fact.real))
            }
            SubjectKind::Host(fact) => format!("reaching `{}`", quote_truncated(&fact.real)),
        }
    }
}

/// Formats a name from a call for use within a sentence.
pub(crate) fn quote_truncated(text: &str) -> String {
    protocol::text::display_text::to_single_line(text, QUOTED_CHARS_MAX)
}

/// The simple commands of a command: words, whether an allow may look at them, whether they can only tighten.
fn command_pieces(command: Option<&ShellFacts>) -> Vec<(Vec<String>, bool, bool)> {
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
