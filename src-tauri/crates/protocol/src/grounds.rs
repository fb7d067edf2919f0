//! What a verdict was made from, apart from the rules: enough to judge the call again by other rules.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Fact, Verdict};

/// What is known of a call when it is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Grounds {
    /// What it touches, and where that leads.
    pub facts: Vec<Fact>,
    /// What words of its commands may use beside that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Fact>,
    /// What was read of each command among them, in their order; a command that is named twice was read once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRead>,
    /// Which of the facts are folders that are read with everything below, by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<usize>,
    /// What the watchdogs said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<(Verdict, String)>,
    /// Whether the tool needs a person's answer to run at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// Why some of it may not be touched at all, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub beyond: Option<String>,
    /// What a person would have to open first: where a fact leads, and the place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opens: Vec<(String, String)>,
    /// What it did when it ran for show; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tried: Option<Tried>,
}

/// What a call did when it ran for show, as it is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Tried {
    /// What it wrote and deleted in the workspace, path by path.
    pub effects: Vec<Fact>,
    /// How many things it was refused.
    pub refused: u64,
    /// The hosts that it reached on the network, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub reached: Vec<String>,
    /// The hosts whose answer is there and was not read yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub came: Vec<String>,
    /// The `.git` folders that came to be by it: of a repository that was begun or cloned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub begun: Vec<String>,
    /// Why some of what it wrote may not be touched at all, if so: it lies beyond what its agent requires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub beyond: Option<String>,
    /// Whether the call itself was let through before: then only what a rule says of its effects counts.
    pub agreed: bool,
    /// Whether it ran for real: its effects stand already, and are taken back where they may not be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub for_real: bool,
    /// Whether the person wants no question about what changes nothing, is refused nothing and reached
    /// nobody.
    pub nothing_is_allowed: bool,
}

/// What was read of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandRead {
    /// The words that an allow looks at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plain: Vec<Vec<String>>,
    /// Further words that a deny looks at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_run: Vec<Vec<String>>,
    /// Why no rule may allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<String>,
}
