//! What a verdict was made from, apart from the rules: enough to judge the call again by other rules.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::text::redact;
use crate::{ResolvedAccess, Verdict};

/// What is known of a call when it is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Evidence {
    /// What it touches, and where that leads.
    pub facts: Vec<ResolvedAccess>,
    /// What words of its commands may use beside that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<ResolvedAccess>,
    /// What was read of each command among them, in their order; a command that is named twice was read once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandEvidence>,
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
    pub tried: Option<DryRunEvidence>,
    /// What keeps its tool to what it was judged on.
    #[serde(default, skip_serializing_if = "Confinement::is_default")]
    #[ts(optional, as = "Option<Confinement>")]
    pub confinement: Confinement,
    /// The arguments of a call of somebody else's tool, with secrets masked; none where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub arguments: Option<Vec<ArgumentValue>>,
}

/// One value among the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ArgumentValue {
    /// Where it stands, `options.branch`; values of a list have the name of the list.
    pub name: String,
    /// The value as text; none where it is too long to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
}

/// Bytes of a value that is kept with a verdict.
const ARGUMENT_BYTES_MAX: usize = 256;

impl ArgumentValue {
    /// Every value of some arguments that is a text, a number or a truth value.
    pub fn collect_from(arguments: &Map<String, Value>) -> Vec<Self> {
        let mut all = Vec::new();
        for (name, value) in arguments {
            Self::push_values(&mut all, name.clone(), value);
        }
        all
    }

    fn push_values(all: &mut Vec<Self>, name: String, value: &Value) {
        let text = match value {
            Value::Null => return,
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                return items
                    .iter()
                    .for_each(|item| Self::push_values(all, name.clone(), item));
            }
            Value::Object(members) => {
                return members.iter().for_each(|(member, value)| {
                    Self::push_values(all, format!("{name}.{member}"), value)
                });
            }
        };
        let text = Some(text);
        all.push(Self { name, text });
    }

    /// As it is kept with a verdict: without secrets, and without what is too long.
    #[must_use]
    pub fn to_masked(&self) -> Self {
        let short = self.text.as_deref();
        let short = short.filter(|text| text.len() <= ARGUMENT_BYTES_MAX);
        Self {
            name: self.name.clone(),
            text: short.map(|text| redact::text(text).0.into_owned()),
        }
    }
}

/// What keeps a tool to what its calls were judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// It reaches the machine through the app alone.
    #[default]
    Held,
    /// Nothing: it is done by a program that runs as the person, outside any sandbox.
    Unconfined,
    /// A sealed room: it is done by a program that can change one folder and reach the hosts that its person named.
    Room,
    /// It is done on another machine.
    Remote,
}

impl Confinement {
    /// Whether it is the usual one, which need not be written.
    pub fn is_default(&self) -> bool {
        match self {
            Self::Held => true,
            Self::Unconfined | Self::Room | Self::Remote => false,
        }
    }
}

/// What a call did when it ran for show, as it is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DryRunEvidence {
    /// What it wrote and deleted in the workspace, path by path.
    pub effects: Vec<ResolvedAccess>,
    /// How many things it was refused.
    pub refused: u64,
    /// The secrets among them, which nothing was read of: whatever it did is what came of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub secrets: Vec<String>,
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
pub struct CommandEvidence {
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
