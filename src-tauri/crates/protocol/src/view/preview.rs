//! What a person sees of a call before it runs: computed by the engine, drawn by the interface.

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
        /// One for each file.
        files: Vec<FileDiff>,
    },
    /// A command line.
    Command(CommandPreview),
    /// What a command did when it was run for show.
    Effects(Box<EffectsPreview>),
    /// What will be lost.
    Loss(LossPreview),
    /// Questions to the person.
    Form {
        /// In the order they are asked.
        questions: Vec<Question>,
    },
    /// What came from outside, before the agent reads it.
    Came(ResponsePreview),
    /// A list of things to do.
    Todo {
        /// In the agent's order.
        items: Vec<TodoItem>,
    },
    /// What an agent wants to do, to be accepted.
    Plan {
        /// In Markdown.
        text: String,
    },
    /// A request to a service.
    Request(Box<RequestPreview>),
}

impl Preview {
    /// The name of its kind: its JSON's `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Diff { .. } => "diff",
            Self::Command(_) => "command",
            Self::Effects(_) => "effects",
            Self::Loss(_) => "loss",
            Self::Form { .. } => "form",
            Self::Came(_) => "came",
            Self::Todo { .. } => "todo",
            Self::Plan { .. } => "plan",
            Self::Request(_) => "request",
        }
    }
}

/// What came from outside, before the agent reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResponsePreview {
    /// The hosts that it came from, as rules name them.
    pub hosts: Vec<String>,
    /// All of it, secrets masked, hidden characters named.
    pub text: Vec<DisplaySpan>,
}

/// One file's difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileDiff {
    /// Path relative to the workspace root.
    pub path: String,
    /// Whether there is a file now, at `from` if it is set.
    pub exists: bool,
    /// Language for syntax colours, by file name: `rust`, `typescript`, …; empty when not known.
    pub language: String,
    /// Lines that come.
    pub added: u32,
    /// Lines that go.
    pub removed: u32,
    /// The changed places, in order.
    pub hunks: Vec<Hunk>,
    /// Where the file was before, if it moves here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// Whether the file goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub gone: bool,
    /// Set when the difference was too large to be shown whole; says what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

/// One changed place with its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Hunk {
    /// Number within the whole preview, from 0: what a partial acceptance names.
    pub id: u32,
    /// First line before, from 1.
    pub old_start: u32,
    /// First line after, from 1.
    pub new_start: u32,
    /// The function or section that the place stands in; empty when not known.
    pub section: String,
    /// Lines that come.
    pub added: u32,
    /// Lines that go.
    pub removed: u32,
    /// The lines; none where a file comes, goes or moves as it is, which `section` tells.
    pub lines: Vec<DiffLine>,
}

/// What a line is in a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// Unchanged.
    Context,
    /// Comes.
    Added,
    /// Goes.
    Removed,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLine {
    /// What it is.
    pub kind: DiffLineKind,
    /// Number before, from 1; none for a line that comes.
    pub old: Option<u32>,
    /// Number after, from 1; none for a line that goes.
    pub new: Option<u32>,
    /// The text without its line end, in stretches that are changed within the line or not, hidden characters named.
    pub parts: Vec<DiffLinePart>,
    /// The last line of a file that does not end with a line end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

/// A stretch of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLinePart {
    /// The text, or the name of a hidden character.
    pub text: String,
    /// Whether this stretch is what changed within the line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Whether this is the name of a hidden character.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
}

/// A command as it will be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandPreview {
    /// The folder it runs in, as a person writes it.
    pub folder: String,
    /// The command, letter for letter, hidden characters named.
    pub command: Vec<DisplaySpan>,
    /// What was found in it.
    pub facts: Vec<CommandFact>,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u64,
    /// What this machine can promise of it; none where nobody tried yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub assurance: Option<Assurance>,
    /// Why it is no more, and what it is at all: one plain sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub assured: Vec<String>,
    /// Whether a person may have it run for real, over a picture of the workspace by which that is undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub in_place: bool,
}

/// A command with what it did in the sealed room: its effects are carried out as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EffectsPreview {
    /// The command.
    pub command: CommandPreview,
    /// What it did.
    pub effects: Effects,
}

/// One thing found in a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandFact {
    /// "program", "redirect", "substitution", "no rule allows", …
    pub what: String,
    /// The words concerned.
    pub text: String,
    /// What the rules say of it, if they say something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<crate::Verdict>,
}

/// What a destructive call takes away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LossPreview {
    /// Files that go.
    pub files: u64,
    /// Folders that go.
    pub folders: u64,
    /// Lines of text in them; none when they were too large to be counted.
    pub lines: Option<u64>,
    /// Their length together, in bytes.
    pub bytes: u64,
    /// The first of them, at most [`LossPreview::ITEMS_MAX`].
    pub shown: Vec<LossItem>,
}

impl LossPreview {
    /// How many lost paths a card lists.
    pub const ITEMS_MAX: usize = 50;
}

/// One path that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LossItem {
    /// Path relative to the workspace root.
    pub path: String,
    /// `file`, `folder`, `link` or `special`.
    pub kind: String,
    /// Length in bytes.
    pub bytes: u64,
}

/// Whether a call's effects could be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UndoAvailability {
    /// It changes nothing.
    NotNeeded,
    /// A copy is taken first; undo brings it back.
    Secured,
    /// What it changes is not known yet: it runs in a sealed room first, and what it changed there can be undone once it
    /// is carried out.
    Captured,
    /// What it changes is not known before: it runs for real in a sealed room, over a picture of the whole workspace, and
    /// what it changed there can be undone.
    Pictured,
    /// It cannot be taken back, for this reason.
    Unsecured {
        /// One plain sentence.
        reason: String,
    },
}

/// One question to the person (`S002-34`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short head for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Answers to choose from; a free answer is always possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Where a thing to do stands.
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
    /// What is to be done.
    pub content: String,
    /// Where it stands.
    pub status: TodoStatus,
}
