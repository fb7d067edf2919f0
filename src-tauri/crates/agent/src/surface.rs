//! The surface of a call: what its tool and its agent's manifest require, with the places of this session filled in (`S002-09`, `S002-10`, M15).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use policy::path::Os;
use policy::rules_file::RulesFile;
use policy::{Facts, Manifest, Surface};
use protocol::event::Asked;
use protocol::requires::Surroundings;
use protocol::{Fact, Fault, RequirementSet, ToolError, ToolInterface};
use runtime::Workspace;

use crate::session::Session;
use crate::stages::{Ended, finish};
use crate::{manifest, planning};

/// Holds a call of this tool to what it may touch at all, now. What cannot be understood closes everything.
pub(crate) fn hold(session: &Session, interface: &ToolInterface, facts: &mut Facts) {
    facts.close(planning::holds_back(session, interface, facts));
    match of(session, interface) {
        Ok(surface) => facts.hold_to(&surface),
        Err(fault) => facts.close(Some(fault.message)),
    }
    for ceiling in &session.bounds.ceilings {
        facts.hold_below(ceiling);
    }
}

/// Why something that a call wrote lies beyond what its agent may touch, if it does: what the manifest and the session's tools
/// require together (`S002-09`), because a command writes as all of them could. Without a manifest nobody narrowed that.
pub(crate) fn beyond_the_agent(session: &Session, effects: &[Fact]) -> Option<String> {
    let bounds = &session.bounds;
    let mut all = bounds
        .ceilings
        .iter()
        .flat_map(|ceiling| effects.iter().filter_map(|fact| ceiling.beyond(fact, None)));
    if let Some(beyond) = all.next() {
        return Some(beyond);
    }
    let manifest = bounds.manifest.as_ref()?;
    let owner = format!("the agent `{}`", manifest.name);
    let tools = session.tools();
    let requires = bounds.requires(tools.requires());
    match Surface::new(&requires, &owner, &bounds.around, Os::HERE) {
        Ok(surface) => effects.iter().find_map(|fact| surface.beyond(fact, None)),
        Err(fault) => Some(fault.message),
    }
}

/// Opens places for reading that a person let the session have, and answers whether there were any: its agent and tools
/// require them, and none of them asks again (M15).
pub(crate) fn opened(session: &Session, places: &[String]) -> Result<bool, Ended> {
    for place in places {
        let opened = session.hands.workspace.open_up(Path::new(place));
        opened.map_err(|fault| finish::failed(&ToolError::Failed(fault.message)))?;
    }
    Ok(!places.is_empty())
}

/// What a session is held to beside the rules of its person and its project.
pub(crate) struct Bounds {
    /// What the variables of requirements stand for.
    around: Surroundings,
    /// The manifest of its agent; none for the built-in agent.
    pub manifest: Option<Manifest>,
    /// The manifests of those that work was given to since, one below the other.
    pub below: Vec<Manifest>,
    /// What each of those says that it requires, if it does: no call touches more than that (`S002-104`).
    ceilings: Vec<Surface>,
    /// Surfaces that were understood, by tool, each with the requirements that it was made of: a tool may be replaced.
    known: Mutex<HashMap<String, (RequirementSet, Arc<Surface>)>>,
}

impl Bounds {
    /// Those of a session that is asked this.
    ///
    /// # Errors
    /// A manifest that cannot be read, or a data folder that cannot be opened.
    pub fn of(
        workspace: &Workspace,
        data_dir: &Path,
        outputs: &Path,
        asked: &Asked,
    ) -> Result<Self, Fault> {
        let data = Workspace::open(data_dir)?;
        let below = manifest::below(asked)?;
        let declared = below.iter().filter(|manifest| manifest.declares);
        let ceilings = declared.map(|manifest| {
            let owner = format!("the agent `{}`", manifest.name);
            let around = around(workspace, &data, Some(manifest))?;
            let ceiling = Surface::new(&manifest.requires, &owner, &around, Os::HERE)?;
            with_folder(ceiling, outputs)
        });
        let ceilings = ceilings.collect::<Result<_, Fault>>()?;
        let manifest = manifest::in_force(asked)?;
        Ok(Self {
            around: around(workspace, &data, manifest.as_ref())?,
            ceilings,
            manifest,
            below,
            known: Mutex::default(),
        })
    }

    /// Rules of agents: all of the one that a person chose, and what makes it stricter of those below.
    pub fn rules(&self) -> impl Iterator<Item = RulesFile> + '_ {
        let own = self.manifest.iter().map(|manifest| manifest.rules.clone());
        let below = self.below.iter();
        own.chain(below.map(|manifest| manifest.rules.clone().only_stricter()))
    }

    /// The manifest of whoever works in the session: the closest of those that work was given to, else the one that a person
    /// chose.
    pub fn own(&self) -> Option<&Manifest> {
        self.below.last().or(self.manifest.as_ref())
    }

    /// What the session's agent may touch with these requirements of tools (`S002-09`).
    pub fn requires<'a>(&self, tools: &'a RequirementSet) -> Cow<'a, RequirementSet> {
        requires(self.manifest.as_ref(), tools)
    }
}

/// What an agent may touch with these requirements of tools: without a manifest, just those.
pub(crate) fn requires<'a>(
    manifest: Option<&Manifest>,
    tools: &'a RequirementSet,
) -> Cow<'a, RequirementSet> {
    match manifest {
        None => Cow::Borrowed(tools),
        Some(manifest) => Cow::Owned(RequirementSet::union([&manifest.requires, tools])),
    }
}

/// Whose requirements they are, as a sentence names it.
pub(crate) fn owner(tool: &str, manifest: Option<&Manifest>) -> String {
    match manifest {
        Some(manifest) => format!("the tool `{tool}` of the agent `{}`", manifest.name),
        None => format!("the tool `{tool}`"),
    }
}

/// What a call of this tool may touch at all; understood once for each tool, because patterns take their time.
fn of(session: &Session, interface: &ToolInterface) -> Result<Arc<Surface>, Fault> {
    let known = || {
        let known = session.bounds.known.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    };
    if let Some((requires, surface)) = known().get(interface.id())
        && *requires == interface.requires
    {
        return Ok(Arc::clone(surface));
    }
    let surface = Arc::new(made(session, interface)?);
    let entry = (interface.requires.clone(), Arc::clone(&surface));
    known().insert(interface.id().to_owned(), entry);
    Ok(surface)
}

/// The folders that the session was granted are the person's ceiling over it, and the rules narrow it further.
fn made(session: &Session, interface: &ToolInterface) -> Result<Surface, Fault> {
    let owner = owner(interface.id(), session.bounds.manifest.as_ref());
    let requires = session.bounds.requires(&interface.requires);
    let surface = Surface::new(&requires, &owner, &session.bounds.around, Os::HERE)?;
    // Whoever may read files may read the rest of a long output (`S002-69`).
    let surface = with_folder(surface, session.hands.folder.path())?;
    // What lies beside a skill belongs to it.
    let mut skills = session.briefing.folders_elsewhere();
    skills.try_fold(surface, |surface, folder| with_folder(surface, &folder))
}

fn with_folder(surface: Surface, folder: &Path) -> Result<Surface, Fault> {
    let readable = surface.with_readable(&folder.to_string_lossy(), Os::HERE);
    readable.map_err(|why| Fault::new(why, "Give the folder another name."))
}

/// What the variables stand for in a session: `{workspace}` for its folder and the further roots of a manifest (`S002-56`).
/// Files are never open by themselves on this host (`S002-57`); the folder of the person is the data folder (`S002-58`).
fn around(
    workspace: &Workspace,
    data: &Workspace,
    manifest: Option<&Manifest>,
) -> Result<Surroundings, Fault> {
    let further = manifest.into_iter().flat_map(|manifest| {
        let roots = manifest.roots.iter();
        roots.map(|root| further_root(workspace.root(), root, &manifest.name))
    });
    let own = Ok(place(workspace.root()));
    Ok(Surroundings {
        workspace: std::iter::once(own)
            .chain(further)
            .collect::<Result<_, Fault>>()?,
        ad_hoc: Vec::new(),
        user_data: Some(place(data.root())),
    })
}

/// Where a further root of an agent's manifest really is. It opens nothing by itself: what the agent reads there a person is
/// asked about once (M15), and nothing is written there, because no undo and no dry run reach beyond the workspace.
pub(crate) fn further_root(workspace: &Path, root: &str, agent: &str) -> Result<String, Fault> {
    let opened = Workspace::open(&workspace.join(root)).map_err(|fault| {
        Fault::new(
            format!("The agent `{agent}` has the root `{root}`, which cannot be used. {}", fault.message),
            "Correct `roots` of its manifest: folders, relative to the workspace or by their whole paths.",
        )
    })?;
    Ok(place(opened.root()))
}

fn place(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}
