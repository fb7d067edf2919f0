//! Rendering: hints for a user interface that shows a tool. Data, never a component (`S003-47` to `S003-52`,
//! `S003-67`).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Hints for a user interface that shows a call. Texts contain `{member}` in place of an argument; see
/// [`super::fill_template`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolRendering {
    /// The call in one line: `Edit {path}` (`S003-47`).
    pub ui_summary: String,
    /// The activity while the call runs: `Editing {path}` (`S003-48`).
    pub activity_description: String,
    /// Preferred display of progress (`S003-49`).
    pub progress_render_hint: RenderHint,
    /// Preferred display of a rejected call (`S003-50`).
    pub rejected_render_hint: RenderHint,
    /// Preferred display of a failed call (`S003-51`).
    pub error_render_hint: RenderHint,
    /// The part of the arguments that can be searched for (`S003-52`).
    pub transcript_search_text: String,
}

/// The shape of the displayed content; the user interface decides how to draw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RenderHint {
    /// One line of text.
    #[default]
    Line,
    /// Nothing at all.
    Nothing,
    /// Text as it came, in a monospaced font, as in a terminal.
    Terminal,
    /// The difference that the call was to make.
    Difference,
    /// The data that the call would have removed.
    Loss,
    /// The command that the call was to run.
    Command,
    /// The form that the call asked the person to fill in.
    Form,
}
