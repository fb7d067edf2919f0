//! The bounds of a session's calls: the requirements of their tools and of the agent's manifest, with the paths of this
//! session filled in (`S002-09`, `S002-10`, M15).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use policy::path::Os;
use policy::rules_file::RulesFile;
use policy::{AgentManifest, Surface};
use protocol::event::SessionOptions;
use protocol::interface::requirements::VariableValues;
use protocol::{RequirementSet, UserError};
use runtime::Workspace;

use crate::permissions::manifest;

/// Bounds of a session, beside the rules of its person and its project.
pub(crate) struct AgentBounds {
    /// Values of the variables in requirements.
    pub surroundings: VariableValues,
    /// Manifest of the session's agent; none for the built-in agent.
    pub manifest: Option<AgentManifest>,
    /// Manifests of the sub-agents between that agent and this session, outermost first.
    pub parent_manifests: Vec<AgentManifest>,
    /// Requirements of each of those manifests, if it has any: no call touches more than they allow (`S002-104`).
    pub ceilings: Vec<Surface>,
    /// Compiled surfaces by tool, each with the requirements that it was built from, because a tool may be replaced.
    pub surfaces: Mutex<HashMap<String, (RequirementSet, Arc<Surface>)>>,
}

impl AgentBounds {
    /// Returns the bounds of a session with these options.
    ///
    /// # Errors
    /// A manifest that cannot be read, or a data folder that cannot be opened.
    pub fn new(
        workspace: &Workspace,
        data_dir: &Path,
        outputs: &Path,
        options: &SessionOptions,
    ) -> Result<Self, UserError> {
        let data = Workspace::open(data_dir)?;
        let below = manifest::parent_manifests(options)?;
        let declared = below
            .iter()
            .filter(|manifest| manifest.declares_requirements);
        let ceilings = declared.map(|manifest| {
            let owner = format!("the agent `{}`", manifest.name);
            let around = session_surroundings(workspace, &data, Some(manifest))?;
            let ceiling = Surface::new(&manifest.requires, &owner, &around, Os::CURRENT)?;
            add_folder(ceiling, outputs)
        });
        let ceilings = ceilings.collect::<Result<_, UserError>>()?;
        let manifest = manifest::active_manifest(options)?;
        Ok(Self {
            surroundings: session_surroundings(workspace, &data, manifest.as_ref())?,
            ceilings,
            manifest,
            parent_manifests: below,
            surfaces: Mutex::default(),
        })
    }

    /// Returns the rules of the agents: all rules of the agent that the person chose, and only the restricting rules of
    /// the sub-agents below.
    pub fn manifest_rules(&self) -> impl Iterator<Item = RulesFile> + '_ {
        let own = self.manifest.iter().map(|manifest| manifest.rules.clone());
        let below = self.parent_manifests.iter();
        own.chain(below.map(|manifest| manifest.rules.clone().without_loosening()))
    }

    /// Returns the manifest of the session's agent: that of the innermost sub-agent, else of the agent that the person
    /// chose.
    pub fn own_manifest(&self) -> Option<&AgentManifest> {
        self.parent_manifests.last().or(self.manifest.as_ref())
    }

    /// Returns the requirements that bound the session's agent, given these requirements of its tools (`S002-09`).
    pub fn tool_requirements<'a>(&self, tools: &'a RequirementSet) -> Cow<'a, RequirementSet> {
        merge_requirements(self.manifest.as_ref(), tools)
    }
}

/// Merges the requirements of an agent's manifest with those of its tools; without a manifest, returns those of the
/// tools.
pub(crate) fn merge_requirements<'a>(
    manifest: Option<&AgentManifest>,
    tools: &'a RequirementSet,
) -> Cow<'a, RequirementSet> {
    match manifest {
        None => Cow::Borrowed(tools),
        Some(manifest) => Cow::Owned(RequirementSet::union([&manifest.requires, tools])),
    }
}

/// Returns the owner of the requirements, for use in a sentence.
pub(crate) fn requirement_owner(tool: &str, manifest: Option<&AgentManifest>) -> String {
    match manifest {
        Some(manifest) => format!("the tool `{tool}` of the agent `{}`", manifest.name),
        None => format!("the tool `{tool}`"),
    }
}

/// Adds read access to a folder to a surface.
///
/// # Errors
/// The folder's name cannot be written as a pattern.
pub(crate) fn add_folder(surface: Surface, folder: &Path) -> Result<Surface, UserError> {
    let readable = surface.with_readable(&folder.to_string_lossy(), Os::CURRENT);
    readable.map_err(|why| UserError::new(why, "Give the folder another name."))
}

/// Returns the values of the variables in a session: `{workspace}` for its folder and the further roots of a manifest
/// (`S002-56`). No file is open by default on this host (`S002-57`); the folder of the person is the data folder
/// (`S002-58`).
fn session_surroundings(
    workspace: &Workspace,
    data: &Workspace,
    manifest: Option<&AgentManifest>,
) -> Result<VariableValues, UserError> {
    let further = manifest.into_iter().flat_map(|manifest| {
        let roots = manifest.roots.iter();
        roots.map(|root| resolve_extra_root(workspace.root(), root, &manifest.name))
    });
    let own = Ok(folder_path(workspace.root()));
    Ok(VariableValues {
        workspace: std::iter::once(own)
            .chain(further)
            .collect::<Result<_, UserError>>()?,
        ad_hoc: Vec::new(),
        user_data: Some(folder_path(data.root())),
    })
}

/// Resolves the real path of a further root of an agent's manifest. It opens nothing by itself: a person is asked once
/// about what the agent reads there (M15), and nothing is written there, because neither undo nor a dry run reaches
/// beyond the workspace.
pub(crate) fn resolve_extra_root(
    workspace: &Path,
    root: &str,
    agent: &str,
) -> Result<String, UserError> {
    let opened = Workspace::open(&workspace.join(root)).map_err(|fault| {
        UserError::new(
            format!("The agent `{agent}` has the root `{root}`, which cannot be used. {}", fault.message),
            "Correct `roots` of its manifest: folders, relative to the workspace or by their whole paths.",
        )
    })?;
    Ok(folder_path(opened.root()))
}

fn folder_path(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}
