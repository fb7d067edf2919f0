//! The facts themselves: what a command line is made of, as rules look at it.

use protocol::Capability;
use protocol::rule::evidence::CommandEvidence;

use crate::shell::accesses::file_uses;

/// Everything that is known of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellFacts {
    /// Every simple command that may run, wherever it stands; what a wrapper runs is a further command.
    pub commands: Vec<SimpleCommand>,
    /// Why no rule may allow it, as sentences. Empty: it is understood whole.
    pub unsure_reasons: Vec<String>,
    pub(super) may_run: Vec<Vec<String>>,
    pub(super) plain: Vec<Vec<String>>,
    pub(super) accesses: Vec<ShellAccess>,
    pub(super) has_too_many_accesses: bool,
}

impl ShellFacts {
    /// What a deny or an ask looks at: word lists, each beginning with a program's base name. Every list of
    /// [`Self::plain`] is one of them. A list may name what never runs; what the spelling hides is never left out.
    pub fn may_run(&self) -> &[Vec<String>] {
        &self.may_run
    }

    /// What an allow looks at: the words of every command, with `timeout`, `time`, `nice`, `nohup` and `stdbuf` taken
    /// away from before them. None unless all of them are plain; each must then be allowed by some rule.
    pub fn plain(&self) -> Option<&[Vec<String>]> {
        (self.unsure_reasons.is_empty() && !self.plain.is_empty()).then_some(self.plain.as_slice())
    }

    /// The files and hosts that redirects and words name. They never loosen anything.
    pub fn accesses(&self) -> &[ShellAccess] {
        &self.accesses
    }

    /// Whether it names more files than [`Self::accesses`] holds. What was left out may be denied, so all of it is.
    pub fn has_too_many_accesses(&self) -> bool {
        self.has_too_many_accesses
    }
}

impl ShellFacts {
    /// As a verdict keeps it.
    pub(crate) fn to_evidence(&self) -> CommandEvidence {
        let further = |words: &&Vec<String>| !self.plain.contains(words);
        CommandEvidence {
            plain: self.plain.clone(),
            may_run: self.may_run.iter().filter(further).cloned().collect(),
            unsure: self.unsure_reasons.clone(),
        }
    }

    /// What rules look at, from what a verdict kept.
    pub(crate) fn from_evidence(kept: CommandEvidence) -> Self {
        Self {
            may_run: kept.plain.iter().cloned().chain(kept.may_run).collect(),
            plain: kept.plain,
            unsure_reasons: kept.unsure,
            ..Self::default()
        }
    }

    /// The bare words that may name a file, by what may be done to it. They are read out of what a verdict keeps, so what is
    /// found here need not be kept beside it.
    pub(crate) fn find_bare_uses(&self) -> Vec<(Capability, String)> {
        file_uses::find_bare_uses(&self.may_run)
    }
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and its arguments; empty for assignments or redirects alone.
    pub words: Vec<ShellWord>,
    /// What stands before it.
    pub assignments: Vec<ShellAssignment>,
    /// Where its streams lead.
    pub redirects: Vec<ShellRedirect>,
    /// What brings it to run.
    pub via: CommandOrigin,
}

/// What brings a command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOrigin {
    /// It stands in a list or a pipeline.
    Plain,
    /// The condition or the body of `if`, `while`, `until`, `for`, `case`, `select`, or a test.
    ControlFlow,
    /// The body of a function.
    Function,
    /// A command or process substitution.
    Substitution,
    /// The program before it runs it: `sudo`, `xargs`, `find -exec`.
    Wrapper(String),
    /// A text that an interpreter, a here-document or an option gives to a shell.
    Script,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWord {
    /// Quotes and backslashes removed, `$'…'` decoded.
    Literal(String),
    /// As it is written: what it will be is only known when it runs.
    Dynamic(String),
}

impl ShellWord {
    /// The text, decoded or as it is written.
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Dynamic(text) => text,
        }
    }

    /// A part of it, or what it stands for, as sure as itself.
    #[must_use]
    pub(super) fn with_text(&self, text: &str) -> Self {
        match self {
            Self::Literal(_) => Self::Literal(text.to_owned()),
            Self::Dynamic(_) => Self::Dynamic(text.to_owned()),
        }
    }

    /// Whether it stands for itself.
    pub fn is_literal(&self) -> bool {
        match self {
            Self::Literal(_) => true,
            Self::Dynamic(_) => false,
        }
    }
}

/// An assignment before a command, or alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellAssignment {
    /// The variable, without a subscript.
    pub name: String,
    /// What it is set to.
    pub value: ShellWord,
}

/// Where a stream of a command leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRedirect {
    /// How.
    pub kind: RedirectKind,
    /// Where.
    pub target: ShellWord,
    /// It touches nothing: `2>&1`, `>/dev/null`.
    pub is_neutral: bool,
}

/// How a stream is redirected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>&2`, `<&3`
    Duplicate,
    /// `<<`, `<<-`
    HereDoc,
    /// `<<<`
    HereString,
}

/// A file or host that a command names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShellAccess {
    /// How it is touched.
    pub capability: Capability,
    /// The path or host.
    pub target: String,
    /// Whether the target stands for itself; if not, it is as written.
    pub is_literal: bool,
    /// If it is a folder, everything that lies below it is touched as well.
    pub is_recursive: bool,
    /// It stands where a path may stand, and no table says that the program uses it as one: it is a use only if it is
    /// the path of something.
    pub is_possible_use: bool,
}
