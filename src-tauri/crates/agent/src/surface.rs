//! The surface of a call: what its tool requires, with the places of this session filled in (`S002-09`, `S002-10`, M15).

use std::path::Path;

use policy::path::Os;
use policy::{Facts, Surface};
use protocol::requires::Surroundings;
use protocol::{Fault, ToolInterface};
use runtime::Workspace;

use crate::session::Session;

/// Holds a call of this tool to what it may touch at all. What cannot be understood closes everything.
pub(crate) fn hold(session: &Session, interface: &ToolInterface, facts: &mut Facts) {
    match of(session, interface) {
        Ok(surface) => facts.hold_to(&surface),
        Err(fault) => facts.close(Some(fault.message)),
    }
}

/// What a call of this tool may touch at all. The folders that the session was granted are the person's ceiling over it,
/// and the rules narrow it further.
fn of(session: &Session, interface: &ToolInterface) -> Result<Surface, Fault> {
    let owner = format!("the tool `{}`", interface.id());
    let surface = Surface::new(&interface.requires, &owner, &session.around, Os::HERE)?;
    // Whoever may read files may read the rest of a long output (`S002-69`).
    let outputs = session.hands.folder.path().to_string_lossy();
    surface
        .with_readable(&outputs, Os::HERE)
        .map_err(|why| Fault::new(why, "Choose another data folder."))
}

/// What the variables stand for in a session. Files are never open by themselves on this host (`S002-57`); the folder of
/// the person is the data folder (`S002-58`).
pub(crate) fn around(workspace: &Workspace, data_dir: &Path) -> Result<Surroundings, Fault> {
    let data = Workspace::open(data_dir)?;
    let place = |workspace: &Workspace| workspace.root().to_string_lossy().into_owned();
    Ok(Surroundings {
        workspace: vec![place(workspace)],
        ad_hoc: Vec::new(),
        user_data: Some(place(&data)),
    })
}
