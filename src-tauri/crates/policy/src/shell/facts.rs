//! The facts of a command line: its parts, as rules look at them.

use protocol::Capability;
use protocol::rule::evidence::CommandEvidence;

use crate::shell::accesses::file_uses;
use crate::shell::tables::program_table;

/// Everything that is known of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellFacts {
    /// Every simple command that may run, wherever it stands; what a wrapper runs is a further command.
    pub commands: Vec<SimpleCommand>,
    /// Reasons why no rule may allow the command line, as sentences; empty if it is understood completely.
    pub unsure_reasons: Vec<String>,
    pub(super) may_run: Vec<Vec<String>>,
    pub(super) plain: Vec<Vec<String>>,
    pub(super) accesses: Vec<ShellAccess>,
    pub(super) has_too_many_accesses: bool,
}

impl ShellFacts {
    /// Word lists that a deny or an ask looks at, each beginning with a program's base name. Every list of
    /// [`Self::plain`] is among them. A list may name a command that never runs; one that the spelling hides is never
    /// left out.
    pub fn may_run(&self) -> &[Vec<String>] {
        &self.may_run
    }

    /// Word lists that an allow looks at: the words of every command, with leading `timeout`, `time`, `nice`, `nohup`
    /// and `stdbuf` removed. None unless all of the commands are plain; each must then be allowed by some rule.
    pub fn plain(&self) -> Option<&[Vec<String>]> {
        (self.unsure_reasons.is_empty() && !self.plain.is_empty()).then_some(self.plain.as_slice())
    }

    /// The files and hosts that redirects and words name. They never loosen anything.
    pub fn accesses(&self) -> &[ShellAccess] {
        &self.accesses
    }

    /// Whether the command line names more files than [`Self::accesses`] holds. A file that was left out may be denied,
    /// so the whole command line is.
    pub fn has_too_many_accesses(&self) -> bool {
        self.has_too_many_accesses
    }
}

impl ShellFacts {
    /// Whether the command line is expected to change nothing, and to end soon: all that it runs is known to report only,
    /// and it names no file that it writes. A guess by names: it may decide how a command line is run, never whether.
    pub fn expects_no_change(&self) -> bool {
        let changes = |access: &ShellAccess| {
            let changes = [Capability::FsWrite, Capability::FsDelete].contains(&access.capability);
            changes && !access.is_possible_use
        };
        let mut accesses = self.accesses.iter();
        !self.may_run.is_empty()
            && self.may_run.iter().all(|words| reports_only(words))
            && !accesses.any(changes)
    }

    /// Returns the evidence that a verdict keeps.
    pub(crate) fn to_evidence(&self) -> CommandEvidence {
        let further = |words: &&Vec<String>| !self.plain.contains(words);
        CommandEvidence {
            plain: self.plain.clone(),
            may_run: self.may_run.iter().filter(further).cloned().collect(),
            unsure: self.unsure_reasons.clone(),
        }
    }

    /// Restores the facts that rules look at from the evidence of a verdict.
    pub(crate) fn from_evidence(evidence: CommandEvidence) -> Self {
        Self {
            may_run: evidence
                .plain
                .iter()
                .cloned()
                .chain(evidence.may_run)
                .collect(),
            plain: evidence.plain,
            unsure_reasons: evidence.unsure,
            ..Self::default()
        }
    }

    /// Finds the bare words that may name a file, by the capability of the use. They are read from words that a verdict
    /// keeps, so they need not be kept beside those.
    pub(crate) fn find_bare_uses(&self) -> Vec<(Capability, String)> {
        file_uses::find_bare_uses(&self.may_run)
    }
}

/// Whether a program is expected to change nothing, and to end soon, with these words, of which it is the first.
fn reports_only(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let table = program_table();
    if program == "git" {
        let is_value = |at: usize| at > 0 && ["-C", "-c"].contains(&&*arguments[at - 1]);
        let mut positions = 0..arguments.len();
        return positions
            .find(|at| !arguments[*at].starts_with('-') && !is_value(*at))
            .map(|at| &arguments[at])
            .is_some_and(|verb| {
                table.git_read_commands.contains(verb)
                    && !table.git_changing_commands.contains(verb)
            });
    }
    let follows_file = |word: &String| word.starts_with('-') && word.contains(['f', 'F']);
    if table.lasting.contains(program) || program == "tail" && arguments.iter().any(follows_file) {
        return false;
    }
    [&table.read_only, &table.printing, &table.reporting]
        .iter()
        .any(|list| list.contains(program))
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and its arguments; empty for assignments or redirects alone.
    pub words: Vec<ShellWord>,
    /// Assignments before the program.
    pub assignments: Vec<ShellAssignment>,
    /// Where its streams lead.
    pub redirects: Vec<ShellRedirect>,
    /// The construct that makes the command run.
    pub via: CommandOrigin,
}

/// The construct that makes a command run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOrigin {
    /// The command stands in a list or a pipeline.
    Plain,
    /// The condition or the body of `if`, `while`, `until`, `for`, `case`, `select`, or a test.
    ControlFlow,
    /// The body of a function.
    Function,
    /// A command or process substitution.
    Substitution,
    /// The program before the command runs it: `sudo`, `xargs`, `find -exec`.
    Wrapper(String),
    /// A text that an interpreter, a here-document or an option gives to a shell.
    Script,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWord {
    /// Quotes and backslashes removed, `$'…'` decoded.
    Literal(String),
    /// The word as it is written: its value is only known when it runs.
    Dynamic(String),
}

impl ShellWord {
    /// The text, decoded or as it is written.
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Dynamic(text) => text,
        }
    }

    /// Returns a part of the word, or its value, as certain as the word itself.
    #[must_use]
    pub(super) fn with_text(&self, text: &str) -> Self {
        match self {
            Self::Literal(_) => Self::Literal(text.to_owned()),
            Self::Dynamic(_) => Self::Dynamic(text.to_owned()),
        }
    }

    /// Whether the word is literal.
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
    /// The word that the variable is set to.
    pub value: ShellWord,
}

/// Where a stream of a command leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRedirect {
    /// How.
    pub kind: RedirectKind,
    /// Where.
    pub target: ShellWord,
    /// Whether the redirect touches no file: `2>&1`, `>/dev/null`.
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
    /// Capability of the access.
    pub capability: Capability,
    /// The path or host.
    pub target: String,
    /// Whether the target is literal; if not, it is as written.
    pub is_literal: bool,
    /// Whether, if the target is a folder, everything below it is accessed as well.
    pub is_recursive: bool,
    /// Whether the word stands where a path may stand, and no table says that the program uses it as one: it counts as
    /// a use only if it is the path of something.
    pub is_possible_use: bool,
    /// Whether the path begins with a text that is not known, which is taken as empty: `$d/x` as `/x`.
    pub is_guess: bool,
}
