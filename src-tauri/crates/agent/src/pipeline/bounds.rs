//! Step 3: what a call may touch at all, by what its tool, its agent's manifest and its session allow (`S002-09`, `S002-10`).

use std::path::Path;
use std::sync::{Arc, PoisonError};

use policy::path::Os;
use policy::{CallFacts, Surface};
use protocol::{ResolvedAccess, ToolError, ToolInterface, UserError};

use crate::permissions::agent_bounds::{add_folder, requirement_owner};
use crate::pipeline::abort::Abort;
use crate::pipeline::outcome;
use crate::session::{Session, planning};

/// Holds a call of this tool to what it may touch at all, now. What cannot be understood closes everything.
pub(crate) fn restrict_to_bounds(
    session: &Session,
    interface: &ToolInterface,
    facts: &mut CallFacts,
) {
    facts.deny_for(planning::is_hidden(session, interface, facts));
    match tool_surface(session, interface) {
        Ok(surface) => facts.restrict_to(&surface),
        Err(fault) => facts.deny_for(Some(fault.message)),
    }
    for ceiling in &session.bounds.ceilings {
        facts.restrict_further(ceiling);
    }
}

/// Why something that a call wrote lies beyond what its agent may touch, if it does: what the manifest and the session's tools
/// require together (`S002-09`), because a command writes as all of them could. Without a manifest nobody narrowed that.
pub(crate) fn out_of_bounds_reason(
    session: &Session,
    effects: &[ResolvedAccess],
) -> Option<String> {
    let bounds = &session.bounds;
    let mut all = bounds.ceilings.iter().flat_map(|ceiling| {
        effects
            .iter()
            .filter_map(|fact| ceiling.find_denial_reason(fact, None))
    });
    if let Some(beyond) = all.next() {
        return Some(beyond);
    }
    let manifest = bounds.manifest.as_ref()?;
    let owner = format!("the agent `{}`", manifest.name);
    let tools = session.tools();
    let requires = bounds.tool_requirements(tools.requirements());
    match Surface::new(&requires, &owner, &bounds.surroundings, Os::CURRENT) {
        Ok(surface) => effects
            .iter()
            .find_map(|fact| surface.find_denial_reason(fact, None)),
        Err(fault) => Some(fault.message),
    }
}

/// Opens places for reading that a person let the session have, and answers whether there were any: its agent and tools
/// require them, and none of them asks again (M15).
pub(crate) fn open_roots(session: &Session, places: &[String]) -> Result<bool, Abort> {
    for place in places {
        let opened = session.tool_context.workspace.grant_read(Path::new(place));
        opened.map_err(|fault| outcome::failed_outcome(&ToolError::Failed(fault.message)))?;
    }
    Ok(!places.is_empty())
}

/// What a call of this tool may touch at all; understood once for each tool, because patterns take their time.
fn tool_surface(session: &Session, interface: &ToolInterface) -> Result<Arc<Surface>, UserError> {
    let known = || {
        let known = session.bounds.surfaces.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    };
    if let Some((requires, surface)) = known().get(interface.id())
        && *requires == interface.requires
    {
        return Ok(Arc::clone(surface));
    }
    let surface = Arc::new(build_surface(session, interface)?);
    let entry = (interface.requires.clone(), Arc::clone(&surface));
    known().insert(interface.id().to_owned(), entry);
    Ok(surface)
}

/// The folders that the session was granted are the person's ceiling over it, and the rules narrow it further.
fn build_surface(session: &Session, interface: &ToolInterface) -> Result<Surface, UserError> {
    let owner = requirement_owner(interface.id(), session.bounds.manifest.as_ref());
    let requires = session.bounds.tool_requirements(&interface.requires);
    let surface = Surface::new(&requires, &owner, &session.bounds.surroundings, Os::CURRENT)?;
    // Whoever may read files may read the rest of a long output (`S002-69`).
    let surface = add_folder(surface, session.tool_context.folder.path())?;
    // What lies beside a skill belongs to it.
    let mut skills = session.briefing.external_folders();
    skills.try_fold(surface, |surface, folder| add_folder(surface, &folder))
}
