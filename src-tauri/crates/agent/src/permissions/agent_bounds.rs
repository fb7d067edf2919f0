//! The surface of a call: what its tool and its agent's manifest require, with the places of this session filled in (`S002-09`, `S002-10`, M15).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use policy::path::Os;
use policy::rules_file::RulesFile;
use policy::{AgentManifest, Surface};
use protocol::event::SessionOptions;
use protocol::interface::requirements::VariableValues;
use protocol::{RequirementSet, UserError};
use runtime::Workspace;

use crate::permissions::manifest;

/// What a session is held to beside the rules of its person and its project.
pub(crate) struct AgentBounds {
    /// What the variables of requirements stand for.
    pub surroundings: VariableValues,
    /// The manifest of its agent; none for the built-in agent.
    pub manifest: Option<AgentManifest>,
    /// The manifests of those that work was given to since, one below the other.
    pub parent_manifests: Vec<AgentManifest>,
    /// What each of those says that it requires, if it does: no call touches more than that (`S002-104`).
    pub ceilings: Vec<Surface>,
    /// Surfaces that were understood, by tool, each with the requirements that it was made of: a tool may be replaced.
    pub surfaces: Mutex<HashMap<String, (RequirementSet, Arc<Surface>)>>,
}

impl AgentBounds {
    /// Those of a session that is asked this.
    ///
    /// # Errors
    /// A manifest that cannot be read, or a data folder that cannot be opened.
    pub fn new(
        workspace: &Workspace,
        data_dir: &Path,
        outputs: &Path,
        asked: &SessionOptions,
    ) -> Result<Self, UserError> {
        let data = Workspace::open(data_dir)?;
        let below = manifest::parent_manifests(asked)?;
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
        let manifest = manifest::active_manifest(asked)?;
        Ok(Self {
            surroundings: session_surroundings(workspace, &data, manifest.as_ref())?,
            ceilings,
            manifest,
            parent_manifests: below,
            surfaces: Mutex::default(),
        })
    }

    /// Rules of agents: all of the one that a person chose, and what makes it stricter of those below.
    pub fn manifest_rules(&self) -> impl Iterator<Item = RulesFile> + '_ {
        let own = self.manifest.iter().map(|manifest| manifest.rules.clone());
        let below = self.parent_manifests.iter();
        own.chain(below.map(|manifest| manifest.rules.clone().without_loosening()))
    }

    /// The manifest of whoever works in the session: the closest of those that work was given to, else the one that a person
    /// chose.
    pub fn own_manifest(&self) -> Option<&AgentManifest> {
        self.parent_manifests.last().or(self.manifest.as_ref())
    }

    /// What the session's agent may touch with these requirements of tools (`S002-09`).
    pub fn tool_requirements<'a>(&self, tools: &'a RequirementSet) -> Cow<'a, RequirementSet> {
        merge_requirements(self.manifest.as_ref(), tools)
    }
}

/// What an agent may touch with these requirements of tools: without a manifest, just those.
pub(crate) fn merge_requirements<'a>(
    manifest: Option<&AgentManifest>,
    tools: &'a RequirementSet,
) -> Cow<'a, RequirementSet> {
    match manifest {
        None => Cow::Borrowed(tools),
        Some(manifest) => Cow::Owned(RequirementSet::union([&manifest.requires, tools])),
    }
}

/// Whose requirements they are, as a sentence names it.
pub(crate) fn requirement_owner(tool: &str, manifest: Option<&AgentManifest>) -> String {
    match manifest {
        Some(manifest) => format!("the tool `{tool}` of the agent `{}`", manifest.name),
        None => format!("the tool `{tool}`"),
    }
}

/// Lets a surface read a folder.
///
/// # Errors
/// A name that no pattern can spell.
pub(crate) fn add_folder(surface: Surface, folder: &Path) -> Result<Surface, UserError> {
    let readable = surface.with_readable(&folder.to_string_lossy(), Os::CURRENT);
    readable.map_err(|why| UserError::new(why, "Give the folder another name."))
}

/// What the variables stand for in a session: `{workspace}` for its folder and the further roots of a manifest (`S002-56`).
/// Files are never open by themselves on this host (`S002-57`); the folder of the person is the data folder (`S002-58`).
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

/// Where a further root of an agent's manifest really is. It opens nothing by itself: what the agent reads there a person is
/// asked about once (M15), and nothing is written there, because no undo and no dry run reach beyond the workspace.
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
