//! Preview of a call before it runs: computed by the engine, drawn by the interface.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::display_text::DisplaySpan;
use crate::view::effects::{Assurance, Effects};
use crate::view::request_preview::RequestPreview;

/// The body of a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Preview {
    /// Nothing to show beyond the head.
    Nothing,
    /// Files before and after.
    Diff {
        /// Differences, one for each file.
        files: Vec<FileDiff>,
    },
    /// A command line.
    Command(CommandPreview),
    /// The effects of a command's dry run.
    Effects(Box<EffectsPreview>),
    /// The files and folders that will be lost.
    Loss(LossPreview),
    /// Questions to the person.
    Form {
        /// The questions, in the order they are asked.
        questions: Vec<Question>,
    },
    /// Content received from outside, before the agent reads it.
    #[serde(alias = "came")]
    Response(ResponsePreview),
    /// A list of things to do.
    Todo {
        /// The items, in the agent's order.
        items: Vec<TodoItem>,
    },
    /// The agent's plan, to be accepted.
    Plan {
        /// The plan in Markdown.
        text: String,
    },
    /// A request to a service.
    Request(Box<RequestPreview>),
}

impl Preview {
    /// Returns the name of the preview's kind: the `type` of its JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Diff { .. } => "diff",
            Self::Command(_) => "command",
            Self::Effects(_) => "effects",
            Self::Loss(_) => "loss",
            Self::Form { .. } => "form",
            Self::Response(_) => "response",
            Self::Todo { .. } => "todo",
            Self::Plan { .. } => "plan",
            Self::Request(_) => "request",
        }
    }

    /// Returns the command that is shown, with or without its effects.
    pub fn command(&self) -> Option<&CommandPreview> {
        match self {
            Self::Command(command) => Some(command),
            Self::Effects(shown) => Some(&shown.command),
            Self::Nothing
            | Self::Diff { .. }
            | Self::Loss(_)
            | Self::Form { .. }
            | Self::Response(_)
            | Self::Todo { .. }
            | Self::Plan { .. }
            | Self::Request(_) => None,
        }
    }

    /// Whether it shows a command that the agent runs itself.
    pub fn is_delegated(&self) -> bool {
        self.command().is_some_and(|command| command.delegated)
    }
}

/// Content received from outside, before the agent reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResponsePreview {
    /// Hosts that the content came from, as rules name them.
    pub hosts: Vec<String>,
    /// The whole content, secrets masked, hidden characters named.
    pub text: Vec<DisplaySpan>,
}

/// One file's difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileDiff {
    /// Path relative to the workspace root.
    pub path: String,
    /// Whether the file exists now, at `from` if that is set.
    pub exists: bool,
    /// Language for syntax colours, by file name: `rust`, `typescript`, …; empty when not known.
    pub language: String,
    /// Number of lines added.
    pub added: u32,
    /// Number of lines removed.
    pub removed: u32,
    /// What changed, in the words of the file's structure; empty where it has none that can be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<ChangeSummary>>", optional)]
    pub summary: Vec<ChangeSummary>,
    /// Number of further changes that `summary` leaves out.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub summary_more: u32,
    /// The hunks, in order.
    pub hunks: Vec<Hunk>,
    /// Previous path of the file, if the call moves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// Whether the call removes the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub gone: bool,
    /// Description of the missing part; set when the difference was too large to be shown whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One line of a summary: what happened to one place in a file, or the same to several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangeSummary {
    /// Way to the place, hidden characters named: `jobs › 4711 “nightly-train” › status`.
    pub place: String,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Value before, secrets masked; none if there was no single value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// Value after, secrets masked; none if there is no single value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
}

impl fmt::Display for ChangeSummary {
    /// Writes `jobs › 4711 › status: running → cancelled`, or `jobs › 4712 added` where there is no value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, kind, .. } = self;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{place}: {before} → {after}"),
            (Some(value), None) | (None, Some(value)) => write!(f, "{place} {kind}: {value}"),
            (None, None) => write!(f, "{place} {kind}"),
        }
    }
}

/// Kind of the change of a place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The place is new.
    Added,
    /// What the place holds is another.
    Changed,
    /// The place is gone.
    Removed,
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        })
    }
}

/// One changed place with its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Hunk {
    /// Number within the whole preview, from 0, by which a partial acceptance names the hunk.
    pub id: u32,
    /// First line before the change, from 1.
    pub old_start: u32,
    /// First line after the change, from 1.
    pub new_start: u32,
    /// Way to the first changed place of the hunk, in the words of the file: `jobs › 4711 “nightly-train” › status`,
    /// `impl Parser › fn parse`; empty when not known.
    pub section: String,
    /// Number of lines added.
    pub added: u32,
    /// Number of lines removed.
    pub removed: u32,
    /// The lines; none where a file is created, removed or moved without a change of text, which `section` then says.
    pub lines: Vec<DiffLine>,
}

/// Kind of a line in a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// Unchanged.
    Context,
    /// Added.
    Added,
    /// Removed.
    Removed,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLine {
    /// Kind of the line.
    pub kind: DiffLineKind,
    /// Line number before the change, from 1; none for an added line.
    pub old: Option<u32>,
    /// Line number after the change, from 1; none for a removed line.
    pub new: Option<u32>,
    /// The text without its line ending, split into parts that did or did not change within the line, hidden characters
    /// named.
    pub parts: Vec<DiffLinePart>,
    /// Whether this is the last line of a file and has no line ending.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLinePart {
    /// The text, or the name of a hidden character.
    pub text: String,
    /// Whether this part changed within the line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Whether this is the name of a hidden character.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
}

/// A command as it will be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandPreview {
    /// Folder in which the command runs, abbreviated for display.
    pub folder: String,
    /// The command verbatim, hidden characters named.
    pub command: Vec<DisplaySpan>,
    /// Facts found in the command.
    pub facts: Vec<CommandFact>,
    /// Time limit in milliseconds.
    pub timeout_ms: u64,
    /// Assurance that this machine gives the command; none before the machine was probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub assurance: Option<Assurance>,
    /// Explanation of the assurance and of why it is no higher, one plain sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub assured: Vec<String>,
    /// Whether a person may have the command run for real, over a snapshot of the workspace from which its changes are
    /// undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub in_place: bool,
    /// Whether the agent runs the command itself, outside the sandbox: what it does then is not held to the effects of a
    /// dry run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub delegated: bool,
}

/// A command with the effects of its dry run, which are carried out as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EffectsPreview {
    /// The command.
    pub command: CommandPreview,
    /// Effects of the dry run.
    pub effects: Effects,
}

/// One fact found in a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandFact {
    /// Kind of fact: "program", "redirect", "substitution", "no rule allows", …
    pub what: String,
    /// The words concerned.
    pub text: String,
    /// Verdict of the rules on the fact, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<crate::Verdict>,
}

/// The files and folders that a destructive call removes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LossPreview {
    /// Number of files removed.
    pub files: u64,
    /// Number of folders removed.
    pub folders: u64,
    /// Number of lines of text in the removed files; none when they were too large to be counted.
    pub lines: Option<u64>,
    /// Total length of the removed files in bytes.
    pub bytes: u64,
    /// The first of the removed paths, at most [`LossPreview::ITEMS_MAX`].
    pub shown: Vec<LossItem>,
}

impl LossPreview {
    /// Maximum number of removed paths that a card lists.
    pub const ITEMS_MAX: usize = 50;
}

/// One path that the call removes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LossItem {
    /// Path relative to the workspace root.
    pub path: String,
    /// `file`, `folder`, `link` or `special`.
    pub kind: String,
    /// Length in bytes.
    pub bytes: u64,
}

/// Whether a call's effects could be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UndoAvailability {
    /// The call changes nothing.
    NotNeeded,
    /// A copy for undo is taken first.
    Secured,
    /// The changes are not known yet: the call runs in a dry run first, and its changes can be undone once they are
    /// carried out.
    Captured,
    /// The changes are not known before the call runs: it runs for real in the sandbox, over a snapshot of the whole
    /// workspace, and its changes there can be undone.
    #[serde(alias = "pictured")]
    Snapshot,
    /// The effects cannot be undone.
    Unsecured {
        /// The reason, in one plain sentence.
        reason: String,
    },
}

/// One question to the person (`S002-34`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short heading for the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Answers to choose from; a free answer is always possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// Meaning of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Progress of a thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    /// Description of the work.
    pub content: String,
    /// Progress of the work.
    pub status: TodoStatus,
}
