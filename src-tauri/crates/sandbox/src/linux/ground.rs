//! Landlock: the second wall around files. Where a mount were left open by mistake, this one still stands; and where there are
//! no mounts, it stands alone.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};

use crate::Room;

/// As much as a kernel may know.
const ALL: ABI = ABI::V6;
/// What must be there where Landlock stands alone: without it a file could be emptied anywhere.
const LEAST: ABI = ABI::V3;
/// Places beside the workspace that may be written: each is the room's own.
const WRITABLE: [&str; 2] = ["/tmp", "/dev"];
/// Devices that keep nothing and belong to nobody.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Reading everywhere, and signals to nobody outside: what holds in every room. As much of it as this kernel has: the mounts are
/// the first wall, and hold without it.
pub(super) struct Ground(RulesetCreated);

impl Ground {
    /// Nobody stands on it yet.
    pub(super) fn prepare() -> io::Result<Self> {
        read_only(Ruleset::default())
            .map(Self)
            .map_err(io::Error::other)
    }

    /// From here on: with it, writing in the workspace and in the room's own places.
    pub(super) fn stand_on(self, room: &Room) -> io::Result<()> {
        let writable = WRITABLE.iter().map(Path::new);
        let writable = writable.chain([room.workspace.as_path()]);
        stand(self.0, writable).map_err(io::Error::other)
    }
}

/// Whether this kernel keeps the signals of whoever stands on such ground from everybody else.
pub fn keeps_signals_in() -> bool {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal);
    rules.and_then(Ruleset::create).is_ok()
}

/// The same as the only wall: writing in the workspace, in `tmp` and to devices that keep nothing.
pub(super) fn stand_alone(room: &Room, tmp: &Path) -> io::Result<()> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map_err(io::Error::other)?;
    let devices = DEVICES.iter().map(Path::new);
    let writable = devices.chain([room.workspace.as_path(), tmp]);
    let rules = read_only(rules).map_err(io::Error::other)?;
    stand(rules, writable).map_err(io::Error::other)
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn read_only(rules: Ruleset) -> Result<RulesetCreated, Failed> {
    let rules = rules
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ALL))?
        .scope(Scope::from_all(ALL))?
        .create()?;
    beneath(rules, Path::new("/"), AccessFs::from_read(ALL))
}

fn stand<'a>(
    mut rules: RulesetCreated,
    writable: impl Iterator<Item = &'a Path>,
) -> Result<(), Failed> {
    for place in writable {
        let all = match place.is_dir() {
            true => AccessFs::from_all(ALL),
            false => AccessFs::from_file(ALL),
        };
        rules = beneath(rules, place, all)?;
    }
    rules.restrict_self()?;
    Ok(())
}

fn beneath(
    rules: RulesetCreated,
    place: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, Failed> {
    let held = PathFd::new(place)?;
    Ok(rules.add_rule(PathBeneath::new(held, access))?)
}
