//! Evidence of a verdict, apart from the rules: enough to judge the call again by other rules.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::text::redact;
use crate::{ResolvedAccess, Verdict};

/// Evidence on a call when it is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Evidence {
    /// Files, hosts and commands that the call touches, each with the place that it leads to.
    pub facts: Vec<ResolvedAccess>,
    /// Files that words of the call's commands may use, in addition to `facts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<ResolvedAccess>,
    /// Parsed contents of each command among the facts, in their order; a command that occurs twice is parsed once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandEvidence>,
    /// Uses of remotes by the call's commands, if the commands do nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<RemoteUse>>", optional)]
    pub remotes: Vec<RemoteUse>,
    /// Indices of the facts that are folders read with everything below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<usize>,
    /// Verdicts of the watchdogs, with their reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<(Verdict, String)>,
    /// Those reasons among the alarms that say what some program runs or obeys by itself later on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub later_runs: Vec<String>,
    /// Whether the tool needs a person's answer to run at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// Why part of the call may not be touched at all, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub beyond: Option<String>,
    /// Folders that a person would have to open first: pairs of the place that a fact leads to, and the folder to open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opens: Vec<(String, String)>,
    /// Evidence from a dry run of the call; none if there was none.
    #[serde(default, alias = "tried", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dry_run: Option<DryRunEvidence>,
    /// Confinement of the call's tool to the accesses that the call is judged on.
    #[serde(default, skip_serializing_if = "Confinement::is_default")]
    #[ts(optional, as = "Option<Confinement>")]
    pub confinement: Confinement,
    /// Whether the call runs in the sandbox before anything real changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub is_sandboxed: bool,
    /// Paths outside the workspace that the call reads and that its sandbox has layers over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub home_state: Vec<String>,
    /// Accesses that commands have only if a text that is not known is empty: `ls $d/x` reads `/x` where `d` is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<ResolvedAccess>>", optional)]
    pub guesses: Vec<ResolvedAccess>,
    /// The arguments of a call of another party's tool, with secrets masked; none where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub arguments: Option<Vec<ArgumentValue>>,
    /// The server that others read, if the call sends something there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sent_to_others: Option<String>,
}

/// A command of git that reaches a remote which the repository of the workspace has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RemoteUse {
    /// Kind of the use.
    pub kind: RemoteUseKind,
    /// The words of the command.
    pub words: Vec<String>,
    /// Name of the remote.
    pub remote: String,
    /// Address that git reaches the remote at.
    pub address: String,
}

/// Kind of a use of a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RemoteUseKind {
    /// Commits are fetched; no branch of the person's own moves.
    Fetch,
    /// Branches are pushed that the remote is not known to have; nothing there is moved or deleted by force.
    PushNewBranch,
}

impl RemoteUseKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Fetch, Self::PushNewBranch];

    /// Permission by which a rule names the kind.
    pub fn permission(self) -> &'static str {
        match self {
            Self::Fetch => "git.fetch",
            Self::PushNewBranch => "git.push",
        }
    }

    /// Returns the kind that a permission names; none for any other permission.
    pub fn from_permission(permission: &str) -> Option<Self> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.permission() == permission)
    }
}

/// One value among the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ArgumentValue {
    /// Path of the value, `options.branch`; values of a list have the name of the list.
    pub name: String,
    /// The value as text; none where the text is too long to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
}

/// Longest value that is kept with a verdict, in bytes.
const ARGUMENT_BYTES_MAX: usize = 256;

impl ArgumentValue {
    /// Collects every value of the arguments that is a text, a number or a boolean.
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

    /// Returns the value as it is kept with a verdict: with secrets masked, and without a text that is too long.
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

/// Confinement of a tool to the accesses that its calls are judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// The tool reaches the machine through the app alone.
    #[default]
    Held,
    /// No confinement: the tool is carried out by a program that runs as the person, outside any sandbox.
    Unconfined,
    /// A sandbox: the tool is carried out by a program that can change one folder and reach the hosts that the person
    /// named.
    #[serde(alias = "room")]
    Sandboxed,
    /// The tool is carried out on another machine.
    Remote,
}

impl Confinement {
    /// Whether this is the usual confinement, which need not be written.
    pub fn is_default(&self) -> bool {
        match self {
            Self::Held => true,
            Self::Unconfined | Self::Sandboxed | Self::Remote => false,
        }
    }
}

/// Evidence from a dry run, on which the call's effects are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DryRunEvidence {
    /// Paths that the call wrote and deleted in the workspace.
    pub effects: Vec<ResolvedAccess>,
    /// Number of accesses that the call was refused.
    pub refused: u64,
    /// The secrets among the refused accesses, none of which was read: the effects are those of a run without these
    /// secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub secrets: Vec<String>,
    /// The settings in the home folder that programs read by themselves, and that were refused because they hold
    /// credentials for the network, which the call did not reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub own_settings: Vec<String>,
    /// The hosts that the call reached on the network, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub reached: Vec<String>,
    /// Files and folders of the person's own that the call read outside of the workspace, by their absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub outside_reads: Vec<String>,
    /// The hosts whose response has arrived and has not been read yet.
    #[serde(default, alias = "came", skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub response_hosts: Vec<String>,
    /// The `.git` folders that the call created, by beginning or cloning a repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub begun: Vec<String>,
    /// Why some of the written paths may not be touched at all, if so: they lie beyond the requirements of the call's
    /// agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub beyond: Option<String>,
    /// Whether the call itself was allowed before: then only the rules on its effects count.
    pub agreed: bool,
    /// Whether the agent runs the call itself: what it does for real may differ from these effects, so they alone never
    /// let it pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub delegated: bool,
    /// Whether the call ran for real: its effects are already in place, and are taken back where they are not allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub for_real: bool,
    /// Whether the person wants no question about a call that changes nothing, is refused nothing and reached no host.
    pub nothing_is_allowed: bool,
    /// Whether the person wants no question about changes that a file tool would be let through with, because they lie
    /// in the workspace and can be undone (M24).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub undoable_is_allowed: bool,
    /// Sentences on the changes that some program runs or obeys by itself later on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub later_runs: Vec<String>,
    /// Sentence on content that is lost and that git does not have; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub loss: Option<String>,
    /// Sentences on rights to files that widen or go, and on a large part of the files that changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub extent: Vec<String>,
    /// Whether all that changed in the repository of the workspace is what everyday commands of git do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub is_everyday_git: bool,
    /// Change of the settings of the repository of the workspace, if none of them could run a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub git_settings: Option<GitSettingsChange>,
    /// What else changed in the repository of the workspace, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repository_change: Option<String>,
    /// Number of the changed paths that a build makes again, which git ignores.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u64>", optional)]
    pub build_outputs: u64,
}

/// A change of a repository's settings, `.git/config`, none of which could run a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GitSettingsChange {
    /// Nothing but branches that come, go, or follow a branch of a remote that was there before.
    Branches,
    /// Other settings, by their names: `remote.origin.url`.
    Other(Vec<String>),
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Parsed contents of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandEvidence {
    /// The words that rules with *allow* match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plain: Vec<Vec<String>>,
    /// Further words that rules with *deny* match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_run: Vec<Vec<String>>,
    /// Reasons for which no rule may allow the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<String>,
}
