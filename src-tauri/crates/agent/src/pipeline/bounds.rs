//! Step 3: the bounds of a call, set by its tool, its agent's manifest and its session (`S002-09`, `S002-10`).

use std::path::Path;
use std::sync::Arc;

use policy::path::Os;
use policy::{CallFacts, Surface};
use protocol::{ResolvedAccess, ToolError, ToolInterface, UserError};

use crate::permissions::agent_bounds::{add_folder, requirement_owner};
use crate::pipeline::abort::Abort;
use crate::pipeline::outcome;
use crate::session::{Session, planning};

/// Restricts a call of this tool to its current bounds. Bounds that cannot be understood deny everything.
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

/// Returns the reason why something that a call wrote lies beyond the bounds of its agent, if it does: beyond the
/// requirements of the manifest and the session's tools together (`S002-09`), because a command writes as any of them
/// could. Without a manifest there is no narrower bound.
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

/// Opens places for reading that a person granted to the session, and returns whether there were any: the session's
/// agent and tools require them, and no later call asks for them again (M15).
pub(crate) fn open_roots(session: &Session, places: &[String]) -> Result<bool, Abort> {
    for place in places {
        let opened = session.tool_context.workspace.grant_read(Path::new(place));
        opened.map_err(|fault| outcome::failed_outcome(&ToolError::Failed(fault.message)))?;
    }
    Ok(!places.is_empty())
}

/// Returns the surface of a call of this tool, built once for each tool because compiling the patterns is slow.
fn tool_surface(session: &Session, interface: &ToolInterface) -> Result<Arc<Surface>, UserError> {
    let known = &session.bounds.surfaces;
    if let Some((requires, surface)) = known.lock().get(interface.id())
        && *requires == interface.requires
    {
        return Ok(Arc::clone(surface));
    }
    let surface = Arc::new(build_surface(session, interface)?);
    let entry = (interface.requires.clone(), Arc::clone(&surface));
    known.lock().insert(interface.id().to_owned(), entry);
    Ok(surface)
}

/// Builds the surface of a tool. The folders that were granted to the session are its upper limit, and the rules narrow
/// it further.
fn build_surface(session: &Session, interface: &ToolInterface) -> Result<Surface, UserError> {
    let owner = requirement_owner(interface.id(), session.bounds.manifest.as_ref());
    let requires = session.bounds.tool_requirements(&interface.requires);
    let surface = Surface::new(&requires, &owner, &session.bounds.surroundings, Os::CURRENT)?;
    // Whoever may read files may read the rest of a long output (`S002-69`).
    let surface = add_folder(surface, session.tool_context.folder.path())?;
    // Files beside a skill belong to it.
    let mut skills = session.briefing.external_folders();
    skills.try_fold(surface, |surface, folder| add_folder(surface, &folder))
}
