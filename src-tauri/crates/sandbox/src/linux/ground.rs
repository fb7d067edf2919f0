//! Landlock: the second wall around files. Where a mount were left open by mistake, this one still stands.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};

use crate::Room;

/// Places beside the workspace that may be written: each is the room's own.
const WRITABLE: [&str; 2] = ["/tmp", "/dev"];

/// Reading everywhere, writing in the workspace and in the room's own places, signals to nobody outside. As much of it as
/// this kernel has: the mounts are the first wall, and hold without it.
pub(super) fn stand_on(room: &Room) -> io::Result<()> {
    let abi = ABI::V6;
    let all = AccessFs::from_all(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let everywhere = (Path::new("/"), AccessFs::from_read(abi));
    let writable = WRITABLE
        .iter()
        .map(Path::new)
        .chain([room.workspace.as_path()]);
    for (place, access) in writable.map(|place| (place, all)).chain([everywhere]) {
        let place = PathFd::new(place).map_err(io::Error::other)?;
        rules = rules
            .add_rule(PathBeneath::new(place, access))
            .map_err(io::Error::other)?;
    }
    rules.restrict_self().map_err(io::Error::other)?;
    Ok(())
}
