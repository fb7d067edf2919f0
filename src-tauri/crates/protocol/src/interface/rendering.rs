//! Rendering: hints for whoever shows a tool. Data, never a component (`S003-47` to `S003-52`, `S003-67`).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Hints for whoever shows a call. Texts have `{member}` where an argument stands; see [`super::fill()`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolRendering {
    /// The call in one line: `Edit {path}` (`S003-47`).
    pub ui_summary: String,
    /// What is going on while it runs: `Editing {path}` (`S003-48`).
    pub activity_description: String,
    /// How progress looks best (`S003-49`).
    pub progress_render_hint: RenderHint,
    /// How a rejected call looks best (`S003-50`).
    pub rejected_render_hint: RenderHint,
    /// How a failed call looks best (`S003-51`).
    pub error_render_hint: RenderHint,
    /// What of the arguments can be searched for (`S003-52`).
    pub transcript_search_text: String,
}

/// The shape of what is shown; how it is drawn is the interface's own affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RenderHint {
    /// One line of text.
    #[default]
    Line,
    /// Nothing at all.
    Nothing,
    /// Text as it came, in a terminal's type.
    Terminal,
    /// The difference that was to be made.
    Difference,
    /// What would have been lost.
    Loss,
    /// The command that was to run.
    Command,
    /// The form that was asked.
    Form,
}
